"""Scikit-learn's kernel names and objects as kernels of the library, where it has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as gaussian_process

from .. import _validation as check
from ..kernels import LARGEST_RHO, Gaussian, Kernel, Matern, Polynomial, RationalQuadratic

_LARGEST_OF_GAUSSIAN = 1e49  # length scale, so that ρ = 1/(2ℓ²) is one a kernel may have


def resolve_kernel(kernel: Any, given: dict[str, Any], features: int) -> Kernel | None:
    """The library's kernel for one of scikit-learn's, or None if it has none.

    ``given`` holds the parameters of a kernel that is given by name; the others have scikit-learn's defaults.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        return _of_gaussian_process(kernel)
    numbers = {"gamma": 1.0 / features, "degree": 3, "coef0": 1.0} | given
    gamma, degree, offset = (check.real(name, numbers[name]) for name in ("gamma", "degree", "coef0"))
    if kernel == "rbf" and gamma > 0.0:
        return Gaussian(check.magnitude("gamma", gamma, LARGEST_RHO))
    if kernel == "linear":
        return Polynomial(degree=1, offset=0.0)
    if kernel in ("poly", "polynomial") and degree.is_integer() and offset >= 0.0 and gamma > 0.0:
        return Polynomial(degree=int(degree), offset=offset, scale=gamma)
    return None


def _of_gaussian_process(kernel: Any) -> Kernel | None:
    """The library's kernel for one of ``sklearn.gaussian_process.kernels`` with one length scale, or None."""
    length = getattr(kernel, "length_scale", None)
    if length is None or np.size(length) != 1:
        return None
    length = float(np.ravel(length)[0])
    # By exact type: Matern is a subclass of RBF there, and a subclass of a user's may mean anything.
    if type(kernel) is gaussian_process.RBF or (type(kernel) is gaussian_process.Matern and kernel.nu == math.inf):
        return Gaussian(0.5 / check.magnitude("length_scale", length, _LARGEST_OF_GAUSSIAN) ** 2)
    if type(kernel) is gaussian_process.Matern and kernel.nu in (0.5, 1.5, 2.5):
        return Matern(kernel.nu, length)
    if type(kernel) is gaussian_process.RationalQuadratic:
        return RationalQuadratic(kernel.alpha, length)
    return None
