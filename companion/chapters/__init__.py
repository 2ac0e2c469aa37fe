"""The chapters: each a notebook, and beside it here the parameters it takes.

To add one, write a file like the others (a ``Parameters`` class and a ``CHAPTER``), name it in ``_FILES``, and write
the notebook.

>>> from companion.chapters import chapter, CHAPTERS
>>> chapter("bigaussian").file
'05_bigaussian.ipynb'
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType

from ..errors import ConfigurationError
from ..wording import did_you_mean
from .base import PROFILES, Chapter

__all__ = ["CHAPTERS", "PROFILES", "Chapter", "chapter"]

_FILES = (
    "approximation",
    "radial_skd",
    "convergence",
    "stochastic_gradients",
    "bigaussian",
    "abalone",
    "magic",
    "miniboone",
    "your_data",
    "descents",
    "starts",
    "objectives",
    "arena",
    "designs",
    "sphere",
)


def _registry() -> dict[str, Chapter]:
    chapters = [import_module(f".{name}", __name__).CHAPTER for name in _FILES if find_spec(f"{__name__}.{name}")]
    return {each.name: each for each in sorted(chapters, key=lambda each: each.number)}


#: Every chapter by its name, in the order of the book.
CHAPTERS: Mapping[str, Chapter] = MappingProxyType(_registry())


def chapter(name: str) -> Chapter:
    """One chapter by its name; a misspelt one is refused with the name it is nearest to."""
    if name not in CHAPTERS:
        hint = did_you_mean(name, CHAPTERS, cutoff=0.5)
        raise ConfigurationError("", f"There is no chapter {name!r}{hint}; known: {', '.join(CHAPTERS)}.")
    return CHAPTERS[name]
