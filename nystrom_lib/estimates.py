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

from . import _validation as check
from ._validation import Array

__all__ = ["Estimate"]


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
