"""What other packages choose, for the arena: tried where they are installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from ..experiments.outcome import Array
from ..results.provenance import version


class Other(NamedTuple):
    """A way of another package."""

    module: str  #: what is imported
    package: str  #: what is installed
    draw: Callable[[Array, int, np.random.SeedSequence], Array]  #: n points from data and a seed


def _faiss(data: Array, n: int, seed: np.random.SeedSequence) -> Array:
    """The centres of Faiss's k-means with its defaults: 25 rounds in single precision."""
    faiss = importlib.import_module("faiss")
    number = int(seed.generate_state(1)[0] % 2**31)
    means = faiss.Kmeans(data.shape[1], n, seed=number, min_points_per_centroid=1)
    means.train(np.ascontiguousarray(data, dtype=np.float32))
    return np.asarray(means.centroids, dtype=np.float64)


#: By the name the arena shows.
OTHERS: Mapping[str, Other] = {"Faiss": Other("faiss", "faiss-cpu", _faiss)}


def installed() -> dict[str, str]:
    """Those that can be tried here, each with its version."""
    return {name: version(each.package) or "" for name, each in OTHERS.items() if find_spec(each.module) is not None}
