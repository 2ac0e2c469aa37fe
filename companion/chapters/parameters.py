"""Parameters of a chapter, from text or YAML or Python into the declared type, strictly.

Whatever way a value comes (``-p n=80`` on the command line, a line of a YAML file, a cell that papermill injects), what
it says is read here; the settings then take it or refuse it, with the same sentence.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from ..errors import ConfigurationError
from ..settings import Declared, Settings, allowed, refuse_unknown, shown

_WORDS = {"true": True, "false": False, "null": None, "none": None}
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
#: A whole number with more digits than this is a slip, and 1e999999999 would fill the memory.
_MOST_DIGITS = 30
#: Above this a float no longer tells one whole number from the next.
_EXACT_FLOATS = 2**53


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
            _python(declared[field.name]),
            written(field.default),
            allowed(field, declared[field.name]),
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


def _python(declared: Declared) -> str:
    """A type as a notebook's cell writes it."""
    name = f"list[{declared.item.__name__}]" if declared.lists else declared.item.__name__
    return f"Optional[{name}]" if declared.optional else name


def read(kind: type[Settings], values: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """What the values given say; the settings check it.

    Parameters
    ----------
    kind : type
        The class that declares the parameters.
    values : mapping
        What is given; the others keep their defaults.
    owner : str
        Whose parameters they are, for the message about an unknown name.
    """
    refuse_unknown(values, kind.names(), f"parameter of {owner}")
    declared = _declared(kind)
    return {name: _natural(value, declared[name]) for name, value in values.items()}


def read_file(path: str | Path) -> dict[str, Any]:
    """The values in a YAML file, as text: what each means is for the declared type to say.

    Left to itself YAML reads ``010`` as eight, ``1:30`` as ninety, ``no`` as false and ``1e3`` as text.
    """
    path = Path(path)
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_TextLoader)
    except OSError as error:
        raise ConfigurationError("", f"The file {path} cannot be read: {error.strerror or error}.") from None
    except RecursionError:
        raise ConfigurationError("", f"The file {path} is nested too deeply: it must hold lines.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError("", f"The file {path} is not plain YAML: {' '.join(str(error).split())}.") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigurationError("", f"The file {path} does not hold lines of the form 'name: value'.")
    return content


class _TextLoader(yaml.BaseLoader):
    """Scalars as the text they are, an empty one as None; a name given twice is refused."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise ConfigurationError(str(key), "is given twice.")
        return super().construct_mapping(node, deep=deep)

    def construct_scalar(self, node: Any) -> Any:
        text = super().construct_scalar(node)
        return None if text == "" and node.style is None else text


def _declared(kind: type[Settings]) -> dict[str, Declared]:
    hints = typing.get_type_hints(kind)
    return {field.name: Declared.of(hints[field.name]) for field in dataclasses.fields(kind)}


def argument(value: Any) -> str:
    """A value as the text after ``-p name=`` that is read back as the same value."""
    if isinstance(value, tuple):
        return "[" + ",".join(written(item) if isinstance(item, str) else shown(item) for item in value) + "]"
    return value if isinstance(value, str) else shown(value)


def _natural(given: Any, declared: Declared) -> Any:
    """What a text says, given the type that is asked for; one value where there may be several is a list of one."""
    if isinstance(given, str):
        text = given.strip()
        if declared.optional and text.lower() in ("null", "none"):
            return None
        if declared.lists:
            given = _items(text)
    elif declared.lists and given is not None and not isinstance(given, list | tuple):
        given = [given]
    if isinstance(given, list | tuple):
        return [_natural_item(item, declared.item) for item in given]
    return _natural_item(given, declared.item)


def _items(text: str) -> list[Any]:
    """``0.25,1,4`` or ``[0.25, 1, 4]``, with quotes around what holds a comma."""
    inner = text if text.startswith("[") else f"[{text}]"
    try:
        items = yaml.load(inner, Loader=_TextLoader)
    except yaml.YAMLError:
        return [text]
    return items if isinstance(items, list) else [text]


def _natural_item(given: Any, item: type) -> Any:
    if item is int and isinstance(given, float) and given.is_integer() and abs(given) <= _EXACT_FLOATS:
        return int(given)
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
