r"""Gradient descents with a fixed step, §2–§4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _validation as check
from ._sums import PairSums
from ._threads import steady
from ._validation import Array, as_writable
from .kernels import Kernel
from .radial_skd import checked

__all__ = ["Descent", "DescentError", "gradient_descent", "stochastic_gradient_descent"]

_CHUNK = 2e9  # products of coordinates between two looks at the progress callback and Ctrl-C: about a tenth of a second


@dataclass(frozen=True)
class Descent:
    """What a descent leaves behind."""

    sample: Array  #: S⁽ᵀ⁾, shape (n, d)
    values: Array  #: R at the recorded iterations (up to ‖K‖_F² unless it was given)
    iterations: NDArray[np.int64]  #: which iterations those are: 0, k, 2k, …, and the last
    path: Array | None  #: the sample at the recorded iterations, or at every one; shape (records, n, d)


class DescentError(ArithmeticError):
    """A step would have made the sample, or R, infinite or NaN. ``iteration`` and the last good ``sample`` are kept."""

    def __init__(self, iteration: int, sample: Array, step: float) -> None:
        super().__init__(
            f"The descent left the finite numbers at iteration {iteration} with step {step:g}; try a smaller step."
        )
        self.iteration = iteration
        self.sample = sample


def gradient_descent(
    kernel: Kernel,
    data: ArrayLike,
    sample: ArrayLike,
    *,
    step: float,
    iterations: int,
    record_every: int = 0,
    keep_path: bool = False,
    constant: float = 0.0,
    progress: Callable[[int], object] | None = None,
    dtype: Any = np.float64,
) -> Descent:
    r"""Gradient descent :math:`S^{(t+1)} = S^{(t)} - \gamma\nabla R(S^{(t)})` with the exact gradient, Eq. (5).

    Parameters
    ----------
    kernel, data, sample
        As in :func:`radial_skd`; ``sample`` is :math:`S^{(0)}` and is not modified.
    step
        The step γ > 0; below 1/L (:func:`lipschitz_bound`) R never increases.
    iterations
        The number of steps T.
    record_every
        Record R every so many steps, and at the first and last; 0 records nothing.
    keep_path
        Keep the sample at the recorded iterations too (at every iteration if none is recorded).
    constant
        Added to the recorded values: :math:`\|\mathbf K\|_F^2` makes them R itself.
    progress
        Called with the number of steps done so far, from time to time.
    dtype
        ``numpy.float32`` runs the descent in single precision; the result is float64 all the same.

    Raises
    ------
    DescentError
        If a step would leave the finite numbers.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> kernel, data = nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]]
    >>> run = nl.gradient_descent(kernel, data, [[0.2]], step=0.05, iterations=50, record_every=25)
    >>> run.sample.round(3), run.values.round(4), run.iterations
    (array([[0.5]]), array([-4.147 , -4.8976, -4.8976]), array([ 0, 25, 50]))
    """
    kernel, data, sample = checked(kernel, data, sample)
    none = np.empty((0, 0), dtype=np.int64)
    return _run(
        kernel, data, sample, step=step, iterations=iterations, record_every=record_every, keep_path=keep_path,
        constant=constant, progress=progress, dtype=dtype, batch=0, first_part=0, draw=lambda count: none,
    )  # fmt: skip


def stochastic_gradient_descent(
    kernel: Kernel,
    data: ArrayLike,
    sample: ArrayLike,
    *,
    step: float,
    iterations: int,
    batch_size: int | None = None,
    seed: Any = None,
    batches: ArrayLike | None = None,
    record_every: int = 0,
    keep_path: bool = False,
    constant: float = 0.0,
    estimator: str = "one-sample",
    progress: Callable[[int], object] | None = None,
    dtype: Any = np.float64,
) -> Descent:
    r"""Stochastic gradient descent with i.i.d. batches, §3–§4: a step costs O(n² + nb) whatever N.

    Give ``batch_size`` and ``seed``, or the ``batches`` themselves.

    Parameters
    ----------
    kernel, data, sample, step, iterations, record_every, keep_path, constant, progress, dtype
        As in :func:`gradient_descent`. Recording R costs O(nN) each time.
    batch_size, seed
        Batches of b indices, drawn from the seed as rows of ``integers(0, N, size=(T, b))``.
    batches
        Or a (T, b) array of indices into the data.
    estimator
        ``"one-sample"``, Eq. (6), or ``"two-sample"``, Eq. (7): then the first ⌊b/2⌋ indices of a batch are X, the
        rest Y.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> kernel, data = nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]]
    >>> run = nl.stochastic_gradient_descent(
    ...     kernel, data, [[2.0]], step=0.002, iterations=4000, batch_size=2, seed=0, record_every=4000
    ... )
    >>> bool(run.values[-1] < run.values[0]), bool(abs(run.sample[0, 0] - 0.5) < 0.2)
    (True, True)
    """
    kernel, data, sample = checked(kernel, data, sample)
    iterations = check.whole("iterations", iterations, least=0)
    if (batches is None) == (batch_size is None):
        raise ValueError("Give either batch_size (with a seed) or batches, not both and not neither.")
    if batches is not None:
        if seed is not None:
            raise ValueError("seed goes with batch_size; batches given as an array need none.")
        if iterations == 0:
            supplied = np.empty((0, 1), dtype=np.int64)
        else:
            supplied = check.indices("batches", batches, len(data), ndim=2)
        if len(supplied) != iterations:
            raise ValueError(f"batches has {len(supplied)} rows; it must have one for each of the {iterations} steps.")
        size = supplied.shape[1]
        position = 0

        def draw(count: int) -> NDArray[np.int64]:
            nonlocal position
            position += count
            return as_writable(supplied[position - count : position])

    else:
        size = check.whole("batch_size", batch_size, least=1)
        rng = check.generator("seed", seed)

        def draw(count: int) -> NDArray[np.int64]:
            return rng.integers(0, len(data), size=(count, size))

    if estimator not in ("one-sample", "two-sample"):
        raise ValueError(f"estimator is {estimator!r}; it must be 'one-sample' or 'two-sample'.")
    first_part = size // 2 if estimator == "two-sample" else 0
    if estimator == "two-sample" and size < 2:
        raise ValueError(f"batch_size is {size}; the two-sample estimator needs at least 2.")
    return _run(
        kernel, data, sample, step=step, iterations=iterations, record_every=record_every, keep_path=keep_path,
        constant=constant, progress=progress, dtype=dtype, batch=size, first_part=first_part, draw=draw,
    )  # fmt: skip


@steady
def _run(
    kernel: Kernel,
    data: NDArray[Any],
    sample: Array,
    *,
    step: float,
    iterations: int,
    record_every: int,
    keep_path: bool,
    constant: float,
    progress: Callable[[int], object] | None,
    dtype: Any,
    batch: int,
    first_part: int,
    draw: Callable[[int], NDArray[np.int64]],
) -> Descent:
    """The loop both descents share: steps in chunks, with a look at R, the path and the caller in between."""
    step = check.positive("step", step)
    iterations = check.whole("iterations", iterations, least=0)
    record_every = check.whole("record_every", record_every, least=0)
    constant = check.real("constant", constant)
    kind = _float_kind(dtype)
    sums = PairSums(kernel, data, sample, batch, kind)
    recorder = PairSums(kernel, data, sample) if record_every else None
    now = sample
    stops = _stops(iterations, record_every or (1 if keep_path else 0))
    values: list[float] = []
    path: list[Array] = []
    chunk = int(min(1000, max(1, _CHUNK / (sums.pairs * sums.d))))
    done = 0
    for stop in stops:
        while done < stop:
            count = min(chunk, stop - done)
            taken = sums.descend(draw(count), first_part, count, step)
            if taken < count:
                raise DescentError(done + taken + 1, sums.take(), step)
            done += count
            if progress is not None:
                progress(done)
        now = sums.take() if done else sample.copy()
        # a radial kernel is bounded, so R is finite wherever S is; with others the last sample is always looked at
        if recorder is not None or (done == iterations and not kernel.radial):
            recorder = recorder or PairSums(kernel, data, sample)
            recorder.place(now)
            norm, total = recorder.totals()
            value = constant - (total * (total / norm) if norm > 0.0 else 0.0)
            if not np.isfinite(value):
                raise DescentError(done, sums.step_back() if done else now, step)
            values.append(value)
        if keep_path:
            path.append(now)
    return Descent(
        now,
        np.array(values if record_every else []),
        np.array(stops if record_every or keep_path else [], dtype=np.int64),
        np.array(path) if keep_path else None,
    )


def _stops(iterations: int, every: int) -> list[int]:
    """The iterations at which to look: 0, k, 2k, … and the last; only the last if nothing is recorded."""
    if every == 0:
        return [iterations]
    stops = list(range(0, iterations + 1, every))
    return stops if stops[-1] == iterations else [*stops, iterations]


def _float_kind(dtype: Any) -> type:
    kind = np.dtype(dtype)
    if kind not in (np.float32, np.float64):
        raise ValueError(f"dtype is {dtype!r}; it must be numpy.float64 or numpy.float32.")
    return np.float32 if kind == np.float32 else np.float64
