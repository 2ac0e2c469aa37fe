"""Progress of a run: a bar on a terminal, elsewhere a line in the log every ten seconds."""

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
    """Counts towards a total.

    Parameters
    ----------
    total : int
        How many pieces there are.
    done : int
        How many were done before.
    unit, title : str
        What they are.
    show : bool
        Draw the bar where there is a terminal?
    """

    def __init__(self, total: int, *, done: int = 0, unit: str, title: str, show: bool = True) -> None:
        self.total, self.initial, self.done = total, done, done
        self.unit, self.title = unit, title
        self._began = self._logged = time.monotonic()
        self._bar: Any = None
        if show and sys.stderr.isatty():
            self._bar = tqdm(total=total, initial=done, unit=f" {unit}s", desc=title, dynamic_ncols=True, delay=0.1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def reach(self, done: int, steps: int = 0) -> None:
        """Show that so many are done, and how many steps of the present one."""
        if self._bar is not None:
            self._bar.set_postfix_str(f"step {steps:,}" if steps else "", refresh=False)
            self._bar.update(done - self.done)
        self.done = done
        if self._bar is None and time.monotonic() - self._logged >= LOG_SECONDS:
            self._logged = time.monotonic()
            logger.info("%s%s", self.line(), f", step {steps:,}" if steps else "")

    def line(self) -> str:
        """Count, rate and time left in one line."""
        elapsed = time.monotonic() - self._began
        rate = (self.done - self.initial) / elapsed if elapsed > 0 else 0.0
        left = f"about {duration((self.total - self.done) / rate)} left" if rate > 0 else "time left unknown"
        return f"{self.title}: {self.done}/{self.total} {self.unit}s, {rate:.3g} {self.unit}s/s, {left}"
