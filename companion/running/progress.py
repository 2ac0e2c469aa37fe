"""Progress of a run: a line in the log every ten seconds."""

from __future__ import annotations

import logging
import time

from ..wording import duration

logger = logging.getLogger(__name__)

LOG_SECONDS = 10.0


class Progress:
    """Counts pieces towards a total, of which some were done before."""

    def __init__(self, total: int, done: int, unit: str, title: str) -> None:
        self.total, self.before, self.done, self.unit, self.title = total, done, done, unit, title
        self._began = self._logged = time.monotonic()

    def reach(self, done: int, steps: int = 0) -> None:
        """Log how many pieces are done, and the steps of the piece under way."""
        self.done, now = done, time.monotonic()
        if now - self._logged >= LOG_SECONDS:
            self._logged, new = now, done - self.before
            left = f", about {duration((self.total - done) * (now - self._began) / new)} left" if new else ""
            step = f", step {steps:,}" if steps else ""
            logger.info("%s: %d/%d %ss%s%s", self.title, done, self.total, self.unit, left, step)
