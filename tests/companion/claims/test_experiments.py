"""B3–B7, A1–A3, M1 and N1 on made-up tables: each verdict able to go either way."""

from collections.abc import Callable

import numpy as np
import pytest

from companion.claims import Finding
from companion.results.table import Results
from tests.companion.claims import FAILS, HOLDS, IN_PART, UNTESTABLE
from tests.companion.claims.made_up import Values, decaying, decided, made_up, values


def every(drawn: Values) -> Callable[[str], Results]:
    return lambda name: made_up(name, drawn)


def at_rho_16(then: Values, otherwise: Values) -> Callable[[str], Results]:
    return lambda name: made_up(name, then if name.endswith("-rho16") else otherwise)


def test_B3() -> None:
    assert decided("B3", every(values(0.5))).finding is HOLDS
    assert decided("B3", every(values(0.99, linked=True))).finding is FAILS  # every repetition improves, but by a hair
    assert decided("B3", every(values({"R": 0.5, "E_tr": 0.5, "E_F": 0.5}))).finding is IN_PART
    assert decided("B3").finding is UNTESTABLE


def test_B4() -> None:
    assert decided("B4", every(values({"E_tr": 0.3, "E_F": 0.3, "E_sp": 0.6}))).finding is HOLDS
    assert decided("B4", every(values(0.5))).finding is FAILS


def test_B5() -> None:
    # Widely scattered, or no closer to each other than the initial samples were.
    assert decided("B5", every(values(0.5, scatter=1.0))).finding is FAILS
    assert decided("B5", every(values(0.5, scatter=0.13))).finding is FAILS
    verdict = decided("B5", at_rho_16(values(0.5, scatter=0.05), values(0.5, scatter=1.0)))
    assert verdict.finding is IN_PART and verdict.first.parts == {"ρ = 1": FAILS, "ρ = 16": HOLDS}


@pytest.mark.parametrize("claim", ["B6", "B7"])
def test_B6_and_B7(claim: str) -> None:
    verdict = decided(claim, at_rho_16(values(0.5, {"E_sp": 0.5}), values(0.5, {"E_sp": 0.01})))
    assert verdict.finding is IN_PART and verdict.first.parts == {"ρ = 1": FAILS, "ρ = 16": HOLDS}


def abalone(name: str, drawn: Values, left: tuple[float, float, float] = (10.0, 100.0, 500.0)) -> Results:
    rho = name.split("-")[2].removeprefix("rho")
    return made_up(name, drawn, constants={"trace": dict(zip(("0.25", "1", "4"), left, strict=True))[rho]})


def test_A1() -> None:
    assert decided("A1", lambda name: abalone(name, values(0.5), (500.0, 100.0, 10.0))).finding is IN_PART
    with_sex = decided("A1", lambda name: abalone(name, values(1.0 if name.endswith("rings") else 0.5)))
    assert with_sex.finding is HOLDS and with_sex.first.parts == {"with sex": HOLDS, "with rings": FAILS}


def test_A2() -> None:
    expected = {"E_tr": 0.3, "E_F": 0.3, "E_sp": 0.6}
    assert decided("A2", every(values(expected))).finding is HOLDS
    # The initial sample decides everything: the same scatter afterwards, in the same order.
    assert decided("A2", every(values(expected, linked=True))).finding is IN_PART
    assert decided("A2", every(values(0.5, linked=True))).finding is FAILS


def test_A3() -> None:
    def decide(excess: float) -> Finding:
        rows = [{"rho": 1.0, "multiple": times, "excess": excess if times == 1.0 else 0.2} for times in (0.5, 1.0)]
        return decided("A3", later_checks={"A3": rows}).finding

    assert decide(0.24) is HOLDS and decide(0.3) is FAILS


def test_M1() -> None:
    def magic(ratio: float, rate: float) -> Finding:
        return decided("M1", lambda name: made_up(name, values(ratio), curve=decaying(rate))).finding

    assert magic(0.5, 2.0) is HOLDS
    assert magic(0.5, 50.0) is IN_PART  # completed


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_N1_is_not_decided_on_a_stand_in(ratio: float) -> None:
    curve = np.stack([np.arange(0.0, 8001.0, 100.0), np.geomspace(1.0, ratio, 81)])

    def decide(stand_in: bool) -> Finding:
        return decided("N1", lambda name: made_up(name, values(ratio), stand_in=stand_in, curve=curve)).finding

    assert decide(True) is UNTESTABLE
    assert decide(False) is (HOLDS if ratio < 1 else FAILS)
