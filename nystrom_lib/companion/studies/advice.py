"""Choices for data nobody has tuned anything for: ρ, the kind of descent, its step γ and its length T.

Each rule is one short function; :func:`advise` puts them together and says in words what it chose and why. A value
that is given is used as it is. Chosen values are rounded to two or three digits, so that what a report prints can be
typed in again and gives the same run.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nystrom_lib as nl

from ..errors import ConfigurationError
from ..experiments.components import (
    DataSource,
    Descent,
    Gaussian,
    GradientDescent,
    KernelFamily,
    Matern,
    RationalQuadratic,
    StochasticGradientDescent,
    Uniform,
)
from ..experiments.config import NORMS, Experiment, Record
from ..experiments.seeds import Axis, seed_for

Array = NDArray[np.float64]

#: The kernels a user may name; each is scaled by ρ, see :func:`kernel_family`.
KERNEL_NAMES = ("gaussian", "matern-3/2", "matern-5/2", "rational-quadratic")

#: Up to this many points a step with the exact gradient, Eq. (5), is cheap; beyond, batches are drawn, Eq. (6).
EXACT_GRADIENT = 5_000
#: Up to this many points ‖K‖_F², and all norms with their optimal values, are computed for the report.
FULL_REPORT = 5_500
CONSTANT = 20_000

_PAIRS_FROM = 1_000  # points among which distances are looked at
_TRIED_ON = 2_000  # points on which steps are tried
_TRIAL = {False: 60, True: 240}  # steps of a trial, exact and stochastic: a stochastic one must show its noise too
_FIRST_MOVE = 0.02  # the first step tried moves the landmark that moves most by this part of the kernel's width
_MOST_TRIALS = 40
_FEW = 200  # landmarks


@dataclass(frozen=True)
class Advice:
    """What to run, and why.

    Attributes
    ----------
    family : KernelFamily
        The kernel with its parameters.
    rho : float
        The ρ it was built from.
    n : int
        The number of landmark points.
    descent : Descent
        Method, step γ, number of iterations T and, if stochastic, batch size b.
    reasons : tuple of str
        A sentence for each choice, those of the user included.
    """

    family: KernelFamily
    rho: float
    n: int
    descent: Descent
    reasons: tuple[str, ...]

    @property
    def step(self) -> float:
        """γ."""
        return float(self.descent.to_plain()["step"])

    @property
    def batch_size(self) -> int | None:
        """b, or None for the exact gradient."""
        size: int | None = self.descent.to_plain().get("batch_size")
        return size


def median_rho(data: Any, seed: int = 0) -> float:
    """ρ by the median rule: 1 over the median of ‖x − t‖² among the data, so that K is e⁻¹ at a typical distance.

    Pairs of equal points do not count. More than a thousand points are represented by a thousand of them.

    Examples
    --------
    >>> median_rho(np.array([[0.0], [2.0]]))
    0.25
    """
    from scipy.spatial.distance import pdist

    some = _some(data, _PAIRS_FROM, seed)
    squared = pdist(some - some.mean(axis=0), "sqeuclidean")
    apart = squared[squared > 0.0]
    if len(apart) == 0:
        raise ConfigurationError("data", "holds one point only, many times over; it must hold at least two.")
    return _rounded(1.0 / float(np.median(apart)), 3)


def kernel_family(name: str, rho: float) -> KernelFamily:
    """A kernel of the width that ρ says: the Gaussian, or another with ℓ = 1/√(2ρ), which is the Gaussian's ℓ.

    Examples
    --------
    >>> kernel_family("matern-3/2", rho=0.5).to_plain()
    {'kind': 'matern', 'nu': 1.5, 'lengthscale': 1.0}
    """
    lengthscale = (2.0 * rho) ** -0.5
    if name == "gaussian":
        return Gaussian(rho=rho)
    if name == "matern-3/2":
        return Matern(nu=1.5, lengthscale=lengthscale)
    if name == "matern-5/2":
        return Matern(nu=2.5, lengthscale=lengthscale)
    if name == "rational-quadratic":
        return RationalQuadratic(lengthscale=lengthscale)
    raise ConfigurationError("kernel", f"is {name!r}; it must be one of {', '.join(map(repr, KERNEL_NAMES))}.")


def default_batch_size(N: int, n: int) -> int | None:
    """None (the exact gradient) for few points; else b = n/5, at least 50: what the paper has for n = 50 … 1,000.

    Examples
    --------
    >>> default_batch_size(2000, 50), default_batch_size(18_905, 200), default_batch_size(129_592, 1000)
    (None, 50, 200)
    """
    return None if N <= EXACT_GRADIENT else max(50, n // 5)


def default_iterations(batch_size: int | None) -> int:
    """T: 1,000 exact steps as in Section 4.1, or 5,000 stochastic ones, amid the 3,000 to 10,000 of Sections 4.2–4.4.

    Examples
    --------
    >>> default_iterations(None), default_iterations(50)
    (1000, 5000)
    """
    return 1_000 if batch_size is None else 5_000


def advised_step(family: KernelFamily, data: Any, n: int, batch_size: int | None = None, seed: int = 0) -> float:
    """γ: the step that lowers R most in a short trial, halved.

    Steps are tried from S⁽⁰⁾ on at most 2,000 of the data, each double or half the one before, until R no longer gets
    lower. R and its gradient grow with N², so a step found on N′ points serves N points after division by (N/N′)².

    Parameters
    ----------
    family
        The kernel.
    data
        The points, a row each.
    n
        The number of landmark points.
    batch_size
        b, or None for the exact gradient.
    seed
        The experiment's seed: the trial begins at its first S⁽⁰⁾.
    """
    start = Uniform().draw(family.build(), data, n, seed_for(seed, Axis.INITIAL_SAMPLE))
    some = _some(data, _TRIED_ON, seed)
    trial = _Trial(family.build(), some, start, batch_size, seed)
    # a second thread is a gain only where there is much to do in each step
    with nl.threads(1) if n <= _FEW else nullcontext():
        found = _lowest(trial, trial.first_step())
    return _rounded(0.5 * found * (len(some) / len(data)) ** 2, 2)


def advise(
    data: Any,
    n: int,
    *,
    kernel: str = "gaussian",
    rho: float | None = None,
    step: float | None = None,
    iterations: int | None = None,
    batch_size: int | None = None,
    seed: int = 0,
) -> Advice:
    """Fill in what was not given.

    Parameters
    ----------
    data
        The points, a row each, perhaps a memory map.
    n
        The number of landmark points.
    kernel
        One of :data:`KERNEL_NAMES`.
    rho, step, iterations, batch_size
        None to have it chosen; a batch size of 0 is the exact gradient.
    seed
        The experiment's seed.

    Examples
    --------
    >>> advice = advise(nl.datasets.bigaussian(N=200).X, n=5, iterations=100)
    >>> advice.rho, advice.batch_size, advice.descent.steps
    (1.08, None, 100)
    """
    N = len(data)
    if not 1 <= n <= N:
        raise ConfigurationError("n", f"is {n}; it must be at least 1 and at most {N:,}, the number of data points.")
    reasons = []
    if rho is None:
        rho = median_rho(data, seed)
        reasons.append(f"ρ = {rho:g}, 1 over the median squared distance of the data.")
    else:
        reasons.append(f"ρ = {rho:g}, as given.")
    family = kernel_family(kernel, rho)
    batch, why = _batch(N, n, batch_size)
    reasons.append(why)
    if iterations is None:
        iterations = default_iterations(batch)
        reasons.append(f"T = {iterations:,} iterations, what the paper has for such a descent.")
    else:
        reasons.append(f"T = {iterations:,} iterations, as given.")
    if step is None:
        step = advised_step(family, data, n, batch, seed)
        reasons.append(f"γ = {step:g}, half the step that lowered R most in a short trial.")
    else:
        reasons.append(f"γ = {step:g}, as given.")
    return Advice(family, rho, n, _descent(step, iterations, batch), tuple(reasons))


def experiment(source: DataSource, N: int, advice: Advice, *, seed: int = 0, records: int = 100) -> Experiment:
    """The protocol of Section 4, once, with the landmarks kept on the way; dear criteria only where N allows them."""
    every = max(1, advice.descent.steps // records)
    return Experiment(
        data=source,
        kernel=advice.family,
        n=advice.n,
        descent=advice.descent,
        m=1,
        seed=seed,
        norms=NORMS if N <= FULL_REPORT else ("trace",),
        factors=N <= FULL_REPORT,
        constant=N <= CONSTANT,
        record=Record(repetitions=(0,), every=every, path=True),
    )


def _batch(N: int, n: int, given: int | None) -> tuple[int | None, str]:
    if given is None:
        batch = default_batch_size(N, n)
        if batch is None:
            return None, f"The exact gradient, Eq. (5): N = {N:,} is small enough."
        return batch, f"Stochastic gradients, Eq. (6), with b = {batch}: N = {N:,} is large."
    if given < 0:
        raise ConfigurationError("batch_size", f"is {given}; it must be at least 0 (0 is the exact gradient).")
    return given or None, f"b = {given}, as given." if given else "The exact gradient, Eq. (5), as asked."


def _descent(step: float, iterations: int, batch: int | None) -> Descent:
    if batch is None:
        return GradientDescent(step=step, iterations=iterations)
    return StochasticGradientDescent(step=step, iterations=iterations, batch_size=batch)


class _Trial:
    """R after a short descent, as a function of the step."""

    def __init__(self, kernel: nl.Kernel, data: Array, start: Array, batch: int | None, seed: int) -> None:
        self.kernel, self.data, self.start, self.batch = kernel, data, start, batch
        # a repetition no experiment reaches: the batches tried are not the batches used
        self.seed = seed_for(seed, Axis.BATCHES, 2**31)
        self.steps = _TRIAL[batch is not None]

    def first_step(self) -> float:
        gradient = nl.radial_skd_gradient(self.kernel, self.data, self.start)
        largest = float(np.linalg.norm(gradient, axis=1).max())
        size = abs(nl.radial_skd(self.kernel, self.data, self.start, constant=False))
        width = _width(self.kernel)
        if largest * width <= 1e-12 * size:  # a critical point: nothing to gain, so a step that does no harm
            return nl.lipschitz_bound(self.kernel, self.data, len(self.start)).step
        return _FIRST_MOVE * width / largest

    def __call__(self, step: float) -> float:
        try:
            end = self._descend(step)
        except nl.DescentError:
            return float("inf")
        return nl.radial_skd(self.kernel, self.data, end, constant=False)

    def _descend(self, step: float) -> Array:
        common: dict[str, Any] = {"step": step, "iterations": self.steps}
        if self.batch is None:
            return nl.gradient_descent(self.kernel, self.data, self.start, **common).sample
        return nl.stochastic_gradient_descent(
            self.kernel, self.data, self.start, **common, batch_size=self.batch, seed=self.seed
        ).sample


def _lowest(value: Any, first: float) -> float:
    """Double or halve until two in a row are no better than the best so far; the best."""
    best, lowest = first, value(first)
    for factor in (2.0, 0.5):
        step, worse = best, 0
        for _ in range(_MOST_TRIALS):
            step *= factor
            now = value(step)
            if now < lowest - 1e-12 * abs(lowest):  # not by rounding alone
                best, lowest, worse = step, now, 0
            else:
                worse += 1
            if worse == 2:
                break
        if best != first:
            break
    return best


def _width(kernel: nl.Kernel) -> float:
    """Where K has fallen to e⁻¹ or so: the length by which moves are measured."""
    parameters = kernel.parameters
    if "rho" in parameters:
        return float(parameters["rho"] ** -0.5)
    return float(2.0**0.5 * parameters["lengthscale"])


def _some(data: Any, most: int, seed: int) -> Array:
    """At most so many of the points, as float64, drawn without replacement but left in order."""
    N = len(data)
    if N <= most:
        return np.asarray(data, dtype=np.float64)
    chosen = np.sort(nl.uniform_indices(N, most, np.random.SeedSequence(seed, spawn_key=(2**31,))))
    return np.asarray(data[chosen], dtype=np.float64)


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")
