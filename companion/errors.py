"""Errors of the companion."""

from __future__ import annotations


class CompanionError(Exception):
    """Any error that the companion expects; its message is one sentence for the user."""


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


class VerificationError(CompanionError):
    """Recomputed numbers differ from the stored ones by more than their tolerance."""


class ClusterError(CompanionError):
    """The cluster cannot be reached, or cannot do what it is asked."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; the message says what is stored and how to continue."""
