"""A descent that takes a minute or more: checked by its first steps, and timed piece by piece as in §4.4."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nystrom_lib as nl

from ..errors import VerificationError
from ..experiments.components import Descent
from ..experiments.config import Experiment
from ..experiments.outcome import Array
from ..experiments.protocol import prepare, repetition
from ..experiments.seeds import Axis, seed_for
from ..results.table import Results
from ..results.tolerances import tolerance_for

#: What the paper reports for MiniBooNE, in seconds, by the names of results/miniboone_timings.json.
PAPER_SECONDS = {"radial_skd_s": 6.8, "trace_s": 6600.0, "descent_s": 1350.0}
PAPER_MACHINE = "3.5 GHz Dual-Core Intel Core i7, one thread, C called from R"


def check_first_steps(stored: Results, steps: int, dataset: nl.datasets.Dataset | None = None) -> str:
    """Compute the first steps of repetition 0 again and compare R along them.

    Parameters
    ----------
    stored : Results
        Of a descent that recorded its decay.
    steps : int
        How many steps; no more are taken than there were.
    dataset : Dataset, optional
        The data, if they are in memory already.

    Returns
    -------
    str
        What was compared. A difference beyond the tolerance raises VerificationError.
    """
    experiment = stored.experiment
    steps = min(steps, experiment.descent.steps)
    short = experiment.replace(
        descent=_shorter(experiment.descent, steps),
        m=1,
        norms=(),
        factors=False,
        record=experiment.record.replace(repetitions=(0,), path=False),
    )
    curve = repetition(prepare(short, dataset, stored.constants), 0).arrays["curve"]
    known = dict(stored.outcomes[0].arrays["curve"].T.tolist())
    pairs = [(int(t), value, known[t]) for t, value in curve.T.tolist() if t in known]
    tolerance = tolerance_for("curve", stored.constants)
    for t, value, expected in pairs:
        if not tolerance.excess(value, expected) <= 1.0:
            raise VerificationError(
                f"R after {t:,} steps is {value!r}, stored {expected!r}: more apart than the tolerance, {tolerance}."
            )
    where = ", ".join(f"{t:,}" for t, _, _ in pairs)
    return f"the first {steps:,} steps: R at t = {where}"


def _shorter(descent: Descent, steps: int) -> Descent:
    return descent.replace(iterations=steps)


@dataclass(frozen=True)
class Timings:
    """Seconds, by the names of :data:`PAPER_SECONDS`, and from how many steps the descent's were scaled."""

    radial_skd_s: float
    trace_s: float
    descent_s: float
    timed_steps: int


def time_pieces(experiment: Experiment, dataset: nl.datasets.Dataset, steps: int) -> Timings:
    """Time R up to its constant, the trace norm, and some steps of the descent, on S⁽⁰⁾.

    Parameters
    ----------
    experiment : Experiment
        Whose n, kernel and descent.
    dataset : Dataset
        Its data.
    steps : int
        How many steps to time; the seconds of all T are scaled from these.
    """
    kernel, data, whole = experiment.kernel, dataset.X, experiment.descent.steps
    start = experiment.initial.draw(kernel, data, experiment.n, seed_for(experiment.seed, Axis.INITIAL_SAMPLE))
    steps = min(steps, whole)

    def descend(count: int) -> nl.Descent:
        return _shorter(experiment.descent, count).descend(
            kernel, data, start, seed_for(experiment.seed, Axis.BATCHES),
            record_every=0, keep_path=False, constant=0.0, progress=None,
        )  # fmt: skip

    warm_up(kernel, data[: experiment.n], start, lambda: descend(1))
    return Timings(
        radial_skd_s=_seconds(lambda: nl.radial_skd(kernel, data, start, constant=False)),
        trace_s=_seconds(lambda: nl.nystrom_errors(kernel, data, start, norms=("trace",))),
        descent_s=_seconds(lambda: descend(steps)) * whole / steps,
        timed_steps=steps,
    )


def warm_up(kernel: nl.Kernel, some: Array, start: Array, step: Callable[[], Any]) -> None:
    """Have everything compiled that is timed afterwards."""
    nl.radial_skd(kernel, some, start, constant=False)
    nl.nystrom_errors(kernel, some, start, norms=("trace",))
    step()


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
