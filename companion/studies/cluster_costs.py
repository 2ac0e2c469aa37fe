"""What a pass over the data takes on a cluster, by the law that was measured on this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..experiments.sums import BLOCK_ROWS


@dataclass(frozen=True)
class Law:
    """Seconds of the parts of a pass: the factor of K_S, which every worker makes, a block on one thread, a task."""

    factor: float
    block: float
    task: float
    shares: int  #: tasks for each thread

    def seconds(self, N: int, threads: int) -> float:
        """Of the exact trace error of N points.

        Examples
        --------
        >>> Law(factor=1.0, block=0.5, task=0.01, shares=8).seconds(64 * 2**15, threads=4)
        9.32
        """
        blocks = -(-N // BLOCK_ROWS)
        share = -(-blocks // (self.shares * threads))  # blocks of a task
        tasks = -(-blocks // share)
        return self.factor + -(-tasks // threads) * share * self.block + tasks * self.task


def measured(stored: Mapping[str, Any], n: int) -> Law:
    """The law for n landmarks, from ``results/cluster_timings.json``."""
    parts = stored["landmarks"][str(n)]
    tasks = [workers["task_s"] for workers in stored["workers"].values()]
    return Law(parts["factor_s"], parts["block_s"], max(tasks), stored["shares"])
