"""Landmarks that ``nystrom optimise`` has saved."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _validation as check
from .._validation import Array
from ..approximation import NystromApproximation
from ..kernels import Gaussian, Kernel, Matern, Polynomial, RationalQuadratic

_KERNELS = {kind.__name__: kind for kind in (Gaussian, Matern, Polynomial, RationalQuadratic)}


@dataclass(frozen=True)
class SavedLandmarks:
    """Landmarks with the kernel and the scaling that they were found with."""

    landmarks: Array = field(repr=False)  #: in the units of the data, a row each
    kernel: Kernel  #: of the scaled data
    columns: tuple[str, ...]  #: the columns of the data
    mean: Array = field(repr=False)  #: what is subtracted from them before the kernel sees them
    scale: Array = field(repr=False)  #: and what they are divided by

    def scaled(self, X: Any) -> Array:
        """Points in the units of the data, as the kernel sees them; of a DataFrame the columns by name."""
        if hasattr(X, "columns"):
            missing = [column for column in self.columns if column not in X.columns]
            if missing:
                raise ValueError(f"X has no column {missing[0]!r}; it must have {', '.join(map(repr, self.columns))}.")
            X = X[list(self.columns)]
        scaled: Array = (check.float_points("X", X, dimension=len(self.columns)) - self.mean) / self.scale
        return scaled

    @cached_property
    def approximation(self) -> NystromApproximation:
        """The Nyström approximation of the kernel for scaled points."""
        return NystromApproximation(self.kernel, self.scaled(self.landmarks))

    def features(self, X: ArrayLike) -> Array:
        """The features of points in the units of the data; their inner products approximate the kernel."""
        return self.approximation.features(self.scaled(X))


def load_landmarks(path: str | os.PathLike[str]) -> SavedLandmarks:
    """Landmarks that ``nystrom optimise`` has saved, ready to use for data in the units of the file they are from.

    Parameters
    ----------
    path
        The record: the ``.json`` file beside the landmarks.

    Returns
    -------
    SavedLandmarks
        ``.features(X)`` are the features of points, ``.kernel`` is the kernel, ``.landmarks`` are the landmarks.

    Examples
    --------
    >>> import json, numpy as np, tempfile, nystrom_lib as nl
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "landmarks.npy", [[10.0], [20.0]])
    >>> record = {
    ...     "landmarks": "landmarks.npy",
    ...     "columns": ["length"],
    ...     "kernel": {"name": "Gaussian", "rho": 1.0},
    ...     "standardisation": {"mean": [15.0], "scale": [5.0]},
    ... }
    >>> _ = (folder / "landmarks.json").write_text(json.dumps(record))
    >>> saved = nl.load_landmarks(folder / "landmarks.json")
    >>> saved
    SavedLandmarks(kernel=Gaussian(rho=1.0), columns=('length',))
    >>> saved.features([[10.0], [15.0]]).round(4)
    array([[1.    , 0.    ],
           [0.3679, 0.3612]])
    """
    path = Path(path)
    text = path.read_bytes()
    try:
        record = json.loads(text)
        file, columns = path.with_name(record["landmarks"]), tuple(map(str, record["columns"]))
        kernel = _KERNELS[record["kernel"].pop("name")](**record["kernel"])
        scaling = [record["standardisation"]["mean"]], [record["standardisation"]["scale"]]
        if file.suffix.lower() == ".csv":
            rows = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
        else:
            rows = np.load(file, allow_pickle=False)
    except (ValueError, KeyError, TypeError, AttributeError, EOFError) as error:
        raise ValueError(f"{path} is no record of 'nystrom optimise', or it or its landmarks are damaged.") from error
    d = len(columns)
    rows = check.float_points("landmarks", rows, dimension=d, like="the record")
    mean, scale = (check.float_points("standardisation", row, dimension=d, like="the record")[0] for row in scaling)
    return SavedLandmarks(rows, kernel, columns, mean, scale)
