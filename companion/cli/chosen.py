"""Experiments chosen by name or by a pattern such as ``figure-2*``."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from ..errors import ConfigurationError
from ..wording import did_you_mean

_SHOWN = 20  #: names in an error, which --list has all of


def chosen(names: Iterable[str], known: Iterable[str], what: str) -> list[str]:
    """Those of ``known`` that ``names`` mean, in the order of ``known``; all of them without ``names``.

    Examples
    --------
    >>> chosen(["figure-2*"], ["figure-1", "figure-2-n20", "figure-2-n50"], "experiment")
    ['figure-2-n20', 'figure-2-n50']
    """
    known, names = list(known), list(names)
    wanted = {match for name in names for match in _matches(name, known, what)}
    return [name for name in known if name in wanted or not names]


def _matches(name: str, known: list[str], what: str) -> list[str]:
    matching = [each for each in known if fnmatchcase(each, name)]
    if not matching:
        hint = did_you_mean(name, known)
        shown = known[:_SHOWN] + [f"and {len(known) - _SHOWN} more"] * (len(known) > _SHOWN)
        raise ConfigurationError("", f"There is no {what} {name!r}{hint}; known: {', '.join(shown)}.")
    return matching
