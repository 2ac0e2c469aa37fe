"""Progress of a run: a bar on a terminal, elsewhere a line in the log every ten seconds."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

from tqdm import tqdm

from ..wording import duration

logger = logging.getLogger(__name__)

LOG_SECONDS = 10.0


class Progress:
    """Counts pieces towards a total, of which some were done before."""

    def __init__(self, total: int, done: int, unit: str, title: str) -> None:
        self.total, self.before, self.done, self.unit, self.title = total, done, done, unit, title
        self._began = self._logged = time.monotonic()
        terminal = sys.stderr.isatty()
        self._bar: Any = tqdm(total=total, initial=done, unit=f" {unit}s", desc=title, disable=not terminal)

    def reach(self, done: int, steps: int = 0) -> None:
        """Show how many pieces are done, and the steps of the piece under way."""
        now, step = time.monotonic(), f"step {steps:,}" if steps else ""
        self._bar.set_postfix_str(step, refresh=False)
        self._bar.update(done - self.done)
        if self._bar.disable and now - self._logged >= LOG_SECONDS:
            self._logged, new = now, done - self.before
            left = f", about {duration((self.total - done) * (now - self._began) / new)} left" if new else ""
            logger.info("%s: %d/%d %ss%s%s", self.title, done, self.total, self.unit, left, step and f", {step}")
        self.done = done

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.close()
