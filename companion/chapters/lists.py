"""Checks of parameters that are lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ConfigurationError


def each_once(name: str, values: Sequence[Any]) -> None:
    """At least one value, and none twice.

    Examples
    --------
    >>> each_once("rho", (1.0, 16.0))
    """
    if not values:
        raise ConfigurationError(name, "is an empty list; it must have at least one value.")
    if len(set(values)) < len(values):
        raise ConfigurationError(name, f"is {list(values)}; each value may be there once.")


def one_or_as_many(name: str, values: Sequence[Any], other: str, others: Sequence[Any]) -> None:
    """One value for all, or as many values as another list has.

    Examples
    --------
    >>> one_or_as_many("iterations", (3000, 4000), "n", (100, 200))
    """
    if len(values) not in (1, len(others)):
        raise ConfigurationError(
            name, f"is {list(values)}; it must have one value, or as many as {other}, which is {list(others)}."
        )
