r"""The radial squared-kernel discrepancy, paper §1.3: Eq. (3), its parts, and Eq. (9)."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from . import _sums
from . import _validation as check
from ._sums import PairSums
from ._validation import Array
from .kernels import Kernel, require


def validate_arguments(kernel: Kernel, data: ArrayLike, sample: ArrayLike) -> tuple[Kernel, NDArray[Any], Array]:
    """Validate the three arguments that most functions have in common."""
    kernel = require(kernel)
    data = check.points("data", data)
    return kernel, data, check.float_points("sample", sample, dimension=data.shape[1])


@check.finite_result
def squared_frobenius_norm(kernel: Kernel, data: ArrayLike) -> float:
    r""":math:`\|\mathbf K\|_F^2 = \sum_{i,j=1}^N K^2(x_i, x_j)`, the constant of Eq. (3).

    Block by block with the symmetry of K: O(N²) time, no N × N matrix.

    Parameters
    ----------
    kernel, data
        As in :func:`radial_skd`.

    Returns
    -------
    float
        The sum over all pairs.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> round(nl.squared_frobenius_norm(nl.Gaussian(rho=1.0), [[0.0], [1.0]]), 6)
    2.270671
    """
    return _sums.squared_frobenius_norm(require(kernel), check.points("data", data))


@check.finite_result
def radial_skd(kernel: Kernel, data: ArrayLike, sample: ArrayLike, constant: bool | float = True) -> float:
    r"""The radial squared-kernel discrepancy of a Nyström sample, Eq. (3):

    .. math:: R(S) = \|\mathbf K\|_F^2 - \frac{1}{\|\mathbf K_S\|_F^2}
              \Big(\sum_{i=1}^N\sum_{j=1}^n K^2(x_i, s_j)\Big)^2,

    and :math:`R(S) = \|\mathbf K\|_F^2` if :math:`\|\mathbf K_S\|_F = 0`.

    Parameters
    ----------
    kernel
        The kernel K.
    data
        The points :math:`x_1, …, x_N`, a row each.
    sample
        The landmarks :math:`s_1, …, s_n`, a row each, anywhere in :math:`\mathbb R^d`.
    constant
        True adds :math:`\|\mathbf K\|_F^2`, which costs O(N²); False leaves it out, for a cost of O(n² + nN); a
        number is :math:`\|\mathbf K\|_F^2`, computed before.

    Returns
    -------
    float
        R(S), with or without its constant.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> kernel, data = nl.Gaussian(rho=1.0), [[0.0], [1.0]]
    >>> round(nl.radial_skd(kernel, data, [[0.5]]), 6)
    0.799153
    >>> round(nl.radial_skd(kernel, data, [[0.5]], constant=False), 6)
    -1.471518
    """
    kernel, data, sample = validate_arguments(kernel, data, sample)
    if constant is True:
        constant = _sums.squared_frobenius_norm(kernel, data)
    elif constant is False:
        constant = 0.0
    else:
        constant = check.real("constant", constant)
    norm, total = PairSums(kernel, data, sample).totals()
    return constant - (total * (total / norm) if norm > 0.0 else 0.0)


@check.finite_result
def skd_coefficient(kernel: Kernel, data: ArrayLike, sample: ArrayLike) -> float:
    r"""The coefficient of Eq. (9), :math:`c_S = \|\mathbf K_S\|_F^{-2}\sum_{i,j} K^2(x_i, s_j)`; 0 if that norm is 0.

    Parameters
    ----------
    kernel, data, sample
        As in :func:`radial_skd`.

    Returns
    -------
    float
        :math:`c_S`, at least 0.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> round(nl.skd_coefficient(nl.Gaussian(rho=1.0), [[0.0], [1.0]], [[0.5]]), 6)
    1.213061
    """
    norm, total = PairSums(*validate_arguments(kernel, data, sample)).totals()
    return total / norm if norm > 0.0 else 0.0
