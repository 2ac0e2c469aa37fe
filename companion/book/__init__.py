"""The book: chapters executed, pages generated from results, everything rendered and every link followed.

>>> from companion import book
>>> book.build.__module__
'companion.book.building'
"""

from __future__ import annotations

from .building import build
from .errors import BookError

__all__ = ["BookError", "build"]
