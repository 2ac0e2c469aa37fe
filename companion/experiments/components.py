"""The parts of an experiment: data, kernel, initial sample, step rule and descent.

Kernels and step rules are the library's own classes. The registries map the names in configurations, fingerprints and
stored results to classes; a new part is a class and an entry in its registry.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

import nystrom_lib as nl

from ..choices import OBJECTIVES, STARTS
from ..settings import Registry, Settings, setting
from .outcome import Array
from .seeds import Axis, seed_for

Seed = np.random.SeedSequence

# -- kernels and step rules ------------------------------------------------------------------------------------

KERNELS = Registry({
    "gaussian": nl.Gaussian,
    "matern": nl.Matern,
    "rational-quadratic": nl.RationalQuadratic,
    "polynomial": nl.Polynomial,
})  # fmt: skip
RULES = Registry(
    {rule.name: rule for rule in (nl.FixedStep, nl.Momentum, nl.Adam, nl.LBFGS)},
    newer={"adam": ("beta1", "beta2", "decay"), "lbfgs": ("memory",)},
)

# -- data ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DataSource(Settings):
    """Where the multiset D comes from: the library's function of the same name, with the same parameters."""

    def load(self, seed: int) -> nl.datasets.Dataset:
        """The data; ``seed`` is the experiment's."""
        dataset: nl.datasets.Dataset = getattr(nl.datasets, self.kind)(**self.values())
        return dataset


@dataclass(frozen=True)
class BiGaussian(DataSource):
    """Section 4.1. ``seed=None`` draws from the experiment's own seed; 123 is the authors' draw."""

    kind: ClassVar[str] = "bigaussian"
    N: int = setting(2000, at_least=2)
    seed: int | None = setting(123, at_least=0)
    modes: tuple[tuple[float, ...], ...] = ((-0.8, 0.8), (0.8, -0.8))
    variance: float = setting(0.5, above=0)
    half_width: float = setting(1.0, above=0)

    def load(self, seed: int) -> nl.datasets.Dataset:
        """Draw the points."""
        own = seed_for(seed, Axis.DATA) if self.seed is None else self.seed
        return nl.datasets.bigaussian(
            self.N, own, modes=self.modes, covariance=self.variance, half_width=self.half_width
        )


@dataclass(frozen=True)
class Magic(DataSource):
    """Section 4.3."""

    kind: ClassVar[str] = "magic"
    clean: bool = True
    standardise: bool = True
    ddof: int = setting(0, choices=(0, 1))


@dataclass(frozen=True)
class Abalone(Magic):
    """Section 4.2, with sex or rings as the eighth attribute."""

    kind: ClassVar[str] = "abalone"
    attributes: str = setting("sex", choices=("sex", "rings"))


@dataclass(frozen=True)
class MiniBooNE(Magic):
    """Section 4.4: the real data if they are available, or a labelled stand-in."""

    kind: ClassVar[str] = "miniboone"
    stand_in: str = setting("auto", choices=("auto", "never", "always"))


#: Generated coordinates are rounded to this many decimals: sine and cosine differ in their last bits between
#: processors, and data are identified by their hash.
DECIMALS = 6
#: The numbers of points of scikit-learn's packaged sets; the others are generated.
SIZES = {"digits": 1797, "breast-cancer": 569}


@dataclass(frozen=True)
class ScikitLearnData(DataSource):
    """A data set that scikit-learn packages or generates, without constant columns."""

    kind: ClassVar[str] = "scikit-learn"
    name: str = setting(choices=(*SIZES, "swiss-roll", "blobs"))
    N: int | None = setting(None, at_least=2)  #: points of a generated set, None for a packaged one
    seed: int = setting(0, at_least=0)  #: of a generated set

    def load(self, seed: int) -> nl.datasets.Dataset:
        """Read or generate the points, and standardise them."""
        from sklearn import datasets

        if self.name == "swiss-roll":
            X = datasets.make_swiss_roll(self.N, noise=0.05, random_state=self.seed)[0].round(DECIMALS)
        elif self.name == "blobs":
            X = datasets.make_blobs(self.N, n_features=10, centers=20, cluster_std=2.0, random_state=self.seed)[0]
            X = X.round(DECIMALS)
        else:
            X = getattr(datasets, f"load_{self.name.replace('-', '_')}")().data
        return nl.datasets.from_array(
            np.ascontiguousarray(X[:, np.ptp(X, axis=0) > 0.0], dtype=np.float64),
            name=self.name.replace("-", " ").capitalize(),
            citation="Pedregosa et al. (2011). Scikit-learn: machine learning in Python. JMLR 12.",
            licence="BSD-3-Clause, with scikit-learn",
        )


DATA_SOURCES = Registry({each.kind: each for each in (BiGaussian, Abalone, Magic, MiniBooNE, ScikitLearnData)})


@dataclass(frozen=True)
class Part(DataSource):
    """N points of another source, drawn uniformly without replacement and kept in their order.

    If the source standardises, it does so over all of its points.
    """

    kind: ClassVar[str] = "part"
    of: DataSource = setting(slot=DATA_SOURCES)
    N: int = setting(at_least=2)

    def load(self, seed: int) -> nl.datasets.Dataset:
        """Load all points and keep some of them."""
        full = self.of.load(seed)
        chosen = np.sort(np.random.default_rng(seed_for(seed, Axis.DATA)).choice(full.N, self.N, replace=False))
        points = np.ascontiguousarray(full.X[chosen])
        points.flags.writeable = False
        return dataclasses.replace(
            full,
            X=points,
            name=f"{full.name} ({self.N:,} of {full.N:,} points)",
            sha256=nl.datasets.sha256_of(points),
        )


DATA_SOURCES[Part.kind] = Part


def part_of(source: DataSource, N: int, size: int) -> DataSource:
    """The source itself if all of its ``size`` points are asked for, else a part of it."""
    return source if size == N else Part(of=source, N=N)


# -- initial samples -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InitialSample(Settings):
    """How S⁽⁰⁾ is chosen."""

    def draw(self, kernel: nl.Kernel, data: Array, n: int, seed: Seed) -> Array:
        """n landmark points, a row for each, by one of the library's starts."""
        return nl.initial_sample(kernel, data, n, getattr(self, "by", "uniform"), seed=seed)


@dataclass(frozen=True)
class Uniform(InitialSample):
    """n points of the data, uniformly and without replacement (Section 4)."""

    kind: ClassVar[str] = "uniform"


@dataclass(frozen=True)
class Chosen(InitialSample):
    """One of the library's other starts."""

    kind: ClassVar[str] = "chosen"
    by: str = setting(choices=tuple(name for name in STARTS if name != "uniform"))


@dataclass(frozen=True)
class ScikitLearnCentres(InitialSample):
    """The cluster centres of one of scikit-learn's k-means classes, with its defaults and ``n_init=1``."""

    kind: ClassVar[str] = "scikit-learn"
    by: str = setting(choices=("KMeans", "MiniBatchKMeans", "BisectingKMeans"))

    def draw(self, kernel: nl.Kernel, data: Array, n: int, seed: Seed) -> Array:
        """On one thread, so that sums are always formed in one order."""
        from sklearn import cluster

        with threadpool_limits(1):
            method = getattr(cluster, self.by)
            fitted = method(n, n_init=1, random_state=int(seed.generate_state(1)[0] % 2**31)).fit(data)
        return np.asarray(fitted.cluster_centers_, dtype=np.float64)


INITIAL_SAMPLES = Registry({each.kind: each for each in (Uniform, Chosen, ScikitLearnCentres)})

# -- descents --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Descent(Settings, ABC):
    """A method of descent."""

    @abstractmethod
    def descend(self, kernel: nl.Kernel, data: Array, start: Array, seed: Seed, **how: Any) -> nl.Descent:
        """Go from S⁽⁰⁾ to S⁽ᵀ⁾.

        ``how`` has ``record_every``, ``keep_path`` and ``progress`` of :func:`nystrom_lib.gradient_descent`.
        """


@dataclass(frozen=True)
class GradientDescent(Descent):
    """GD on R with fixed step γ and the exact gradient, Eq. (5)."""

    kind: ClassVar[str] = "gd"
    step: float = setting(above=0)
    iterations: int = setting(at_least=0, at_most=10**9)

    def descend(self, kernel: nl.Kernel, data: Array, start: Array, seed: Seed, **how: Any) -> nl.Descent:
        """Without batches the seed is not used."""
        return nl.gradient_descent(kernel, data, start, **self.values(), **how)


@dataclass(frozen=True)
class StochasticGradientDescent(GradientDescent):
    """SGD on R with fixed step γ, one-sample estimator, Eq. (6), and i.i.d. batches of size b."""

    kind: ClassVar[str] = "sgd"
    batch_size: int = setting(at_least=1, at_most=10**9)

    def descend(self, kernel: nl.Kernel, data: Array, start: Array, seed: Seed, **how: Any) -> nl.Descent:
        """Batches are drawn from the seed of their own axis."""
        return nl.stochastic_gradient_descent(kernel, data, start, seed=seed, **self.values(), **how)


@dataclass(frozen=True)
class Stay(Descent):
    """No descent: the optimised sample is the initial sample."""

    kind: ClassVar[str] = "none"

    def descend(self, kernel: nl.Kernel, data: Array, start: Array, seed: Seed, **how: Any) -> nl.Descent:
        """The start."""
        return nl.Descent(start, np.empty(0), np.empty(0, dtype=np.int64), None, 0)


@dataclass(frozen=True)
class Descend(Descent):
    """Any objective by any step rule; without ``batch_size`` the gradient is exact."""

    kind: ClassVar[str] = "descend"
    objective: str = setting(choices=tuple(OBJECTIVES))
    rule: nl.FixedStep | nl.Adam | nl.LBFGS = setting(slot=RULES)
    iterations: int = setting(at_least=0, at_most=10**9)
    batch_size: int | None = setting(None, at_least=1)

    def descend(self, kernel: nl.Kernel, data: Array, start: Array, seed: Seed, **how: Any) -> nl.Descent:
        """The objective's value is recorded."""
        objective = getattr(nl, OBJECTIVES[self.objective])(kernel, data)
        return nl.descend(
            objective, start, self.rule, iterations=self.iterations, batch_size=self.batch_size, seed=seed, **how
        )


@dataclass(frozen=True)
class FindLandmarks(Descent):
    """:func:`nystrom_lib.find_landmarks` from the initial sample on; ``iterations=None`` leaves T to its rules."""

    kind: ClassVar[str] = "find-landmarks"
    method: str = setting("auto", choices=("auto", *OBJECTIVES))
    iterations: int | None = setting(None, at_least=0, at_most=10**9)

    def descend(self, kernel: nl.Kernel, data: Array, start: Array, seed: Seed, **how: Any) -> nl.Descent:
        """Nothing is recorded on the way."""
        landmarks = nl.find_landmarks(
            kernel, data, len(start), seed=seed, start=start, progress=how.get("progress"), **self.values()
        )
        return nl.Descent(landmarks.sample, np.empty(0), np.empty(0, dtype=np.int64), None, landmarks.steps)


DESCENTS = Registry({
    each.kind: each for each in (GradientDescent, StochasticGradientDescent, Stay, Descend, FindLandmarks)
})  # fmt: skip
