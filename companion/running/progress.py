"""How far a run has come: a bar on a terminal, a line every ten seconds in the log elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any, Self

from tqdm import tqdm

from ..wording import duration

logger = logging.getLogger(__name__)

LOG_SECONDS = 10.0


class Progress:
    """Counts towards a total. Nothing but the log is written where there is no terminal.

    Parameters
    ----------
    total : int
        How many there are.
    done : int
        How many were there before; they do not count for the rate.
    unit : str
        Of what.
    title : str
        What is being done.
    show : bool
        Draw the bar where there is a terminal?
    """

    def __init__(self, total: int, *, done: int = 0, unit: str, title: str, show: bool = True) -> None:
        self.total, self.initial, self.done = total, done, done
        self.unit, self.title = unit, title
        self._began = self._logged = time.monotonic()
        self._bar: Any = None
        if show and sys.stderr.isatty():
            self._bar = tqdm(total=total, initial=done, unit=f" {unit}s", desc=title, dynamic_ncols=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def reach(self, done: int) -> None:
        """So many are done; called often, also when nothing has changed."""
        if self._bar is not None:
            self._bar.update(done - self.done)
        self.done = done
        if self._bar is None and time.monotonic() - self._logged >= LOG_SECONDS:
            self._logged = time.monotonic()
            logger.info("%s", self.line())

    def line(self) -> str:
        """Count, rate and time left in one line."""
        elapsed = time.monotonic() - self._began
        rate = (self.done - self.initial) / elapsed if elapsed > 0 else 0.0
        left = f"about {duration((self.total - self.done) / rate)} left" if rate > 0 else "time left unknown"
        speed = f"{rate:.3g} {self.unit}s/s"
        return f"{self.title}: {self.done}/{self.total} {self.unit}s, {speed}, {left}"
