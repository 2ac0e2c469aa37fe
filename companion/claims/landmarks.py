"""B1 and B2: how the landmarks of Figure 1 move, and where they end, from the stored rows of 20 descents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..experiments.components import BiGaussian
from ..experiments.outcome import Array
from ..experiments.paper import PAPER
from ..experiments.protocol import load_data
from ..experiments.seeds import Axis, seed_for
from ..results.archive import Archive
from .base import Case, later_rows
from .declared import CLAIMS

#: ρ as printed and ρ of the authors' notebook.
FIGURES = {"ρ = 1": "figure-1", "ρ = 16": "figure-1-rho16"}
#: The density is compared at a grid of this many points a side.
_GRID = 200


@dataclass(frozen=True)
class Walks:
    """Descents from several initial samples: where their landmarks begin and end, and the lengths of their paths."""

    start: Array  #: (descents, n, d)
    end: Array  #: the same
    length: Array  #: (descents, n)

    @classmethod
    def along(cls, paths: Array) -> Walks:
        """From the landmarks along each descent, (descents, records, n, d)."""
        return cls(paths[:, 0], paths[:, -1], np.linalg.norm(np.diff(paths, axis=1), axis=-1).sum(axis=1))


def walks(name: str, archive: Archive) -> Walks:
    """Figure 1's own descent, and 19 others."""
    rows = later_rows(archive, "B1").query("figure == @name")
    start = np.array([initial_sample(name, j) for j in rows["start"]])
    return Walks(start, np.array(rows["end"].tolist()), np.array(rows["length"].tolist()))


def initial_sample(name: str, j: int) -> Array:
    """Initial sample j of an experiment."""
    experiment = PAPER[name]
    data, seed = load_data(experiment).X, seed_for(experiment.seed, Axis.INITIAL_SAMPLE, j)
    return experiment.initial.draw(experiment.kernel, data, experiment.n, seed)


def movement(archive: Archive) -> Iterator[Case]:
    """B1."""
    for rho, name in FIGURES.items():
        yield from movement_cases(rho, walks(name, archive))


def movement_cases(rho: str, walked: Walks) -> Iterator[Case]:
    """B1 from the descents at one ρ: the shares of landmarks that move far and along winding paths.

    Figure 1's own descent, the first, decides; the others are shown.
    """
    displacement = np.linalg.norm(walked.end - walked.start, axis=-1)
    spacings = displacement / np.sqrt(4.0 / walked.end.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        # A landmark that never moved has a path of length 0: it does not wind.
        winding = np.where(walked.length > 0.0, walked.length / displacement, 1.0)
    shares = {
        ("far", "some"): (spacings >= CLAIMS["B1"].limit("far")).mean(axis=1),
        ("complex", "complex"): (winding >= CLAIMS["B1"].limit("winding")).mean(axis=1),
    }
    for (group, threshold), each in shares.items():
        limit = CLAIMS["B1"].limit(threshold)
        yield Case(f"{group}, Figure 1", {threshold: float(each[0])}, rho, group)
        others = {threshold: float(each.mean()), "descents that pass": int((each >= limit).sum())}
        yield Case(f"{group}, mean of {len(each)} descents", others, rho, group, counts=False)


def arrangement(archive: Archive) -> Iterator[Case]:
    """B2."""
    source = PAPER["figure-1"].data
    assert isinstance(source, BiGaussian)
    data = np.asarray(load_data(PAPER["figure-1"]).X)
    for rho, name in FIGURES.items():
        yield from arrangement_cases(rho, walks(name, archive), data, source)


def arrangement_cases(rho: str, walked: Walks, data: Array, source: BiGaussian) -> Iterator[Case]:
    """B2 from the descents at one ρ: the share in the densest half, and the growth of two distances (medians)."""
    points = walked.end.reshape(-1, walked.end.shape[-1])
    dense = {"dense": float(in_densest_half(points, source).mean())}
    dense["share of the data"] = float(in_densest_half(data, source).mean())
    yield Case("concentrate", dense, rho, "concentrate")
    before, after = (np.array([_nearest(sample) for sample in samples]) for samples in (walked.start, walked.end))
    growth = {
        "neighbour": float(np.median(after.mean(axis=1) / before.mean(axis=1))),
        "separation": float(np.median(after.min(axis=1) / before.min(axis=1))),
    }
    yield Case("fill the space", growth, rho, "fill the space")


def _nearest(sample: Array) -> Array:
    """Each landmark's distance to the nearest other."""
    distances = np.linalg.norm(sample[:, None] - sample[None], axis=-1)
    np.fill_diagonal(distances, np.inf)
    nearest: Array = distances.min(axis=1)
    return nearest


def _density(points: Array, source: BiGaussian) -> Array:
    """The bi-Gaussian density up to its constant factor, 0 outside the square."""
    squares = [np.sum((points - np.array(mode)) ** 2, axis=-1) for mode in source.modes]
    inside = np.all(np.abs(points) <= source.half_width, axis=-1)
    value: Array = inside * sum(np.exp(-square / (2.0 * source.variance)) for square in squares)
    return value


def in_densest_half(points: Array, source: BiGaussian) -> NDArray[np.bool_]:
    """Which points lie where the density exceeds its median over the square."""
    side = (np.arange(_GRID) + 0.5) / _GRID * 2.0 * source.half_width - source.half_width
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    dense: NDArray[np.bool_] = _density(points, source) > np.median(_density(grid, source))
    return dense
