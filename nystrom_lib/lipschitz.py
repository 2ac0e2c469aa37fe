r"""The Lipschitz constant of :math:`\nabla R`, Theorem 2.1 and the Appendix: Eq. (14)–(19) and L."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from . import _sums
from . import _validation as check
from .kernels import Kernel, require


@dataclass(frozen=True)
class LipschitzBound:
    """The constants of the proof of Theorem 2.1, each computed from the ones before it."""

    alpha: float  #: lower bound of K²(x, x)
    M1: float  #: bound of the first derivatives of K²
    M2: float  #: bound of the second derivatives of K²
    N: int  #: number of data points
    n: int  #: number of landmarks
    d: int  #: number of coordinates
    frobenius: float  #: ‖K‖_F

    @property
    def norm_bound(self) -> float:
        """Eq. (14): ‖K_S‖_F² is at least nα."""
        return self.n * self.alpha

    @property
    def C0(self) -> float:
        """Eq. (16): 0 ≤ c_S ≤ C₀ = ‖K‖_F / √(nα), by the Cauchy–Schwarz inequality (15)."""
        return self.frobenius / math.sqrt(self.norm_bound)

    @property
    def C1(self) -> float:
        """Eq. (17): the derivatives of c_S are at most C₁ = M₁ (N + (2n − 1) C₀) / (nα)."""
        return self.M1 / self.norm_bound * (self.N + (2 * self.n - 1) * self.C0)

    @property
    def same_bound(self) -> float:
        """Eq. (18): bound of the second derivatives in one landmark."""
        n, N, C0, C1 = self.n, self.N, self.C0, self.C1
        return (2 * n - 1) * C0**2 * self.M2 + (4 * n - 2) * C0 * C1 * self.M1 + 2 * N * (C0 * self.M2 + C1 * self.M1)

    @property
    def different_bound(self) -> float:
        """Eq. (19): bound of the second derivatives in two landmarks."""
        n, N, C0, C1 = self.n, self.N, self.C0, self.C1
        return 2 * C0**2 * self.M2 + (4 * n - 2) * C0 * C1 * self.M1 + 2 * N * C1 * self.M1

    @property
    def L(self) -> float:
        """The Lipschitz constant: a bound of the Frobenius norm of the whole Hessian."""
        n, d = self.n, self.d
        return d * math.hypot(math.sqrt(n) * self.same_bound, math.sqrt(n * (n - 1)) * self.different_bound)

    @property
    def step(self) -> float:
        """1/L: gradient descent with this step, or a smaller one, never increases R."""
        return 1.0 / self.L


def lipschitz_bound(
    kernel: Kernel, data: ArrayLike, n: int, *, squared_frobenius: float | None = None
) -> LipschitzBound:
    r"""The constant L of Theorem 2.1, :math:`\|\nabla R(S)-\nabla R(S')\| \le L\|S-S'\|`, and those it depends on.

    Parameters
    ----------
    kernel
        A kernel with constants α, M₁, M₂ (``kernel.constants``).
    data
        The N points in :math:`\mathbb R^d`.
    n
        Number of landmarks.
    squared_frobenius
        :math:`\|\mathbf K\|_F^2`, if computed before.

    Returns
    -------
    LipschitzBound
        ``.L`` and ``.step`` = 1/L, with the constants they depend on.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> bound = nl.lipschitz_bound(nl.Gaussian(rho=1.0), [[0.0], [1.0]], n=1)
    >>> round(bound.C0, 4), round(bound.L, 2), bound.step == 1 / bound.L
    (1.5069, 69.39, True)
    """
    constants = require(kernel).constants
    if constants is None:
        raise ValueError(f"kernel is {kernel.name}, which has no Lipschitz bound: {kernel.why_no_constants}")
    data = check.points("data", data)
    n = check.integer("n", n, least=1)
    if squared_frobenius is None:
        squared_frobenius = _sums.squared_frobenius_norm(kernel, data)
    squared_frobenius = check.positive("squared_frobenius", squared_frobenius)
    return LipschitzBound(*constants, *(len(data), n, data.shape[1]), math.sqrt(squared_frobenius))
