"""R3, R4, R5, S5, N2 and N3: each verdict able to go either way."""

from typing import Any

import pytest

from companion.claims import Finding
from tests.companion.claims import FAILS, HOLDS, IN_PART, UNTESTABLE
from tests.companion.claims.made_up import decided


def benchmark(claim: str, exponent: float) -> dict[str, Any]:
    curve = {"claim": claim, "work": "work", "grid": [10, 100], "claimed_slope": 1.0, "axis": "N"}
    return {"curves": [{**curve, "seconds": [1.0, 10.0**exponent]}, {**curve, "axis": "d", "seconds": [1.0, 1e9]}]}


@pytest.mark.parametrize("claim", ["R3", "R4", "S5"])
def test_exponents(claim: str) -> None:
    def decide(exponent: float) -> Finding:
        return decided(claim, benchmark=benchmark(claim, exponent)).finding

    assert decide(1.3) is HOLDS
    assert decide(1.4) is (IN_PART if claim == "R3" else FAILS)
    assert decided(claim).finding is UNTESTABLE


def test_R3_fails_if_besides_a_singular_matrix_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("companion.claims.costs.singular_difference", lambda: float("nan"))
    assert decided("R3", benchmark=benchmark("R3", 1.0)).finding is IN_PART
    assert decided("R3", benchmark=benchmark("R3", 2.0)).finding is FAILS


def test_R5() -> None:
    def problem(cost: float, error: float, stand_in: bool = False) -> dict[str, Any]:
        return {
            "n": 50, "d": 2, "stand_in": stand_in, "gradient_s": cost, "trace_s": 1.0, "radial_gradient_s": 0.5,
            "descent_s": 0.2, "error_quotients": [error - 0.1, error, 9.0],
        }  # fmt: skip

    def decide(*problems: dict[str, Any]) -> Finding:
        return decided("R5", direct_descent={"problems": {str(j): each for j, each in enumerate(problems)}}).finding

    assert decide(problem(3, 0.9), problem(30, 0.9)) is FAILS  # half of them: "most" is not so
    assert decide(problem(3, 0.9), problem(30, 0.9), problem(3, 1.1)) is IN_PART
    assert decide(problem(30, 0.9), problem(3, 1.1)) is HOLDS
    assert decide(problem(30, 0.9), problem(3, 0.9, stand_in=True)) is HOLDS


def test_M2(monkeypatch: pytest.MonkeyPatch) -> None:
    def decide(frobenius: float, spectral: float) -> Finding:
        seconds = {"trace": 1.0, "Frobenius": frobenius, "spectral": spectral}
        monkeypatch.setattr("companion.studies.costs.criteria", lambda *given: {norm: norm for norm in seconds})
        monkeypatch.setattr("companion.studies.costs.seconds", seconds.__getitem__)
        return decided("M2").finding

    assert decide(5.0, 9.0) is HOLDS and decide(5.0, 1.5) is IN_PART


def test_N2_and_N3() -> None:
    def decide(claim: str, radial_skd: float, trace: float, descent: float) -> Finding:
        ours = {"radial_skd_s": radial_skd, "trace_s": trace, "descent_s": descent}
        timings = {"ours": ours, "plain_c": {name: 1e6 * each for name, each in ours.items()}}
        return decided(claim, lambda name: True, timings=timings).finding  # type: ignore[arg-type,return-value]

    assert decide("N2", 0.5, 4.0, 30.0) is HOLDS
    assert decide("N2", 50.0, 40_000.0, 3.0) is FAILS
    assert decide("N3", 0.01, 1.0, 16.0) is IN_PART
