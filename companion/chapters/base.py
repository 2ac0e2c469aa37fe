"""What a chapter is: a notebook, its place in the book, the parameters it takes and their profiles."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..checkout import NOTEBOOKS, RESULTS
from ..errors import ChapterError, ConfigurationError
from ..experiments.config import Experiment
from ..settings import Settings
from . import parameters as reading

#: ``paper`` is what a notebook shows of itself; the other two are small and compute everything.
PROFILES = ("paper", "quick", "smoke")


@dataclass(frozen=True)
class Chapter:
    """One chapter of the book.

    Parameters
    ----------
    name : str
        What the command line calls it: ``"bigaussian"``.
    number : int
        Its place in the book.
    title : str
        Its heading.
    section : str
        What it is about, most often sections of the paper: ``"paper §4.1"``.
    parameters : type
        A frozen dataclass of settings whose defaults are the paper's values.
    profiles : mapping
        What ``quick`` and ``smoke`` have in place of the defaults.
    folder : Path
        Where the notebook is.
    """

    name: str
    number: int
    title: str
    section: str
    parameters: type[Settings]
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    folder: Path = NOTEBOOKS

    def __post_init__(self) -> None:
        unknown = set(self.profiles) - set(PROFILES[1:])
        if unknown:
            raise ConfigurationError("profiles", f"has {sorted(unknown)}; it may have {', '.join(PROFILES[1:])}.")

    @property
    def file(self) -> str:
        """The notebook's name."""
        return f"{self.number:02d}_{self.name}.ipynb"

    @property
    def path(self) -> Path:
        """The notebook."""
        return self.folder / self.file

    def source(self) -> Path:
        """The notebook, which must be there."""
        if not self.path.is_file():
            raise ChapterError(
                f"The notebook of chapter {self.name} is not at {self.path}; it comes with a checkout of the project.",
                chapter=self.name,
            )
        return self.path

    def settings(self, values: Mapping[str, Any] | None = None, profile: str = "paper") -> Settings:
        """The parameters of a run: the defaults, over them the profile, over that ``values``.

        Values may be text, as a command line has it, or what YAML or Python makes of it; either way they become what
        the declared type says or are refused.
        """
        if profile not in PROFILES:
            raise ConfigurationError("profile", f"is {profile!r}; it must be one of {', '.join(PROFILES)}.")
        given = reading.read(self.parameters, values or {}, owner=self.name)
        return self.parameters(**{**self.profiles.get(profile, {}), **given})

    def experiments(self, settings: Settings) -> list[Experiment]:
        """What the notebook asks for the results of."""
        asked: Any = getattr(settings, "experiments", list)()
        return list(asked.values() if isinstance(asked, Mapping) else asked)

    def computes(self, settings: Settings) -> bool:
        """Whether any of these results are to be computed, because they are not stored."""
        from ..running.stored import find

        return any(find(each, RESULTS) is None for each in self.experiments(settings))

    def ready(self, settings: Settings) -> None:
        """Refuse, before a kernel starts, what its first cells would refuse."""
        try:
            self.experiments(settings)
        except ValueError as error:  # of the library's kernels
            raise error if isinstance(error, ConfigurationError) else ConfigurationError("", str(error)) from None
        request = getattr(settings, "request", None)
        if request is not None:
            request()

    def changed(self, settings: Settings) -> dict[str, Any]:
        """The parameters that differ from the paper's."""
        paper = self.parameters()
        names = self.parameters.names()
        return {name: getattr(settings, name) for name in names if getattr(settings, name) != getattr(paper, name)}

    def command(self, settings: Settings) -> str:
        """The line that runs this chapter with these parameters."""
        words = ["nystrom", "run", self.name]
        for name, value in self.changed(settings).items():
            words += ["-p", f"{name}={reading.argument(value)}"]
        return shlex.join(words)

    def describe(self) -> list[reading.Description]:
        """Name, type, default, range and meaning of each parameter."""
        return reading.describe(self.parameters)

    def cell(self) -> str:
        """The text of the notebook's ``parameters`` cell.

        A line for each parameter, in the form that papermill reads: name, type, the paper's value, and in a comment
        what it means and what is allowed.
        """
        lines = [
            f"{each.name}: {each.type} = {each.default}" + (f"  # {each.comment}" if each.comment else "")
            for each in self.describe()
        ]
        if any("Optional[" in line for line in lines):
            lines = ["from typing import Optional", "", *lines]
        return "\n".join(lines)
