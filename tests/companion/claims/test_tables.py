"""B3 to N2, on stored tables: each verdict able to go either way."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from companion.claims import CLAIMS, Finding, Verdict, judge
from companion.results.table import Results
from tests.companion.claims import FAILS, HOLDS, IN_PART, UNTESTABLE
from tests.companion.claims.made_up import Values, decaying, decided, made_up, values


def rho16(name: str) -> bool:
    return name.endswith("-rho16")


def test_B3(tmp_path: Path) -> None:
    assert decided(tmp_path, "B3", lambda name: made_up(name, values(0.5))).finding is HOLDS
    assert decided(tmp_path, "B3", lambda name: made_up(name, values(1.0))).finding is FAILS
    # Every repetition improves, but by a hair.
    assert decided(tmp_path, "B3", lambda name: made_up(name, values(0.99, linked=True))).finding is FAILS
    some = values({"R": 0.5, "E_tr": 0.5, "E_F": 0.5})
    assert decided(tmp_path, "B3", lambda name: made_up(name, some)).finding is IN_PART


def test_B4(tmp_path: Path) -> None:
    expected = {"E_tr": 0.3, "E_F": 0.3, "E_sp": 0.6}
    assert decided(tmp_path, "B4", lambda name: made_up(name, values(expected))).finding is HOLDS
    assert decided(tmp_path, "B4", lambda name: made_up(name, values(0.5))).finding is FAILS
    half = {"E_tr": 0.3, "E_F": 0.7, "E_sp": 0.6}
    assert decided(tmp_path, "B4", lambda name: made_up(name, values(half))).finding is IN_PART


def test_B5(tmp_path: Path) -> None:
    assert decided(tmp_path, "B5", lambda name: made_up(name, values(0.5))).finding is HOLDS
    # Widely scattered, or no closer to each other than the initial samples were.
    assert decided(tmp_path, "B5", lambda name: made_up(name, values(0.5, scatter=1.0))).finding is FAILS
    assert decided(tmp_path, "B5", lambda name: made_up(name, values(0.5, scatter=0.13))).finding is FAILS
    verdict = decided(tmp_path, "B5", lambda name: made_up(name, values(0.5, scatter=0.05 if rho16(name) else 1.0)))
    assert verdict.finding is IN_PART and verdict.parts["ρ = 1"] is FAILS


def abalone(name: str, values: Values, left: tuple[float, float, float] = (10.0, 100.0, 500.0)) -> Results:
    rho = name.split("-")[2].removeprefix("rho")
    return made_up(name, values, constants={"trace": dict(zip(("0.25", "1", "4"), left, strict=True))[rho]})


def test_A1(tmp_path: Path) -> None:
    assert decided(tmp_path, "A1", lambda name: abalone(name, values(0.5))).finding is HOLDS
    assert decided(tmp_path, "A1", lambda name: abalone(name, values(1.0), (500.0, 100.0, 10.0))).finding is FAILS
    wrong_way = decided(tmp_path, "A1", lambda name: abalone(name, values(0.5), (500.0, 100.0, 10.0)))
    assert wrong_way.finding is IN_PART and "decay" in wrong_way.why


def test_abalone_is_judged_with_sex_and_the_rings_are_said(tmp_path: Path) -> None:
    verdict = decided(tmp_path, "A1", lambda name: abalone(name, values(1.0 if name.endswith("rings") else 0.5)))
    assert verdict.finding is HOLDS
    assert verdict.parts["with sex"] is HOLDS and verdict.parts["with rings"] is FAILS
    assert "With rings: does not hold" in verdict.why


def test_A2(tmp_path: Path) -> None:
    expected = {"E_tr": 0.3, "E_F": 0.3, "E_sp": 0.6}
    assert decided(tmp_path, "A2", lambda name: abalone(name, values(expected))).finding is HOLDS
    # The initial sample decides everything: the same scatter afterwards, in the same order.
    assert decided(tmp_path, "A2", lambda name: abalone(name, values(expected, linked=True))).finding is IN_PART
    assert decided(tmp_path, "A2", lambda name: abalone(name, values(0.5, linked=True))).finding is FAILS


def test_M1(tmp_path: Path) -> None:
    def magic(ratio: float, rate: float) -> Finding:
        return decided(tmp_path, "M1", lambda name: made_up(name, values(ratio), curve=decaying(rate))).finding

    assert magic(0.5, 2.0) is HOLDS
    assert magic(0.5, 50.0) is IN_PART  # completed
    assert magic(1.0, 50.0) is FAILS


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_nothing_about_miniboone_is_said_from_a_stand_in(tmp_path: Path, ratio: float) -> None:
    def results(stand_in: bool) -> Callable[[str], Results]:
        curve = np.stack([np.arange(0.0, 8001.0, 100.0), np.geomspace(1.0, ratio, 81)])
        return lambda name: made_up(name, values(ratio), stand_in=stand_in, curve=curve)

    verdict = decided(tmp_path, "N1", results(True))
    assert verdict.finding is UNTESTABLE and "stand-in" in verdict.measured and "stand-in" in verdict.why
    assert decided(tmp_path, "N1", results(False)).finding is (HOLDS if ratio < 1 else FAILS)


def test_N2(tmp_path: Path) -> None:
    def timed(ours: tuple[float, float, float], plain_c: dict[str, float] | None = None) -> Verdict:
        names = ("radial_skd_s", "trace_s", "descent_s")
        found = {"machine": "a machine", "ours": dict(zip(names, ours, strict=True)), "plain_c": plain_c or {}}
        (tmp_path / "miniboone_timings.json").write_text(json.dumps(found))
        return judge(tmp_path, ["N2"])[0]

    assert judge(tmp_path, ["N2"])[0].finding is UNTESTABLE
    quick = timed((0.5, 4.0, 30.0), {"radial_skd_s": 3.4, "trace_s": 3300.0, "descent_s": 450.0})
    assert quick.finding is HOLDS and "a machine" in quick.measured and "stand-in" in quick.measured
    assert quick.numbers["hardware, radial_skd_s"] == pytest.approx(2.0)
    assert quick.numbers["software, descent_s"] == pytest.approx(15.0)
    assert timed((0.5, 4.0, 3000.0)).finding is IN_PART
    assert timed((50.0, 40_000.0, 3000.0)).finding is FAILS


def test_results_that_are_missing_or_unfinished_are_not_judged(tmp_path: Path) -> None:
    (verdict,) = judge(tmp_path, ["B3"])
    assert verdict.finding is UNTESTABLE and "figure-2-n20" in verdict.why
    for name in CLAIMS["M1"].results:
        made_up(name, values(0.5), curve=decaying(2.0), m=7).save(tmp_path / f"{name}.parquet")
    assert judge(tmp_path, ["M1"])[0].finding is UNTESTABLE
