"""B1, B2: how the landmarks of Figure 1 move, and how they lie at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..experiments.components import BiGaussian
from ..experiments.outcome import Array
from ..experiments.paper import paper_experiment
from ..experiments.protocol import load_data
from ..experiments.seeds import Axis, seed_for
from ..results.archive import Archive
from ..wording import percent
from .base import Claim, Finding, Verdict, sentence, together

#: ρ as printed and ρ of the authors' notebook.
FIGURES = {"ρ = 1": "figure-1", "ρ = 16": "figure-1-rho16"}
#: Figure 1's own descent and others like it.
_DESCENTS = 20
#: Decimals of the stored rows.
_DIGITS = 9
#: Points of the square at which the density is compared: a grid of so many a side.
_GRID = 200


@dataclass(frozen=True)
class Walks:
    """Descents from several initial samples: where their landmarks begin and end, and how long their ways are."""

    start: Array  #: (descents, n, d)
    end: Array  #: the same
    length: Array  #: (descents, n)

    @classmethod
    def along(cls, paths: Array) -> Walks:
        """From the landmarks along each descent, (descents, records, n, d)."""
        return cls(paths[:, 0], paths[:, -1], np.linalg.norm(np.diff(paths, axis=1), axis=-1).sum(axis=1))


def walks(name: str, stored: Archive) -> Walks:
    """Figure 1's own descent and others like it: the stored rows, or computed where there are none."""
    checks = stored.later_checks() or {}
    rows = [row for row in checks.get("B1", ()) if row["figure"] == name] or walk(name)
    start = np.array([_start(name, row["start"]) for row in rows])
    return Walks(start, *(np.array([row[part] for row in rows]) for part in ("end", "length")))


@cache
def walk(name: str, count: int = _DESCENTS) -> list[dict[str, Any]]:
    """A row for each descent."""
    rows = []
    for j in range(count):
        found = Walks.along(path(name, j)[None])
        parts = {part: getattr(found, part)[0].round(_DIGITS).tolist() for part in ("end", "length")}
        rows.append({"figure": name, "start": j, **parts})
    return rows


def path(name: str, j: int) -> Array:
    """The landmarks along the descent from initial sample j, (records, n, d)."""
    experiment = paper_experiment(name)
    run = experiment.descent.descend(
        experiment.kernel,
        load_data(experiment).X,
        _start(name, j),
        seed_for(experiment.seed, Axis.BATCHES, j),
        record_every=0,  # the path at every step costs less than R at every fifth
        keep_path=True,
        constant=0.0,
        progress=None,
    )
    assert run.path is not None
    return run.path[:: experiment.record.every]


def _start(name: str, j: int) -> Array:
    experiment = paper_experiment(name)
    data, seed = load_data(experiment).X, seed_for(experiment.seed, Axis.INITIAL_SAMPLE, j)
    return experiment.initial.draw(experiment.kernel, data, experiment.n, seed)


# -- B1 ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Movement:
    """How each landmark of some descents moved, both of shape (descents, n)."""

    spacings: Array  #: displacement in units of √(4/n)
    winding: Array  #: length of the path over displacement


def movement_of(walked: Walks) -> Movement:
    """From where each landmark began and ended, and the length of its way."""
    displacement = np.linalg.norm(walked.end - walked.start, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A landmark that never moved has a path of length 0: it does not wind.
        winding = np.where(walked.length > 0.0, walked.length / displacement, 1.0)
    return Movement(displacement / np.sqrt(4.0 / walked.end.shape[1]), winding)


def movement(claim: Claim, stored: Archive) -> Verdict:
    """B1."""
    return decide_movement(claim, {rho: movement_of(walks(name, stored)) for rho, name in FIGURES.items()})


def decide_movement(claim: Claim, movements: Mapping[str, Movement]) -> Verdict:
    """B1 from the movements at each ρ; the first descent decides."""
    parts: dict[str, Finding] = {}
    shown: list[str] = []
    numbers: dict[str, float] = {}
    for rho, moved in movements.items():
        far = (moved.spacings >= claim.limit("far")).mean(axis=1)
        wound = (moved.winding >= claim.limit("winding")).mean(axis=1)
        some, complicated = far[0] >= claim.limit("some"), wound[0] >= claim.limit("complex")
        parts[rho] = (
            Finding.HOLDS if some and complicated else Finding.IN_PART if some or complicated else Finding.FAILS
        )
        shown.append(
            f"{rho}: {percent(far[0])} of the landmarks of Figure 1 move at least one spacing "
            f"({percent(far.mean())} over {len(far)} descents), the furthest {moved.spacings[0].max():.2g} spacings; "
            f"{percent(wound[0])} of the paths are at least "
            f"{claim.limit('winding'):g} times as long as the displacement ({percent(wound.mean())})"
        )
        numbers |= {f"far, {rho}": float(far[0]), f"winding, {rho}": float(wound[0])}
    beside = " ".join(_one_seed(claim, rho, moved) for rho, moved in movements.items())
    return Verdict(claim, together(parts.values()), "; ".join(shown) + ".", _said(parts), numbers, parts, beside=beside)


def _one_seed(claim: Claim, rho: str, moved: Movement) -> str:
    """How often another seed would have given the verdict that Figure 1's own descent gave."""
    far = (moved.spacings >= claim.limit("far")).mean(axis=1) >= claim.limit("some")
    wound = (moved.winding >= claim.limit("winding")).mean(axis=1) >= claim.limit("complex")
    return (
        f"{rho}: the rule judges the descent from one seed; of {len(far)} descents {int(far.sum())} would pass “far” "
        f"and {int(wound.sum())} “complex”, {int((far & wound).sum())} both."
    )


def _said(parts: Mapping[str, Finding]) -> str:
    """The verdict at each ρ in a sentence."""
    if len(set(parts.values())) == 1:
        return f"The same at {' and '.join(parts)}: {next(iter(parts.values()))}."
    return sentence("; ".join(f"at {rho}: {finding}" for rho, finding in parts.items()))


# -- B2 ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arrangement:
    """How optimised landmarks lie, compared with the initial ones."""

    dense: float  #: share in the densest half of the square
    data_dense: float  #: the data's own share there
    neighbour: float  #: mean distance to the nearest other landmark, optimised over initial (median)
    separation: float  #: smallest distance between two landmarks, optimised over initial (median)


def arrangement(claim: Claim, stored: Archive) -> Verdict:
    """B2."""
    source = paper_experiment("figure-1").data
    assert isinstance(source, BiGaussian)
    data = load_data(paper_experiment("figure-1")).X
    arrangements = {}
    for rho, name in FIGURES.items():
        walked = walks(name, stored)
        arrangements[rho] = arrangement_of(walked.start, walked.end, np.asarray(data), source)
    return decide_arrangement(claim, arrangements)


def arrangement_of(initial: Array, optimised: Array, data: Array, source: BiGaussian) -> Arrangement:
    """From initial and optimised landmarks, (descents, n, 2)."""
    before, after = (np.array([_nearest(sample) for sample in samples]) for samples in (initial, optimised))
    return Arrangement(
        dense=float(in_densest_half(optimised.reshape(-1, optimised.shape[-1]), source).mean()),
        data_dense=float(in_densest_half(data, source).mean()),
        neighbour=float(np.median(after.mean(axis=1) / before.mean(axis=1))),
        separation=float(np.median(after.min(axis=1) / before.min(axis=1))),
    )


def _nearest(sample: Array) -> Array:
    """Each landmark's distance to the nearest other."""
    distances = np.linalg.norm(sample[:, None] - sample[None], axis=-1)
    np.fill_diagonal(distances, np.inf)
    nearest: Array = distances.min(axis=1)
    return nearest


def density(points: Array, source: BiGaussian) -> Array:
    """The bi-Gaussian density up to its constant factor, 0 outside the square."""
    squares = [np.sum((points - np.array(mode)) ** 2, axis=-1) for mode in source.modes]
    inside = np.all(np.abs(points) <= source.half_width, axis=-1)
    value: Array = inside * sum(np.exp(-square / (2.0 * source.variance)) for square in squares)
    return value


def in_densest_half(points: Array, source: BiGaussian) -> NDArray[np.bool_]:
    """Which points lie where the density exceeds its median over the square."""
    side = (np.arange(_GRID) + 0.5) / _GRID * 2.0 * source.half_width - source.half_width
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    dense: NDArray[np.bool_] = density(points, source) > np.median(density(grid, source))
    return dense


def decide_arrangement(claim: Claim, arrangements: Mapping[str, Arrangement]) -> Verdict:
    """B2 from the arrangements at each ρ."""
    parts: dict[str, Finding] = {}
    shown: list[str] = []
    numbers: dict[str, float] = {}
    for rho, how in arrangements.items():
        concentrate = how.dense >= claim.limit("dense")
        fill = how.neighbour >= claim.limit("neighbour") and how.separation >= claim.limit("separation")
        parts[rho] = (
            Finding.HOLDS if concentrate and fill else Finding.IN_PART if concentrate or fill else Finding.FAILS
        )
        shown.append(
            f"{rho}: {percent(how.dense)} of the optimised landmarks lie in the densest half of the square "
            f"(the data: {percent(how.data_dense)}); the mean distance to the nearest landmark grows "
            f"{how.neighbour:.2f} times, the smallest {how.separation:.2f} times"
        )
        numbers |= {
            f"dense, {rho}": how.dense,
            f"neighbour, {rho}": how.neighbour,
            f"separation, {rho}": how.separation,
        }
    return Verdict(claim, together(parts.values()), "; ".join(shown) + ".", _said(parts), numbers, parts)
