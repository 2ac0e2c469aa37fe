"""Claims on the library itself: what is proved holds, and a library that computes something else is noticed."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from companion.chapters import radial_skd
from companion.chapters import stochastic_gradients as estimators
from companion.checkout import RESULTS
from companion.claims import judge, later, stochastic
from companion.studies import curvature
from tests.companion.claims import FAILS, HOLDS, UNTESTABLE


def test_what_is_proved_holds(tmp_path: Path) -> None:
    proved = dict.fromkeys(["R1", "R2", "T1", "T3", "S1", "S2", "C1"], HOLDS)
    found = {verdict.claim.id: verdict.finding for verdict in judge(tmp_path, [*proved, "B3", "N1"])}
    assert found == proved | {"B3": UNTESTABLE, "N1": UNTESTABLE}


def scaled(factor: float) -> Callable[[Any], Any]:
    return lambda found: factor * found


@pytest.mark.parametrize(
    ("claim", "module", "name", "spoil"),
    [
        ("R1", nl, "radial_skd", scaled(3.0)),
        ("R2", nl, "radial_skd", scaled(0.01)),
        ("R2", radial_skd, "sides", lambda found: found | {"trace": 1.01 * found["frobenius"]}),
        ("T1", curvature, "proof_ratios", lambda found: dict.fromkeys(found, math.inf)),
        ("T1", curvature, "lipschitz_ratio", scaled(100.0)),
        ("T3", curvature, "largest_derivatives", lambda found: {name: 1.01 * found[name] for name in found}),
        ("S2", estimators, "every_batch", scaled(1.01)),
        ("S1", estimators, "relative_bias", scaled(0.0)),
        ("C1", nl, "nystrom_errors", lambda found: replace(found, trace=1.001 * found.trace)),
    ],
)
def test_a_wrong_computation_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    claim: str,
    module: ModuleType,
    name: str,
    spoil: Callable[[Any], Any],
) -> None:
    """Catches a claim that does not use the computation which its chapter shows."""
    true = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given, **named: spoil(true(*given, **named)))
    assert judge(tmp_path, [claim])[0].finding is FAILS


def test_S3_compares_the_two_sample_variance_with_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stochastic, "settings", list)
    variances = [case.values["ratio"] for case in stochastic.variances(None)]  # type: ignore[arg-type]
    assert len(variances) == 10 and np.median(variances) > 1.0


def test_the_stored_rows_are_computed_again() -> None:
    """One row of each kind: a walk, an end point, a pair and the exact descent, and a setting."""
    found = json.loads((RESULTS / "later_checks.json").read_text(encoding="utf-8"))
    assert [len(found[name]) for name in ("B1", "T4", "S4", "A3")] == [40, 22, 40, 45]
    with nl.threads(1):
        walked = later.walk("figure-1-rho16", 0)
        stored = next(each for each in found["B1"] if each["figure"] == "figure-1-rho16" and each["start"] == 0)
        for part in ("end", "length"):
            np.testing.assert_allclose(walked[part], stored[part], rtol=0.0, atol=1e-6)
        row = later.end_point("figure-2-n20-rho16", 3)
        stored = next(each for each in found["T4"] if each["rho"] == 16.0 and each["start"] == 3)
        assert row["eigenvalue"] == pytest.approx(stored["eigenvalue"], rel=1e-6)
        setting = stochastic.settings()[-1]
        (pair,) = later.pairs(setting, 1)
        stored = next(each for each in found["S4"] if each["setting"] == setting.label)
        assert pair == pytest.approx(stored)
        stored = found["A3"][7]
        again = later.excess(
            "figure-3-rho0.25", stored["multiple"], stored["start"], later.best_trace("figure-3-rho0.25")
        )
        assert again == pytest.approx(stored, rel=1e-6)
