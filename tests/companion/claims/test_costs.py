"""R3, R4 and S5: each verdict able to go either way, and where the exponents come from."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from companion.claims import CLAIMS, Finding, costs, judge
from companion.errors import DamagedResultsError
from companion.results.archive import Archive
from tests.companion.claims import FAILS, HOLDS, IN_PART


def slopes(*measured: float, claimed: float = 1.0) -> list[costs.Slope]:
    return [costs.Slope("work", "N", value, claimed) for value in measured]


def test_R3_R4_S5() -> None:
    def r3(measured: float, difference: float) -> Finding:
        return costs.decide_radial_skd_cost(CLAIMS["R3"], slopes(1.0, measured), "here", difference).finding

    assert r3(1.2, 1e-15) is HOLDS
    assert r3(2.0, 1e-15) is IN_PART and r3(1.0, 0.1) is IN_PART and r3(1.0, math.nan) is IN_PART
    assert r3(2.0, 0.1) is FAILS
    for decide, name in ((costs.decide_criteria_cost, "R4"), (costs.decide_stochastic_cost, "S5")):
        assert decide(CLAIMS[name], slopes(0.2, 1.2), "here").finding is HOLDS
        assert decide(CLAIMS[name], slopes(0.2, 1.5), "here").finding is FAILS
    assert "not attained" in costs.decide_criteria_cost(CLAIMS["R4"], slopes(0.2), "here").why


def test_the_committed_benchmark_comes_before_a_quick_fit(tmp_path: Path) -> None:
    grid = [100, 200, 400]

    def curve(axis: str, power: float) -> dict[str, Any]:
        seconds = [1e-3 * (size / 100) ** power for size in grid]
        return {"work": "step", "claim": "S5", "axis": axis, "grid": grid, "seconds": seconds, "claimed_slope": 1.0}

    file = tmp_path / "benchmarks" / "results" / "results.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"quick": False, "curves": [curve("b", 1.0), curve("d", 9.0)]}))
    (verdict,) = judge(tmp_path / "results", ["S5"])
    assert verdict.finding is HOLDS and "benchmark" in verdict.measured and list(verdict.numbers) == ["step, b"]
    file.write_text(json.dumps({"quick": False, "curves": [curve("b", 2.0)]}))
    assert judge(tmp_path / "results", ["S5"])[0].finding is FAILS
    file.write_text(json.dumps({"quick": True, "curves": [curve("b", 2.0)]}))
    assert Archive(tmp_path / "results").benchmark() is None
    file.write_text("{")
    with pytest.raises(DamagedResultsError, match="damaged"):
        Archive(tmp_path / "results").benchmark()
