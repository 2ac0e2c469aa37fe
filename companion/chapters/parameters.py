"""Parameter values as text: on the command line and in the notebook's ``parameters`` cell."""

from __future__ import annotations

import ast
import csv
import json
from typing import Any

from ..settings import Declared

_WORDS = {"true": True, "false": False, "null": None}
#: Above this a float no longer distinguishes neighbouring integers.
_EXACT_FLOATS = 2**53


def written(value: Any) -> str:
    """A value as a Python literal: lists in brackets, text in double quotes."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def parsed(value: Any, declared: Declared) -> Any:
    """Convert text to the declared type, as far as it can be read; the settings validate the result."""
    if isinstance(value, str) and declared.optional and value.strip().lower() in ("null", "none"):
        return None
    if not declared.lists or value is None:
        return _item(value, declared.item)
    if isinstance(value, str):
        value = _items(value.strip(), declared.item)
    return [_item(each, declared.item) for each in (value if isinstance(value, list | tuple) else [value])]


def _items(text: str, item: type) -> Any:
    """``0.25,1,4`` or ``[0.25, 1, 4]``; text that contains a comma must be in double quotes."""
    value = literal(text) if text.startswith("[") or item is not str else text
    if not isinstance(value, str):
        return value
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return [each.strip() for each in next(csv.reader([text], skipinitialspace=True), [])]


def _item(value: Any, item: type) -> Any:
    if isinstance(value, str) and item is not str:
        value = literal(value)
    if item is int and isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_FLOATS:
        return int(value)
    return value


def literal(text: str) -> Any:
    """A Python literal, or true, false or null; any other text is returned as it is."""
    try:
        return _WORDS[text.strip().lower()]
    except KeyError:
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
