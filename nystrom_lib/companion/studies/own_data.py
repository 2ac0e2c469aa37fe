"""A file of the reader's own: where it is, how to look at it, and the landmarks to take home."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import nystrom_lib as nl

from ..checkout import NOTEBOOKS
from ..errors import ConfigurationError
from ..experiments.components import File
from ..experiments.outcome import Array

if TYPE_CHECKING:
    import pandas as pd

    from ..results.table import Results

#: A small file that comes with the notebooks, so that the chapter runs without one.
EXAMPLE = "data/abalone_measurements.csv"

#: What the criteria are called in the report (Markdown), in this order.
CRITERIA = {
    "R": "$R(S)$",
    "trace": r"$\lVert\mathbf{K} - \hat{\mathbf{K}}(S)\rVert_*$",
    "frobenius": r"$\lVert\mathbf{K} - \hat{\mathbf{K}}(S)\rVert_F$",
    "spectral": r"$\lVert\mathbf{K} - \hat{\mathbf{K}}(S)\rVert_2$",
    "E_tr": r"$\mathcal{E}_{\mathrm{tr}}$",
    "E_F": r"$\mathcal{E}_{\mathrm{F}}$",
    "E_sp": r"$\mathcal{E}_{\mathrm{sp}}$",
}

_LOOKED_AT = 5_000  # points that principal components are computed from, and that a picture shows


def locate(file: str) -> Path:
    """The file as seen from the present folder, or else from the folder of the notebooks."""
    for folder in (Path(), NOTEBOOKS):
        place = folder / Path(file).expanduser()
        if place.is_file():
            return place.resolve()
    raise ConfigurationError("file", f"is {file!r}, and there is no such file in {Path().resolve()}.")


@dataclass(frozen=True)
class Plane:
    """A plane to look at points in: their two coordinates, or the first two principal components.

    Attributes
    ----------
    centre : array, (d,)
        What becomes the origin.
    axes : array, (d, 2)
        The two directions.
    labels : tuple of str
        What to write along them.
    share : float
        Which part of the data's variance lies in it.
    """

    centre: Array
    axes: Array
    labels: tuple[str, str]
    share: float

    def __call__(self, points: Array) -> Array:
        """Points in the plane; any shape whose last axis is d."""
        shown: Array = (np.asarray(points, dtype=np.float64) - self.centre) @ self.axes
        return shown


def plane(dataset: nl.datasets.Dataset) -> Plane:
    """The plane for these data; with one column, that column and nothing across it."""
    d = dataset.d
    if d <= 2:
        names = (*dataset.columns, "")[:2]
        return Plane(np.zeros(d), np.eye(d, 2), (names[0], names[1]), 1.0)
    some = thinned(dataset.X)
    centre = some.mean(axis=0)
    _, lengths, directions = np.linalg.svd(some - centre, full_matrices=False)
    axes = directions[:2].T
    # a principal component has no sign of its own: its largest entry is made positive
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    share = float(np.sum(lengths[:2] ** 2) / np.sum(lengths**2))
    return Plane(centre, axes, ("first principal component", "second principal component"), share)


def thinned(data: Array) -> Array:
    """At most some thousand of the points, evenly spread over the rows."""
    return np.asarray(data[:: max(1, -(-len(data) // _LOOKED_AT))], dtype=np.float64)


def before_and_after(results: Results) -> pd.DataFrame:
    """Each criterion that was computed, at S⁽⁰⁾ and at S⁽ᵀ⁾, and the second over the first."""
    import pandas as pd

    table = results.table.set_index("stage")
    rows = []
    for column, name in CRITERIA.items():
        if column not in table or table[column].isna().all():
            continue
        initial, optimised = float(table.loc["initial", column]), float(table.loc["optimised", column])
        if column == "R" and not results.experiment.constant:
            rows.append((r"$R(S) - \lVert\mathbf{K}\rVert_F^2$", initial, optimised, np.nan))
        else:
            rows.append((name, initial, optimised, optimised / initial if initial else np.nan))
    return pd.DataFrame(rows, columns=["criterion", "initial sample", "optimised sample", "after / before"])


def in_original_units(source: File, dataset: nl.datasets.Dataset, landmarks: Array) -> pd.DataFrame:
    """The landmarks as rows of the file might have them: standardisation undone, a column for each of the data's."""
    import pandas as pd

    if source.standardise:
        raw = source.replace(standardise=False).load(0).X
        scale = np.std(raw, axis=0, ddof=source.ddof)
        landmarks = landmarks * scale + np.mean(raw, axis=0)
    return pd.DataFrame(landmarks, columns=list(dataset.columns))


def save_landmarks(folder: Path, source: File, dataset: nl.datasets.Dataset, landmarks: Array) -> tuple[Path, Path]:
    """Leave ``landmarks.npy`` (as optimised) and ``landmarks.csv`` (in the file's units) in a folder."""
    array, text = folder / "landmarks.npy", folder / "landmarks.csv"
    np.save(array, landmarks)
    in_original_units(source, dataset, landmarks).to_csv(text, index=False)
    return array, text
