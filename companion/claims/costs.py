"""R3, R4, M2, S5: how the time grows with the sizes, from the committed benchmark or a quick fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..experiments.paper import SEED, paper_experiment
from ..experiments.protocol import load_data
from ..results.archive import Archive
from ..studies import costs
from ..wording import NORMS, number
from .base import Claim, Finding, Verdict

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Slope:
    """An exponent: measured, and that of the paper's formula on the same sizes."""

    work: str
    axis: str
    measured: float
    claimed: float


@dataclass(frozen=True)
class _Work:
    """Something to time: what chapters 1 and 4 call it, what the paper says it costs, and at which sizes."""

    name: str
    timed_as: str
    cost: Callable[[Sizes], float]
    base: Sizes
    axes: Mapping[str, tuple[int, int]]


def _points(sizes: Sizes) -> tuple[nl.Kernel, Array, Array]:
    data = np.random.default_rng(SEED).standard_normal((sizes["N"], 4))
    return nl.Gaussian(rho=0.2), data, data[: sizes["n"]].copy()


def _cost_skd(z: Sizes) -> float:
    return float(z["n"] ** 2 + z["n"] * z["N"])


_SKD_AXES = {"N": (20_000, 80_000), "n": (100, 400)}
_RADIAL_SKD = (
    _Work("R up to its constant", "R without its constant", _cost_skd, {"n": 200, "N": 20_000}, _SKD_AXES),
    _Work("gradient", "∇R", _cost_skd, {"n": 200, "N": 20_000}, _SKD_AXES),
)
_CRITERIA = (
    _Work(
        NORMS["trace"],
        "trace",
        lambda z: z["n"] ** 3 + z["N"] * z["n"] ** 2,
        {"n": 100, "N": 8000},
        {"N": (4000, 16_000), "n": (100, 300)},
    ),
    _Work(
        NORMS["frobenius"],
        "Frobenius",
        lambda z: z["n"] ** 3 + (z["n"] * z["N"]) ** 2,
        {"n": 50, "N": 1500},
        {"N": (750, 3000), "n": (50, 200)},
    ),
    _Work(
        NORMS["spectral"],
        "spectral",
        lambda z: z["n"] ** 3 + (z["n"] * z["N"]) ** 2 + z["N"] ** 3,
        {"n": 50, "N": 1500},
        {"N": (750, 3000), "n": (50, 200)},
    ),
)
_STOCHASTIC = (
    _Work(
        "stochastic step",
        "one-sample, Eq. (6)",
        lambda z: z["n"] ** 2 + z["n"] * z["b"],
        {"n": 200, "N": 5000, "b": 200},
        {"N": (5000, 20_000), "n": (100, 400), "b": (400, 1600)},
    ),
)


def _quick_slope(work: _Work, axis: str) -> Slope:
    """From a smaller to a larger size, on one thread."""
    ends = work.axes[axis]

    def timed(end: int) -> dict[str, Callable[[], object]]:
        sizes = {**work.base, axis: end}
        points = _points(sizes)
        calls = costs.steps(*points, sizes["b"]) if "b" in sizes else costs.criteria(*points)
        return {work.name: calls[work.timed_as]}

    (measured,) = costs.exponents(costs.against(ends, timed)).values()
    return Slope(work.name, axis, measured, costs.exponent(ends, [work.cost({**work.base, axis: end}) for end in ends]))


def benchmark_slopes(benchmark: Mapping[str, Any] | None, claim: str) -> list[Slope]:
    """The exponents that the committed benchmark has for one claim; d is left out, as the paper's formulas do."""
    curves = benchmark.get("curves", []) if benchmark is not None else []
    return [
        Slope(
            curve["work"],
            curve["axis"],
            costs.exponent(curve["grid"], curve["seconds"]),
            float(curve["claimed_slope"]),
        )
        for curve in curves
        if curve["claim"] == claim and curve["axis"] != "d"
    ]


def _slopes(claim: Claim, stored: Archive, works: tuple[_Work, ...]) -> tuple[list[Slope], str]:
    slopes = benchmark_slopes(stored.benchmark(), claim.id)
    if slopes:
        return slopes, "the committed benchmark, benchmarks/results/results.md"
    return [_quick_slope(work, axis) for work in works for axis in work.axes], "a quick fit between two sizes"


def _described(slopes: list[Slope]) -> str:
    return "; ".join(
        f"{slope.work} against {slope.axis}: {slope.measured:.1f} (formula {slope.claimed:.1f})" for slope in slopes
    )


def _steeper(claim: Claim, slopes: list[Slope]) -> list[str]:
    return [
        f"{slope.work} against {slope.axis}"
        for slope in slopes
        if slope.measured > slope.claimed + claim.limit("slack")
    ]


def _numbers(slopes: list[Slope]) -> dict[str, float]:
    return {f"{slope.work}, {slope.axis}": slope.measured for slope in slopes}


# -- R3 ----------------------------------------------------------------------------------------------------------


def radial_skd_cost(claim: Claim, stored: Archive) -> Verdict:
    """R3: exponents, and a singular K_S."""
    slopes, source = _slopes(claim, stored, _RADIAL_SKD)
    return decide_radial_skd_cost(claim, slopes, source, singular_difference())


def singular_difference() -> float:
    """R and ∇R with every landmark given twice: R is the same, each copy has half the derivative."""
    kernel, data, sample = _points({"N": 500, "n": 40})
    twice = np.concatenate([sample, sample])
    R, again = (nl.radial_skd(kernel, data, s, constant=False) for s in (sample, twice))
    gradient, halves = (nl.radial_skd_gradient(kernel, data, s) for s in (sample, twice))
    added = halves[: len(sample)] + halves[len(sample) :]
    return max(abs(again / R - 1.0), float(np.linalg.norm(added - gradient) / np.linalg.norm(gradient)))


def decide_radial_skd_cost(claim: Claim, slopes: list[Slope], source: str, difference: float) -> Verdict:
    """R3 from the exponents and the difference that a singular K_S makes."""
    steeper = _steeper(claim, slopes)
    needs_inverse = not difference <= claim.limit("difference")
    finding = (
        Finding.HOLDS
        if not steeper and not needs_inverse
        else Finding.FAILS
        if steeper and needs_inverse
        else Finding.IN_PART
    )
    why = [f"Steeper than the formula: {', '.join(steeper)}."] if steeper else ["No exponent exceeds its formula's."]
    why.append(
        f"A singular K_S changes R or its gradient by {difference:.2g}."
        if needs_inverse
        else "A singular K_S makes no difference: nothing is inverted."
    )
    return Verdict(
        claim,
        finding,
        f"Exponents of the time, from {source}: {_described(slopes)}.",
        " ".join(why),
        {"difference": difference, **_numbers(slopes)},
    )


# -- R4, S5 ------------------------------------------------------------------------------------------------------


def criteria_cost(claim: Claim, stored: Archive) -> Verdict:
    """R4."""
    slopes, source = _slopes(claim, stored, _CRITERIA)
    return decide_criteria_cost(claim, slopes, source)


def decide_criteria_cost(claim: Claim, slopes: list[Slope], source: str) -> Verdict:
    """R4 from the exponents."""
    steeper = _steeper(claim, slopes)
    unattained = [
        f"{slope.work} against {slope.axis}"
        for slope in slopes
        if slope.measured < slope.claimed - claim.limit("unattained")
    ]
    note = f" The bound is not attained here: {', '.join(unattained)}." if unattained else ""
    return Verdict(
        claim,
        Finding.FAILS if steeper else Finding.HOLDS,
        f"Exponents of the time, from {source}: {_described(slopes)}.",
        (f"Steeper than the formula: {', '.join(steeper)}." if steeper else "No exponent exceeds its formula's.")
        + note,
        {"unattained": len(unattained), **_numbers(slopes)},
    )


def least_costly(claim: Claim, stored: Archive) -> Verdict:
    """M2."""
    quotients: dict[str, float] = {}
    for label, name in (("bi-Gaussian", "figure-2-n50"), ("Abalone", "figure-3-rho1")):
        experiment = paper_experiment(name)
        kernel, data = experiment.kernel, np.asarray(load_data(experiment).X)
        calls = costs.criteria(kernel, data, nl.uniform_sample(data, experiment.n, SEED))
        seconds = {norm: costs.seconds(calls[norm]) for norm in ("trace", "Frobenius", "spectral")}
        quotients |= {
            f"{norm} over trace, {label}": seconds[norm] / seconds["trace"] for norm in ("Frobenius", "spectral")
        }
    return decide_least_costly(claim, quotients)


def decide_least_costly(claim: Claim, quotients: Mapping[str, float]) -> Verdict:
    """M2 from the quotients of seconds."""
    dearer = [name for name, quotient in quotients.items() if quotient >= claim.limit("dearer")]
    finding = Finding.HOLDS if len(dearer) == len(quotients) else Finding.IN_PART if dearer else Finding.FAILS
    return Verdict(
        claim,
        finding,
        "Processor seconds: "
        + "; ".join(f"{name}: {number(quotient, 2)} times" for name, quotient in quotients.items())
        + ".",
        f"More expensive in {len(dearer)} of {len(quotients)} quotients: the trace norm needs the diagonal only.",
        dict(quotients),
    )


def stochastic_cost(claim: Claim, stored: Archive) -> Verdict:
    """S5."""
    slopes, source = _slopes(claim, stored, _STOCHASTIC)
    return decide_stochastic_cost(claim, slopes, source)


def decide_stochastic_cost(claim: Claim, slopes: list[Slope], source: str) -> Verdict:
    """S5 from the exponents."""
    steeper = _steeper(claim, slopes)
    return Verdict(
        claim,
        Finding.FAILS if steeper else Finding.HOLDS,
        f"Exponents of the time, from {source}: {_described(slopes)}.",
        f"Steeper than the formula: {', '.join(steeper)}."
        if steeper
        else "No exponent exceeds its formula's; N makes no difference.",
        _numbers(slopes),
    )
