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
    """Counts pieces towards a total, of which some were done before; ``show`` allows a bar."""

    def __init__(self, total: int, *, done: int = 0, unit: str, title: str, show: bool = True) -> None:
        self.total, self.before, self.done, self.unit, self.title = total, done, done, unit, title
        self._began = self._logged = time.monotonic()
        hidden = not (show and sys.stderr.isatty())
        self._bar: Any = None if hidden else tqdm(total=total, initial=done, unit=f" {unit}s", desc=title, delay=0.1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def reach(self, done: int, steps: int = 0) -> None:
        """Show that ``done`` pieces are done, and the steps of the piece under way."""
        now, step = time.monotonic(), f"step {steps:,}" if steps else ""
        if self._bar is not None:
            self._bar.set_postfix_str(step, refresh=False)
            self._bar.update(done - self.done)
        elif now - self._logged >= LOG_SECONDS:
            self._logged, new = now, done - self.before
            left = f", about {duration((self.total - done) * (now - self._began) / new)} left" if new else ""
            logger.info("%s: %d/%d %ss%s%s", self.title, done, self.total, self.unit, left, step and f", {step}")
        self.done = done
