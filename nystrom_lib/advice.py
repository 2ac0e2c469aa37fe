"""Choices for data nobody has tuned anything for: ρ, exact or stochastic gradients, the step γ and the length T.

Each rule is one short function; :func:`advise` puts them together and says in words what it chose and why. A value
that is given is used as it is. Chosen values are rounded to two or three digits, so that what is printed can be typed
in again and gives the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _validation as check
from ._threads import threads
from ._validation import Array
from .derivatives import radial_skd_gradient
from .descent import DescentError, gradient_descent, stochastic_gradient_descent
from .kernels import LARGEST_RHO, Gaussian, Kernel, Matern, RationalQuadratic
from .lipschitz import lipschitz_bound
from .radial_skd import checked, radial_skd
from .samples import uniform_indices
from .sources import Source

__all__ = [
    "Advice",
    "advise",
    "advised_batch_size",
    "advised_iterations",
    "advised_step",
    "kernel_by_name",
    "median_rho",
]

#: Up to this many points a step with the exact gradient, Eq. (5), is cheap; beyond, batches are drawn, Eq. (6).
EXACT_GRADIENT = 5_000

_PAIRS_FROM = 1_000  # points among which distances are looked at
_TRIED_ON = 2_000  # points on which steps are tried
_TRIAL = {False: 60, True: 240}  # steps of a trial, exact and stochastic: a stochastic one must show its noise too
_FIRST_MOVE = 0.02  # the first step tried moves the landmark that moves most by this part of the kernel's width
_MOST_TRIALS = 40
_ROUNDING = 1e-12  # what is smaller than this part of R may be rounding alone
_FEW = 200  # landmarks

# What is drawn here is drawn for trials alone, and no descent of the same seed draws it: results depend on these keys.
_POINTS = (2**31,)
_BATCHES = (2, 2**31)

_KERNELS: dict[str, Callable[[float], Kernel]] = {
    "gaussian": lambda rho: Gaussian(rho),
    "matern-3/2": lambda rho: Matern(1.5, lengthscale=_lengthscale(rho)),
    "matern-5/2": lambda rho: Matern(2.5, lengthscale=_lengthscale(rho)),
    "rational-quadratic": lambda rho: RationalQuadratic(lengthscale=_lengthscale(rho)),
}
#: What :func:`kernel_by_name` knows.
KERNEL_NAMES = tuple(_KERNELS)


@dataclass(frozen=True)
class Advice:
    """What to run, and why."""

    kernel: Kernel  #: with its parameters
    rho: float  #: the ρ it was built from
    n: int  #: the number of landmark points
    step: float  #: γ
    iterations: int  #: T
    batch_size: int | None  #: b, or None for the exact gradient
    reasons: tuple[str, ...]  #: a sentence for each choice, those of the caller included


def median_rho(data: ArrayLike | Source, seed: int = 0) -> float:
    """ρ by the median rule: 1 over the median of ‖x − t‖² among the data, so that K is e⁻¹ at a typical distance.

    Pairs of equal points do not count. More than a thousand points are represented by a thousand of them.

    Returns
    -------
    float
        ρ.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.median_rho([[0.0], [2.0]])
    0.25
    """
    rho = _rough_rho(data if isinstance(data, Source) else check.points("data", data), seed)
    if not 1.0 / LARGEST_RHO <= rho <= LARGEST_RHO:
        far = "close together" if rho > 1.0 else "far apart"
        raise ValueError(f"data holds points too {far} for a kernel of their width, of ρ = {rho:g}; rescale them.")
    return rho


def _rough_rho(data: NDArray[Any] | Source, seed: int = 0) -> float:
    """That ρ, whether or not a kernel may have it."""
    from scipy.spatial.distance import pdist

    some = _some(data, _PAIRS_FROM, seed)
    squared = pdist(some - some.mean(axis=0), "sqeuclidean")
    apart = squared[squared > 0.0]
    if len(apart) == 0:
        raise ValueError("data holds one point only, many times over; it must hold at least two.")
    return _rounded(1.0 / float(np.median(apart)), 3)


def kernel_by_name(name: str, rho: float) -> Kernel:
    """A kernel of the width that ρ says: the Gaussian, or another with ℓ = 1/√(2ρ), which is the Gaussian's ℓ.

    Parameters
    ----------
    name
        "gaussian", "matern-3/2", "matern-5/2" or "rational-quadratic".
    rho
        ρ.

    Returns
    -------
    Kernel
        The kernel.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.kernel_by_name("matern-3/2", rho=0.5)
    Matern(nu=1.5, lengthscale=1.0)
    """
    return _KERNELS[check.choice("kernel", name, KERNEL_NAMES)](check.magnitude("rho", rho, LARGEST_RHO))


def advised_batch_size(N: int, n: int) -> int | None:
    """None (the exact gradient) for few points; else b = n/5, at least 50: what the paper has for n = 50 … 1,000.

    Returns
    -------
    int or None
        b, or None for the exact gradient.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> [nl.advised_batch_size(N, n) for N, n in [(2000, 50), (18_905, 200), (129_592, 1000)]]
    [None, 50, 200]
    """
    return None if N <= EXACT_GRADIENT else max(50, n // 5)


def advised_iterations(batch_size: int | None) -> int:
    """T: 1,000 exact steps as in paper §4.1, or 5,000 stochastic ones, amid the 3,000 to 10,000 of paper §4.2–4.4.

    Returns
    -------
    int
        T.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.advised_iterations(None), nl.advised_iterations(50)
    (1000, 5000)
    """
    return 1_000 if batch_size is None else 5_000


def advised_step(
    kernel: Kernel,
    data: ArrayLike,
    sample: ArrayLike,
    batch_size: int | None = None,
    *,
    seed: int = 0,
    seconds: float | None = None,
) -> float:
    """γ: the step that lowers R most in a short trial, halved.

    Steps are tried from S⁽⁰⁾ on at most 2,000 of the data, each double or half the one before, until R no longer gets
    lower. R and its gradient grow with N², so a step found on N′ points serves N points after division by (N/N′)².

    Parameters
    ----------
    kernel
        The kernel K.
    data
        The points, a row each.
    sample
        S⁽⁰⁾, where the descent will begin.
    batch_size
        b, or None for the exact gradient.
    seed
        Decides which points and which batches the trials see.
    seconds
        For all trials together, if given: the best step by then, or the first, which moves no landmark far.

    Returns
    -------
    float
        γ.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> data = nl.datasets.bigaussian(N=300).X
    >>> start = nl.uniform_sample(data, 5, seed=0)
    >>> step = nl.advised_step(nl.Gaussian(rho=1.0), data, start)
    >>> run = nl.gradient_descent(nl.Gaussian(rho=1.0), data, start, step=step, iterations=100, record_every=1)
    >>> bool((run.values[1:] < run.values[:-1]).all())
    True
    """
    end = float("inf") if seconds is None else time.perf_counter() + check.positive("seconds", seconds)
    kernel, data, start = checked(kernel, data, sample)
    some = _some(data, _TRIED_ON, seed)

    def in_time(done: int) -> None:
        if time.perf_counter() > end:
            raise TimeoutError

    how: dict[str, Any] = {"iterations": _TRIAL[batch_size is not None], "progress": in_time}
    if batch_size is not None:
        how |= {"batch_size": batch_size, "seed": _seed(seed, _BATCHES)}

    def lowered(step: float) -> float:
        descend = gradient_descent if batch_size is None else stochastic_gradient_descent
        try:
            reached = descend(kernel, some, start, step=step, **how).sample
        except DescentError:
            return float("inf")
        return radial_skd(kernel, some, reached, constant=False)

    # a second thread is a gain only where there is much to do in each step
    with threads(1) if len(start) <= _FEW else nullcontext():
        best = _lowest(lowered, _first_step(kernel, some, start))
    return _rounded(0.5 * best * (len(some) / len(data)) ** 2, 2)


def advise(
    data: ArrayLike,
    n: int,
    *,
    kernel: str = "gaussian",
    rho: float | None = None,
    step: float | None = None,
    iterations: int | None = None,
    batch_size: int | None = None,
    sample: ArrayLike | None = None,
    seed: int = 0,
) -> Advice:
    """Fill in what was not given.

    Parameters
    ----------
    data
        The N points, a row each, perhaps a memory map.
    n
        The number of landmark points, from 1 to N.
    kernel
        As :func:`kernel_by_name` knows it.
    rho, step, iterations, batch_size
        None to have it chosen; a batch size of 0 is the exact gradient.
    sample
        S⁽⁰⁾, where the descent will begin; by default ``uniform_sample(data, n, seed)``.
    seed
        Decides every draw.

    Returns
    -------
    Advice
        Everything a descent needs; ``.reasons`` says why.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> data = nl.datasets.bigaussian(N=200).X
    >>> advice = nl.advise(data, n=5, iterations=100)
    >>> advice.kernel, advice.batch_size, advice.iterations
    (Gaussian(rho=1.08), None, 100)
    >>> start = nl.uniform_sample(data, 5, seed=0)
    >>> run = nl.gradient_descent(advice.kernel, data, start, step=advice.step, iterations=advice.iterations)
    """
    data = check.points("data", data)
    N = len(data)
    n = check.whole("n", n, least=1, most=N, why=", the number of data points")
    drawn = data[uniform_indices(N, n, seed)] if sample is None else sample
    start = check.float_points("sample", drawn, dimension=data.shape[1])
    if len(start) != n:
        raise ValueError(f"sample holds {len(start)} points; it must hold n = {n}.")
    reasons = []
    if rho is None:
        rho = median_rho(data, seed)
        reasons.append(f"ρ = {rho:g}, 1 over the median squared distance of the data.")
    else:
        rho = check.magnitude("rho", rho, LARGEST_RHO)
        reasons.append(f"ρ = {rho:g}, as given.")
    named = kernel_by_name(kernel, rho)
    batch, why = _batch(N, n, batch_size)
    reasons.append(why)
    if iterations is None:
        iterations = advised_iterations(batch)
        reasons.append(f"T = {iterations:,} iterations, what the paper has for such a descent.")
    else:
        iterations = check.whole("iterations", iterations, least=0)
        reasons.append(f"T = {iterations:,} iterations, as given.")
    if step is None:
        step = advised_step(named, data, start, batch, seed=seed)
        reasons.append(f"γ = {step:g}, half the step that lowered R most in a short trial.")
    else:
        step = check.positive("step", step)
        reasons.append(f"γ = {step:g}, as given.")
    return Advice(named, rho, n, step, iterations, batch, tuple(reasons))


def _batch(N: int, n: int, given: int | None) -> tuple[int | None, str]:
    if given is None:
        batch = advised_batch_size(N, n)
        if batch is None:
            return None, f"The exact gradient, Eq. (5): N = {N:,} is small enough."
        return batch, f"Stochastic gradients, Eq. (6), with b = {batch}: N = {N:,} is large."
    batch = check.whole("batch_size", given, least=0, why=" (0 is the exact gradient)")
    return batch or None, f"b = {batch}, as given." if batch else "The exact gradient, Eq. (5), as asked."


def _first_step(kernel: Kernel, data: Array, sample: Array) -> float:
    largest = float(np.linalg.norm(radial_skd_gradient(kernel, data, sample), axis=1).max())
    size = abs(radial_skd(kernel, data, sample, constant=False))
    width = _width(kernel, data)
    if largest * width > _ROUNDING * size:
        return _FIRST_MOVE * width / largest
    # a critical point: nothing to gain, so a step that does no harm
    if kernel.constants is None:
        return _ROUNDING * width**2 / size
    return lipschitz_bound(kernel, data, len(sample)).step


def _lowest(value: Callable[[float], float], first: float) -> float:
    """Double or halve until two in a row are no better than the best so far, or time is over; the best."""
    best = first
    try:
        lowest = value(first)
        for factor in (2.0, 0.5):
            step, worse = best, 0
            for _ in range(_MOST_TRIALS):
                step *= factor
                now = value(step)
                if now < lowest - _ROUNDING * abs(lowest):
                    best, lowest, worse = step, now, 0
                else:
                    worse += 1
                if worse == 2:
                    break
            if best != first:
                break
    except TimeoutError:
        pass
    return best


def _lengthscale(rho: float) -> float:
    return float((2.0 * rho) ** -0.5)


def _width(kernel: Kernel, data: Array) -> float:
    """Where K has fallen to e⁻¹ or so: the length by which moves are measured."""
    if isinstance(kernel, Gaussian):
        return float(kernel.rho**-0.5)
    if isinstance(kernel, Matern | RationalQuadratic):
        return float(2.0**0.5 * kernel.lengthscale)
    return float(max(_rough_rho(data), 1e-300) ** -0.5)  # points further apart than that have no squared distance


def _some(data: NDArray[Any] | Source, most: int, seed: int) -> Array:
    """At most so many of the points, as float64, drawn without replacement but left in order."""
    if isinstance(data, Source):
        return data.rows(data.choose(most, check.generator("seed", _seed(seed, _POINTS)))).astype(np.float64)
    N = len(data)
    if N > most:
        data = data[np.sort(uniform_indices(N, most, _seed(seed, _POINTS)))]
    return np.asarray(data, dtype=np.float64)


def _seed(seed: int, key: tuple[int, ...]) -> np.random.SeedSequence:
    return np.random.SeedSequence(check.whole("seed", seed, least=0), spawn_key=key)


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")
