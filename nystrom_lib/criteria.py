r"""Quality of a sample: the criteria (C.1)–(C.3) of paper §1.2, optimal errors, and the factors of Eq. (8)."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _sums
from . import _validation as check
from ._core import pairs, precise, profiles
from ._local import residuals_from_nearest
from ._spectrum import largest_eigenvalue, symmetric_product, top_eigenvalues
from ._threads import call, limit_blas_threads, thread_pool
from ._validation import Array
from .approximation import NystromApproximation, _diagonal
from .estimates import Estimate, mean_of
from .kernels import Kernel, require, require_radial
from .radial_skd import validate_arguments
from .sources import Source, open_data

T = TypeVar("T")
ALL = ("trace", "frobenius", "spectral")

_MAX_ROUNDING = 3e-7  # largest relative rounding error of the trace error in double precision: six digits
_MAX_EXTENDED_PRODUCTS = 5e8  # the largest number of double-double products
_SIDE = 512  # points of a tile of K: two tiles, 2 MB each, fit the second-level cache
_TILES = 32  # tiles between two checks for Ctrl-C
_MAX_DENSE_POINTS = 20_000  # up to this many points, an N × N matrix is kept in memory (3.2 GB)
_MAX_SPECTRUM_POINTS = 5_500  # up to this many points, all eigenvalues are computed,
_MIN_LANCZOS_POINTS = 2_500  # but from this many on, Lanczos is used for few of them,
_LANCZOS_SHARE = 0.05  # at most this share of all


@dataclass(frozen=True)
class Errors:
    """Norms of an error matrix; those not asked for are NaN."""

    trace: float = math.nan  #: (C.1), the trace norm
    frobenius: float = math.nan  #: (C.2), the Frobenius norm
    spectral: float = math.nan  #: (C.3), the spectral norm
    rank: int = 0  #: the numerical rank of K_S
    precision: str = "double"  #: "double" or "extended" (32 digits)
    estimate: Estimate | None = field(default=None, repr=False)  #: of the trace error, with ``points``


@dataclass(frozen=True)
class Factors:
    """The approximation factors of Eq. (8): 1 is optimal; those not asked for are NaN."""

    trace: float = math.nan  #: E_tr
    frobenius: float = math.nan  #: E_F
    spectral: float = math.nan  #: E_sp
    rank: int = 0  #: the numerical rank of K_S
    precision: str = "double"  #: "double" or "extended" (32 digits)


def _errors(values: dict[str, float], asked: tuple[str, ...], rank: int, precision: str = "double") -> Errors:
    trace, frobenius, spectral = (values[name] if name in asked else math.nan for name in ALL)
    return Errors(trace, frobenius, spectral, rank, precision)


def _matrix(matrix: ArrayLike | None, N: int) -> Array:
    if matrix is None:
        return np.empty((0, 0))
    K = check.float_points("matrix", matrix)
    if K.shape != (N, N):
        raise ValueError(f"matrix has shape {K.shape}; it must be the {N} × {N} kernel matrix of the data.")
    return K


@limit_blas_threads
def nystrom_errors(
    kernel: Kernel,
    data: ArrayLike | Source,
    sample: ArrayLike,
    norms: str | tuple[str, ...] = ALL,
    *,
    matrix: ArrayLike | None = None,
    precision: str = "auto",
    points: int | None = None,
    seed: Any = 0,
    confidence: float = 0.95,
    neighbours: int | None = None,
) -> Errors:
    r"""The criteria :math:`\|\mathbf K-\hat{\mathbf K}(S)\|` in the trace, Frobenius and spectral norms, (C.1)–(C.3).

    The trace norm costs O(Nn²) and needs no N × N matrix; the Frobenius norm goes tile by tile; the spectral norm is
    a Lanczos iteration on :math:`\mathbf K - \mathbf F\mathbf F^T`. With ``points`` the trace error is estimated from
    that many data points, at a cost that does not depend on N, and ``.estimate`` has confidence intervals.

    Parameters
    ----------
    kernel, sample
        As in :func:`radial_skd`.
    data
        The points, a row each, or the result of :func:`open_data`, which is read block by block, once.
    norms
        Any of ``"trace"``, ``"frobenius"``, ``"spectral"``; for a source or with ``points``, only ``"trace"``.
    matrix
        The kernel matrix of the data, if it has been computed before.
    precision
        ``"double"``, ``"extended"`` (double-double, 32 digits, for the built-in kernels), or ``"auto"``. The latter
        is extended if the work is affordable and double precision would either leave fewer than six correct digits,
        because pivots of :math:`\mathbf K_S` or residuals are small, or drop a landmark that is no copy of another.
        In either precision the Frobenius and spectral norms have rounding errors of about 1e-15 of those of K.
    points
        Number of data points, drawn independently and uniformly, to estimate the trace error from; None for all.
    seed, confidence
        The seed of the draw, and the confidence level of the intervals.
    neighbours
        Number of landmarks that a point uses, the nearest ones, as in :class:`LocalTraceError`. The result is an upper
        bound of the trace error, at a cost per point that hardly depends on n; None for all landmarks.

    Returns
    -------
    Errors
        ``.trace``, ``.frobenius``, ``.spectral``, ``.rank`` (numerical rank of :math:`\mathbf K_S`), ``.precision``;
        with ``points`` an :class:`Estimate` in ``.estimate``. Its ``bounds`` hold for any data if the kernel is radial;
        else they are infinite, for no bound of the residuals is known without a pass over the data.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> errors = nl.nystrom_errors(nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]], [[0.0], [1.0]])
    >>> round(errors.trace, 6), round(errors.spectral, 6), errors.rank
    (0.113181, 0.113181, 2)
    >>> data, kernel = nl.datasets.bigaussian().X, nl.Gaussian(rho=16.0)
    >>> some = nl.nystrom_errors(kernel, data, data[:50], "trace", points=1000).estimate
    >>> some.bounds[0] < nl.nystrom_errors(kernel, data, data[:50], "trace").trace < some.bounds[1]
    True
    """
    kernel = require(kernel)
    asked = check.norms(norms)
    check.choice("precision", precision, ("auto", "double", "extended"))
    if precision == "extended" and kernel._family == profiles.CUSTOM:
        raise ValueError("precision is 'extended'; it is available for the built-in kernels only.")
    if points is None and neighbours is None and not isinstance(data, Source):
        kernel, data, sample = validate_arguments(kernel, data, sample)
        return _errors_in_memory(kernel, data, sample, asked, _matrix(matrix, len(data)), precision)
    if asked != ("trace",):
        raise ValueError(
            f"norms is {norms!r}; of a source, from some points, or from some neighbours, it must be 'trace'."
        )
    source = open_data(data)
    sample = check.float_points("sample", sample, dimension=source.d)
    if neighbours is not None:
        require_radial(kernel)
        neighbours = check.integer("neighbours", neighbours, least=1)
        if precision == "extended":
            raise ValueError("precision is 'extended'; with neighbours it must be 'double' or 'auto'.")
    if points is None:
        return _trace_in_one_pass(kernel, source, sample, precision, neighbours)
    drawn = source.draw(check.integer("points", points, least=2), check.generator("seed", seed))
    level = check.fraction("confidence", confidence, 1e-12)
    rows = source.rows(drawn).astype(np.float64)
    if neighbours is None:
        _, residual, rank, used = _residuals(kernel, rows, sample, precision)
    else:
        residual = residuals_from_nearest(kernel, sample, rows, neighbours)
        rank, used = min(neighbours, len(sample)), "double"
    most = float(kernel.diagonal(sample[:1])[0]) if kernel.radial else math.inf
    estimate = mean_of(residual, most, level, float(len(source)))
    return Errors(trace=estimate.value, rank=rank, precision=used, estimate=estimate)


def _errors_in_memory(
    kernel: Kernel, data: NDArray[Any], sample: Array, asked: tuple[str, ...], K: Array, precision: str
) -> Errors:
    """The norms from all points of an array."""
    features_needed = asked != ("trace",)
    features, residual, rank, used = _residuals(kernel, data, sample, precision, features_needed)
    found = {"trace": float(residual.sum())}
    if features_needed:
        found |= _residual_norms(kernel, data, features, K, asked)
    if used == "extended":  # the other norms are rounded as in double precision, and never above the trace norm
        found = {name: min(norm, found["trace"]) for name, norm in found.items()}
    return _errors(found, asked, rank, used)


def _residuals(
    kernel: Kernel, data: NDArray[Any], sample: Array, precision: str, features_needed: bool = False
) -> tuple[Array, Array, int, str]:
    """Features, if needed, and K(x, x) − K̂(x, x) of each point; the rank and the precision used."""
    approximation = NystromApproximation(kernel, sample)

    def double() -> tuple[tuple[Array, Array, int, str], float, float]:
        features = np.empty((len(data) if features_needed else 0, approximation.rank))
        residual = approximation._residuals(data, features)
        found = features, residual, approximation.rank, "double"
        return found, float(residual.sum()), float(_diagonal(kernel, data).sum())

    return _precise_enough(approximation, len(data), precision, double, lambda: _extended(kernel, data, sample))


def residuals_of(kernel: Kernel, data: NDArray[Any], sample: Array) -> Array:
    """K(x, x) − K̂(x, x) of each point, in extended precision where double precision does not suffice."""
    return _residuals(kernel, data, sample, "auto")[1]


def _trace_in_one_pass(kernel: Kernel, source: Source, sample: Array, precision: str, neighbours: int | None) -> Errors:
    """The trace error block by block; whether extended precision is affordable depends on N."""
    if neighbours is not None:
        traces = source.each(partial(_block_from_nearest, kernel, sample, neighbours))
        return Errors(trace=math.fsum(traces), rank=min(neighbours, len(sample)))
    task = _BlockTrace(kernel, sample)

    def double() -> tuple[Errors, float, float]:
        trace_error, trace = map(math.fsum, zip(*source.each(task), strict=True))
        return Errors(trace=trace_error, rank=task.approximation.rank), trace_error, trace

    def extended() -> Errors:
        traces, ranks = zip(*source.each(partial(_block_extended, kernel, sample)), strict=True)
        return Errors(trace=math.fsum(traces), rank=ranks[0], precision="extended")

    return _precise_enough(task.approximation, len(source), precision, double, extended)


class _BlockTrace:
    """Σ K(x, x) − K̂(x, x) and Σ K(x, x) over a block; each process that unpickles this computes the factor once."""

    def __init__(self, kernel: Kernel, sample: Array) -> None:
        self.approximation = NystromApproximation(kernel, sample)

    def __reduce__(self) -> tuple[Any, ...]:
        return _BlockTrace, (self.approximation.kernel, self.approximation.sample)

    def __call__(self, source: Source, start: int, stop: int) -> tuple[float, float]:
        rows = source.block(start, stop).astype(np.float64, copy=False)
        return float(self.approximation.residuals(rows).sum()), float(_diagonal(self.approximation.kernel, rows).sum())


def _block_from_nearest(kernel: Kernel, sample: Array, neighbours: int, source: Source, start: int, stop: int) -> float:
    """Σ K(x, x) − K̂(x, x) over a block, from the nearest landmarks of each point."""
    return float(residuals_from_nearest(kernel, sample, source.block(start, stop), neighbours).sum())


def _block_extended(kernel: Kernel, sample: Array, source: Source, start: int, stop: int) -> tuple[float, int]:
    """Σ K(x, x) − K̂(x, x) over a block in extended precision, and the rank."""
    _, residual, rank, _ = _extended(kernel, source.block(start, stop), sample)
    return float(residual.sum()), rank


class _TooFarApart(ValueError):
    """Extended precision overflows."""


def _extended(kernel: Kernel, data: NDArray[Any], sample: Array) -> tuple[Array, Array, int, str]:
    """Features and residuals in extended precision, of landmarks and data together; the rank and the precision."""
    n = len(sample)
    points = np.concatenate([sample, data.astype(np.float64, copy=False)])
    factor, left, _ = call(precise.pivoted_cholesky, kernel.radial, points, kernel._p, n, n, n, 0.0)
    if not (np.isfinite(left).all() and np.isfinite(factor).all()):
        raise _TooFarApart("precision is 'extended'; for points so far apart it must be 'double'.")
    return np.ascontiguousarray(factor[:, n:].T), left[n:], len(factor), "extended"


def _precise_enough(
    approximation: NystromApproximation,
    N: int,
    precision: str,
    double: Callable[[], tuple[T, float, float]],
    extended: Callable[[], T],
) -> T:
    """The result of ``double``, which also gives the trace error and the trace, or, where needed, of ``extended``."""
    if precision == "extended":
        return extended()
    extendable = precision == "auto" and _extendable(approximation.kernel, N, len(approximation.sample))
    if extendable and _thin(approximation):
        with suppress(_TooFarApart):
            return extended()
    result, trace_error, trace = double()
    if extendable and _thin(approximation, trace_error, trace):
        with suppress(_TooFarApart):
            return extended()
    return result


def _extendable(kernel: Kernel, N: int, n: int) -> bool:
    """Whether extended precision is available and affordable."""
    return kernel._family != profiles.CUSTOM and (N + n) * n**2 / 2 <= _MAX_EXTENDED_PRODUCTS


def _thin(approximation: NystromApproximation, trace_error: float = 1.0, trace: float = 1.0) -> bool:
    """Whether double precision is not enough for this trace error of a kernel matrix of this trace.

    A rounding error ε of the kernel matrix is divided by the smallest pivot p, and becomes about
    :math:`\\varepsilon/(p\\sqrt r)` of a trace error that is a part r of the trace; one of K(x, x) becomes ε/r.
    """
    if _dropped(approximation):
        return True
    if not (trace_error > 0.0 and trace > 0.0):
        return trace > 0.0
    eps, left = float(np.finfo(float).eps), trace_error / trace
    return eps / (approximation.smallest_pivot * math.sqrt(left)) + eps / left > _MAX_ROUNDING


def _dropped(approximation: NystromApproximation) -> bool:
    """Whether a landmark was dropped that is no copy of another; under a radial kernel they are independent."""
    rank, sample = approximation.rank, approximation.sample
    return approximation.kernel.radial and rank < len(sample) and rank < len(np.unique(sample, axis=0))


def _residual_norms(
    kernel: Kernel, data: NDArray[Any], features: Array, K: Array, asked: tuple[str, ...]
) -> dict[str, float]:
    """Frobenius and spectral norms of K − F Fᵀ."""
    N = len(data)
    residual_norms = {}
    dense = "spectral" in asked and N <= _MAX_DENSE_POINTS
    E = np.empty((N, N)) if dense else np.empty((0, 0))
    if dense or "frobenius" in asked:
        total = _residual_tiles(kernel, data, features, K, E)
        if "frobenius" in asked:
            residual_norms["frobenius"] = math.sqrt(total)
    if "spectral" in asked:
        if dense:
            product = symmetric_product(E)
        else:
            multiply = _kernel_product(kernel, data, K)
            product = lambda v: multiply(v) - features @ (features.T @ v)  # noqa: E731
        residual_norms["spectral"] = largest_eigenvalue(product, N)
    return residual_norms


def _residual_tiles(kernel: Kernel, data: NDArray[Any], features: Array, K: Array, E: Array) -> float:
    N, d = data.shape
    tiles = -(-N // _SIDE)
    jobs = [(I, J) for I in range(tiles) for J in range(I, tiles)]
    totals = np.zeros(len(jobs))
    centre = _sums.middle(data[:4096]) if kernel.radial else np.zeros(d)
    block = kernel._block(profiles.VALUE)

    def tile(first: int, count: int, step: int, begin: int, p: Array) -> None:
        """Σ (K_ij − ⟨f_i, f_j⟩)² of tiles of the upper half, twice off the diagonal."""
        entries = np.empty((_SIDE, _SIDE))
        for item in range(begin + first, begin + count, step):
            I, J = jobs[item]
            a, b = slice(I * _SIDE, (I + 1) * _SIDE), slice(J * _SIDE, (J + 1) * _SIDE)
            product = features[a] @ features[b].T
            if len(K):
                np.subtract(K[a, b], product, out=product)
            else:
                found = entries.ravel()[: product.size].reshape(product.shape)
                x, y = data[a] - centre, data[b] - centre
                pairs.fill(0, -(-len(found) // pairs.ROWS), 1, kernel.radial, block, p, x, y, found)
                np.subtract(found, product, out=product)
            totals[item] = np.vdot(product, product) * (1.0 if I == J else 2.0)
            if len(E):
                E[a, b] = product

    with thread_pool(N * N) as parallel, kernel._guard_user_kernel() as p:
        for begin in range(0, len(jobs), _TILES):
            parallel(tile, min(_TILES, len(jobs) - begin), begin, p)
    return float(totals.sum())


def _kernel_product(kernel: Kernel, data: NDArray[Any], K: Array) -> Callable[[Array], Array]:
    """v ↦ K v, from the matrix if it is given, else from panels computed in each product."""
    if len(K):
        return symmetric_product(K)
    rows = max(1, 20_000_000 // len(data))

    def product(v: Array) -> Array:
        return np.concatenate(
            [kernel.matrix(data[start : start + rows], data) @ v for start in range(0, len(data), rows)]
        )

    return product


@limit_blas_threads
def best_rank_errors(
    kernel: Kernel,
    data: ArrayLike,
    n: int,
    norms: str | tuple[str, ...] = ALL,
    *,
    matrix: ArrayLike | None = None,
) -> Errors:
    r"""The norms of :math:`\mathbf K-\mathbf K_n`, with :math:`\mathbf K_n` an optimal approximation of rank n.

    They are computed from the eigenvalues beyond the n-th. Where rounding errors of the largest eigenvalue exceed
    these, they come from the singular values of a pivoted Cholesky factor in extended precision (built-in kernels).

    Parameters
    ----------
    kernel, data, norms, matrix
        As in :func:`nystrom_errors`.
    n
        The rank; from N on, the errors are 0.

    Returns
    -------
    Errors
        The norms asked for, ``.rank`` and ``.precision``.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> errors = nl.best_rank_errors(nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]], n=2)
    >>> round(errors.trace, 6)
    0.067295
    """
    kernel = require(kernel)
    data = check.points("data", data)
    n = check.integer("n", n, least=1)
    asked = check.norms(norms)
    K = _matrix(matrix, len(data))
    N = len(data)
    if n >= N:
        return _errors(dict.fromkeys(ALL, 0.0), asked, N)
    if N > _MAX_SPECTRUM_POINTS or (N > _MIN_LANCZOS_POINTS and n <= _LANCZOS_SHARE * N):
        found = _best_by_lanczos(kernel, data, n, asked, K)
        if found is not None:
            return found
    K = K if len(K) else kernel.matrix(data)
    values = np.linalg.eigvalsh(K)[::-1]
    tail = np.maximum(values[n:], 0.0)
    if tail[0] < 1e8 * np.finfo(float).eps * values[0] and kernel._family != profiles.CUSTOM:
        graded = _graded_tail(kernel, data, n)
        if graded is not None:
            return _tail_errors(graded, asked, n, "extended")
    return _tail_errors(tail, asked, n, "double")


def _tail_errors(tail: Array, asked: tuple[str, ...], n: int, precision: str) -> Errors:
    trace, frobenius = float(tail.sum()), float(np.sqrt(np.square(tail).sum()))
    return _errors({"trace": trace, "frobenius": frobenius, "spectral": float(tail[0])}, asked, n, precision)


def _graded_tail(kernel: Kernel, data: NDArray[Any], n: int) -> Array | None:
    """Eigenvalues beyond the n-th from a pivoted Cholesky factor; None if that takes too long.

    The columns of the factor decrease like the eigenvalues, and a one-sided Jacobi method (LAPACK's gejsv) computes
    each singular value of such a graded matrix to nearly full relative accuracy.
    """
    from scipy.linalg.lapack import dgejsv

    N = len(data)
    most = min(N, int(math.sqrt(2 * _MAX_EXTENDED_PRODUCTS / N)), 6 * n + 60)
    if most <= n:
        return None
    points = data.astype(np.float64)
    factor, left, rank = call(precise.pivoted_cholesky, kernel.radial, points, kernel._p, N, most, n, 1e-9)
    remaining = float(left.sum())
    if not (np.isfinite(remaining) and np.isfinite(factor).all()):
        return None  # squares of such distances overflow
    if rank <= n:
        return np.array([remaining])
    scales = np.abs(factor).max(axis=1)
    values, _, _, work, _, info = dgejsv((factor / scales.max()).T, joba=0, jobu=3, jobv=3)
    if info != 0:
        return None
    tail: Array = np.square(values[n:] * (work[0] / work[1]) * scales.max())
    if remaining > 1e-3 * tail.sum():
        return None
    return tail


def _best_by_lanczos(kernel: Kernel, data: NDArray[Any], n: int, asked: tuple[str, ...], K: Array) -> Errors | None:
    """Errors for large N: tr K and ‖K‖_F² less the contributions of the largest eigenvalues, from Lanczos.

    None where so little is left that all eigenvalues, if they are affordable, give more digits.
    """
    N = len(data)
    if not len(K) and N <= _MAX_DENSE_POINTS:
        K = kernel.matrix(data)  # used some hundred times
    values = top_eigenvalues(_kernel_product(kernel, data, K), N, n + 1)
    total = float(kernel.diagonal(data).sum())
    square = _sums.squared_frobenius_norm(kernel, data) if "frobenius" in asked else math.nan
    every = {
        "trace": total - float(values[:n].sum()),
        "frobenius": math.sqrt(max(square - float(np.square(values[:n]).sum()), 0.0)) if square == square else math.nan,
        "spectral": float(values[n]),
    }
    if N <= _MAX_SPECTRUM_POINTS and (every["trace"] < 1e-5 * total or every["frobenius"] ** 2 < 1e-5 * square):
        return None
    lost = every["trace"] < 1e-9 * total or every["frobenius"] ** 2 < 1e-11 * square
    if lost and kernel._family != profiles.CUSTOM:
        graded = _graded_tail(kernel, data, n)
        if graded is not None:
            return _tail_errors(graded, asked, n, "extended")
    return _errors(every, asked, n)


def approximation_factors(
    kernel: Kernel,
    data: ArrayLike,
    sample: ArrayLike,
    norms: str | tuple[str, ...] = ALL,
    *,
    best: Errors | None = None,
    matrix: ArrayLike | None = None,
    precision: str = "auto",
) -> Factors:
    r"""The approximation factors of Eq. (8):

    .. math:: \mathcal E(S) = \|\mathbf K-\hat{\mathbf K}(S)\| \,/\, \|\mathbf K-\mathbf K_n\|.

    Parameters
    ----------
    kernel, data, sample, norms, matrix, precision
        As in :func:`nystrom_errors`.
    best
        The result of :func:`best_rank_errors` for the same kernel, data and n, if computed before.

    Returns
    -------
    Factors
        ``.trace``, ``.frobenius``, ``.spectral``; NaN for a norm that was not asked for.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> factors = nl.approximation_factors(nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]], [[0.0], [1.0]])
    >>> round(factors.trace, 3)
    1.682
    """
    kernel, data, sample = validate_arguments(kernel, data, sample)
    asked = check.norms(norms)
    if best is None:
        best = best_rank_errors(kernel, data, len(sample), asked, matrix=matrix)
    check.instance("best", best, Errors, "the result of best_rank_errors, or None")
    errors = nystrom_errors(kernel, data, sample, asked, matrix=matrix, precision=precision)
    trace, frobenius, spectral = (
        _ratio(getattr(errors, name), getattr(best, name)) if name in asked else math.nan for name in ALL
    )
    return Factors(trace, frobenius, spectral, errors.rank, errors.precision)


def _ratio(error: float, optimum: float) -> float:
    if optimum == 0.0:
        return 1.0 if error == 0.0 else math.inf
    return error / optimum
