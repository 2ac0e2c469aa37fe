"""Landmarks that were saved, and what is printed of those that were found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nystrom_lib as nl

RECORD: dict[str, Any] = {
    "landmarks": "mine.csv",
    "columns": ["a", "b"],
    "kernel": {"name": "Matern", "nu": 1.5, "lengthscale": 2.0},
    "standardisation": {"mean": [10.0, 0.0], "scale": [2.0, 0.5]},
}
LANDMARKS = np.array([[10.0, 1.0], [12.0, -0.5], [9.0, 0.25]])


def saved(folder: Path, **changes: Any) -> Path:
    pd.DataFrame(LANDMARKS, columns=["a", "b"]).to_csv(folder / "mine.csv", index=False)
    np.save(folder / "mine.npy", LANDMARKS[:2])
    (folder / "record.json").write_text(json.dumps(RECORD | changes))
    return folder / "record.json"


def test_features_of_points_in_the_units_of_the_data(tmp_path: Path) -> None:
    """Catches landmarks of another file, and points that are not scaled, or whose columns are in another order."""
    found = nl.load_landmarks(saved(tmp_path))
    assert found.kernel == nl.Matern(1.5, 2.0) and np.array_equal(found.landmarks, LANDMARKS)
    X = np.random.default_rng(0).normal([10.0, 0.0], [2.0, 0.5], size=(20, 2))
    scaled = (X - [10.0, 0.0]) / [2.0, 0.5]
    expected = nl.NystromApproximation(found.kernel, (LANDMARKS - [10.0, 0.0]) / [2.0, 0.5]).matrix(scaled)
    for points in (X, pd.DataFrame(X[:, ::-1], columns=["b", "a"])):
        features = found.features(points)
        assert features @ features.T == pytest.approx(expected, abs=1e-14)
    assert len(nl.load_landmarks(saved(tmp_path, landmarks="mine.npy")).landmarks) == 2


def test_records_that_cannot_be_used(tmp_path: Path) -> None:
    unknown, refused = {"name": "exec"}, {"name": "Matern", "p": 1}
    (tmp_path / "text.csv").write_text("a,b\n1,x\n")
    (tmp_path / "text.npy").write_text("1,2")
    (tmp_path / "empty.npy").touch()
    files = [{"landmarks": name} for name in ("text.csv", "text.npy", "empty.npy")]
    for damaged in ({"kernel": unknown}, {"kernel": refused}, {"columns": 5}, {"standardisation": {}}, *files):
        with pytest.raises(ValueError, match=r"record\.json is no record of 'nystrom optimise'"):
            nl.load_landmarks(saved(tmp_path, **damaged))
    with pytest.raises(ValueError, match="2 coordinates; those of the record have 1"):
        nl.load_landmarks(saved(tmp_path, columns=["a"]))
    with pytest.raises(ValueError, match="standardisation has points of 3 coordinates; those of the record have 2"):
        nl.load_landmarks(saved(tmp_path, standardisation={"mean": [0.0, 0.0, 0.0], "scale": [1.0, 1.0]}))
    with pytest.raises(FileNotFoundError):
        nl.load_landmarks(tmp_path / "nothing.json")
    with pytest.raises(ValueError, match="X has no column 'b'"):
        nl.load_landmarks(saved(tmp_path)).features(pd.DataFrame({"a": [1.0]}))


def test_what_is_printed_of_landmarks() -> None:
    """Catches hundreds of coordinates, and an error relative to something else than K(x, x)."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    found = nl.find_landmarks(nl.Polynomial(2), X, 40, method="kmeans")
    first, *reasons = repr(found).splitlines()
    assert first.startswith("Landmarks(n=40, d=3, method='kmeans', error=") and len(first) < 120
    assert [reason.strip() for reason in reasons] == list(found.reasons)
    trace = nl.nystrom_errors(nl.Polynomial(2), X, found.sample, "trace").trace
    assert found.relative_error == pytest.approx(trace / nl.Polynomial(2).diagonal(X).sum())
