"""What the page "Large data" shows of stored measurements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..results.archive import Archive
from ..studies import cluster_costs
from ..wording import duration, markdown_table, number

#: The points for which the law is read off, and the threads.
POINTS, THREADS = 10**8, (1, 2, 64)


def parts(stored: Archive) -> dict[str, str]:
    """The generated parts of the page."""
    found = stored.cluster_timings()
    return {"cluster.md": "" if found is None else cluster(found)}


def cluster(found: Mapping[str, Any]) -> str:
    """The law of a pass on a cluster: how well it tells what was measured, and what it tells of more workers."""
    laws = {int(n): cluster_costs.measured(found, int(n)) for n in found["landmarks"]}
    most = max(laws)
    law, read = laws[most], found["landmarks"][str(most)]["read_s"]
    checks = [
        [workers, f"{n:,}", f"{seconds[str(n)]:.2f}", f"{laws[n].seconds(found['N'], int(workers)):.2f}"]
        for workers, timed in found["workers"].items()
        for seconds in [timed["pass_s"]]
        for n in laws
    ]
    told = [[f"{count}", *(duration(each.seconds(POINTS, count)) for each in laws.values())] for count in THREADS]
    return "\n\n".join(
        [
            f"A pass is as long as its blocks. On one core ({found['machine']}) a block of 32,768 points in "
            f"{found['d']} dimensions takes {number(law.block)} s with {most:,} landmarks, of which reading is "
            f"{number(read)} s; each worker factors $\\mathbf K_{{\\mathcal S}}$ once, in {number(law.factor)} s; and "
            f"a task costs {number(1e3 * law.task)} ms whatever is in it. So the law is: factor, plus blocks over "
            f"threads times the time of a block, plus tasks times that of an empty one. Seconds of whole passes over "
            f"{found['N']:,} points, by workers of one thread each on that machine:",
            markdown_table(
                ["workers", "landmarks", "measured", "by the law"], checks, [True, True, True, True]
            ),
            f"And what the law tells of {POINTS:,} points, where every worker has a core and a disk of its own:",
            markdown_table(
                ["workers", *(f"{n:,} landmarks" for n in laws)], told, [True] * (1 + len(laws))
            ),
        ]
    ) + "\n"
