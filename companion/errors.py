"""What can go wrong around an experiment, by name."""

from __future__ import annotations


class CompanionError(Exception):
    """Anything the companion refuses or cannot do."""


class ConfigurationError(CompanionError, ValueError):
    """A setting that is unknown, of the wrong type or out of range.

    Parameters
    ----------
    name : str
        The setting, with dots between levels: ``"descent.step"``; empty for the whole configuration.
    what : str
        What is wrong with it and what is allowed.
    """

    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"{name} {what}" if name else what)
        self.name = name
        self.what = what

    def within(self, outer: str) -> ConfigurationError:
        """The same error, seen from the level above."""
        return ConfigurationError(f"{outer}.{self.name}" if self.name else outer, self.what)


class DataMismatchError(CompanionError):
    """The data at hand are not the data that the run or the result was made from."""


class StoreError(CompanionError):
    """A full disk, a folder without permission, or the like. What was stored stays stored."""


class DamagedResultsError(CompanionError):
    """A results file that is not what was written."""


class VerificationError(CompanionError):
    """Recomputed numbers differ from the stored ones by more than their tolerance."""


class ClusterError(CompanionError):
    """The cluster cannot be reached, or cannot do what it is asked."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run: what is stored, and how to go on."""


class ChapterError(CompanionError):
    """A chapter that cannot be run, or a cell of it that failed.

    Parameters
    ----------
    message : str
        What is wrong, in one sentence.
    chapter : str
        Which chapter.
    cell : int, optional
        Which of its cells, counted from 1 over all cells, prose included.
    source : str
        What the cell holds.
    reason : str
        The error as the cell raised it, in one line.
    traceback : str
        The whole of it.
    """

    def __init__(
        self,
        message: str,
        *,
        chapter: str = "",
        cell: int | None = None,
        source: str = "",
        reason: str = "",
        traceback: str = "",
    ) -> None:
        super().__init__(message)
        self.chapter, self.cell, self.source = chapter, cell, source
        self.reason, self.traceback = reason, traceback
