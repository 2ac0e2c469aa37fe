r"""Sums over all the data, estimated from some of the points, with two intervals.

A sum over N points is N times a mean, and the mean over points drawn independently and uniformly is an unbiased
estimate of it. Terms that lie in an interval of length w satisfy the empirical Bernstein inequality (A. Maurer and
M. Pontil, *Empirical Bernstein bounds and sample variance penalization*, COLT 2009, Theorem 4): with probability 1 − δ
the mean of m of them, with sample variance V, is within

.. math:: \sqrt{2V\ln(4/\delta)/m} + \frac{7w\ln(4/\delta)}{3(m-1)}

of its expectation, for any data. The normal interval is narrower, and valid in the limit of many points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from . import _validation as check
from ._validation import Array

__all__ = ["Estimate"]


@dataclass(frozen=True)
class Estimate:
    """An estimate of a sum over all the data.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> data = nl.datasets.bigaussian().X
    >>> estimate = nl.nystrom_errors(nl.Gaussian(rho=16.0), data, data[:50], "trace", points=500).estimate
    >>> estimate.bounds[0] < estimate.normal[0] < estimate.value
    True
    """

    value: float  #: the unbiased estimate
    bounds: tuple[float, float]  #: confidence interval, valid for any data; infinite where the kernel is not radial
    normal: tuple[float, float]  #: confidence interval by the central limit theorem: narrower, valid for many points
    confidence: float  #: confidence level of the intervals
    points: int  #: how many points were drawn


def mean_of(terms: Array, low: float, high: float, confidence: float, times: float) -> Estimate:
    """Estimate ``times`` the mean of terms in [low, high]; the rows of ``terms`` are independent draws.

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
    """Validate a confidence level: a number between 0 and 1."""
    confidence = check.positive("confidence", value)
    if confidence >= 1.0:
        raise ValueError(f"confidence is {value!r}; it must be below 1.")
    return confidence
