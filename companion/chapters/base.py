"""A chapter: a notebook, its place in the book, its parameters and their profiles."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..checkout import NOTEBOOKS
from ..errors import ConfigurationError
from ..settings import Settings, refuse_unknown
from .parameters import parsed, written

#: ``paper`` has the values of the paper; the other two are small and compute everything.
PROFILES = ("paper", "quick", "smoke")


@dataclass(frozen=True)
class Chapter:
    """One chapter of the book.

    Parameters
    ----------
    name : str
        Its name on the command line: ``"bigaussian"``.
    number : int
        Its number in the book.
    title : str
        Its heading.
    section : str
        Its subject, usually sections of the paper: ``"paper §4.1"``.
    parameters : type
        A frozen dataclass of settings whose defaults are the paper's values.
    profiles : mapping
        The values that ``quick`` and ``smoke`` have in place of the defaults.
    folder : Path
        The folder of the notebook.
    """

    name: str
    number: int
    title: str
    section: str
    parameters: type[Settings]
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    folder: Path = NOTEBOOKS

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
