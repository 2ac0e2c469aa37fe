"""Chapter 8, §4.4: real rows of MiniBooNE, Figure 5 or a stand-in of its size, and the timings.

The file with all data is named in the environment variable NYSTROM_MINIBOONE, or fetched beforehand. The study of real
rows is :mod:`companion.studies.real_rows`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from timeit import timeit
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import nystrom_lib as nl
from nystrom_lib.datasets import Dataset

from ..errors import VerificationError
from ..experiments.components import DataSource, MiniBooNE, part_of
from ..experiments.config import Experiment
from ..experiments.outcome import Array
from ..experiments.paper import PAPER, SEED, value
from ..experiments.protocol import prepare, repetition
from ..experiments.seeds import Axis, seed_for
from ..figures import decay, style
from ..results import provenance
from ..results.table import Results
from ..results.tolerances import tolerance_for
from ..settings import Settings, setting
from ..studies import real_rows
from ..wording import number, percent
from .base import Chapter

#: The number of observations without the 471 incomplete ones and the outlier; the stand-in has as many.
ALL = 129_592
#: What the paper reports, in seconds, by the names of results/miniboone_timings.json.
PAPER_SECONDS = {"radial_skd_s": 6.8, "trace_s": 6600.0, "descent_s": 1350.0}
PAPER_MACHINE = "3.5 GHz Dual-Core Intel Core i7, one thread, C called from R"
WORK = {
    "radial_skd_s": "R up to its constant, once",
    "trace_s": "trace norm of the error, once",
    "descent_s": "the descent, R not evaluated",
}


# -- parameters ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MiniBooNEParameters(Settings):
    """The parameters of chapter 8; the defaults are the paper's values."""

    N: int = setting(ALL, at_least=2, at_most=ALL, meaning="number of observations; fewer are drawn at random")
    stand_in: str = setting(
        value(5, "data.stand_in"),
        choices=("auto", "never", "always"),
        meaning="artificial data in place of MiniBooNE: where it is absent, never, or always",
    )
    rho: float = setting(value(5, "kernel.rho"), above=0, meaning="kernel parameter ρ")
    n: int = setting(value(5, "n"), at_least=1, at_most=20_000, meaning="number of landmark points")
    step: float = setting(value(5, "descent.step"), above=0, meaning="step γ of the stochastic gradient descent")
    iterations: int = setting(value(5, "descent.iterations"), at_least=1, at_most=10**6, meaning="number of steps T")
    batch_size: int = setting(value(5, "descent.batch_size"), at_least=1, meaning="batch size b")
    every: int = setting(value(5, "record.every"), at_least=1, meaning="steps between two evaluations of R")
    seed: int = setting(SEED, at_least=0, meaning="seed of the initial sample and of the batches")
    recompute: int = setting(100, at_least=0, meaning="how many of the first steps to compute again")
    timed_steps: int = setting(
        200, at_least=1, meaning="steps to time in this run, from which the time of all T is scaled"
    )
    sample: str | None = setting(
        None, meaning="the public sample of real rows, to compute some of its stored results again; null if absent"
    )

    def data(self) -> DataSource:
        """D."""
        return part_of(MiniBooNE(stand_in=self.stand_in), self.N, ALL)

    def load(self) -> Dataset:
        """The points of D, or of the stand-in.

        In a kernel without widgets, tqdm warns that it cannot draw its bar.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="IProgress not found")
            return self.data().load(self.seed)

    def descent(self) -> Experiment:
        """Figure 5, and the trace norms before and after it."""
        paper = PAPER["figure-5"]
        return paper.replace(
            data=self.data(),
            kernel=nl.Gaussian(rho=self.rho),
            n=self.n,
            descent=paper.descent.replace(step=self.step, iterations=self.iterations, batch_size=self.batch_size),
            seed=self.seed,
            record=paper.record.replace(every=self.every),
        )

    def experiments(self) -> list[Experiment]:
        """The experiment of the chapter."""
        return [self.descent()]


CHAPTER = Chapter(
    name="miniboone",
    number=8,
    title="The MiniBooNE data",
    section="paper §4.4",
    parameters=MiniBooNEParameters,
    profiles={
        # A gradient is about as large as N², so fewer points need a longer step.
        "quick": {"N": 20_000, "n": 200, "step": 8e-6, "iterations": 1000, "recompute": 0},
        "smoke": {
            "N": 2000,
            "n": 30,
            "step": 2e-4,
            "iterations": 200,
            "every": 10,
            "recompute": 50,
            "timed_steps": 50,
        },
    },
)


# -- real rows -------------------------------------------------------------------------------------------------


@style.picture(
    "fig-miniboone-rows",
    caption="The paper's descent of 1,000 landmarks on real rows of MiniBooNE and on equally many rows of the "
    "stand-in: the radial SKD on the training rows of the first split; and the mean error of the approximation on "
    "test rows, before and after the descent, with a line for each split.",
    alt="Two panels. In the first, two falling curves that nearly coincide, steep at first and flat at the end. In the "
    "second, two bundles of five falling lines, those of the real rows below those of the stand-in.",
)
def figure_rows(stored: Mapping[str, Any]) -> Figure:
    """R along the first descent, and the error on unseen rows before and after each."""
    figure, axes = style.subplots(1, 2, height=3.0)
    decay.panel(axes[0, 0], {name: (curve["iteration"], curve["R"]) for name, curve in stored["curves"].items()})
    colours = dict(zip(stored["curves"], style.CYCLE, strict=False))
    for row in stored["rows"]:
        axes[0, 1].plot(
            ["before", "after"], [row["test before"], row["test after"]], marker="o", color=colours[row["data"]],
            linestyle=style.DASHES[list(colours).index(row["data"])],
        )  # fmt: skip
    style.label(axes[0, 1], y=r"mean of $K-\hat{K}$ on test rows")
    return figure


def rows_table(stored: Mapping[str, Any]) -> pd.DataFrame:
    """Medians over the splits before and after the descent: a row for each criterion, a column for each data set."""
    medians = real_rows.medians(stored)
    columns: dict[str, list[str]] = {"median before → after": list(real_rows.CRITERIA.values())}
    for name, row in medians.iterrows():
        columns[str(name)] = [
            f"{number(row[f'{criterion} before'])} → {number(row[f'{criterion} after'])}"
            for criterion in real_rows.CRITERIA
        ]
    return pd.DataFrame(columns)


def rows_in_short(stored: Mapping[str, Any]) -> str:
    """What the real rows say."""
    row = real_rows.medians(stored).loc[real_rows.REAL]
    return (
        f"On real rows the descent lowers $R$ from {number(row['R before'])} to {number(row['R after'])}, and the mean "
        f"of $K-\\hat K(\\mathcal S)$ on rows that it has not seen from {number(row['test before'])} to "
        f"{number(row['test after'])}, by {percent(1.0 - row['test after'] / row['test before'])} (medians over "
        f"{real_rows.SPLITS} random splits). $R$ falls by much more than the error, as in the chapters before."
    )


def norm_in_short(stored: Mapping[str, Any]) -> str:
    """The estimates of the squared Frobenius norm of K, and what their intervals leave out."""
    norm, norms = r"$\lVert\mathbf K\rVert_{\mathrm F}^2/N^2$", stored["stand_in_norms"]
    real, drawn = (
        f"{number(x['estimate'])} (95 % interval {number(x['low'])} to {number(x['high'])})"
        for x in (stored["norm"], norms[0])
    )
    share, same = (
        percent(real_rows.covered(stored, each)) for each in (norms, stored["same_scales"]["norms"])
    )
    return (
        f"Estimated from the sample, {norm} of all {ALL:,} rows of MiniBooNE is {real}. The same estimate from equally "
        f"many rows of the stand-in is {drawn}; over all its rows it is {number(stored['stand_in_norm'])} exactly.\n\n"
        "The intervals account for the draw of the rows only. Each sample is standardised by its own means and "
        "variances, and with heavy tails these differ from those of all rows. Of the intervals of "
        f"{len(norms)} draws from the stand-in, {share} contain the exact value; with the means and variances of all "
        f"rows it is {same} (computed after the first figure was known). The interval of the real rows may be as "
        "wrong."
    )


def origin(stored: Mapping[str, Any], sample: str | None) -> tuple[str, str, str]:
    """The line on the real rows at the foot of the page."""
    again = "not recomputed: the sample is absent" if sample is None else real_rows.check(stored, Path(sample))
    data, about = stored["data"][real_rows.REAL], stored["about"]
    where = f"computed on {about['started'][:10]}, {about['cpu']}, commit {about['commit'][:10]}"
    file, _, digest = data["source"].partition(";")[0].partition(", sha256 ")
    return f"Real rows: {file}, sha256 {digest[:16]}…", f"{real_rows.SPLITS} splits stored, {where}", again


# -- Figure 5 --------------------------------------------------------------------------------------------------


def title(data: Dataset, n: int) -> str:
    """What Figure 5 shows: the data, or a stand-in of their size."""
    return f"{'A stand-in of the size of MiniBooNE' if data.stand_in else data.name}, n = {n:,}"


@style.picture(
    "figure-5",
    caption="Decay of the radial SKD during the optimisation of one random initial sample. Where the title says "
    "stand-in, the data are artificial, and this is not the paper's Figure 5.",
    alt="A curve of the radial SKD against the iteration, falling steeply at first and slowly afterwards.",
)
def figure_5(results: Results, name: str) -> Figure:
    """R along the descent."""
    figure, axes = style.subplots(height=3.0)
    curve = results.curves
    decay.panel(axes[0, 0], {"R": (curve["iteration"], curve["R"])})
    axes[0, 0].set_title(name)
    return figure


def before_and_after(results: Results, data: Dataset) -> str:
    """R and the trace norm at both ends of the descent."""
    table = results.table.set_index("stage")
    R, trace = table["R"], table["trace"]
    return (
        f"$R$ fell from {number(R['initial'])} to {number(R['optimised'])}. The trace norm of "
        f"$\\mathbf K-\\hat{{\\mathbf K}}(\\mathcal S)$ went from {trace['initial']:,.0f} to {trace['optimised']:,.0f}"
        f"{' (stand-in)' if data.stand_in else ''}, that is from {percent(trace['initial'] / data.N)} to "
        f"{percent(trace['optimised'] / data.N)} of the trace of $\\mathbf K$."
    )


def check_first_steps(stored: Results, steps: int, dataset: Dataset | None = None) -> str:
    """Compute the first steps of repetition 0 again, compare R along them, and return what was compared.

    A difference beyond the tolerance raises VerificationError.
    """
    experiment = stored.experiment
    steps = min(steps, experiment.descent.steps)
    short = experiment.replace(
        descent=experiment.descent.replace(iterations=steps),
        m=1,
        norms=(),
        factors=False,
        record=experiment.record.replace(repetitions=(0,), path=False),
    )
    curve = repetition(prepare(short, dataset, stored.constants), 0).arrays["curve"]
    known = dict(stored.outcomes[0].arrays["curve"].T.tolist())
    pairs = [(int(t), value, known[t]) for t, value in curve.T.tolist() if t in known]
    tolerance = tolerance_for("curve", stored.constants)
    for t, found, expected in pairs:
        if not tolerance.excess(found, expected) <= 1.0:
            raise VerificationError(
                f"R after {t:,} steps is {found!r}, stored {expected!r}: the difference exceeds {tolerance}."
            )
    return f"the first {steps:,} steps: R at t = {', '.join(f'{t:,}' for t, _, _ in pairs)}"


# -- timings ---------------------------------------------------------------------------------------------------


def stored_timings(stored: Mapping[str, Any]) -> pd.DataFrame:
    """The paper's timings, and those of ``results/miniboone_timings.json``."""
    plain, ours = stored["plain_c"], stored["ours"]
    columns = {"paper, s": PAPER_SECONDS, "plain C, s": plain, "this library, s": ours}
    table = pd.DataFrame({"work": list(WORK.values())})
    for head, seconds in columns.items():
        table[head] = [_written(seconds[name]) for name in WORK]
    table["paper / plain C"] = [PAPER_SECONDS[name] / plain[name] for name in WORK]
    table["plain C / this library"] = [plain[name] / ours[name] for name in WORK]
    return table


def machines(stored: Mapping[str, Any]) -> str:
    """The machines of :func:`stored_timings`, in a few sentences."""
    return (
        f"Seconds, and their quotients. The paper's machine: {PAPER_MACHINE}. The other columns: {stored['machine']}; "
        f"this library on {stored['details']['cores']} threads, plain C ({stored['compiler']}) on one. Scaled, not run "
        f"in full: {stored['scaled']}."
    )


def order(ours: Mapping[str, float]) -> str:
    """Whether one trace norm or the whole descent takes longer, in the paper and by our seconds."""
    words = (
        f"In the paper one trace norm takes {PAPER_SECONDS['trace_s'] / PAPER_SECONDS['descent_s']:.2g} times as long "
        f"as the whole descent ({PAPER_SECONDS['trace_s']:,g} s against {PAPER_SECONDS['descent_s']:,g} s)"
    )
    if ours["trace_s"] > ours["descent_s"]:
        return f"{words}; with our code, too, it takes longer."
    return (
        f"{words}; with our code the descent takes {ours['descent_s'] / ours['trace_s']:.2g} times as long as one "
        f"trace norm ({_written(ours['descent_s'])} s against {_written(ours['trace_s'])} s). The order is reversed."
    )


def time_pieces(experiment: Experiment, data: Dataset, steps: int, threads: str) -> pd.DataFrame:
    """Time R up to its constant, the trace norm, and some steps of the descent, on S⁽⁰⁾, after a warm-up."""
    kernel, X, total = experiment.kernel, data.X, experiment.descent.steps
    start = experiment.initial.draw(kernel, X, experiment.n, seed_for(experiment.seed, Axis.INITIAL_SAMPLE))
    steps = min(steps, total)

    def descend(count: int) -> nl.Descent:
        return experiment.descent.replace(iterations=count).descend(
            kernel, X, start, seed_for(experiment.seed, Axis.BATCHES),
            record_every=0, keep_path=False, constant=0.0, progress=None,
        )  # fmt: skip

    def measured(some: Array, count: int) -> dict[str, float]:
        return {
            "radial_skd_s": timeit(lambda: nl.radial_skd(kernel, some, start, constant=False), number=1),
            "trace_s": timeit(lambda: nl.nystrom_errors(kernel, some, start, norms=("trace",)), number=1),
            "descent_s": timeit(lambda: descend(count), number=1) * total / count,
        }

    measured(X[: experiment.n], 1)  # compiles
    seconds = measured(X, steps)
    here = provenance.environment()
    how = dict.fromkeys(WORK, "measured") | {"descent_s": f"scaled from {steps:,} of {total:,} steps"}
    head = f"s ({here['cpu']}, {here['cores']} cores, {threads})"
    return pd.DataFrame([{"work": WORK[name], head: _written(seconds[name]), "how": how[name]} for name in WORK])


def _written(seconds: float) -> str:
    """Three digits, and 6,600 rather than 6.6e+03."""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}"
