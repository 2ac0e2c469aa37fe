r"""Stochastic approximations of the gradient, paper §3: T̂₁, T̂₂, Eq. (6), Eq. (7), Remark 3.1.

A batch is an array of indices into the data, drawn independently and uniformly: ``rng.integers(N, size=b)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _validation as check
from ._sums import PairSums
from ._validation import Array
from .kernels import Kernel
from .radial_skd import validate_arguments

LARGEST_BATCH = 10**8  #: largest number of indices in a batch


class _Estimates:
    """T̂₁ and T̂₂ of one batch, and the sums over the landmarks."""

    def __init__(self, kernel: Kernel, data: NDArray[Any], sample: Array, name: str, batch: ArrayLike) -> None:
        picked = data[check.indices(name, batch, len(data))]
        self.scale = len(data) / len(picked)
        self.norm, total, self.over_landmarks, over_batch = PairSums(kernel, picked, sample).totals_and_left()
        self.T1 = self.scale * total
        self.T2 = self.scale * over_batch


def _combine(T1_a: float, T1_b: float, T1_c: float, rest: _Estimates) -> Array:
    """T₁ᵃT₁ᵇ Υ/‖K_S‖⁴ − 2 T₁ᶜT₂/‖K_S‖²."""
    if rest.norm <= 0.0:
        return np.zeros_like(rest.T2)
    return 2.0 * (T1_a / rest.norm) * (T1_b / rest.norm) * rest.over_landmarks - 2.0 * (T1_c / rest.norm) * rest.T2


def estimates(kernel: Kernel, data: ArrayLike, sample: ArrayLike, batch: ArrayLike) -> tuple[float, Array]:
    r"""The estimates of the two sums of paper §3 from a batch, T̂₁ and T̂₂:

    .. math:: \hat T_1(\mathbf X) = \frac Nb\sum_{i=1}^n\sum_{j=1}^b K^2(s_i, X_j), \qquad
              \hat T_2^{k,l}(\mathbf X) = \frac Nb\sum_{j=1}^b\partial^{[l]}_{[s_k]_l}K^2(s_k, X_j).

    Parameters
    ----------
    kernel, data, sample
        As in :func:`nystrom_lib.radial_skd`.
    batch
        Indices into the data, repeats allowed.

    Returns
    -------
    float, array of shape (n, d)
        T̂₁, and T̂₂ with a row for each landmark.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> T1, T2 = nl.stochastic.estimates(nl.Gaussian(rho=1.0), [[0.0], [1.0]], [[0.5]], [0])
    >>> round(T1, 6), T2.round(4)
    (1.213061, array([[-2.4261]]))
    """
    found = _Estimates(*validate_arguments(kernel, data, sample), "batch", batch)
    return check.finite("T̂₁", found.T1), check.finite("T̂₂", found.T2)


@check.finite_result
def one_sample_gradient(kernel: Kernel, data: ArrayLike, sample: ArrayLike, batch: ArrayLike) -> Array:
    r"""The one-sample approximation of the gradient, Eq. (6); shape (n, d). In general biased:

    .. math:: \frac{\hat T_1(\mathbf X)^2}{\|\mathbf K_S\|_F^4}\Upsilon(S)
              - \frac{2\hat T_1(\mathbf X)\hat T_2^{k,l}(\mathbf X)}{\|\mathbf K_S\|_F^2}.

    Parameters
    ----------
    kernel, data, sample
        As in :func:`radial_skd`.
    batch
        Indices into the data, repeats allowed; with all of them once it is the exact gradient.

    Returns
    -------
    array, (n, d)
        A row for each landmark.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> kernel, data, sample = nl.Gaussian(rho=1.0), [[0.0], [1.0]], [[0.25]]
    >>> nl.one_sample_gradient(kernel, data, sample, [1, 1, 1]).round(4)
    array([[-2.5296]])
    """
    one = _Estimates(*validate_arguments(kernel, data, sample), "batch", batch)
    return _combine(one.T1, one.T1, one.T1, one)


@check.finite_result
def two_sample_gradient(
    kernel: Kernel, data: ArrayLike, sample: ArrayLike, batch_x: ArrayLike, batch_y: ArrayLike
) -> Array:
    r"""The two-sample approximation of the gradient, Eq. (7); shape (n, d). Unbiased:

    .. math:: \frac{\hat T_1(\mathbf X)\hat T_1(\mathbf Y)}{\|\mathbf K_S\|_F^4}\Upsilon(S)
              - \frac{2\hat T_1(\mathbf X)\hat T_2^{k,l}(\mathbf Y)}{\|\mathbf K_S\|_F^2}.

    Parameters
    ----------
    kernel, data, sample
        As in :func:`radial_skd`.
    batch_x, batch_y
        Indices into the data, repeats allowed, drawn independently of each other.

    Returns
    -------
    array, (n, d)
        A row for each landmark.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> kernel, data, sample = nl.Gaussian(rho=1.0), [[0.0], [1.0]], [[0.25]]
    >>> nl.two_sample_gradient(kernel, data, sample, [0], [1]).round(4)
    array([[-6.8761]])
    """
    kernel, data, sample = validate_arguments(kernel, data, sample)
    x = _Estimates(kernel, data, sample, "batch_x", batch_x)
    y = _Estimates(kernel, data, sample, "batch_y", batch_y)
    return _combine(x.T1, y.T1, x.T1, y)


@check.finite_result
def four_sample_gradient(
    kernel: Kernel,
    data: ArrayLike,
    sample: ArrayLike,
    batch_1: ArrayLike,
    batch_2: ArrayLike,
    batch_3: ArrayLike,
    batch_4: ArrayLike,
) -> Array:
    r"""Four independent samples, Remark 3.1: unbiased, and its two terms are independent; shape (n, d).

    .. math:: \frac{\hat T_1(\mathbf X_1)\hat T_1(\mathbf X_2)}{\|\mathbf K_S\|_F^4}\Upsilon(S)
              - \frac{2\hat T_1(\mathbf X_3)\hat T_2^{k,l}(\mathbf X_4)}{\|\mathbf K_S\|_F^2}.

    Parameters
    ----------
    kernel, data, sample
        As in :func:`nystrom_lib.radial_skd`.
    batch_1, batch_2, batch_3, batch_4
        Indices into the data, repeats allowed, drawn independently of each other.

    Returns
    -------
    array, (n, d)
        A row for each landmark.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> kernel, data, sample = nl.Gaussian(rho=1.0), [[0.0], [1.0]], [[0.25]]
    >>> nl.stochastic.four_sample_gradient(kernel, data, sample, [0], [1], [0], [1]).round(4)
    array([[-6.8761]])
    """
    kernel, data, sample = validate_arguments(kernel, data, sample)
    names = ("batch_1", "batch_2", "batch_3", "batch_4")
    batches = (batch_1, batch_2, batch_3, batch_4)
    e = [_Estimates(kernel, data, sample, name, batch) for name, batch in zip(names, batches, strict=True)]
    return _combine(e[0].T1, e[1].T1, e[2].T1, e[3])
