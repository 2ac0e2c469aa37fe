"""Chapter 9, §1.2, Remark 1.2 and Conclusion: other objectives, starts and step rules."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.optimize import minimize
from scipy.stats import qmc

import nystrom_lib as nl

from .. import choices
from ..checkout import RESULTS
from ..errors import ConfigurationError
from ..experiments.config import Experiment
from ..experiments.outcome import Array
from ..experiments.problems import EVERY, EXACT, FREE_STEP, PROBLEMS, STEPS, Problem, exact, rules
from ..experiments.seeds import Axis, seed_for
from ..figures import panels, style
from ..results.table import Results
from ..settings import setting
from ..studies import beyond as studies
from ..wording import SYMBOLS
from .base import Chapter
from .on_problems import ALL, SMOKE, OnProblems

OBJECTIVES = {"radial": "radial SKD", "weighted": "weighted SKD", "trace": "trace error"}
RULES = tuple(rules(PROBLEMS[EXACT[0]]))
TITLES = dict(zip(RULES, ("fixed", "scale-free", "momentum", "Adam", "L-BFGS"), strict=True))
#: Problems whose kernel matrix has its eigenvectors computed in every build.
SMALL = ("bigaussian-1", "bigaussian-16", "breast-cancer")


# -- parameters ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ObjectivesParameters(OnProblems):
    """The parameters of the chapter; the defaults are those of the stored results."""

    shown: str = setting("bigaussian-16", choices=ALL[:2], meaning="the problem of the first picture")
    drawn: tuple[str, ...] = setting(SMALL, choices=SMALL, meaning="the problems of the starts without stored results")
    exact: tuple[str, ...] = setting(EXACT, choices=EXACT, meaning="the problems of the step rules")
    steps: int = setting(STEPS, at_least=10, at_most=10**6, meaning="number of steps T of each step rule")
    every: int = setting(EVERY, at_least=1, meaning="number of steps between records of R")
    batch_size: int = setting(50, at_least=1, meaning="points in a batch of the stochastic step rules")
    draws: int = setting(3, at_least=1, at_most=100, meaning="repetitions of what has no stored results")

    def check(self) -> None:
        """Refuse more steps between records than there are."""
        if self.every > self.steps:
            raise ConfigurationError("every", f"is {self.every}; it must be at most steps = {self.steps}.")

    def experiments(self) -> dict[tuple[str, str], Experiment]:
        """Descents from every start on two objectives, on the weighted SKD, and by every step rule."""
        methods = [*itertools.product(choices.STARTS, ("radial", "trace")), ("uniform", "weighted")]
        found = {
            (problem.name, f"{by}-{method}"): self.tried(problem, by, method)
            for problem in self.posed()
            for by, method in methods
        }
        for name, rule in itertools.product(self.exact, RULES):
            this = PROBLEMS[name]
            found[name, f"steps-{rule}"] = exact(
                this, rules(this)[rule], steps=self.steps, every=self.every, m=self.m, most=self.most(this),
                seed=self.seed,
            )  # fmt: skip
        return found

    def recomputed(self) -> set[tuple[str, str]]:
        """The experiments of which repetitions are computed again: of each kind on one problem at least."""
        steps = {(self.exact[0], f"steps-{rule}") for rule in RULES} | {(name, "steps-fixed") for name in self.exact}
        return self.again(("uniform-radial", "uniform-trace", "kmeans-trace")) | steps

    def points(self, this: Problem) -> Array:
        """The data of a problem."""
        return np.asarray(this.points(self.most(this)).load(self.seed).X)


CHAPTER = Chapter(
    name="objectives",
    number=9,
    title="Other objectives, starts and step rules",
    section="paper §1.2, Remark 1.2, Conclusion",
    parameters=ObjectivesParameters,
    profiles={
        "quick": {
            "problems": ("bigaussian-16", "breast-cancer"), "m": 5, "recompute": 0, "drawn": ("breast-cancer",),
            "exact": ("bigaussian-16",),
        },
        "smoke": {
            **SMOKE, "drawn": ("breast-cancer",), "exact": ("bigaussian-16",), "steps": 20, "every": 5, "draws": 1,
            "batch_size": 10,
        },
    },
)  # fmt: skip


# -- objectives ------------------------------------------------------------------------------------------------


def minimisers(p: ObjectivesParameters) -> tuple[Array, dict[str, Array]]:
    """The data of the first picture; a uniform sample, and where descents on two objectives lead from there."""
    this = PROBLEMS[p.shown]
    X, kernel, n = p.points(this), nl.Gaussian(rho=this.rho), p.landmarks(this)
    start = nl.uniform_sample(X, n, seed=456)
    ends = {
        title: nl.find_landmarks(kernel, X, n, method=method, start=start, iterations=p.iterations).sample
        for title, method in (("radial SKD", "radial-skd"), ("trace error", "trace"))
    }
    return X, {"uniform sample": start} | ends


#: Below ``results/``: the rows of ``converged_rows(ObjectivesParameters(), REPETITIONS)``, a quarter of an hour's work.
CONVERGED = "beyond/converged.json"
#: Initial samples of each kind, and steps at most. A descent has converged when WINDOW steps together lower the value
#: by less than ENOUGH of it.
STARTS, REPETITIONS, MOST, WINDOW, ENOUGH = ("uniform", "rpcholesky"), 3, 20_000, 100, 1e-3


def converged_rows(p: ObjectivesParameters, repetitions: int, steps: int = MOST) -> Iterator[dict[str, Any]]:
    """The trace error before and after each descent of SciPy's L-BFGS with exact gradients."""
    for this, start, j in itertools.product(p.posed(), STARTS, range(repetitions)):
        kernel, X, n = nl.Gaussian(rho=this.rho), p.points(this), p.landmarks(this)
        sample = nl.initial_sample(kernel, X, n, start, seed=seed_for(p.seed, Axis.INITIAL_SAMPLE, j))
        objectives: tuple[Any, ...] = (nl.RadialSKD, nl.WeightedSKD, nl.TraceError)
        for name, objective in zip(OBJECTIVES, objectives, strict=True):
            end, taken = _descend_to_convergence(objective(kernel, X), sample, steps)
            before, after = (nl.nystrom_errors(kernel, X, each, "trace").trace for each in (sample, end))
            yield {
                "problem": this.name, "start": start, "repetition": j, "objective": name, "steps": taken,
                "converged": taken < steps, "before": before, "after": after,
            }  # fmt: skip


def _descend_to_convergence(f: Any, sample: Array, most: int) -> tuple[Array, int]:
    everything = np.empty(0, dtype=np.int64)  # an empty batch stands for all of the data
    evaluate = f.prepare(len(sample), len(f.data))
    start = f.value(sample)
    constant = start - evaluate(sample, everything)[0]  # the values of the discrepancies are without theirs
    values: list[float] = []

    def value_and_gradient(flat: Array) -> tuple[float, Array]:
        value, gradient = evaluate(flat.reshape(sample.shape), everything)
        return (value + constant) / start, gradient.ravel() / start

    def callback(intermediate_result: Any) -> None:
        values.append(float(intermediate_result.fun))
        if len(values) > WINDOW and values[-WINDOW - 1] - values[-1] < ENOUGH * abs(values[-1]):
            raise StopIteration

    options = {"maxiter": most, "maxfun": 2 * most, "maxcor": 20, "ftol": 0.0, "gtol": 0.0}
    end = minimize(
        value_and_gradient, sample.ravel(), jac=True, method="L-BFGS-B", options=options, callback=callback
    )
    return end.x.reshape(sample.shape), int(end.nit)


def converged(p: ObjectivesParameters) -> tuple[pd.DataFrame, str]:
    """The rows, stored or computed now, and a few words on where they come from."""
    usual = ObjectivesParameters()
    if all(getattr(p, name) == getattr(usual, name) for name in ("N", "n", "seed")):
        stored = json.loads((RESULTS / CONVERGED).read_text(encoding="utf-8"))
        table, about = pd.DataFrame(stored["rows"]), stored["about"]
        return table[table["problem"].isin(p.problems)], f"computed on {about['date']} on an {about['cpu']}"
    return pd.DataFrame(converged_rows(p, 1, p.iterations or MOST)), "computed in this run"


def over_trace(table: pd.DataFrame) -> pd.DataFrame:
    """For each problem and start: the error that each discrepancy leaves over that of the trace error, medians."""
    ends = table.pivot(index=["problem", "start", "repetition"], columns="objective", values="after")
    over = ends[["radial", "weighted"]].div(ends["trace"], axis=0)
    return over.groupby(["problem", "start"], sort=False).median().unstack("start")


# -- starts ----------------------------------------------------------------------------------------------------


def ends(results: Mapping[studies.Key, Results], method: str, stage: str = "optimised") -> pd.DataFrame:
    """The median trace factor by problem and start, for the descents on one objective."""
    chosen = {(name, way.removesuffix(f"-{method}")): found for (name, way), found in results.items()
              if way.endswith(f"-{method}")}  # fmt: skip
    return studies.medians(chosen, stage=stage)


def sobol(X: Array, n: int, seed: Any, quantiles: bool) -> Array:
    """Scrambled Sobol' points, mapped to the box of the data or, coordinate by coordinate, to their quantiles."""
    unit = np.asarray(qmc.Sobol(X.shape[1], rng=np.random.default_rng(seed)).random(2 ** int(np.ceil(np.log2(n)))))[:n]
    if quantiles:
        return np.column_stack([np.quantile(x, u) for x, u in zip(X.T, unit.T, strict=True)])
    low, high = X.min(axis=0), X.max(axis=0)
    found: Array = low + unit * (high - low)
    return found


def determinantal(X: Array, values: Array, vectors: Array, n: int, seed: Any) -> Array:
    """An exact sample of a k-DPP on points, by the eigenvalues and eigenvectors of their kernel matrix.

    n eigenvectors are drawn by elementary symmetric polynomials, then n points from their span (Kulesza and Taskar).
    """
    rng, scaled = np.random.default_rng(seed), np.maximum(values, 0.0) / values.max()
    E = np.zeros((n + 1, len(scaled) + 1))
    E[0] = 1.0
    for k, value in enumerate(scaled):
        E[1:, k + 1] = E[1:, k] + value * E[:-1, k]
    chosen: list[int] = []
    for k in range(len(scaled), 0, -1):
        left = n - len(chosen)
        if left and rng.random() * E[left, k] < scaled[k - 1] * E[left - 1, k - 1]:
            chosen.append(k - 1)
    V, drawn = vectors[:, chosen], []
    while V.shape[1]:
        weights = np.square(V).sum(axis=1)
        drawn.append(int(rng.choice(len(V), p=weights / weights.sum())))
        last = V[:, [np.abs(V[drawn[-1]]).argmax()]]  # the span without what is not zero at the point
        left_over = V - last * (V[drawn[-1]] / last[drawn[-1]])
        V = np.linalg.svd(left_over, full_matrices=False)[0][:, : V.shape[1] - 1]
    return X[drawn]


def other_starts(p: ObjectivesParameters) -> pd.DataFrame:
    """The trace factor of starts that the library does not have, alone and after two descents; medians."""
    rows = []
    for this in (PROBLEMS[name] for name in p.drawn):
        X, kernel, n = p.points(this), nl.Gaussian(rho=this.rho), p.landmarks(this)
        values, vectors = np.linalg.eigh(kernel.matrix(X))
        best = nl.best_rank_errors(kernel, X, n, "trace").trace
        draw: dict[str, Callable[..., Array]] = {
            "uniform": partial(nl.uniform_sample, X, n),
            "Sobol', box": partial(sobol, X, n, quantiles=False),
            "Sobol', quantiles": partial(sobol, X, n, quantiles=True),
            "k-DPP": partial(determinantal, X, values, vectors, n),
        }
        for name, j in itertools.product(draw, range(p.draws)):
            seed = seed_for(p.seed, Axis.INITIAL_SAMPLE, j)
            samples = {"alone": draw[name](seed=seed)}
            for title, method in (("radial SKD", "radial-skd"), ("trace error", "trace")):
                how: Any = {"method": method, "start": samples["alone"], "seed": seed, "iterations": p.iterations}
                samples[f"after a descent on the {title}"] = nl.find_landmarks(kernel, X, n, **how).sample
            errors = {when: nl.nystrom_errors(kernel, X, S, "trace").trace / best for when, S in samples.items()}
            rows.append({"problem": this.title, "start": name, **errors})
    return pd.DataFrame(rows).groupby(["problem", "start"], sort=False).median().reset_index()


# -- step rules ------------------------------------------------------------------------------------------------

#: β of momentum; where the gradient hardly changes, its effective step is γ/(1 − β).
BETA = 0.9


def _rule(name: str, effective: float, this: Problem, n: int, decay: bool) -> nl.FixedStep:
    """A rule with an effective step in units of that of the scale-free rule."""
    step = effective * FREE_STEP * n / this.rho
    if name == "momentum":
        return nl.Momentum((1.0 - BETA) * step, scale_free=True, decay=decay, beta=BETA)
    return nl.FixedStep(step, scale_free=True, decay=decay)


def momentum(p: ObjectivesParameters, effective: tuple[float, ...] = (1.0, 10.0)) -> pd.DataFrame:
    """R after descents with exact gradients, without decay, from one initial sample, by rule and effective step."""
    rows: dict[str, dict[str, float]] = {name: {} for name in p.exact}
    for this, f, n in _radial(p):
        start = nl.uniform_sample(f.data, n, seed_for(p.seed, Axis.INITIAL_SAMPLE, 0))
        for each, name in itertools.product(effective, ("fixed", "momentum")):
            S = nl.descend(f, start, _rule(name, each, this, n, decay=False), iterations=p.steps).sample
            rows[this.name][f"{name}, {each:g} γ"] = f.value(S)
    return pd.DataFrame.from_dict(rows, orient="index")


def stochastic(p: ObjectivesParameters, effective: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0)) -> pd.DataFrame:
    """Median R after descents on batches: for each rule, with and without decay, at the best of the effective steps."""
    rows: dict[str, dict[str, float]] = {name: {} for name in p.exact}
    for this, f, n in _radial(p):
        for decay, name in itertools.product((False, True), ("fixed", "momentum")):
            reached = [_on_batches(p, f, n, _rule(name, each, this, n, decay)) for each in effective]
            rows[this.name][f"{name}, {'decaying' if decay else 'constant'} step"] = min(reached)
        rows[this.name]["Adam, decaying step"] = _on_batches(p, f, n, nl.Adam())
    return pd.DataFrame.from_dict(rows, orient="index")


def _radial(p: ObjectivesParameters) -> Iterator[tuple[Problem, nl.RadialSKD, int]]:
    for this in (PROBLEMS[name] for name in p.exact):
        f = nl.RadialSKD(nl.Gaussian(rho=this.rho), p.points(this))
        yield this, f, min(this.n, len(f.data))


def _on_batches(p: ObjectivesParameters, f: nl.RadialSKD, n: int, rule: Any) -> float:
    ends, size = [], min(p.batch_size, len(f.data))
    for j in range(p.draws):
        start, seed = (seed_for(p.seed, axis, j) for axis in (Axis.INITIAL_SAMPLE, Axis.BATCHES))
        S0 = nl.uniform_sample(f.data, n, start)
        try:
            ends.append(f.value(nl.descend(f, S0, rule, iterations=p.steps, batch_size=size, seed=seed).sample))
        except nl.DescentError:  # the step is too long
            ends.append(np.inf)
    return float(np.median(ends))


# -- pictures --------------------------------------------------------------------------------------------------


@style.drawn
def figure_minimisers(X: Array, samples: Mapping[str, Array]) -> Figure:
    """The landmarks that two objectives lead to."""
    figure, axes = style.subplots(1, len(samples), height=style.WIDTH / len(samples) + 0.3, sharey=True)
    for panel, (title, sample) in zip(axes[0], samples.items(), strict=True):
        style.dots(panel, X, linewidth=1.2)
        panel.plot(*sample.T, "o", color=style.OPTIMISED, markersize=3.5, linestyle="none")
        panel.set_aspect("equal")
        style.label(panel, title=title)
    return figure


@style.drawn
def figure_starts(before: pd.DataFrame, radial: pd.DataFrame, trace: pd.DataFrame) -> Figure:
    """What two descents make of each start."""
    figure, axes = panels.grid(len(before), 2, 1.75)
    tables = {"start alone": (before, style.INITIAL, "o"), "after radial SKD": (radial, style.ACCENT, "s"),
              "after trace": (trace, style.OPTIMISED, "D")}  # fmt: skip
    places = np.arange(before.shape[1])[::-1]
    for panel, problem in zip(axes, before.index, strict=True):
        for label, (table, colour, marker) in tables.items():
            panel.plot(table.loc[problem], places, marker, color=colour, linestyle="none", label=label)
        together = pd.concat([table.loc[problem] for table, _, _ in tables.values()], axis=1)
        panel.hlines(places, together.min(axis=1), together.max(axis=1), color=style.GRID, zorder=0)
        panel.set_yticks(places, list(before.columns))
        panels.factors(panel, list(together.to_numpy().ravel()), "x")
        style.label(panel, title=PROBLEMS[str(problem)].title)
    for panel in axes[-2:]:
        panel.set_xlabel(SYMBOLS["E_tr"])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


@style.drawn
def figure_steps(results: Mapping[studies.Key, Results], problems: tuple[str, ...]) -> Figure:
    """How fast R falls: for each step rule the median over the repetitions, and their range."""
    figure, axes = panels.grid(len(problems), 3, 2.6)
    for panel, problem in zip(axes, problems, strict=True):
        for rule, colour, dash in zip(RULES, style.CYCLE, style.DASHES, strict=True):
            curve = results[problem, f"steps-{rule}"].curves.groupby("iteration")["R"].agg(["median", "min", "max"])
            panel.plot(curve.index, curve["median"], color=colour, linestyle=dash, label=TITLES[rule])
            panel.fill_between(curve.index, curve["min"], curve["max"], color=colour, alpha=0.12, lw=0)
        panel.set_yscale("log")
        style.label(panel, "step", "$R$", PROBLEMS[problem].title)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(RULES))
    return figure
