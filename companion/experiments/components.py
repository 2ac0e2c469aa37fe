"""The parts an experiment is put together from: data, kernels, initial samples, descents.

Each part is a small class that holds its settings and calls the library. To add one (another initial sample, a step
rule, another objective to descend on), write such a class, in a file of its own if it is long, and name it in the
registry at the end. Configurations, fingerprints, stores and results then know it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import nystrom_lib as nl

from ..errors import ConfigurationError, DataMismatchError
from ..settings import Component, registry, setting
from .outcome import Array
from .seeds import Axis, seed_for

# -- data ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DataSource(Component):
    """Where the multiset D comes from."""

    @abstractmethod
    def load(self, seed: int) -> nl.datasets.Dataset:
        """The data; ``seed`` is the experiment's."""


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
class Abalone(DataSource):
    """Section 4.2, with sex or rings as the eighth attribute."""

    kind: ClassVar[str] = "abalone"
    attributes: str = setting("sex", choices=("sex", "rings"))
    clean: bool = True
    standardise: bool = True
    ddof: int = setting(0, choices=(0, 1))

    def load(self, seed: int) -> nl.datasets.Dataset:
        """Read what the package holds."""
        return nl.datasets.abalone(
            self.attributes,  # type: ignore[arg-type]
            clean=self.clean,
            standardise=self.standardise,
            ddof=self.ddof,
        )


@dataclass(frozen=True)
class Magic(DataSource):
    """Section 4.3."""

    kind: ClassVar[str] = "magic"
    clean: bool = True
    standardise: bool = True
    ddof: int = setting(0, choices=(0, 1))

    def load(self, seed: int) -> nl.datasets.Dataset:
        """Read what the package holds."""
        return nl.datasets.magic(clean=self.clean, standardise=self.standardise, ddof=self.ddof)


@dataclass(frozen=True)
class MiniBooNE(DataSource):
    """Section 4.4: the real data where they are, or a stand-in that says so."""

    kind: ClassVar[str] = "miniboone"
    stand_in: str = setting("auto", choices=("auto", "never", "always"))
    clean: bool = True
    standardise: bool = True
    ddof: int = setting(0, choices=(0, 1))

    def load(self, seed: int) -> nl.datasets.Dataset:
        """Map what was fetched or named, else make the stand-in."""
        return nl.datasets.miniboone(
            stand_in=self.stand_in,  # type: ignore[arg-type]
            clean=self.clean,
            standardise=self.standardise,
            ddof=self.ddof,
        )


@dataclass(frozen=True)
class File(DataSource):
    """Your own file: CSV, Parquet, NPY or NPZ. An .npy file may be larger than memory."""

    kind: ClassVar[str] = "file"
    path: str = setting()
    columns: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    missing: str = setting("drop", choices=("drop", "keep", "refuse"))
    missing_numbers: tuple[float, ...] = ()
    missing_words: tuple[str, ...] = ()
    one_hot: bool = False
    standardise: bool = True
    ddof: int = setting(0, choices=(0, 1))
    separator: str | None = None
    header: bool | None = None
    array: str | None = None

    def load(self, seed: int) -> nl.datasets.Dataset:
        """Read or map it."""
        return nl.datasets.from_file(
            self.path,
            separator=self.separator,
            header=self.header,
            array=self.array,
            columns=self.columns,
            without=self.without,
            missing=self.missing,  # type: ignore[arg-type]
            missing_codes=(*self.missing_numbers, *self.missing_words),
            one_hot=self.one_hot,
            standardise=self.standardise,
            ddof=self.ddof,
        )


@dataclass(frozen=True)
class Given(DataSource):
    """A data set in memory, handed to the run as ``dataset=``; the configuration knows it by its hash."""

    kind: ClassVar[str] = "given"
    sha256: str = setting()

    def check(self) -> None:
        """A sha256 is 64 hexadecimal digits."""
        if len(self.sha256) != 64 or set(self.sha256) - set("0123456789abcdef"):
            raise ConfigurationError("sha256", f"is {self.sha256!r}; it must be 64 hexadecimal digits.")

    def load(self, seed: int) -> nl.datasets.Dataset:
        """Impossible: nobody but the caller has it."""
        raise DataMismatchError(f"The data of sha256 {self.sha256[:16]}… must be handed over as dataset=.")


# -- kernels ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KernelFamily(Component):
    """A kernel and its parameters, with the names the library gives them."""

    def build(self) -> nl.Kernel:
        """The library's kernel; what it refuses is a setting out of range."""
        try:
            kernel: nl.Kernel = getattr(nl, type(self).__name__)(**{name: getattr(self, name) for name in self.names()})
        except ValueError as error:
            name, _, why = str(error).partition(" ")
            raise ConfigurationError(name, why) from None
        return kernel


@dataclass(frozen=True)
class Gaussian(KernelFamily):
    """K = exp(−ρ‖x − t‖²)."""

    kind: ClassVar[str] = "gaussian"
    rho: float = setting(above=0)


@dataclass(frozen=True)
class Matern(KernelFamily):
    """Matérn of order ν."""

    kind: ClassVar[str] = "matern"
    nu: float = setting(choices=(0.5, 1.5, 2.5))
    lengthscale: float = setting(1.0, above=0)


@dataclass(frozen=True)
class RationalQuadratic(KernelFamily):
    """K = (1 + r²/(2αℓ²))^−α."""

    kind: ClassVar[str] = "rational-quadratic"
    alpha: float = setting(1.0, above=0)
    lengthscale: float = setting(1.0, above=0)


@dataclass(frozen=True)
class Polynomial(KernelFamily):
    """K = (scale ⟨x, t⟩ + offset)^degree."""

    kind: ClassVar[str] = "polynomial"
    degree: int = setting(2, at_least=1)
    offset: float = setting(1.0, at_least=0)
    scale: float = setting(1.0, above=0)


# -- initial samples -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InitialSample(Component):
    """How S⁽⁰⁾ is chosen."""

    @property
    def drifts(self) -> bool:
        """Does rounding grow on the way until it decides which points are chosen?"""
        return False

    @abstractmethod
    def draw(self, kernel: nl.Kernel, data: Array, n: int, seed: np.random.SeedSequence) -> Array:
        """n landmark points, a row for each."""


@dataclass(frozen=True)
class Uniform(InitialSample):
    """n points of the data, uniformly and without replacement (Section 4)."""

    kind: ClassVar[str] = "uniform"

    def draw(self, kernel: nl.Kernel, data: Array, n: int, seed: np.random.SeedSequence) -> Array:
        """n landmark points, a row for each."""
        # By indices, which needs no look at all the data.
        return np.asarray(data[np.random.default_rng(seed).choice(len(data), n, replace=False)], dtype=np.float64)


# -- descents --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Descent(Component):
    """A method of descent, with what it descends on and its rule for the step."""

    @property
    def drifts(self) -> bool:
        """Does rounding grow along it until it shows in the end?"""
        return False

    @property
    def lowers(self) -> str:
        """What is descended on, among what is stored: "R", "error", or nothing of it ("")."""
        return "R"

    @property
    @abstractmethod
    def steps(self) -> int:
        """How many steps it takes in all (T)."""

    @abstractmethod
    def descend(
        self,
        kernel: nl.Kernel,
        data: Array,
        start: Array,
        seed: np.random.SeedSequence,
        *,
        record_every: int,
        keep_path: bool,
        constant: float,
        progress: Callable[[int], None] | None,
    ) -> nl.Descent:
        """Go from S⁽⁰⁾ to S⁽ᵀ⁾, looking at R (with the constant) and the path on the way."""


@dataclass(frozen=True)
class GradientDescent(Descent):
    """GD on R with fixed step γ and the exact gradient, Eq. (5)."""

    kind: ClassVar[str] = "gd"
    step: float = setting(above=0)
    iterations: int = setting(at_least=0, at_most=10**9)

    @property
    def steps(self) -> int:
        """T."""
        return self.iterations

    def descend(
        self, kernel: nl.Kernel, data: Array, start: Array, seed: np.random.SeedSequence, **how: Any
    ) -> nl.Descent:
        """No batches, so no use for the seed."""
        return nl.gradient_descent(kernel, data, start, step=self.step, iterations=self.iterations, **how)


@dataclass(frozen=True)
class StochasticGradientDescent(GradientDescent):
    """SGD on R with fixed step γ, one-sample estimator, Eq. (6), and i.i.d. batches of size b."""

    kind: ClassVar[str] = "sgd"
    batch_size: int = setting(at_least=1, at_most=10**9)

    def descend(
        self, kernel: nl.Kernel, data: Array, start: Array, seed: np.random.SeedSequence, **how: Any
    ) -> nl.Descent:
        """Batches from the seed of their own axis."""
        return nl.stochastic_gradient_descent(
            kernel,
            data,
            start,
            step=self.step,
            iterations=self.iterations,
            batch_size=self.batch_size,
            seed=seed,
            **how,
        )


# -- registries ------------------------------------------------------------------------------------------------

DATA_SOURCES = registry(BiGaussian, Abalone, Magic, MiniBooNE, File, Given)
KERNELS = registry(Gaussian, Matern, RationalQuadratic, Polynomial)
INITIAL_SAMPLES: dict[str, type[InitialSample]] = registry(Uniform)
DESCENTS: dict[str, type[Descent]] = registry(GradientDescent, StochasticGradientDescent)
