"""Ridge regressions on landmarks: right in cases that are known, stored at full scale, and refused if they drift."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nystrom_lib as nl
from companion.studies import models
from companion.studies.models import Study, Task

SMALL = Study(N=80, n=(4, 8), splits=2, seed=3)


def smooth() -> models._Fit:
    points = np.random.default_rng(0).standard_normal((80, 2))
    task, chosen = Task(points, np.sin(points[:, 0]), models.root_mean_square), np.arange(80)
    return models._Fit(task, nl.Gaussian(rho=0.5), chosen[:40], chosen[40:60], chosen[60:])


def test_a_model_with_every_point_a_landmark_is_the_kernel_s() -> None:
    fit = smooth()
    found = fit.judged(fit.task.points[:40])
    for name in ("loss", "squared"):
        assert found[name] == pytest.approx(fit.exact[name], rel=1e-3)
    assert found["residual"] >= 0.0 and found["lost"] < 1e-8
    assert fit.exact["squared"] == pytest.approx(fit.exact["loss"] ** 2, rel=1e-12)


def test_what_is_lost_is_what_the_projection_leaves() -> None:
    """Against the projection written out: f = Σ αᵢ K(xᵢ, ·), P_S f = k_S(·)ᵀ K_S⁻¹ Σ αᵢ k_S(xᵢ)."""
    fit, sample = smooth(), np.random.default_rng(1).standard_normal((6, 2))
    train, test = fit.task.points[:40], fit.task.points[60:]
    f, coefficients = fit._whole
    np.testing.assert_allclose(fit.kernel.matrix(test, train) @ coefficients, f, rtol=1e-9)
    inner = np.linalg.solve(fit.kernel.matrix(sample), fit.kernel.matrix(sample, train) @ coefficients)
    left = f - fit.kernel.matrix(test, sample) @ inner
    assert fit.judged(sample)["lost"] == pytest.approx(np.mean(left**2) / np.var(f), rel=1e-8)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    models.main(SMALL, folder / models.FILE, folder / "work", threads=1)
    return folder


def test_what_is_stored_is_found_again_and_anything_else_computed(stored: Path, tmp_path: Path) -> None:
    table, origin = models.found(SMALL, stored, recompute=2)
    assert origin.startswith("computed on 20") and len(table) == 2 * 2 * (1 + 2 * len(models.WAYS))
    again, other = models.found(SMALL, tmp_path)
    assert other == "computed in this run"
    order = ["task", "split", "n", "way"]
    pd.testing.assert_frame_equal(
        again.sort_values(order, ignore_index=True), table.sort_values(order, ignore_index=True), rtol=1e-6
    )
