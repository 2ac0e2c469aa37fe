"""A chapter: a notebook, its place in the book, its parameters and their profiles; and parameter values as text."""

from __future__ import annotations

import ast
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..checkout import NOTEBOOKS
from ..errors import ConfigurationError
from ..settings import Declared, Settings, refuse_unknown

#: ``paper`` has the values of the paper; the other two are small and compute everything.
PROFILES = ("paper", "quick", "smoke")
_WORDS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True)
class Chapter:
    """One chapter of the book."""

    name: str  #: on the command line, such as ``"bigaussian"``
    number: int
    title: str
    section: str  #: its subject, usually sections of the paper: ``"paper §4.1"``
    parameters: type[Settings]  #: their defaults are the paper's values
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  #: by name, what replaces the defaults
    folder: Path = NOTEBOOKS  #: where the notebook is

    @property
    def file(self) -> str:
        """The notebook's name."""
        return f"{self.number:02d}_{self.name}.ipynb"

    @property
    def path(self) -> Path:
        """The notebook."""
        return self.folder / self.file

    def settings(self, values: Mapping[str, Any] | None = None, profile: str = "paper") -> Settings:
        """Validate the parameters of a run: the defaults, updated by the profile, then by ``values``.

        Text, as the command line gives it, is converted to the declared type. The experiments are made once, so that
        what the library refuses is refused before a kernel starts.
        """
        declared = self.parameters.declared()
        refuse_unknown(values or {}, list(declared), f"parameter of {self.name}")
        given = {name: parsed(value, declared[name]) for name, value in (values or {}).items()}
        settings = self.parameters(**{**self.profiles.get(profile, {}), **given})
        try:
            getattr(settings, "experiments", list)()
        except ValueError as error:  # of the library's kernels
            raise error if isinstance(error, ConfigurationError) else ConfigurationError("", str(error)) from None
        return settings

    def changed(self, settings: Settings) -> dict[str, Any]:
        """The parameters that differ from the paper's."""
        paper = self.parameters().values()
        return {name: value for name, value in settings.values().items() if value != paper[name]}

    def command(self, settings: Settings) -> str:
        """The command that runs this chapter with these parameters."""
        words = ["nystrom", "run", self.name]
        for name, value in self.changed(settings).items():
            words += ["-p", f"{name}={value if isinstance(value, str) else written(value)}"]
        return shlex.join(words)

    def cell(self) -> str:
        """The ``parameters`` cell of the notebook, in the form that papermill reads.

        Each line has a name, a type, the paper's value, and in a comment the meaning and the range.
        """
        lines = [
            f"{name}: {each.annotation} = {written(each.default)}" + (f"  # {each.comment}" if each.comment else "")
            for name, each in self.parameters.declared().items()
        ]
        if any("Optional[" in line for line in lines):
            lines = ["from typing import Optional", "", *lines]
        return "\n".join(lines)


# -- values as text, on the command line and in the ``parameters`` cell ----------------------------------------


def written(value: Any) -> str:
    """A value as a Python literal: lists in brackets, text in double quotes."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def parsed(value: Any, declared: Declared) -> Any:
    """Convert text to the declared type, as far as it can be read; the settings validate the result.

    A list may be written with or without brackets, as in ``0.25,1,4``.
    """
    if isinstance(value, str) and declared.optional and value.strip().lower() in ("null", "none"):
        return None
    if not declared.lists or value is None:
        return _item(value, declared.item)
    if isinstance(value, str):
        bare = value[1:-1] if value.startswith("[") and value.endswith("]") else value
        read = literal(value) if value.startswith("[") or declared.item is not str else value
        value = [each.strip() for each in bare.split(",")] if isinstance(read, str) else read
    return [_item(each, declared.item) for each in (value if isinstance(value, list | tuple) else [value])]


def _item(value: Any, item: type) -> Any:
    if isinstance(value, str) and item is not str:
        value = literal(value)
    if item is int and isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    return value


def literal(text: str) -> Any:
    """A Python literal, or true, false or null; any other text is returned as it is."""
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
