"""Fixtures of the library's tests."""

import time
from collections.abc import Callable
from typing import Any

import pytest


class Clock:
    """Replaces ``time.perf_counter``: it stands still until it is advanced, but for ``tick`` seconds at each call."""

    def __init__(self) -> None:
        self.now = 0.0
        self.tick = 0.0

    def __call__(self) -> float:
        self.now += self.tick
        return self.now

    def charge(self, function: Callable[..., Any], seconds: float) -> Callable[..., Any]:
        """The function, each call of which takes so many seconds."""

        def charged(*arguments: Any, **options: Any) -> Any:
            self.now += seconds
            return function(*arguments, **options)

        return charged


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The library's clock for the length of a test."""
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock
