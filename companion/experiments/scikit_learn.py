"""scikit-learn's data sets and its k-means, as parts of an experiment: what a user can install instead.

scikit-learn is asked for only when one of these parts is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

import nystrom_lib as nl

from ..errors import ConfigurationError
from ..settings import setting
from .components import DATA_SOURCES, INITIAL_SAMPLES, DataSource, InitialSample
from .outcome import Array

#: Coordinates of made-up data are cut to so many decimals: sine and cosine differ in their last bits from processor to
#: processor, and data are known by their hash.
DECIMALS = 6


def _sklearn(module: str) -> Any:
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ModuleNotFoundError:
        raise ConfigurationError("", "This needs scikit-learn, which is not installed.") from None


# -- data ------------------------------------------------------------------------------------------------------


def _digits(N: int, seed: int) -> Array:
    return np.asarray(_sklearn("datasets").load_digits().data, dtype=np.float64)


def _breast_cancer(N: int, seed: int) -> Array:
    return np.asarray(_sklearn("datasets").load_breast_cancer().data, dtype=np.float64)


def _swiss_roll(N: int, seed: int) -> Array:
    return _rounded(_sklearn("datasets").make_swiss_roll(N, noise=0.05, random_state=seed))


def _blobs(N: int, seed: int) -> Array:
    return _rounded(
        _sklearn("datasets").make_blobs(N, n_features=10, centers=20, cluster_std=2.0, random_state=seed)
    )


def _rounded(made: tuple[Any, ...]) -> Array:
    """The points of what scikit-learn makes, which comes with labels or the like."""
    return np.asarray(made[0], dtype=np.float64).round(DECIMALS)


SETS: Mapping[str, Callable[[int, int], Array]] = {
    "digits": _digits,
    "breast-cancer": _breast_cancer,
    "swiss-roll": _swiss_roll,
    "blobs": _blobs,
}
#: What the packaged ones hold; the others have as many points as asked for.
SIZES = {"digits": 1797, "breast-cancer": 569}


@dataclass(frozen=True)
class ScikitLearnData(DataSource):
    """A data set that comes with scikit-learn, or that it makes; columns that never change are left out.

    Parameters
    ----------
    name : str
        Which.
    N : int or None
        How many points of those that are made up.
    seed : int
        Of those that are made up.
    """

    kind: ClassVar[str] = "scikit-learn"
    name: str = setting(choices=tuple(SETS))
    N: int | None = setting(None, at_least=2)
    seed: int = setting(0, at_least=0)

    def check(self) -> None:
        """Packaged sets have the points they have."""
        if (self.N is None) != (self.name in SIZES):
            raise ConfigurationError("N", f"is {self.N}; {self.name} {'has its own' if self.N else 'needs one'}.")

    def load(self, seed: int) -> nl.datasets.Dataset:
        """Read or make it, and standardise it."""
        X = SETS[self.name](self.N or 0, self.seed)
        return nl.datasets.from_array(
            np.ascontiguousarray(X[:, np.ptp(X, axis=0) > 0.0]),
            name=self.name.replace("-", " ").capitalize(),
            citation="Pedregosa et al. (2011). Scikit-learn: machine learning in Python. JMLR 12.",
            licence="BSD-3-Clause, with scikit-learn",
        )


# -- starts ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScikitLearnCentres(InitialSample):
    """The cluster centres of one of scikit-learn's k-means, with its defaults.

    Parameters
    ----------
    by : str
        The class, which is let run once (``n_init=1``).
    """

    kind: ClassVar[str] = "scikit-learn"
    by: str = setting(choices=("KMeans", "MiniBatchKMeans", "BisectingKMeans"))

    @property
    def drifts(self) -> bool:
        """Batches choose among centres by counts, which turn on single points."""
        return self.by == "MiniBatchKMeans"

    def draw(self, kernel: nl.Kernel, data: Array, n: int, seed: np.random.SeedSequence) -> Array:
        """On one thread, so that its sums are always formed in one order."""
        method = getattr(_sklearn("cluster"), self.by)
        with threadpool_limits(1):
            fitted = method(n, n_init=1, random_state=int(seed.generate_state(1)[0] % 2**31)).fit(data)
        return np.asarray(fitted.cluster_centers_, dtype=np.float64)


DATA_SOURCES[ScikitLearnData.kind] = ScikitLearnData
INITIAL_SAMPLES[ScikitLearnCentres.kind] = ScikitLearnCentres
