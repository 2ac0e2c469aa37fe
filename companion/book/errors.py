"""What can go wrong with the book."""

from __future__ import annotations

from ..errors import CompanionError


class BookError(CompanionError):
    """The book cannot be built, or what was built is not sound."""
