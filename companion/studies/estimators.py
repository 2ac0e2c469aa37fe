"""Bias and variance of the stochastic gradients of §3, exactly where that is possible, else over many batches.

T̂₁ and T̂₂ of a batch are means over the batch of two functions of one data point. Computed once for all data points,
they give the estimates of any number of batches by averaging.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import nystrom_lib as nl

from ..experiments.outcome import Array

#: How many independent parts a batch is divided into.
PARTS = {"one-sample": 1, "two-sample": 2, "four-sample": 4}


@dataclass(frozen=True)
class Terms:
    """All that the estimators are made of, at one sample S.

    Attributes
    ----------
    first : array, (N,)
        N Σ_j K²(s_j, x_i): its mean over a batch is T̂₁.
    second : array, (N, n·d)
        N ∂K²(s_k, x_i): its mean over a batch is T̂₂.
    upsilon : array, (n·d,)
        Υ(S).
    norm : float
        ‖K_S‖_F².
    """

    first: Array
    second: Array
    upsilon: Array
    norm: float

    def combine(self, T1_a: Array, T1_b: Array, T1_c: Array, T2: Array) -> Array:
        """T₁ᵃT₁ᵇ Υ/‖K_S‖⁴ − 2 T₁ᶜT₂/‖K_S‖², a row for each batch."""
        linear = (T1_a * T1_b / self.norm**2)[:, None] * self.upsilon
        result: Array = linear - (2.0 * T1_c / self.norm)[:, None] * T2
        return result

    @property
    def gradient(self) -> Array:
        """∇R(S), Eq. (5), from the same terms."""
        T1 = np.atleast_1d(self.first.mean())
        exact: Array = self.combine(T1, T1, T1, self.second.mean(axis=0)[None])[0]
        return exact


def terms(kernel: nl.Kernel, data: Array, sample: Array) -> Terms:
    """Compute them once."""
    N, n = len(data), len(sample)
    second = kernel.squared_left(sample, data).transpose(1, 0, 2).reshape(N, -1)
    among = kernel.squared_left(sample, sample)
    among[np.arange(n), np.arange(n)] = 0.0
    upsilon = (kernel.squared_diagonal(sample) + 2.0 * among.sum(axis=1)).ravel()
    first = kernel.squared(sample, data).sum(axis=0)
    second *= N  # in place: with all of the data it is by far the largest array
    return Terms(N * first, second, upsilon, float(kernel.squared(sample).sum()))


def estimates(parts: Terms, batches: NDArray[np.int64], kind: str) -> Array:
    """The estimate of ∇R from each batch, Eq. (6), Eq. (7) or Remark 3.1; shape (batches, n·d).

    Parameters
    ----------
    parts
        The terms at S.
    batches
        Indices into the data, a row for each batch; divided evenly among the independent samples.
    kind
        One of :data:`PARTS`.
    """
    pieces = np.array_split(batches, PARTS[kind], axis=1)
    first = [parts.first[piece].mean(axis=1) for piece in pieces]
    last = pieces[-1]
    T2 = np.zeros((len(batches), parts.second.shape[1]))
    for column in range(last.shape[1]):  # one place of the batch at a time: no (batches, b, n·d) array
        T2 += parts.second[last[:, column]]
    T2 /= last.shape[1]
    if kind == "one-sample":
        return parts.combine(first[0], first[0], first[0], T2)
    if kind == "two-sample":
        return parts.combine(first[0], first[1], first[0], T2)
    return parts.combine(first[0], first[1], first[2], T2)


def clouds(parts: Terms, b: int, seed: int, count: int = 600) -> dict[str, Array]:
    """Many estimates of ∇R with Eq. (6) and with Eq. (7), from the same batches of b points."""
    batches = np.random.default_rng(seed).integers(len(parts.first), size=(count, b))
    return {kind: estimates(parts, batches, kind) for kind in ("one-sample", "two-sample")}


def relative_bias(parts: Terms, estimated: Array) -> float:
    """How far the mean of some estimates is from ∇R, over ‖∇R‖."""
    return float(np.linalg.norm(estimated.mean(axis=0) - parts.gradient)) / float(np.linalg.norm(parts.gradient))


def total_variance(estimated: Array) -> float:
    """The variance of some estimates, summed over the coordinates."""
    return float(estimated.var(axis=0).sum())


def one_sample_bias(parts: Terms, b: int) -> Array:
    """The bias of Eq. (6), exactly: Var(T̂₁) Υ/‖K_S‖⁴ − 2 Cov(T̂₁, T̂₂)/‖K_S‖², which falls as 1/b."""
    centred = parts.first - parts.first.mean()
    variance = np.mean(centred**2) / b
    covariance = centred @ parts.second / len(centred) / b
    bias: Array = variance / parts.norm**2 * parts.upsilon - 2.0 / parts.norm * covariance
    return bias


@dataclass(frozen=True)
class Variance:
    """The total variance of an estimator: what falls like 1/b, and what falls faster."""

    first: float
    rest: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.first + self.rest


#: Coordinates whose moments are taken at a time: no second array as large as the terms.
_COLUMNS = 64


def exact_variances(parts: Terms, b: int) -> dict[str, Variance]:
    r"""The total variances of Eq. (6) and Eq. (7) at batch size b, exactly, for any b.

    With v and w the fluctuations of one point's terms, a = Υ/‖K_S‖⁴, c = 1/‖K_S‖², p = (aT₁ − 2cT₂)v,
    q = aT₁v − 2cT₁w and u = av − 2cw, the book's page on stochastic gradients proves that

    Var₁ = Var(p + q)/b + [2 E((p + q)vu) + Var v Var u + Cov(v, u)²]/b² + κ/b³,
    Var₂ = Var p/b_X + Var q/b_Y + Var v Var u/(b_X b_Y),

    κ the fourth joint cumulant of v, v, u, u; the batch is divided as :func:`estimates` divides it.
    """
    b_X, b_Y = (len(part) for part in np.array_split(np.arange(b), 2))
    T1, c = float(parts.first.mean()), 1.0 / parts.norm
    v = parts.first - T1
    sums = np.zeros(4)
    for begin in range(0, parts.second.shape[1], _COLUMNS):
        columns = slice(begin, begin + _COLUMNS)
        T2, a = parts.second[:, columns].mean(axis=0), parts.upsilon[columns] * c**2
        w = parts.second[:, columns] - T2
        p = v[:, None] * (a * T1 - 2.0 * c * T2)
        u = v[:, None] * a - 2.0 * c * w
        q = T1 * u
        both, vu = p + q, v[:, None] * u
        product, covariance = np.mean(v**2) * np.mean(u**2, axis=0), vu.mean(axis=0)
        fourth = np.mean(vu**2, axis=0) - product - 2.0 * covariance**2
        second = 2.0 * np.mean(both * vu, axis=0) + product + covariance**2
        sums += [
            np.mean(both**2, axis=0).sum() / b,
            (second / b**2 + fourth / b**3).sum(),
            (np.mean(p**2, axis=0) / b_X + np.mean(q**2, axis=0) / b_Y).sum(),
            (product / (b_X * b_Y)).sum(),
        ]
    return {"one-sample": Variance(sums[0], sums[1]), "two-sample": Variance(sums[2], sums[3])}


# -- every batch --------------------------------------------------------------------------------------------------


def every_batch(parts: Terms, b: int, kind: str) -> Array:
    """The estimate from each of the N^b equally likely batches."""
    batches = np.array(list(itertools.product(range(len(parts.first)), repeat=b)))
    return estimates(parts, batches, kind)


def enumeration(parts: Terms, b: int) -> pd.DataFrame:
    """Mean over every batch of size b: its distance from ∇R, over ‖∇R‖, and the variance, over ‖∇R‖².

    A batch is divided among the samples of an estimator, so that b must be a multiple of 4.
    """
    size = float(np.linalg.norm(parts.gradient))
    rows = []
    for kind in PARTS:
        estimated = every_batch(parts, b, kind)
        rows.append((kind, len(estimated), relative_bias(parts, estimated), total_variance(estimated) / size**2))
    return pd.DataFrame(rows, columns=["estimator", "batches", "bias", "variance"])


# -- many batches -------------------------------------------------------------------------------------------------


def draw(N: int, b: int, m: int, seed: int) -> NDArray[np.int64]:
    """m batches of b indices, i.i.d. uniform."""
    return np.random.default_rng([seed, b]).integers(0, N, size=(m, b))


def moments(parts: Terms, sizes: tuple[int, ...], m: int, seed: int) -> pd.DataFrame:
    """Bias and spread of each estimator against b, over m batches.

    Columns estimator, b, bias (‖mean − ∇R‖/‖∇R‖), noise (what of that bias is due to the number of batches),
    exact (the bias of Eq. (6) in closed form, 0 for the others) and deviation (standard deviation over ‖∇R‖).
    """
    size = float(np.linalg.norm(parts.gradient))
    rows = []
    for b in sizes:
        exact = float(np.linalg.norm(one_sample_bias(parts, b)))
        batches = draw(len(parts.first), b, m, seed)
        for kind in PARTS:
            estimated = estimates(parts, batches, kind)
            deviation, bias = float(np.sqrt(total_variance(estimated))), relative_bias(parts, estimated)
            known = exact if kind == "one-sample" else 0.0
            rows.append((kind, b, bias, deviation / np.sqrt(m) / size, known / size, deviation / size))
    return pd.DataFrame(rows, columns=["estimator", "b", "bias", "noise", "exact", "deviation"])


# -- descents -----------------------------------------------------------------------------------------------------


@nl.threads(1)
def descents(
    kernel: nl.Kernel,
    data: Array,
    start: Array,
    *,
    step: float,
    iterations: int,
    sizes: tuple[int, ...],
    repetitions: int,
    seed: int,
    constant: float,
    records: int = 60,
    kinds: tuple[str, ...] = ("one-sample", "two-sample"),
) -> pd.DataFrame:
    """R along stochastic descents from one start, for each estimator and batch size, repeated with other batches.

    Columns estimator, b, repetition, iteration, R; the exact gradient has b = N.
    """
    every = max(1, iterations // records)
    common: dict[str, float | int] = {"step": step, "record_every": every, "constant": constant}
    frames = [_frame(nl.gradient_descent(kernel, data, start, iterations=iterations, **common), "exact", len(data), 0)]  # type: ignore[arg-type]
    run: Callable[..., nl.Descent] = nl.stochastic_gradient_descent
    for b, kind, j in itertools.product(sizes, kinds, range(repetitions)):
        batches = np.random.default_rng([seed, b, j]).integers(0, len(data), size=(iterations, b))
        try:
            done = run(kernel, data, start, iterations=iterations, batches=batches, estimator=kind, **common)
        except nl.DescentError:
            continue
        frames.append(_frame(done, kind, b, j))
    return pd.concat(frames, ignore_index=True)


def _frame(run: nl.Descent, kind: str, b: int, j: int) -> pd.DataFrame:
    return pd.DataFrame({"estimator": kind, "b": b, "repetition": j, "iteration": run.iterations, "R": run.values})


def at_end(table: pd.DataFrame) -> pd.DataFrame:
    """R after the last iteration: the median over the repetitions, for each estimator and batch size."""
    last = table[table["iteration"] == table["iteration"].max()]
    return last.groupby(["estimator", "b"], sort=False)["R"].median().reset_index()
