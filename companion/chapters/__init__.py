"""The chapters: each a module with its parameters and a ``CHAPTER``, and a notebook.

>>> from companion.chapters import chapter, CHAPTERS
>>> chapter("bigaussian").file, chapter("5").name
('05_bigaussian.ipynb', 'bigaussian')
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from ..errors import ConfigurationError
from ..wording import did_you_mean
from .base import PROFILES, Chapter

__all__ = ["CHAPTERS", "PROFILES", "Chapter", "chapter"]

_modules = [import_module(f".{found.name}", __name__) for found in iter_modules(__path__)]
_chapters = sorted((each.CHAPTER for each in _modules if hasattr(each, "CHAPTER")), key=lambda each: each.number)
#: Every chapter that has its notebook, by its name, in the order of the book.
CHAPTERS: Mapping[str, Chapter] = {each.name: each for each in _chapters if each.path.is_file()}


def chapter(name: str) -> Chapter:
    """One chapter by its name or its number."""
    for each in CHAPTERS.values():
        if name in (each.name, str(each.number)):
            return each
    hint = did_you_mean(name, CHAPTERS, cutoff=0.5)
    raise ConfigurationError("", f"There is no chapter {name!r}{hint}; known: {', '.join(CHAPTERS)}.")
