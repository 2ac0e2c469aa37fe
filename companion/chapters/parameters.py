"""Parameters of a chapter as text, YAML or Python values: converted to the declared type, which then validates them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from ..errors import ConfigurationError
from ..settings import Declared, Settings, refuse_unknown, shown

_WORDS = {"true": True, "false": False, "null": None, "none": None}
_WHOLE = re.compile(r"[-+]?\d{1,30}", re.ASCII)
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
#: Above this a float no longer distinguishes neighbouring whole numbers.
_EXACT_FLOATS = 2**53


@dataclass(frozen=True)
class Description:
    """One parameter in words; ``allowed`` is the range (``"at least 1"``), empty if there is none."""

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
    defaults = {field.name: field.default for field in fields(kind)}
    return [
        Description(name, _annotation(each), written(defaults[name]), each.allowed, each.meaning)
        for name, each in kind.declared().items()
    ]


def _annotation(declared: Declared) -> str:
    name = f"list[{declared.item.__name__}]" if declared.lists else declared.item.__name__
    return f"Optional[{name}]" if declared.optional else name


def written(value: Any) -> str:
    """A value as Python source: lists as lists, texts in double quotes."""
    if isinstance(value, tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def argument(value: Any) -> str:
    """A value as the text after ``-p name=`` that is read back as the same value."""
    if isinstance(value, tuple):
        return "[" + ",".join(written(item) if isinstance(item, str) else shown(item) for item in value) + "]"
    return value if isinstance(value, str) else shown(value)


def read(kind: type[Settings], values: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """Convert the given values to the declared types; ``kind`` validates them.

    Parameters
    ----------
    kind : type
        The class that declares the parameters.
    values : mapping
        Values by name; text is parsed.
    owner : str
        Whose parameters they are, for the message about an unknown name.
    """
    refuse_unknown(values, kind.names(), f"parameter of {owner}")
    declared = kind.declared()
    return {name: _converted(value, declared[name]) for name, value in values.items()}


def read_file(path: str | Path) -> dict[str, Any]:
    """The values in a YAML file, as text: YAML itself would read ``010`` as eight and ``no`` as false."""
    path = Path(path)
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except OSError as error:
        raise ConfigurationError("", f"The file {path} cannot be read: {error.strerror or error}.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError("", f"The file {path} is not plain YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(content, dict | None) and content != "":
        raise ConfigurationError("", f"The file {path} does not hold lines of the form 'name: value'.")
    return content or {}


def _converted(given: Any, declared: Declared) -> Any:
    """A text as the declared type reads it; one value where a list is declared is a list of one."""
    if given is None or (isinstance(given, str) and declared.optional and given.strip().lower() in ("null", "none")):
        return None
    if not declared.lists:
        return _item(given, declared.item)
    if isinstance(given, str):
        given = _items(given.strip())
    return [_item(each, declared.item) for each in (given if isinstance(given, list | tuple) else [given])]


def _items(text: str) -> list[Any]:
    """``0.25,1,4`` or ``[0.25, 1, 4]``, with quotes around an item that contains a comma."""
    try:
        items = yaml.load(text if text.startswith("[") else f"[{text}]", Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        return [text]
    return items if isinstance(items, list) else [text]


def _item(given: Any, item: type) -> Any:
    if isinstance(given, str) and item is not str:
        text = given.strip()
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        if _NUMBER.fullmatch(text):
            given = int(text) if _WHOLE.fullmatch(text) else float(text)
    if item is int and isinstance(given, float) and given.is_integer() and abs(given) <= _EXACT_FLOATS:
        return int(given)
    return given
