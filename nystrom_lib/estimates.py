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

from ._validation import Array


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


def mean_of(terms: Array, high: float, confidence: float, times: float) -> Estimate:
    """Estimate ``times`` the mean of terms in [0, high], of which at least two independent draws are given."""
    from scipy.special import ndtri

    m, mean, deviation = len(terms), float(terms.mean()), float(terms.std(ddof=1))
    log = math.log(4.0 / (1.0 - confidence))
    surely = deviation * math.sqrt(2.0 * log / m) + 7.0 * high * log / (3.0 * (m - 1))
    within = float(ndtri(0.5 + 0.5 * confidence)) * deviation / math.sqrt(m)
    bounds, normal = ((times * max(0.0, mean - half), times * min(high, mean + half)) for half in (surely, within))
    return Estimate(times * mean, bounds, normal, confidence, m)
