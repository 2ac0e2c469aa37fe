"""R1, R2, T1–T4, C1: inequalities, bounds and identities, looked for a counterexample in many small cases."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..experiments.paper import PAPER, SEED
from ..results.archive import Archive
from ..studies import curvature, drift, landscape
from ..wording import number
from .base import Claim, Finding, Outcome, Verdict, sentence, together

#: Below this part of ‖K‖_F² both sides of an inequality are rounding, and their quotient says nothing.
_NOTHING_LEFT = 1e-10


class Case(NamedTuple):
    """A kernel, data and a sample."""

    kernel: nl.Kernel
    data: Array
    sample: Array


def _samples(data: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Drawn, scattered, repeated, half of it far away, more than there are data, and the data themselves."""
    N, d = data.shape
    yield data[rng.choice(N, 5, replace=False)]
    yield 2.0 * rng.standard_normal((8, d))
    yield np.repeat(data[rng.choice(N, 3, replace=False)], 3, axis=0)
    yield np.concatenate([data[:4], 50.0 + rng.standard_normal((4, d))])
    yield rng.standard_normal((N + 10, d))
    yield data.copy()


def sample_cases() -> Iterator[Case]:
    """The cases of R1 and R2: five kernels, three dimensions, six kinds of samples."""
    kernels = (
        nl.Gaussian(rho=1.0),
        nl.Matern(1.5),
        nl.Matern(2.5),
        nl.RationalQuadratic(alpha=1.0),
        nl.Polynomial(degree=2),
    )
    for kernel in kernels:
        for d in (1, 2, 5):
            rng = np.random.default_rng([SEED, d])
            data = rng.standard_normal((60, d))
            for sample in _samples(data, rng):
                yield Case(kernel, data, sample)


# -- R1 ----------------------------------------------------------------------------------------------------------


def radial_skd_range(claim: Claim, stored: Archive) -> Verdict:
    """R1: the range of R(S)/‖K‖_F²."""
    parts = []
    for kernel, data, sample in sample_cases():
        whole = nl.squared_frobenius_norm(kernel, data)
        parts.append(nl.radial_skd(kernel, data, sample, constant=whole) / whole)
    return decide_range(claim, np.array(parts))


def decide_range(claim: Claim, parts: Array) -> Verdict:
    """R1 from R(S)/‖K‖_F² in each case."""
    beyond = max(0.0, -float(parts.min()), float(parts.max()) - 1.0)
    holds = beyond <= claim.limit("rounding")
    return Verdict(
        claim,
        Finding.HOLDS if holds else Finding.FAILS,
        f"In {len(parts)} cases R(S)/‖K‖_F² lies between {_plain(parts.min())} and {_plain(parts.max())}.",
        "No case leaves the interval; the proof is the Cauchy–Schwarz inequality (15)."
        if holds
        else f"A case leaves the interval by {beyond:.2g}.",
        {"cases": len(parts), "smallest": float(parts.min()), "largest": float(parts.max()), "beyond": beyond},
    )


def _plain(value: float) -> str:
    """Few digits; what is rounding is written as 0."""
    return "0" if abs(value) < 1e-12 else number(value)


def _risen(increase: float) -> str:
    """The largest increase of R, as a part of ‖K‖_F², in words."""
    most = _plain(max(increase, 0.0))
    return "R never rises" if most == "0" else f"R rises in no stretch by more than {most} of ‖K‖_F²"


# -- R2 ----------------------------------------------------------------------------------------------------------

_SIDES = {"spectral": "spectral²", "frobenius": "Frobenius²", "trace": "trace²/N", "R": "R"}
_INEQUALITIES = {f"{_SIDES[left]} ≤ {_SIDES[right]}": (left, right) for left, right in landscape.CHAINS}


def inequalities(claim: Claim, stored: Archive) -> Verdict:
    """R2: in the small cases, and in all the stored tables."""
    small = pd.DataFrame(
        landscape.sides(*case, nl.squared_frobenius_norm(case.kernel, case.data)) for case in sample_cases()
    )
    quotients = _quotients(small, least=_NOTHING_LEFT * small["constant"])
    tables = [table for name in PAPER if (table := _stored_quotients(name, stored)) is not None]
    return decide_inequalities(claim, quotients, pd.concat(tables, ignore_index=True) if tables else quotients[:0])


def _stored_quotients(name: str, stored: Archive) -> pd.DataFrame | None:
    results = stored.results(name)
    if results is None or "frobenius" not in results.table:
        return None
    norms = results.table[["spectral", "frobenius", "trace"]] ** 2
    N = results.provenance["data"]["N"]
    return _quotients(norms.assign(trace=norms["trace"] / N, R=results.table["R"])).dropna()


def _quotients(sides: pd.DataFrame, least: float | pd.Series = -math.inf) -> pd.DataFrame:
    """Left side over right for each inequality, where the right one is above ``least``."""
    rights = sides.where(sides.gt(least, axis=0))
    return pd.DataFrame({name: sides[left] / rights[right] for name, (left, right) in _INEQUALITIES.items()})


def decide_inequalities(claim: Claim, small: pd.DataFrame, tables: pd.DataFrame) -> Verdict:
    """R2 from the quotients of left and right side."""
    largest = pd.concat([small, tables]).max()
    holds = bool((largest <= 1.0 + claim.limit("rounding")).all())
    shown = "; ".join(f"{name}: at most {largest[name]:.4g} of what is allowed" for name in _INEQUALITIES)
    where = f"{len(small)} small cases" + (f" and {len(tables):,} samples of the stored results" if len(tables) else "")
    return Verdict(
        claim,
        Finding.HOLDS if holds else Finding.FAILS,
        f"Over {where}: {shown}.",
        "No sample breaks an inequality."
        if holds
        else "Broken: " + ", ".join(name for name in _INEQUALITIES if largest[name] > 1.0 + claim.limit("rounding")),
        {"cases": len(small), "rows": len(tables), **{name: float(largest[name]) for name in _INEQUALITIES}},
    )


# -- T1 ----------------------------------------------------------------------------------------------------------


#: What the verdict shows of the proof, and what :func:`~companion.studies.curvature.chain` calls it.
_STEPS_OF_THE_PROOF = {
    "c_S / C₀": "Eq. (16)",
    "|∂c_S| / C₁": "Eq. (17)",
    "entries / (18)": "Eq. (18)",
    "entries / (19)": "Eq. (19)",
    "‖∇²R‖_F / L": "‖∇²R‖_F ≤ L",
}


def lipschitz_bounds(claim: Claim, stored: Archive) -> Verdict:
    """T1: every bound of the Appendix, and the Lipschitz inequality itself."""
    rows = [bound_quotients(case, rng) for case, rng in bound_cases()]
    return decide_bounds(claim, pd.DataFrame(rows))


def bound_cases() -> Iterator[tuple[Case, np.random.Generator]]:
    """Kernels that have constants, few and many data, one to six landmarks: drawn, scattered and clustered."""
    kernels = (nl.Gaussian(rho=0.25), nl.Gaussian(rho=4.0), nl.Matern(1.5), nl.Matern(2.5))
    for place, kernel in enumerate(kernels):
        for N, n, d in ((5, 1, 1), (5, 3, 2), (40, 6, 2), (40, 4, 3)):
            rng = np.random.default_rng([SEED, place, N, n])
            data = rng.standard_normal((N, d))
            yield Case(kernel, data, data[rng.choice(N, n, replace=False)]), rng
            yield Case(kernel, data, 1.5 * rng.standard_normal((n, d))), rng
            yield Case(kernel, data, data[0] + 0.05 * rng.standard_normal((n, d))), rng


def bound_quotients(case: Case, rng: np.random.Generator) -> dict[str, float]:
    """Each quantity over its bound."""
    kernel, data, sample = case
    bound = nl.lipschitz_bound(kernel, data, len(sample))
    ratios = curvature.chain(kernel, data, sample, bound).ratios
    others = [sample + size * rng.standard_normal(sample.shape) for size in (1e-4, 0.1, 1.0, 10.0)]
    return {name: ratios[step] for name, step in _STEPS_OF_THE_PROOF.items()} | {
        "‖∇R(S) − ∇R(S′)‖ / L‖S − S′‖": max(
            curvature.lipschitz_ratio(kernel, data, [sample, other], bound) for other in others
        )
    }


def decide_bounds(claim: Claim, quotients: pd.DataFrame) -> Verdict:
    """T1 from the quotients of all cases."""
    largest = quotients.max()
    broken = [name for name in largest.index if largest[name] > claim.limit("quotient")]
    return Verdict(
        claim,
        Finding.FAILS if broken else Finding.HOLDS,
        f"The largest quotients in {len(quotients)} cases: "
        + "; ".join(f"{name}: {value:.2g}" for name, value in largest.items())
        + ".",
        f"Beyond its bound: {', '.join(broken)}."
        if broken
        else "Every quantity keeps below its bound; the small quotients say that L is far larger than it need be.",
        {"cases": len(quotients), **{name: float(value) for name, value in largest.items()}},
    )


# -- T2 ----------------------------------------------------------------------------------------------------------

_STEPS = 10_000
#: Where the force on the drifting landmark is looked at.
_PLACES: Array = np.linspace(5.0, 30.0, 101)


def descent_at_one_over_L(claim: Claim, stored: Archive) -> Verdict:
    """T2: descents at γ = 1/L, followed to their end."""
    rows = []
    for place, (N, n, d, rho) in enumerate(((6, 2, 1, 1.0), (12, 3, 2, 1.0), (8, 2, 2, 0.5))):
        rng = np.random.default_rng([SEED, 2, place])
        data, kernel = rng.uniform(-1.0, 1.0, (N, d)), nl.Gaussian(rho=rho)
        for start in _starts(data, n, rng):
            rows.append(follow(Case(kernel, data, start)))
    first = decide_descents(claim, pd.DataFrame(rows))
    return decide_convergence(first, drift.follow(), drift.force(_PLACES))


def _starts(data: Array, n: int, rng: np.random.Generator) -> Iterator[Array]:
    """Three of each kind: from the data, from a box half as wide again, and close together."""
    N, d = data.shape
    for _ in range(3):
        yield data[rng.choice(N, n, replace=False)]
        yield rng.uniform(-1.5, 1.5, (n, d))
        yield rng.uniform(-1.0, 1.0, d) + 0.01 * rng.standard_normal((n, d))


def follow(case: Case, steps: int = _STEPS) -> dict[str, float]:
    """The largest increase of R along a descent at 1/L, over ‖K‖_F², and how far the gradient falls."""
    kernel, data, start = case
    whole = nl.squared_frobenius_norm(kernel, data)
    bound = nl.lipschitz_bound(kernel, data, len(start), squared_frobenius=whole)
    run = nl.gradient_descent(
        kernel, data, start, step=bound.step, iterations=steps, record_every=steps // 500, keep_path=True
    )
    assert run.path is not None
    looked_at = [*run.path[::10], run.sample]
    gradients = [float(np.linalg.norm(nl.radial_skd_gradient(kernel, data, sample))) for sample in looked_at]
    return {"increase": float(np.diff(run.values).max()) / whole, "gradient": gradients[-1] / max(gradients)}


def decide_descents(claim: Claim, runs: pd.DataFrame) -> Verdict:
    """T2 from the increase of R and the fall of the gradient in each run."""
    never_up = bool((runs["increase"] <= claim.limit("increase")).all())
    settled = int((runs["gradient"] <= claim.limit("gradient")).sum())
    if not never_up:
        finding, why = Finding.FAILS, f"R increases by {runs['increase'].max():.2g} of ‖K‖_F² in one stretch."
    elif settled == len(runs):
        finding, why = Finding.HOLDS, "R never increases, and the gradient vanishes from every start."
    else:
        finding = Finding.IN_PART if 2 * settled >= len(runs) else Finding.FAILS
        why = f"R never increases, but the gradient has vanished from {settled} of {len(runs)} starts only."
    return Verdict(
        claim,
        finding,
        f"{len(runs)} descents of {_STEPS:,} steps at γ = 1/L: {_risen(runs['increase'].max())}; the gradient ends "
        f"at {number(runs['gradient'].median(), 1)} of its largest norm (median), at most "
        f"{number(runs['gradient'].max(), 1)}.",
        why,
        {
            "descents": len(runs),
            "increase": float(runs["increase"].max()),
            "gradient": float(runs["gradient"].max()),
            "settled": settled,
        },
    )


def decide_convergence(first: Verdict, run: pd.DataFrame, forces: Array) -> Verdict:
    """T2 from the first rule's verdict, the descent of the counterexample, and the force far out."""
    check = first.claim.later
    assert check is not None
    moved, falls = run["place"].diff().dropna(), run[["R", "gradient"]].diff().dropna()
    far = float(run["place"].iloc[-1] - run["place"].iloc[0])
    drifts = bool((moved > 0).all() and (falls < 0).all(axis=None) and far >= check.limit("drift"))
    outward = bool((forces > 0).all())
    refuted = drifts and outward
    measured = (
        f"In {run['step'].iloc[-1]:,} steps at γ = 1/L the fourth landmark goes from {run['place'].iloc[0]:.4g} to "
        f"{run['place'].iloc[-1]:.4g}, outward in {int((moved > 0).sum())} of {len(moved)} stretches, while R falls in "
        f"{int((falls['R'] < 0).sum())} of them, to {run['R'].iloc[-1]:.6f}, and ‖∇R‖ in "
        f"{int((falls['gradient'] < 0).sum())}, to {number(run['gradient'].iloc[-1], 2)}; the force on it is outward "
        f"at {int((forces > 0).sum())} of {len(forces)} places up to s = 30."
    )
    if not refuted:
        return replace(first, later=Outcome(first.finding, measured, "The counterexample is none."))
    why = (
        "Not as stated: the iterates need not converge. That R decreases and ∇R → 0 is true, and if the landmarks stay "
        "bounded, with a Gaussian kernel, they do converge; but nothing keeps them bounded. By the first rule, which "
        f"asked for a vanishing gradient only, the verdict was “{first.finding}”."
    )
    return replace(
        first,
        finding=Finding.FAILS,
        why=why,
        numbers={**first.numbers, "first rule": str(first.finding), "drift": far},
        later=Outcome(Finding.FAILS, measured, "A landmark that always moves outward, and never stops, has no limit."),
    )


# -- T3 ----------------------------------------------------------------------------------------------------------


def assumptions(claim: Claim, stored: Archive) -> Verdict:
    """T3: α, M₁ and M₂ of the kernels the paper names."""
    rhos = sorted({experiment.kernel.parameters["rho"] for experiment in PAPER.values()})
    kernels = [*(nl.Gaussian(rho=rho) for rho in rhos), nl.Matern(1.5), nl.Matern(2.5, lengthscale=0.5)]
    quotients = pd.DataFrame([assumption_quotients(kernel) for kernel in kernels])
    return decide_assumptions(claim, quotients, refused=nl.Matern(0.5).constants is None)


def assumption_quotients(kernel: nl.Kernel) -> dict[str, float]:
    """K² at the origin over α, and its largest derivatives over M₁ and M₂, by formula and by differences."""
    constants = kernel.constants
    assert constants is not None
    bounds = {"M1": constants.M1, "M2": constants.M2}
    largest = curvature.largest_derivatives(kernel, constants)
    return {
        "alpha": float(kernel.squared(np.zeros((1, 2)))[0, 0]) / constants.alpha,
        **{name: value / bounds[name[:2]] for name, value in largest.items()},
    }


def decide_assumptions(claim: Claim, quotients: pd.DataFrame, *, refused: bool) -> Verdict:
    """T3 from the quotients of each kernel, and whether the rough one was refused."""
    most, attained = claim.limit("quotient"), claim.limit("attained")
    bounds = quotients[["M1", "M2"]]
    differences = quotients[["M1 by differences", "M2 by differences"]]
    wrong = []
    if (bounds > most).any(axis=None) or (differences > most + 1e-4).any(axis=None):
        wrong.append("a derivative exceeds its bound")
    if (bounds < attained).any(axis=None):
        wrong.append("a bound is not reached")
    if (quotients["alpha"] < 1.0 - 1e-12).any():
        wrong.append("K²(x, x) falls below α")
    if not refused:
        wrong.append("Matérn 1/2, which has a kink, is not refused")
    return Verdict(
        claim,
        Finding.FAILS if wrong else Finding.HOLDS,
        f"{len(quotients)} kernels: the largest derivatives of K² come within "
        f"{_plain(abs(1.0 - bounds).max(axis=None))} of their bounds M₁ and M₂, relative to these; found from "
        f"differences of K² itself, within {_plain(abs(1.0 - differences).max(axis=None))}. "
        f"Matérn 1/2 is {'refused' if refused else 'not refused'}.",
        sentence("; ".join(wrong))
        if wrong
        else "The bounds hold and are sharp for the Gaussian kernel and for Matérn 3/2 and 5/2; Matérn 1/2 is not "
        "regular enough.",
        {"kernels": len(quotients), "largest": float(bounds.max(axis=None)), "refused": refused},
        beside="“Regular enough” can be said exactly: the second derivatives of K² are bounded for a Matérn kernel of "
        "order ν > 1, and for no other; the page on convergence says why.",
    )


# -- T4 ----------------------------------------------------------------------------------------------------------


def end_points(claim: Claim, stored: Archive) -> Verdict:
    """T4, from the stored rows."""
    checks = stored.later_checks()
    if checks is None or claim.id not in checks:
        return nothing_stored(claim)
    return decide_end_points(claim, pd.DataFrame(checks[claim.id]))


def nothing_stored(claim: Claim) -> Verdict:
    """A claim whose rows nobody has computed."""
    return Verdict(
        claim,
        Finding.UNTESTABLE,
        "Nothing was measured.",
        "Its rows are not stored; `python -m companion.claims.later` computes them.",
    )


def decide_end_points(claim: Claim, rows: pd.DataFrame) -> Verdict:
    """T4 from how far each descent has come and the eigenvalues where it ended."""
    parts: dict[str, Finding] = {}
    shown: list[str] = []
    numbers: dict[str, float] = {}
    starts = rows[~rows["pathological"].astype(bool)]
    for rho, group in starts.groupby("rho", sort=False):
        arrived = group[group["gradient"] <= claim.limit("arrived")]
        minima = int((arrived["eigenvalue"] >= claim.limit("minimum")).sum())
        label = f"ρ = {rho:g}"
        share = minima / len(arrived) if len(arrived) else 0.0
        parts[label] = (
            Finding.UNTESTABLE
            if 2 * len(arrived) < len(group)
            else Finding.HOLDS
            if share >= claim.limit("share")
            else Finding.IN_PART
            if share >= 0.5
            else Finding.FAILS
        )
        numbers |= {f"arrived, {label}": len(arrived), f"minima, {label}": minima}
        least = f" (eigenvalues from {number(arrived['eigenvalue'].min(), 2)} of the largest up)" if minima else ""
        shown.append(
            f"{label}: {len(arrived)} of {len(group)} descents have arrived, {minima} of them in a minimum{least}; the "
            f"gradient ends at {number(group['gradient'].min(), 2)} to {number(group['gradient'].max(), 2)} of its "
            "first norm"
        )
    odd = rows[rows["pathological"].astype(bool)]
    beside = ""
    if len(odd):
        saddle = odd["eigenvalue"].max() < claim.limit("minimum")
        beside = (
            "The pathological cases are real. Two landmarks that begin at one place have the same gradient and stay "
            "together for ever, whatever the step: with one landmark given twice the descent ends with a smallest "
            f"eigenvalue of {number(odd['eigenvalue'].iloc[0], 2)} of the largest, "
            + ("a saddle." if saddle else "no saddle here.")
            + " The protocol draws without replacement, but a multiset of data may hold a point twice."
        )
    return Verdict(
        claim,
        together(parts.values()),
        sentence("; ".join(shown)),
        sentence("; ".join(f"at {rho}: {finding}" for rho, finding in parts.items())),
        numbers,
        parts,
        beside=beside,
    )


# -- C1 ----------------------------------------------------------------------------------------------------------


def integrated_variance(claim: Claim, stored: Archive) -> Verdict:
    """C1."""
    return decide_integrated_variance(claim, np.array([variance_quotient(case) for case in design_cases()]))


def design_cases() -> Iterator[Case]:
    """Well conditioned, so that an inverse has digits to spare."""
    for place, kernel in enumerate((nl.Gaussian(rho=1.0), nl.Gaussian(rho=4.0), nl.Matern(1.5), nl.Matern(2.5))):
        for N, n, d in ((20, 3, 1), (40, 6, 2), (40, 8, 3)):
            rng = np.random.default_rng([SEED, 5, place, n])
            data = 2.0 * rng.standard_normal((N, d))
            yield Case(kernel, data, data[rng.choice(N, n, replace=False)] + 0.3 * rng.standard_normal((n, d)))


def variance_quotient(case: Case) -> float:
    """Trace error over the sum of the variances of a Gaussian process at the data, given its values at the landmarks.

    The variance given the rest is the reciprocal of an entry of the inverse of the joint covariance matrix.
    """
    kernel, data, sample = case
    variances = []
    for x in data:
        joint = np.concatenate([x[None], sample])
        variances.append(1.0 / np.linalg.inv(np.sqrt(kernel.squared(joint)))[0, 0])
    return nl.nystrom_errors(kernel, data, sample, "trace").trace / float(np.sum(variances))


def decide_integrated_variance(claim: Claim, quotients: Array) -> Verdict:
    """C1 from the quotient in each problem."""
    most = float(np.abs(quotients - 1.0).max())
    holds = most <= claim.limit("difference")
    return Verdict(
        claim,
        Finding.HOLDS if holds else Finding.FAILS,
        f"In {len(quotients)} problems the trace error is the sum of the variances to "
        + ("rounding." if holds else f"{most:.2g} only."),
        "K(x, x) − K̂(x, x) is the variance at x given the values at the landmarks: the trace error is N times the "
        "integrated mean squared error of the design, with the data as the measure."
        if holds
        else "There is a problem in which the two differ.",
        {"problems": len(quotients), "difference": most},
    )
