"""Parameters of a chapter, from text or YAML or Python into the declared type, strictly.

Whatever way a value comes (``-p n=80`` on the command line, a line of a YAML file, a cell that papermill injects), it
is read here, or refused here with the same sentence.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Union

import yaml

from ..errors import ConfigurationError
from ..settings import NamesOnce, Settings
from ..wording import did_you_mean

_WORDS = {"true": True, "false": False, "null": None, "none": None}
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
#: A whole number with more digits than this is a slip, and 1e999999999 would fill the memory.
_MOST_DIGITS = 30
#: Above this a float no longer tells one whole number from the next.
_EXACT_FLOATS = 2**53

_KINDS = {
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    bool: ("true or false", "true or false"),
    str: ("text", "texts"),
}


@dataclass(frozen=True)
class Declared:
    """A declared type: what one item is, whether there may be several, whether there may be none."""

    item: type
    several: bool = False
    optional: bool = False

    @classmethod
    def of(cls, hint: Any) -> Declared:
        """Read an annotation: int, float, bool, str or a tuple of one of them, each perhaps ``| None``."""
        optional = False
        if typing.get_origin(hint) in (Union, types.UnionType):
            optional = True
            (hint,) = (argument for argument in typing.get_args(hint) if argument is not type(None))
        several = typing.get_origin(hint) is tuple
        item = typing.get_args(hint)[0] if several else hint
        if item not in _KINDS:
            raise TypeError(f"A parameter cannot have the type {hint!r}.")
        return cls(item, several, optional)

    @property
    def python(self) -> str:
        """As a notebook's cell writes it."""
        name = f"list[{self.item.__name__}]" if self.several else self.item.__name__
        return f"Optional[{name}]" if self.optional else name

    @property
    def words(self) -> str:
        """For people: ``a whole number``, ``a list of numbers``."""
        one, many = _KINDS[self.item]
        return f"a list of {many}" if self.several else one


@dataclass(frozen=True)
class Description:
    """One parameter, in words.

    Attributes
    ----------
    name, type, default, allowed, meaning : str
        ``allowed`` is the range (``"at least 1"``), empty if there is none.
    """

    name: str
    type: str
    default: str
    allowed: str
    meaning: str

    @property
    def comment(self) -> str:
        """Meaning and range in one line."""
        return "; ".join(part for part in (self.meaning, self.allowed) if part)


def describe(kind: type[Settings]) -> list[Description]:
    """Every parameter of ``kind``, in order."""
    declared = _declared(kind)
    return [
        Description(
            field.name,
            declared[field.name].python,
            written(field.default),
            _allowed(field, declared[field.name]),
            field.metadata.get("meaning", ""),
        )
        for field in dataclasses.fields(kind)
    ]


def written(value: Any) -> str:
    """A value as Python source, lists as lists."""
    if isinstance(value, tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, str):
        # Double quotes, as the rest of a notebook has them.
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def read(kind: type[Settings], values: Mapping[str, Any], owner: str = "") -> dict[str, Any]:
    """The values given, each as its declared type.

    Parameters
    ----------
    kind : type
        The class that declares the parameters.
    values : mapping
        What is given; the others keep their defaults.
    owner : str
        Whose parameters they are, for the message about an unknown name.

    Returns
    -------
    dict
        The values, typed and within their ranges.
    """
    declared, fields = _declared(kind), {field.name: field for field in dataclasses.fields(kind)}
    refuse_unknown(values, list(fields), owner)
    return {name: _read_one(fields[name], value, declared[name]) for name, value in values.items()}


def refuse_unknown(names: Iterable[Any], known: list[str], owner: str = "") -> None:
    """Refuse the first name that is not known, with the nearest one that is."""
    for name in names:
        if name not in known:
            whose = f" of {owner}" if owner else ""
            hint = did_you_mean(str(name), known, cutoff=0.5)
            raise ConfigurationError(
                str(name), f"is not a parameter{whose}{hint}; known: {', '.join(known) or 'none'}."
            )


def read_file(path: str | Path) -> dict[str, Any]:
    """The values in a YAML file, as text: what each means is for the declared type to say.

    Left to itself YAML reads ``010`` as eight, ``1:30`` as ninety, ``no`` as false and ``1e3`` as text.
    """
    path = Path(path)
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_TextLoader)
    except OSError as error:
        raise ConfigurationError("", f"The file {path} cannot be read: {error.strerror or error}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError("", f"The file {path} is not plain YAML: {' '.join(str(error).split())}.") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigurationError("", f"The file {path} does not hold lines of the form 'name: value'.")
    return content


class _TextLoader(NamesOnce, yaml.BaseLoader):
    """Scalars as the text they are, an empty one as None; a name given twice is refused."""

    def construct_scalar(self, node: Any) -> Any:
        text = super().construct_scalar(node)
        return None if text == "" and node.style is None else text


def _declared(kind: type[Settings]) -> dict[str, Declared]:
    hints = typing.get_type_hints(kind)
    return {field.name: Declared.of(hints[field.name]) for field in dataclasses.fields(kind)}


def _allowed(field: dataclasses.Field[Any], declared: Declared) -> str:
    limits = field.metadata["range"].words() if "range" in field.metadata else ""
    return f"each {limits}" if limits and declared.several else limits


def _read_one(field: dataclasses.Field[Any], given: Any, declared: Declared) -> Any:
    value = _natural(given, declared)
    good = _typed(value, declared)
    if good is _NOTHING or not _within(field, good):
        allowed = _allowed(field, declared)
        parts = [declared.words, *([allowed] if allowed else [])]
        alternative = ", or null" if declared.optional else ""
        raise ConfigurationError(field.name, f"is {shown(value)}; it must be {', '.join(parts)}{alternative}.")
    return good


def shown(value: Any) -> str:
    """A value as messages show it."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def argument(value: Any) -> str:
    """A value as the text after ``-p name=`` that is read back as the same value."""
    if isinstance(value, tuple):
        return "[" + ",".join(written(item) if isinstance(item, str) else shown(item) for item in value) + "]"
    return value if isinstance(value, str) else shown(value)


def _within(field: dataclasses.Field[Any], value: Any) -> bool:
    try:
        if "range" in field.metadata:
            field.metadata["range"].check(field.name, value)
    except ConfigurationError:
        return False
    return True


# -- text ------------------------------------------------------------------------------------------------------


def _natural(given: Any, declared: Declared) -> Any:
    """What a text says, given the type that is asked for; anything else as it is."""
    if isinstance(given, list | tuple):
        return [_natural_item(item, declared.item) for item in given]
    if not isinstance(given, str):
        return given
    text = given.strip()
    if declared.optional and text.lower() in ("null", "none"):
        return None
    if not declared.several:
        return _natural_item(given, declared.item)
    return [_natural_item(item, declared.item) for item in _items(text)]


def _items(text: str) -> list[Any]:
    """``0.25,1,4`` or ``[0.25, 1, 4]``, with quotes around what holds a comma."""
    inner = text if text.startswith("[") else f"[{text}]"
    try:
        items = yaml.load(inner, Loader=_TextLoader)
    except yaml.YAMLError:
        return [text]
    return items if isinstance(items, list) else [text]


def _natural_item(given: Any, item: type) -> Any:
    if item is str or not isinstance(given, str):
        return given
    text = given.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if not _NUMBER.fullmatch(text):
        return given
    number = Decimal(text)
    if number == number.to_integral_value() and abs(number.adjusted()) <= _MOST_DIGITS:
        return int(number) if item is int or text.lstrip("+-").isdigit() else float(number)
    return float(text)


# -- types -----------------------------------------------------------------------------------------------------

_NOTHING = object()


def _typed(value: Any, declared: Declared) -> Any:
    """``value`` as the declared type has it, or ``_NOTHING``."""
    if value is None:
        return None if declared.optional else _NOTHING
    if not declared.several:
        return _typed_item(value, declared.item)
    items = [_typed_item(item, declared.item) for item in (value if isinstance(value, list | tuple) else [value])]
    return _NOTHING if any(item is _NOTHING for item in items) else tuple(items)


def _typed_item(value: Any, item: type) -> Any:
    if item is bool or isinstance(value, bool):
        return value if item is bool and isinstance(value, bool) else _NOTHING
    if item is str:
        return value if isinstance(value, str) else _NOTHING
    if not isinstance(value, int | float):
        return _NOTHING
    if item is float:
        return _finite(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _EXACT_FLOATS else _NOTHING
    return value


def _finite(value: float) -> Any:
    try:
        number = float(value) + 0.0
    except OverflowError:
        return _NOTHING
    return number if number - number == 0.0 else _NOTHING
