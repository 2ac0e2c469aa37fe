"""High-precision ground truth for the tests, in 300-bit interval arithmetic.

Everything here starts from the exact values of the float64 inputs and from the definitions of the
paper, and from nothing of ``nystrom_lib``. Derivatives come from second-order automatic differentiation
of Eq. (3) itself, so that Eq. (5) and (10)-(13) are checked rather than repeated. Every number handed
back comes from a ball whose radius has been looked at: `certified` refuses a result that is not proven
to more digits than a float64 can hold.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import acb_mat, arb, arb_mat, ctx
from numpy.typing import ArrayLike, NDArray

BITS = 300
Floats = NDArray[np.float64]
Points = list[list[Any]]


@contextmanager
def precision(bits: int = BITS) -> Iterator[None]:
    """Work with `bits` bits inside the block, and put the old precision back after it."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def certified(ball: Any, relative: float = 1e-18, absolute: float = 0.0) -> float:
    """The midpoint of a ball as a float, once its radius is proven small enough."""
    radius, size = float(ball.rad()), abs(float(ball.mid()))
    if not radius <= max(relative * size, absolute, 1e-330):
        raise ArithmeticError(f"the oracle lost its digits: {ball.str(10)}")
    return float(ball.mid())


def points(array: ArrayLike) -> Points:
    """The exact values of a float64 array, a list of arb per row."""
    return [[arb(float(v)) for v in row] for row in np.asarray(array, dtype=np.float64)]


# --- second-order automatic differentiation -------------------------------------------------------


class Jet:
    """A value with its gradient and Hessian in `m` variables, all of them balls."""

    def __init__(self, value: Any, gradient: Any, hessian: Any) -> None:
        self.value, self.gradient, self.hessian = value, gradient, hessian

    @staticmethod
    def constant(value: Any, m: int) -> Jet:
        return Jet(arb(value), arb_mat(m, 1), arb_mat(m, m))

    def __add__(self, other: Jet | Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.gradient, self.hessian)
        return Jet(self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian)

    __radd__ = __add__

    def __mul__(self, other: Jet | Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value * other, self.gradient * other, self.hessian * other)
        cross = self.gradient * other.gradient.transpose()
        return Jet(
            self.value * other.value,
            self.gradient * other.value + other.gradient * self.value,
            self.hessian * other.value + other.hessian * self.value + cross + cross.transpose(),
        )

    __rmul__ = __mul__

    def compose(self, value: Any, first: Any, second: Any) -> Jet:
        """f(self), from f, f′ and f″ at the value."""
        outer = self.gradient * self.gradient.transpose()
        return Jet(value, self.gradient * first, self.hessian * first + outer * second)

    def exp(self) -> Jet:
        e = self.value.exp()
        return self.compose(e, e, e)

    def sqrt(self) -> Jet:
        root = self.value.sqrt()
        return self.compose(root, 1 / (2 * root), -1 / (4 * root**3))

    def __pow__(self, p: Any) -> Jet:
        if isinstance(p, int) and p >= 0:  # repeated products, so that a base of 0 or below is no obstacle
            result = Jet.constant(1, self.hessian.nrows())
            for _ in range(p):
                result = result * self
            return result
        power, v = arb(p), self.value
        return self.compose(v**power, power * v ** (power - 1), power * (power - 1) * v ** (power - 2))


# --- kernels --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OracleKernel:
    """K as a formula that accepts an arb or a Jet; `slope_at_zero` is the limit of dK/d(r²) at r = 0."""

    name: str
    radial: bool
    formula: Callable[[Any], Any]
    slope_at_zero: Callable[[], Any] | None = None

    def __call__(self, s: Sequence[Any], x: Sequence[Any]) -> Any:
        """K(s, x)."""
        if self.radial:
            return self.formula(sum(((a - b) ** 2 for a, b in zip(s, x, strict=True)), arb(0)))
        return self.formula(sum((a * b for a, b in zip(s, x, strict=True)), arb(0)))

    def of_jet(self, pair: Jet) -> Jet:
        """K of a jet of r² or of ⟨s, x⟩; r = 0 is taken as a limit, for √ has no derivative there."""
        if not self.radial or not pair.value.is_zero():
            return self.formula(pair)  # type: ignore[no-any-return]
        if self.slope_at_zero is None:
            raise ZeroDivisionError(f"{self.name} has no derivative where the points coincide")
        # The gradient of r² vanishes at r = 0, so f″ is multiplied by zero (by a limit, for Matérn 3/2).
        return Jet(self.formula(pair.value), arb_mat(pair.hessian.nrows(), 1), pair.hessian * self.slope_at_zero())


def gaussian(rho: float) -> OracleKernel:
    return OracleKernel("gaussian", True, lambda q: (q * (-arb(rho))).exp(), lambda: -arb(rho))


def matern(nu: float, lengthscale: float = 1.0) -> OracleKernel:
    def a() -> Any:  # evaluated late, at the precision then in force
        return (2 * arb(nu)).sqrt() / arb(lengthscale)

    def half(q: Any) -> Any:
        return (q.sqrt() * (-a())).exp()

    def three_halves(q: Any) -> Any:
        z = q.sqrt() * a()
        return (z + 1) * (z * (-1)).exp()

    def five_halves(q: Any) -> Any:
        z = q.sqrt() * a()
        return (z + z * z * (arb(1) / 3) + 1) * (z * (-1)).exp()

    if nu == 0.5:
        return OracleKernel("matern12", True, half)
    if nu == 1.5:  # K = 1 - z²/2 + O(z³)
        return OracleKernel("matern32", True, three_halves, lambda: -(a() ** 2) / 2)
    if nu == 2.5:  # K = 1 - z²/6 + O(z⁴)
        return OracleKernel("matern52", True, five_halves, lambda: -(a() ** 2) / 6)
    raise ValueError(f"nu = {nu}")


def matern_by_bessel(nu: float, lengthscale: float, r: float) -> Any:
    """The Matérn kernel by its general definition 2^(1-ν)/Γ(ν) z^ν K_ν(z), z = √(2ν) r/l, r > 0."""
    v = arb(nu)
    z = (2 * v).sqrt() * arb(r) / arb(lengthscale)
    return arb(2) ** (1 - v) / v.gamma() * z**v * z.bessel_k(v)


def rational_quadratic(alpha: float = 1.0, lengthscale: float = 1.0) -> OracleKernel:
    def formula(q: Any) -> Any:
        return (q * (1 / (2 * arb(alpha) * arb(lengthscale) ** 2)) + 1) ** (-arb(alpha))

    return OracleKernel("rational_quadratic", True, formula, lambda: -1 / (2 * arb(lengthscale) ** 2))


def polynomial(degree: int = 2, offset: float = 1.0, scale: float = 1.0) -> OracleKernel:
    return OracleKernel("polynomial", False, lambda t: (t * arb(scale) + arb(offset)) ** degree)


# --- K² and its derivatives (Eq. 4) ---------------------------------------------------------------


def _pair_jet(kernel: OracleKernel, s: Sequence[Any], x: Sequence[Any]) -> Jet:
    """r² or ⟨s, x⟩ as a function of the 2d coordinates (s, x)."""
    d = len(s)
    value, hessian = arb(0), arb_mat(2 * d, 2 * d)
    gradient = arb_mat(2 * d, 1)
    for i, (a, b) in enumerate(zip(s, x, strict=True)):
        value += (a - b) ** 2 if kernel.radial else a * b
        gradient[i, 0] = 2 * (a - b) if kernel.radial else b
        gradient[d + i, 0] = 2 * (b - a) if kernel.radial else a
        cross = arb(-2 if kernel.radial else 1)
        hessian[i, d + i] = hessian[d + i, i] = cross
        if kernel.radial:
            hessian[i, i] = hessian[d + i, d + i] = arb(2)
    return Jet(value, gradient, hessian)


def _diagonal_jet(kernel: OracleKernel, s: Sequence[Any]) -> Jet:
    """K(s, s) as a function of the d coordinates of s."""
    d = len(s)
    if kernel.radial:
        return Jet.constant(kernel(s, s), d)
    hessian = arb_mat(d, d)
    for i in range(d):
        hessian[i, i] = arb(2)
    return kernel.formula(  # type: ignore[no-any-return]
        Jet(sum((a * a for a in s), arb(0)), arb_mat(d, 1, [2 * a for a in s]), hessian)
    )


def squared_jet(kernel: OracleKernel, s: Sequence[Any], x: Sequence[Any]) -> Jet:
    """K²(s, x) with its derivatives in the 2d coordinates (s, x)."""
    return kernel.of_jet(_pair_jet(kernel, s, x)) ** 2


def _block(matrix: Any, rows: range, columns: range) -> Floats:
    return np.array([[certified(matrix[i, j], absolute=1e-60) for j in columns] for i in rows])


@dataclass(frozen=True)
class SquaredKernel:
    """K² on S × X with its derivatives: left, right (n,N,d), left-left, left-right (n,N,d,d), diagonal."""

    value: Floats
    left: Floats
    right: Floats
    left_left: Floats
    left_right: Floats
    diagonal: Floats
    diagonal_diagonal: Floats


def squared_kernel(kernel: OracleKernel, sample: ArrayLike, data: ArrayLike, bits: int = BITS) -> SquaredKernel:
    """Every derivative of K² in the paper's three senses."""
    with precision(bits):
        S, X = points(sample), points(data)
        d = len(S[0])
        jets = [[squared_jet(kernel, s, x) for x in X] for s in S]
        own = [_diagonal_jet(kernel, s) ** 2 for s in S]
        first, second = range(d), range(d, 2 * d)

        def every(part: Callable[[Jet], Any]) -> Floats:
            return np.array([[part(jet) for jet in row] for row in jets])

        return SquaredKernel(
            value=every(lambda jet: certified(jet.value)),
            left=every(lambda jet: _block(jet.gradient, first, range(1))[:, 0]),
            right=every(lambda jet: _block(jet.gradient, second, range(1))[:, 0]),
            left_left=every(lambda jet: _block(jet.hessian, first, first)),
            left_right=every(lambda jet: _block(jet.hessian, first, second)),
            diagonal=np.array([_block(jet.gradient, first, range(1))[:, 0] for jet in own]),
            diagonal_diagonal=np.array([_block(jet.hessian, first, first) for jet in own]),
        )


# --- radial SKD (Eq. 3), differentiated as it stands ----------------------------------------------


@dataclass(frozen=True)
class RadialSKD:
    """R and what it is made of, at one sample."""

    value: float
    norm2: float
    T1: float
    c: float
    gradient: Floats
    hessian: Floats
    c_gradient: Floats


def _embed(jet: Jet, places: Sequence[int], m: int) -> Jet:
    """The same function seen as one of m variables, of which it uses those at `places`."""
    gradient, hessian = arb_mat(m, 1), arb_mat(m, m)
    for a, i in enumerate(places):
        gradient[i, 0] = jet.gradient[a, 0]
        for b, j in enumerate(places):
            hessian[i, j] = jet.hessian[a, b]
    return Jet(jet.value, gradient, hessian)


def _left_part(jet: Jet, d: int) -> Jet:
    """The function of s alone, x held fixed."""
    H, g = jet.hessian, jet.gradient
    return Jet(
        jet.value,
        arb_mat(d, 1, [g[i, 0] for i in range(d)]),
        arb_mat(d, d, [H[i, j] for i in range(d) for j in range(d)]),
    )


def _skd_jets(kernel: OracleKernel, S: Points, X: Points) -> tuple[Jet, Jet]:
    """T₁ = Σᵢⱼ K²(sⱼ, xᵢ) and ‖K_S‖_F² as jets in the nd coordinates of S."""
    n, d = len(S), len(S[0])
    m = n * d
    place = [range(k * d, (k + 1) * d) for k in range(n)]
    T1, norm = Jet.constant(0, m), Jet.constant(0, m)
    for k, s in enumerate(S):
        local = Jet.constant(0, d)
        for x in X:
            local = local + _left_part(squared_jet(kernel, s, x), d)
        T1 = T1 + _embed(local, place[k], m)
        norm = norm + _embed(_diagonal_jet(kernel, s) ** 2, place[k], m)
        for j in range(k + 1, n):
            pair = _embed(squared_jet(kernel, s, S[j]), [*place[k], *place[j]], m)
            norm = norm + pair * 2
    return T1, norm


def squared_frobenius_norm(kernel: OracleKernel, data: ArrayLike) -> Any:
    """‖K‖_F² as a ball."""
    with precision():
        X = points(data)
        total = sum((kernel(x, x) ** 2 for x in X), arb(0))
        for i, x in enumerate(X):
            total += 2 * sum((kernel(x, y) ** 2 for y in X[:i]), arb(0))
        return total


def radial_skd(kernel: OracleKernel, data: ArrayLike, sample: ArrayLike) -> RadialSKD:
    """R(S), c_S and their derivatives, by differentiating Eq. (3) and (9) automatically."""
    with precision():
        S, X = points(sample), points(data)
        T1, norm = _skd_jets(kernel, S, X)
        inverse = norm ** (-1)
        c = T1 * inverse
        norm2 = squared_frobenius_norm(kernel, data)
        R = (T1 * T1 * inverse) * (-1) + norm2
        n, d = len(S), len(S[0])
        whole = range(n * d)
        return RadialSKD(
            value=certified(R.value, absolute=1e-60),
            norm2=certified(norm2),
            T1=certified(T1.value),
            c=certified(c.value),
            gradient=_block(R.gradient, whole, range(1)).reshape(n, d),
            hessian=_block(R.hessian, whole, whole),
            c_gradient=_block(c.gradient, whole, range(1)).reshape(n, d),
        )


def radial_skd_value(kernel: OracleKernel, data: ArrayLike, sample: ArrayLike, constant: bool = True) -> float:
    """R(S) alone, or without ‖K‖_F²: quick enough for thousands of points."""
    with precision():
        S, X = points(sample), points(data)
        T1 = sum((kernel(s, x) ** 2 for s in S for x in X), arb(0))
        norm = sum((kernel(s, t) ** 2 for s in S for t in S), arb(0))
        R = -(T1**2) / norm
        if constant:
            R += squared_frobenius_norm(kernel, data)
        return certified(R, absolute=1e-60)


# --- stochastic gradients (Section 3) -------------------------------------------------------------


class Estimators:
    """T̂₁, T̂₂ and the estimators (6), (7) and of Remark 3.1 on one data set and sample, in balls.

    K² and its left derivatives are tabulated once per data point, so that all Nᵇ batches can be enumerated.
    """

    def __init__(self, kernel: OracleKernel, data: ArrayLike, sample: ArrayLike) -> None:
        with precision():
            S, X = points(sample), points(data)
            self.n, self.d, self.N = len(S), len(S[0]), len(X)
            jets = [[_left_part(squared_jet(kernel, s, x), self.d) for s in S] for x in X]
            self.v = [sum((jet.value for jet in row), arb(0)) for row in jets]
            self.w = [
                arb_mat(self.n * self.d, 1, [jet.gradient[i, 0] for jet in row for i in range(self.d)]) for row in jets
            ]
            _, norm = _skd_jets(kernel, S, X)
            self.norm, self.upsilon = norm.value, norm.gradient

    def T1_ball(self, batch: Sequence[int]) -> Any:
        return sum((self.v[i] for i in batch), arb(0)) * self.N / len(batch)

    def T2_ball(self, batch: Sequence[int]) -> Any:
        total = arb_mat(self.n * self.d, 1)
        for i in batch:
            total = total + self.w[i]
        return total * (arb(self.N) / len(batch))

    def four_ball(self, b1: Sequence[int], b2: Sequence[int], b3: Sequence[int], b4: Sequence[int]) -> Any:
        first = self.upsilon * (self.T1_ball(b1) * self.T1_ball(b2) / self.norm**2)
        return first - self.T2_ball(b4) * (2 * self.T1_ball(b3) / self.norm)

    def _floats(self, column: Any) -> Floats:
        return _block(column, range(self.n * self.d), range(1)).reshape(self.n, self.d)

    def T1(self, batch: Sequence[int]) -> float:
        with precision():
            return certified(self.T1_ball(batch))

    def T2(self, batch: Sequence[int]) -> Floats:
        with precision():
            return self._floats(self.T2_ball(batch))

    def one(self, batch: Sequence[int]) -> Floats:
        """Eq. (6)."""
        return self.four(batch, batch, batch, batch)

    def two(self, batch_x: Sequence[int], batch_y: Sequence[int]) -> Floats:
        """Eq. (7)."""
        return self.four(batch_x, batch_y, batch_x, batch_y)

    def four(self, b1: Sequence[int], b2: Sequence[int], b3: Sequence[int], b4: Sequence[int]) -> Floats:
        """Remark 3.1: each of the four factors from its own batch."""
        with precision():
            return self._floats(self.four_ball(b1, b2, b3, b4))

    def one_sample_bias(self, b: int) -> Floats:
        """E[Eq. (6)] - ∇R for b i.i.d. indices, in closed form.

        With V = Σⱼ K²(sⱼ, X) and W = ∂K²(s, X), T̂₁ = (N/b) Σ V_j and T̂₂ = (N/b) Σ W_j over b i.i.d.
        copies, so that E[T̂₁²] = T₁² + (N²/b) Var V and E[T̂₁T̂₂] = T₁T₂ + (N²/b) Cov(V, W), whence
        bias = (N²/b) (Var V · Υ / ‖K_S‖⁴ - 2 Cov(V, W) / ‖K_S‖²).
        """
        with precision():
            N = self.N
            mean_v = sum(self.v, arb(0)) / N
            variance = sum(((v - mean_v) ** 2 for v in self.v), arb(0)) / N
            covariance = arb_mat(self.n * self.d, 1)
            for v, w in zip(self.v, self.w, strict=True):
                covariance = covariance + w * ((v - mean_v) / N)
            bias = self.upsilon * (variance / self.norm**2) - covariance * (2 / self.norm)
            return self._floats(bias * (arb(N) ** 2 / b))

    def mean_over_batches(self, estimator: str, sizes: Sequence[int]) -> Floats:
        """The mean of an estimator over every possible tuple of batches, no sampling."""
        with precision():
            batches = [list(itertools.product(range(self.N), repeat=b)) for b in sizes]
            total, count = arb_mat(self.n * self.d, 1), 0
            for chosen in itertools.product(*batches):
                if estimator == "one":
                    parts = (chosen[0],) * 4
                elif estimator == "two":
                    parts = (chosen[0], chosen[1]) * 2
                else:
                    parts = chosen  # type: ignore[assignment]
                total, count = total + self.four_ball(*parts), count + 1
            return self._floats(total * (arb(1) / count))


# --- Nyström approximation errors (C.1)-(C.3) -----------------------------------------------------


@dataclass(frozen=True)
class Errors:
    trace: float
    frobenius: float
    spectral: float


def _distinct(sample: ArrayLike) -> Floats:
    """A repeated landmark spans nothing new (Remark 1.1), and would make K_S exactly singular."""
    return np.unique(np.asarray(sample, dtype=np.float64), axis=0)


def _gram(kernel: OracleKernel, A: Points, B: Points) -> Any:
    return arb_mat([[kernel(a, b) for b in B] for a in A])


def trace_error(kernel: OracleKernel, data: ArrayLike, sample: ArrayLike, bits: int = BITS) -> float:
    """‖K - K̂(S)‖_* = tr K - tr(K_S⁻¹ C Cᵀ); the subtraction is harmless with 300 bits."""
    with precision(bits):
        S, X = points(_distinct(sample)), points(data)
        C = _gram(kernel, S, X)
        projected = _gram(kernel, S, S).inv() * (C * C.transpose())
        total = sum((kernel(x, x) for x in X), arb(0))
        return certified(total - projected.trace(), relative=1e-15, absolute=1e-40)


def residual_matrix(kernel: OracleKernel, data: ArrayLike, sample: ArrayLike, bits: int = BITS) -> Any:
    """K - K̂(S) as an arb_mat (Eq. 2)."""
    with precision(bits):
        S, X = points(_distinct(sample)), points(data)
        C = _gram(kernel, S, X)
        return _gram(kernel, X, X) - C.transpose() * (_gram(kernel, S, S).inv() * C)


def rounded(matrix: Any) -> Floats:
    """An arb_mat rounded to float64, every entry proven."""
    flat = [certified(ball, relative=1e-15, absolute=1e-40) for ball in matrix.entries()]
    return np.array(flat).reshape(matrix.nrows(), matrix.ncols())


def nystrom_errors(kernel: OracleKernel, data: ArrayLike, sample: ArrayLike, bits: int = BITS) -> Errors:
    """All three norms, for up to several hundred points.

    The residual is right to the last bit before eigvalsh sees it, and its largest eigenvalue is well
    conditioned.
    """
    E = rounded(residual_matrix(kernel, data, sample, bits))
    return Errors(
        trace=float(np.trace(E)),
        frobenius=float(np.linalg.norm(E)),
        spectral=float(np.linalg.eigvalsh(E)[-1]),
    )


def condition_number(kernel: OracleKernel, sample: ArrayLike) -> float:
    """cond(K_S) to a factor of about n: ‖K_S‖_F ‖K_S⁻¹‖_F is never below the spectral one."""
    with precision():
        S = points(_distinct(sample))
        K = _gram(kernel, S, S)
        size = [sum((ball * ball for ball in M.entries()), arb(0)).sqrt() for M in (K, K.inv())]
        return float((size[0] * size[1]).mid())


def eigenvalues(kernel: OracleKernel, data: ArrayLike, bits: int = BITS) -> list[Any]:
    """All eigenvalues of K, isolated and certified, largest first; for small N with a simple spectrum."""
    with precision(bits):
        X = points(data)
        values = acb_mat(_gram(kernel, X, X)).eig()
        return sorted((value.real for value in values), key=lambda ball: -float(ball.mid()))


def best_rank_errors(kernel: OracleKernel, data: ArrayLike, n: int, bits: int = BITS) -> Errors:
    """‖K - K_n‖ in the three norms from the tail of the certified spectrum."""
    with precision(bits):
        tail = eigenvalues(kernel, data, bits)[n:]
        return Errors(
            trace=certified(sum(tail, arb(0)), relative=1e-15),
            frobenius=certified(sum((t * t for t in tail), arb(0)).sqrt(), relative=1e-15),
            spectral=certified(tail[0], relative=1e-15),
        )


# --- other objectives: (C.1) as a function of S, the nearest landmarks only, Remark 1.2 -------------


def _left_over(W: list[list[Jet]], c: list[Jet], corner: Jet) -> Jet:
    """corner - cᵀW⁻¹c: what the elimination of W, a column after the other, leaves of the corner."""
    size = len(c)
    rows = [[*row, last] for row, last in zip(W, c, strict=True)] + [[*c, corner]]
    for p in range(size):
        inverse = rows[p][p] ** (-1)
        for i in range(p + 1, size + 1):
            ratio = rows[p][i] * inverse * (-1)
            for j in range(i, size + 1):
                rows[i][j] = rows[i][j] + ratio * rows[p][j]
    return rows[size][size]


def _landmark_jets(kernel: OracleKernel, S: Points) -> list[list[Jet]]:
    """K_S as jets in the nd coordinates of S."""
    n, d = len(S), len(S[0])
    place = [range(k * d, (k + 1) * d) for k in range(n)]
    W = [[Jet.constant(0, n * d)] * n for _ in range(n)]
    for k in range(n):
        W[k][k] = _embed(_diagonal_jet(kernel, S[k]), place[k], n * d)
        for j in range(k):
            pair = kernel.of_jet(_pair_jet(kernel, S[k], S[j]))
            W[k][j] = W[j][k] = _embed(pair, [*place[k], *place[j]], n * d)
    return W


def _point_jets(kernel: OracleKernel, S: Points, x: Sequence[Any]) -> list[Jet]:
    """K(s, x) for every landmark, as jets in the nd coordinates of S."""
    n, d = len(S), len(S[0])
    jets = [_left_part(kernel.of_jet(_pair_jet(kernel, s, x)), d) for s in S]
    return [_embed(jet, range(k * d, (k + 1) * d), n * d) for k, jet in enumerate(jets)]


class Residuals:
    """K(x, x) - K̂(x, x) of each point as a function of S; with `neighbours` from the landmarks nearest to it."""

    def __init__(self, kernel: OracleKernel, data: ArrayLike, sample: ArrayLike, neighbours: int | None = None) -> None:
        with precision():
            S, X = points(sample), points(data)
            self.shape, self.N = (len(S), len(S[0])), len(X)
            W, m = _landmark_jets(kernel, S), len(S) * len(S[0])
            self.jets = []
            for x in X:
                c, near = _point_jets(kernel, S, x), self._nearest(S, x, neighbours)
                among = [[W[i][j] for j in near] for i in near]
                self.jets.append(_left_over(among, [c[i] for i in near], Jet.constant(kernel(x, x), m)))

    @staticmethod
    def _nearest(S: Points, x: Sequence[Any], neighbours: int | None) -> list[int]:
        squares = [float(sum(((a - b) ** 2 for a, b in zip(s, x, strict=True)), arb(0)).mid()) for s in S]
        return sorted(range(len(S)), key=squares.__getitem__)[:neighbours]

    def _mean(self, batch: Sequence[int] | None) -> Jet:
        chosen = range(self.N) if batch is None else batch
        total = self.jets[chosen[0]]
        for i in chosen[1:]:
            total = total + self.jets[i]
        return total * (arb(self.N) / len(chosen))

    def value(self, batch: Sequence[int] | None = None) -> float:
        """N/b times the sum over a batch, or over all points."""
        with precision():
            return certified(self._mean(batch).value, relative=1e-15, absolute=1e-40)

    def gradient(self, batch: Sequence[int] | None = None) -> Floats:
        """Its gradient, shape (n, d)."""
        with precision():
            column = self._mean(batch).gradient
            return _block(column, range(column.nrows()), range(1)).reshape(self.shape)


@dataclass(frozen=True)
class WeightedSKD:
    value: float
    gradient: Floats


def weighted_skd(
    kernel: OracleKernel, data: ArrayLike, sample: ArrayLike, batch: Sequence[int] | None = None
) -> WeightedSKD:
    """‖K‖_F² - gᵀB⁻¹g with B = K_S∘K_S and g = Σ_x K²(·, x), from a batch N/b times the sum over it."""
    with precision():
        S, X = points(sample), points(data)
        n, d = len(S), len(S[0])
        chosen = range(len(X)) if batch is None else batch
        B = [[jet * jet for jet in row] for row in _landmark_jets(kernel, S)]
        g = [Jet.constant(0, n * d)] * n
        for i in chosen:
            g = [total + jet * jet for total, jet in zip(g, _point_jets(kernel, S, X[i]), strict=True)]
        g = [total * (arb(len(X)) / len(chosen)) for total in g]
        left = _left_over(B, g, Jet.constant(squared_frobenius_norm(kernel, data), n * d))
        gradient = _block(left.gradient, range(n * d), range(1)).reshape(n, d)
        return WeightedSKD(certified(left.value, relative=1e-15, absolute=1e-40), gradient)


# --- Theorem 2.1 ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lipschitz:
    C0: float
    C1: float
    same_bound: float
    different_bound: float
    L: float


def lipschitz(norm: float, N: int, n: int, d: int, alpha: float, M1: float, M2: float) -> Lipschitz:
    """C₀, C₁, the bounds (18), (19) and L by summing the Appendix's inequalities term by term.

    `norm` is ‖K‖_F. The Hessian has nd² entries of the first kind and n(n-1)d² of the second.
    """
    C0 = norm / np.sqrt(n * alpha)
    C1 = (N * M1 + C0 * M1 + 2 * (n - 1) * C0 * M1) / (n * alpha)
    same = (
        C0**2 * M2 + 2 * C0 * C1 * M1 + 2 * C0**2 * (n - 1) * M2 + 4 * C0 * C1 * (n - 1) * M1
        + 2 * C0 * N * M2 + 2 * C1 * N * M1
    )  # fmt: skip
    different = 2 * C0 * C1 * M1 + 2 * C0**2 * M2 + 4 * C0 * C1 * (n - 1) * M1 + 2 * C1 * N * M1
    L = np.sqrt(n * d**2 * same**2 + n * (n - 1) * d**2 * different**2)
    return Lipschitz(float(C0), float(C1), float(same), float(different), float(L))


def radial_constants(kernel: OracleKernel, reach: float, steps: int = 4000) -> tuple[float, float]:
    """M₁ and M₂ of a radial K² by a fine scan of f(r) = K², 0 ≤ r ≤ reach, its derivatives automatic.

    With u = (x-y)/r the gradient is f′u and the Hessian (f′/r)(I - uuᵀ) + f″uuᵀ, so that over all directions
    M₁ = sup |f′| and M₂ = sup max(|f″|, |f′/r|); an off-diagonal entry is at most (|f″| + |f′/r|)/2.
    """
    M1 = M2 = 0.0
    with precision(100):
        for r in np.linspace(0.0, reach, steps + 1):
            jet = squared_jet(kernel, [arb(float(r)), arb(0)], [arb(0), arb(0)])
            g, H = jet.gradient, jet.hessian
            M1 = max(M1, abs(float(g[0, 0].mid())))
            M2 = max(M2, abs(float(H[0, 0].mid())), abs(float(H[1, 1].mid())))
    return M1, M2
