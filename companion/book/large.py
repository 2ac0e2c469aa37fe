"""What the page "Large data" shows of stored measurements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ..figures import costs, style
from ..results.archive import Archive
from ..studies import cluster_costs
from ..wording import duration, markdown_table, number

#: The points for which the law is read off, and the threads.
POINTS, THREADS = 10**8, (1, 2, 64)
#: The prediction is extrapolated only where the measured times exceed it by less than this factor.
TRUSTED = 1.5


#: What was timed, by its name in the record: as the figure calls it, and as a sentence does, told the record.
STEPS = {
    "reading": ("reading all rows once", "reading all rows once, for mean and scale"),
    "descent": ("the descent", "the descent"),
    "errors": ("errors from some points", "the errors before and after, from {points:,} points"),
    "command": ("nystrom optimise", "the whole command, from start to end"),
}


def parts(stored: Archive) -> dict[str, str]:
    """The generated parts of the page; what has not been measured is not there."""
    large, law, many = stored.large_data(), stored.cluster_timings(), stored.many_landmarks()
    made = {
        "cluster.md": "What a pass costs there has not been measured.\n" if law is None else cluster(law),
        "many_landmarks.md": _unmeasured("How long that takes", "many_landmarks") if many is None else landmarks(many),
    }
    if large is None:
        return made | {"large_data.md": _unmeasured("This", "large")}
    return made | {"large_data.md": against_N(large), "large_data.svg": style.svg(figure(large))}


def _unmeasured(what: str, by: str) -> str:
    return f"{what} has not been measured: `python -m benchmarks.{by}` does.\n"


def figure(large: Mapping[str, Any]) -> Figure:
    """Seconds against N."""
    rows = [
        (size["N"], words[0], size["seconds"][step]) for step, words in STEPS.items() for size in large["sizes"]
    ]
    return costs.times(pd.DataFrame(rows, columns=["size", "what", "seconds"]), unit="seconds")


def against_N(large: Mapping[str, Any]) -> str:
    """The figure, and what it says."""
    sizes = sorted(large["sizes"], key=lambda size: size["N"])
    least, most = sizes[0], sizes[-1]
    low, high = (f"{size['N']:,}" for size in (least, most))
    told = {step: f"{number(least['seconds'][step])} s and {number(most['seconds'][step])} s" for step in STEPS}
    alt = f"Seconds against the number of points, both logarithmic, from {low} to {high}. " + " ".join(
        f"{words[0].capitalize()}: {told[step]}." for step, words in STEPS.items()
    )
    longest = max(size["seconds"]["descent"] for size in sizes)
    shortest = min(size["seconds"]["descent"] for size in sizes)
    peak = max(max(size["peak"].values()) for size in sizes)
    machine = large["machine"]
    return "\n\n".join(
        [
            f"Measured with {large['landmarks']:,} landmarks in {large['d']} dimensions, float32 on the disk "
            f"({machine['processor']}, {machine['cores']} cores), at {low} and at {high} points:",
            "\n".join(f"- {words[1].format(**large)}: {told[step]};" for step, words in STEPS.items())
            + f"\n- the most memory any of it took: {number(peak / 1e9)} GB.",
            f"The descent takes {number(shortest)} s to {number(longest)} s whatever the number of points. What grows "
            "is reading. `python -m benchmarks.large` measures it again.",
            f"```{{image}} /_generated/large_data.svg\n:alt: {alt}\n:width: 100%\n```",
        ]
    ) + "\n"


def landmarks(many: Mapping[str, Any]) -> str:
    """Seconds, memory and errors by the number of landmarks."""
    machine = many["machine"]
    head = ["landmarks", "found in", f"weights of {many['new']:,} points", "memory", "error before", "after"]
    rows = []
    for size in many["sizes"]:
        before, after = (number(trace / many["N"]) for trace in size["trace"])
        seconds = [duration(size["seconds"][step]) for step in ("finding", "weights")]
        rows.append([f"{size['n']:,}", *seconds, f"{number(size['peak_bytes'] / 1e9)} GB", before, after])
    return "\n\n".join(
        [
            f"Of {many['N']:,} points in {many['d']} dimensions, float32 on the disk, with the default number of steps "
            f"({machine['processor']}, {machine['cores']} cores). Memory is the most the process took, as the system "
            f"counts it; errors are means over {many['points']:,} points, where 1 is to lose everything:",
            markdown_table(head, rows, [True] * len(head)),
            "`python -m benchmarks.many_landmarks` measures it again.",
        ]
    ) + "\n"


def cluster(found: Mapping[str, Any]) -> str:
    """The predicted time of a pass on a cluster, beside what was measured, and for more workers."""
    laws = {int(n): cluster_costs.measured(found, int(n)) for n in found["landmarks"]}
    most = max(laws)
    law, read = laws[most], found["landmarks"][str(most)]["read_s"]
    checks = [
        [workers, f"{n:,}", f"{seconds[str(n)]:.2f}", f"{laws[n].seconds(found['N'], int(workers)):.2f}"]
        for workers, timed in found["workers"].items()
        for seconds in [timed["pass_s"]]
        for n in laws
    ]
    misses = {
        n: max(
            timed["pass_s"][str(n)] / laws[n].seconds(found["N"], int(count))
            for count, timed in found["workers"].items()
        )
        for n in laws
    }
    trusted = [n for n in laws if misses[n] <= TRUSTED]
    told = [[f"{count}", *(duration(laws[n].seconds(POINTS, count)) for n in trusted)] for count in THREADS]
    parts = [_prediction(trusted, told)] if trusted else []
    return "\n\n".join(
        [
            f"The time of a pass is that of its blocks. On one core ({found['machine']}) a block of 32,768 points in "
            f"{found['d']} dimensions takes {number(law.block)} s with {most:,} landmarks, of which reading is "
            f"{number(read)} s; each worker factors $\\mathbf K_{{\\mathcal S}}$ once, in {number(law.factor)} s; and "
            f"a task costs {number(1e3 * law.task)} ms whatever is in it. This predicts: the factor, plus blocks over "
            f"threads times the time of a block, plus tasks times that of an empty one. Seconds of whole passes over "
            f"{found['N']:,} points, by workers of one thread each on that machine:",
            markdown_table(
                ["workers", "landmarks", "measured", "predicted"], checks, [True, True, True, True]
            ),
            "The passes took up to "
            + " and ".join(f"{number(miss)} times as long with {n:,} landmarks" for n, miss in misses.items())
            + " as predicted: the prediction ignores that the workers and the scheduler share one machine.",
            *parts,
        ]
    ) + "\n"


def _prediction(trusted: list[int], told: list[list[str]]) -> str:
    """The law far beyond what was measured, for the numbers of landmarks for which it was nearly right."""
    head = ["workers", *(f"{n:,} landmarks" for n in trusted)]
    return (
        f"What it predicts for {POINTS:,} points if every worker has a core and a disk of its own, for numbers of "
        f"landmarks for which it missed by less than a factor of {TRUSTED:g}; take it as a lower bound:\n\n"
        + markdown_table(head, told, [True] * len(head))
    )
