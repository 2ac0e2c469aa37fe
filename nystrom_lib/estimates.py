r"""Sums over all the data from some of them, with an interval: errors without a pass over the data.

A sum over N points is N times a mean, and a mean over points drawn independently and uniformly estimates that without
bias. How far off it may be is told twice. Terms that lie in an interval of length w obey the empirical Bernstein
inequality (A. Maurer and M. Pontil, *Empirical Bernstein bounds and sample variance penalization*, COLT 2009,
Theorem 4): with probability 1 − δ the mean of m of them, with sample variance V, is within

.. math:: \sqrt{2V\ln(4/\delta)/m} + \frac{7w\ln(4/\delta)}{3(m-1)}

of what it estimates, whatever the data. The normal interval is narrower, and right in the limit of many points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _validation as check
from ._core import profiles
from ._threads import steady
from ._validation import Array
from .kernels import Kernel, require
from .sources import Source, open_data

__all__ = ["Estimate", "estimate_radial_skd"]

_VALUES = 2**22  # of the kernel, held at a time


@dataclass(frozen=True)
class Estimate:
    """A sum over all the data, from some of them."""

    value: float  #: the estimate, which has no bias
    #: around the sum with at least this confidence, whatever the data; without an end where the kernel is not radial
    bounds: tuple[float, float]
    normal: tuple[float, float]  #: the same by the central limit theorem: narrower, and right for many points
    confidence: float  #: how sure that is
    points: int  #: how many points it is from


def mean_of(terms: Array, low: float, high: float, confidence: float, times: float) -> Estimate:
    """``times`` the mean of what each row of ``terms`` is one independent draw of; every term is in [low, high].

    Examples
    --------
    >>> import numpy as np
    >>> found = mean_of(np.array([[0.0], [1.0]] * 500), 0.0, 1.0, 0.95, times=10.0)
    >>> found.value, [round(end, 2) for end in (*found.bounds, *found.normal)]
    (5.0, [4.43, 5.57, 4.69, 5.31])
    """
    from scipy.special import ndtri

    draws = terms.mean(axis=1)
    m = len(draws)
    mean, deviation = float(draws.mean()), float(draws.std(ddof=1)) if m > 1 else math.inf
    within = float(ndtri(0.5 + 0.5 * confidence)) * deviation / math.sqrt(m)
    bounds = low, high
    if m > 1 and high < math.inf:
        log = math.log(4.0 / (1.0 - confidence))
        surely = deviation * math.sqrt(2.0 * log / m) + 7.0 * (high - low) * log / (3.0 * (m - 1))
        bounds = max(low, mean - surely), min(high, mean + surely)
    normal = max(low, mean - within), min(high, mean + within)
    ends = [(times * a, times * b) for a, b in (bounds, normal)]
    return Estimate(times * mean, ends[0], ends[1], confidence, terms.size)


def as_confidence(value: Any) -> float:
    """A probability below 1."""
    confidence = check.positive("confidence", value)
    if confidence >= 1.0:
        raise ValueError(f"confidence is {value!r}; it must be below 1.")
    return confidence


@steady
def estimate_radial_skd(
    kernel: Kernel,
    data: ArrayLike | Source,
    sample: ArrayLike,
    points: int = 100_000,
    *,
    seed: Any = 0,
    confidence: float = 0.95,
) -> Estimate:
    r"""R(S) of Eq. (3), constant included, from pairs of points drawn at random: O(n² + mn) whatever N.

    With :math:`q(x)=\sum_jK^2(x,s_j)` it is :math:`N^2` times the mean of

    .. math:: K^2(X,Y) - q(X)\,q(Y)/\|\mathbf K_S\|_F^2

    over two independent uniform data points, which is estimated without bias. As :math:`K^2` is a kernel too,
    :math:`q(x)\le K(x,x)\|\mathbf K_S\|_F` by Cauchy and Schwarz, so that each such term is between
    :math:`\pm K(X,X)K(Y,Y)`; under a radial kernel that is one number, and the bounds hold.

    Parameters
    ----------
    kernel, sample
        As in :func:`radial_skd`.
    data
        The points, a row each, or what :func:`open_data` gives.
    points
        How many pairs to draw.
    seed
        A whole number, a ``SeedSequence`` or a ``Generator``.
    confidence
        Of the intervals.

    Returns
    -------
    Estimate
        R(S), with intervals.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> data, kernel = nl.datasets.bigaussian().X, nl.Gaussian(rho=16.0)
    >>> start = nl.uniform_sample(data, 50, seed=456)
    >>> R = nl.estimate_radial_skd(kernel, data, start)
    >>> R.bounds[0] < nl.radial_skd(kernel, data, start) < R.bounds[1]
    True
    """
    kernel, source = require(kernel), open_data(data)
    sample = check.float_points("sample", sample, dimension=source.d)
    points = check.whole("points", points, least=2)
    confidence = as_confidence(confidence)
    rng = check.generator("seed", seed)
    norm = float(_over_sample(kernel, sample, sample).sum())
    drawn = [source.draw(points, rng) for _ in range(2)]
    x, y = (source.rows(numbers.ravel()).astype(np.float64) for numbers in drawn)
    terms = _squared_of_pairs(kernel, x, y)
    if norm > 0.0:
        terms -= (_over_sample(kernel, x, sample) / norm) * _over_sample(kernel, y, sample)
    high = float(kernel.diagonal(sample[:1])[0]) ** 2 if kernel.radial else math.inf
    check.finite("R", terms)
    return mean_of(terms.reshape(drawn[0].shape), -high, high, confidence, float(len(source)) ** 2)


def _squared_of_pairs(kernel: Kernel, x: Array, y: Array) -> Array:
    """K²(x_i, y_i)."""
    values: Array = np.einsum("ij,ij->i", x - y, x - y) if kernel.radial else np.einsum("ij,ij->i", x, y)
    kernel._apply(profiles.VALUE, values)
    return np.square(values)


def _over_sample(kernel: Kernel, x: Array, sample: Array) -> Array:
    """q(x_i)."""
    rows = max(1, _VALUES // len(sample))
    return np.concatenate([kernel.squared(x[i : i + rows], sample).sum(axis=1) for i in range(0, len(x), rows)])
