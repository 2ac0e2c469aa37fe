"""What was declared on 2026-11-17: each verdict able to go either way, and the stored rows computed again."""

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nystrom_lib as nl
from companion.claims import (
    CLAIMS,
    Finding,
    Verdict,
    costs,
    direct,
    estimators,
    judge,
    landmarks,
    later,
    settings,
    tables,
    theory,
)
from companion.claims.declared import COMMITS, FIRST, LATER
from tests.companion.claims import FAILS, HOLDS, IN_PART, UNTESTABLE
from tests.companion.claims.made_up import Values, decided, made_up

RESULTS = Path(__file__).resolve().parents[3] / "results"


def _thresholds(text: str) -> set[str]:
    """The thresholds that a version of the file declares, without the spaces that formatting moves."""
    return {re.sub(r"\s+", "", found) for found in re.findall(r'"\w+":\s*Threshold\(\s*[^,]+,', text)}


@pytest.mark.parametrize("date", [FIRST, LATER])
def test_the_page_names_the_commit_that_fixed_the_thresholds(date: str) -> None:
    """Catches a commit that is not there, and a threshold that was changed or taken away after it."""
    file = "companion/claims/declared.py"
    for place in (file, f"nystrom_lib/{file}"):  # where it was before the companion became a package
        command = ["git", "show", f"{COMMITS[date]}:{place}"]
        shown = subprocess.run(command, cwd=RESULTS.parent, capture_output=True, text=True, check=False)
        if not shown.returncode:
            break
    else:
        pytest.skip("this copy has no history")
    then, now = _thresholds(shown.stdout), _thresholds((RESULTS.parent / file).read_text(encoding="utf-8"))
    assert len(then) > 20 and then <= now


# -- R5


def problem(cost: float, error: float, stand_in: bool = False) -> dict[str, Any]:
    return {
        "n": 50, "d": 2, "N": 2000, "stand_in": stand_in, "gradient_s": cost, "trace_s": 1.0,
        "radial_gradient_s": 0.5, "descent_s": 0.2, "direct_s": 0.2, "error_quotients": [error - 0.1, error, 9.0],
    }  # fmt: skip


def test_R5() -> None:
    def decide(*problems: dict[str, Any]) -> Finding:
        return direct.decide_direct(
            CLAIMS["R5"], {str(j): each for j, each in enumerate(problems)}, "a machine"
        ).finding

    assert decide(problem(3, 0.9), problem(3, 0.9)) is FAILS
    assert decide(problem(3, 0.9), problem(30, 0.9)) is FAILS  # half of them: "most" is not so
    assert decide(problem(3, 0.9), problem(30, 0.9), problem(3, 1.1)) is IN_PART
    assert decide(problem(30, 0.9), problem(3, 1.1)) is HOLDS
    assert decide(problem(30, 0.9), problem(3, 0.9, stand_in=True)) is HOLDS


# -- T2


@pytest.fixture
def first() -> Verdict:
    return theory.decide_descents(CLAIMS["T2"], pd.DataFrame({"increase": [-0.1], "gradient": [1e-9]}))


def drifting(**changed: list[float]) -> pd.DataFrame:
    run = {"step": [0, 10, 20], "place": [5.0, 5.4, 5.7], "R": [3.0, 2.0, 1.0], "gradient": [0.3, 0.2, 0.1]}
    return pd.DataFrame({**run, **changed})


def test_T2_is_refuted_by_a_drift(first: Verdict) -> None:
    outward = np.array([1.0, 0.1])
    found = theory.decide_convergence(first, drifting(), outward)
    assert first.finding is HOLDS and found.finding is FAILS and found.later.finding is FAILS
    assert found.numbers["first rule"] == "holds" and "“holds”" in found.why


@pytest.mark.parametrize(
    ("run", "force"),
    [
        (drifting(place=[5.0, 4.9, 5.7]), 1.0),
        (drifting(place=[5.0, 5.1, 5.2]), 1.0),
        (drifting(R=[3.0, 3.1, 1.0]), 1.0),
        (drifting(gradient=[0.3, 0.2, 0.25]), 1.0),
        (drifting(), -1.0),
    ],
)
def test_T2_stands_if_the_drift_is_none(first: Verdict, run: pd.DataFrame, force: float) -> None:
    assert theory.decide_convergence(first, run, np.array([1.0, force])).finding is HOLDS


# -- T4


def ends(*eigenvalues: float, gradient: float = 1e-9) -> pd.DataFrame:
    return pd.DataFrame(
        [{"rho": 1.0, "pathological": False, "gradient": gradient, "eigenvalue": value} for value in eigenvalues]
    )


def test_T4() -> None:
    def decide(rows: pd.DataFrame) -> Finding:
        return theory.decide_end_points(CLAIMS["T4"], rows).finding

    assert decide(ends(0.1, 0.2)) is HOLDS
    assert decide(ends(0.1, -0.2)) is IN_PART
    assert decide(ends(-0.1, -0.2)) is FAILS
    assert decide(ends(0.1, 0.2, gradient=0.5)) is UNTESTABLE
    odd = ends(-0.3).assign(pathological=True)
    found = theory.decide_end_points(CLAIMS["T4"], pd.concat([ends(0.1), odd]))
    assert found.finding is HOLDS and "a saddle" in found.beside


# -- S3, S4


def test_S4_against_exact_descents() -> None:
    def decide(behind: bool, steps: float) -> Finding:
        rows = {"setting": ["a"] * 4 + ["b"] * 4}
        rows |= {"two-sample behind": [behind] * 4 + [True] * 4, "two-sample steps": [steps] * 4 + [1.2] * 4}
        rows |= {"one-sample behind": [False] * 8, "one-sample steps": [1.0] * 8}
        return estimators.decide_exact(CLAIMS["S4"], pd.DataFrame(rows)).finding

    assert decide(True, 1.1) is HOLDS
    assert decide(False, 1.1) is IN_PART and decide(True, 1.0) is IN_PART


# -- B6, B7, and what stands beside the older verdicts


def boxes(before: dict[str, float], after: dict[str, float], scatter: dict[str, float]) -> Values:
    """Medians and heights by quantity; E_tr where one is not given."""

    def draw(quantity: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        even = np.linspace(-1.0, 1.0, 1000)
        size = scatter.get(quantity, 0.1)
        return before.get(quantity, 3.0) + size * even, after.get(quantity, 1.5) + size * even

    return draw


def test_B6_and_B7(tmp_path: Path) -> None:
    coarse = boxes({}, {}, {"E_sp": 0.5})
    fine = boxes({}, {}, {"E_sp": 0.05})
    assert decided(tmp_path, "B6", lambda name: made_up(name, coarse)).finding is HOLDS
    assert decided(tmp_path, "B6", lambda name: made_up(name, fine)).finding is FAILS
    assert decided(tmp_path, "B7", lambda name: made_up(name, coarse)).finding is HOLDS
    assert decided(tmp_path, "B7", lambda name: made_up(name, fine)).finding is FAILS
    mixed = decided(tmp_path, "B6", lambda name: made_up(name, coarse if "rho16" in name else fine))
    assert mixed.finding is IN_PART and mixed.parts == {"ρ = 1": FAILS, "ρ = 16": HOLDS}


# -- A3, M2, N3, C1


def test_A3() -> None:
    def decide(excess: float) -> Finding:
        rows = [
            {"rho": rho, "multiple": multiple, "start": 0, "excess": excess if multiple == 1.0 and rho == 1.0 else 0.2}
            for rho in (0.25, 1.0)
            for multiple in (0.5, 1.0)
        ]
        return settings.decide_one_setting(CLAIMS["A3"], pd.DataFrame(rows)).finding

    assert decide(0.2) is HOLDS and decide(0.24) is HOLDS
    assert decide(0.3) is IN_PART


def test_M2(monkeypatch: pytest.MonkeyPatch) -> None:
    def decide(*quotients: float) -> Finding:
        return costs.decide_least_costly(CLAIMS["M2"], {str(j): q for j, q in enumerate(quotients)}).finding

    assert decide(5.0, 9.0) is HOLDS and decide(5.0, 1.5) is IN_PART and decide(1.0, 1.5) is FAILS


def test_N3() -> None:
    def decide(R: float, descent: float) -> Verdict:
        quotients = {"ours": {"R up to its constant": R, "the descent": descent}}
        return tables.decide_relative_timings(CLAIMS["N3"], quotients)

    assert decide(0.01, 0.2).finding is HOLDS
    assert decide(0.01, 16.0).finding is IN_PART and "reversed" in decide(0.01, 16.0).why
    assert decide(0.9, 16.0).finding is FAILS


def test_C1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert judge(tmp_path, ["C1"])[0].finding is HOLDS
    true = nl.nystrom_errors
    monkeypatch.setattr(nl, "nystrom_errors", lambda *given: replace(found := true(*given), trace=1.001 * found.trace))
    assert judge(tmp_path, ["C1"])[0].finding is FAILS


# -- the stored rows


def test_the_stored_rows_are_computed_again() -> None:
    """One row of each kind: a walk, an end point, a pair and the exact descent, and a setting."""
    found = json.loads((RESULTS / "later_checks.json").read_text(encoding="utf-8"))
    assert [len(found[name]) for name in ("B1", "T4", "S4", "A3")] == [40, 22, 40, 45]
    with nl.threads(1):
        (walked,) = landmarks.walk("figure-1-rho16", 1)
        stored = next(each for each in found["B1"] if each["figure"] == "figure-1-rho16" and each["start"] == 0)
        for part in ("end", "length"):
            np.testing.assert_allclose(walked[part], stored[part], rtol=0.0, atol=1e-6)
        row = later.end_point("figure-2-n20-rho16", 3)
        stored = next(each for each in found["T4"] if each["rho"] == 16.0 and each["start"] == 3)
        assert row["eigenvalue"] == pytest.approx(stored["eigenvalue"], rel=1e-6)
        setting = estimators.settings()[-1]
        (pair,) = estimators.compare_with_exact(setting, pairs=1)
        stored = next(each for each in found["S4"] if each["setting"] == setting.label)
        assert pair == pytest.approx({name: stored[name] for name in pair})
        stored = found["A3"][7]
        best = later._best_trace("figure-3-rho0.25")
        again = later.excess("figure-3-rho0.25", stored["multiple"], stored["start"], best)
        assert again == pytest.approx(stored, rel=1e-6)


# -- the page
