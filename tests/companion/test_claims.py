"""The claims: every one declared, and every verdict able to go either way."""

import itertools
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nystrom_lib as nl
from nystrom_lib.companion.claims import (
    CLAIMS,
    Claim,
    Finding,
    Verdict,
    __main__,
    costs,
    estimators,
    judge,
    landmarks,
    measure,
    page,
    plain,
    summary,
    tables,
    theory,
)
from nystrom_lib.companion.claims.base import by_share, together
from nystrom_lib.companion.errors import ConfigurationError, DamagedResultsError
from nystrom_lib.companion.experiments.components import BiGaussian
from nystrom_lib.companion.experiments.outcome import Outcome
from nystrom_lib.companion.experiments.paper import PAPER, paper_experiment
from nystrom_lib.companion.results.archive import Stored
from nystrom_lib.companion.results.table import Results

IDS = "R1 R2 R3 R4 T1 T2 T3 S1 S2 S3 S4 S5 B1 B2 B3 B4 B5 A1 A2 M1 N1 N2".split()
CHAPTERS = "approximation radial_skd convergence stochastic_gradients bigaussian abalone magic miniboone".split()
HOLDS, IN_PART, FAILS, UNTESTABLE = Finding.HOLDS, Finding.IN_PART, Finding.FAILS, Finding.UNTESTABLE


# -- what is declared -----------------------------------------------------------------------------------------------


def test_every_claim_has_a_row_in_the_order_of_the_paper() -> None:
    assert list(CLAIMS) == IDS


@pytest.mark.parametrize("name", IDS)
def test_a_claim_says_how_it_is_decided(name: str) -> None:
    claim = CLAIMS[name]
    assert claim.id == name and claim.section.startswith("§")
    for text in (claim.says, claim.statistic, claim.rule):
        assert len(text.split()) >= 5 and text.rstrip().endswith(".")
    assert claim.thresholds and all(math.isfinite(each.value) and each.meaning for each in claim.thresholds.values())
    assert callable(measure(claim))
    assert set(claim.results) <= set(PAPER)
    kinds = {each.kind for each in claim.evidence}
    assert "chapter" in kinds and kinds <= {"chapter", "equation", "figure", "theorem"}
    assert {each.target for each in claim.evidence if each.kind == "chapter"} <= set(CHAPTERS)


def test_the_claims_about_experiments_need_every_stored_experiment_between_them() -> None:
    needed = {name for claim in CLAIMS.values() for name in claim.results}
    assert needed == {name for name in PAPER if not name.startswith("figure-1")}


def test_parts_make_a_whole() -> None:
    assert [by_share(good, 4) for good in (4, 3, 2, 1, 0)] == [HOLDS, IN_PART, IN_PART, FAILS, FAILS]
    assert by_share(0, 0) is UNTESTABLE
    assert together([HOLDS, HOLDS]) is HOLDS and together([FAILS]) is FAILS
    assert together([HOLDS, FAILS]) is IN_PART and together([UNTESTABLE, HOLDS]) is HOLDS
    assert together([]) is UNTESTABLE


# -- claims that are computed on the spot, in both directions ---------------------------------------------------------


def test_R1() -> None:
    decide = theory.decide_range
    assert decide(CLAIMS["R1"], np.array([0.0, 0.3, 1.0])).finding is HOLDS
    assert decide(CLAIMS["R1"], np.array([-1e-9, 0.3])).finding is FAILS
    assert decide(CLAIMS["R1"], np.array([0.3, 1.1])).finding is FAILS


def test_R2() -> None:
    good = pd.DataFrame([[1.0, 0.5, 0.7], [np.nan, 0.1, 0.2]], columns=theory._INEQUALITIES)
    assert theory.decide_inequalities(CLAIMS["R2"], good, good[:0]).finding is HOLDS
    for column in range(3):
        bad = good.copy()
        bad.iloc[0, column] = 1.001
        assert theory.decide_inequalities(CLAIMS["R2"], bad, good[:0]).finding is FAILS
        assert theory.decide_inequalities(CLAIMS["R2"], good, bad).finding is FAILS


def test_T1() -> None:
    quotients = pd.DataFrame([{"a": 0.2, "b": 1.0}, {"a": 0.3, "b": 0.1}])
    assert theory.decide_bounds(CLAIMS["T1"], quotients).finding is HOLDS
    verdict = theory.decide_bounds(CLAIMS["T1"], quotients.assign(a=1.01))
    assert verdict.finding is FAILS and "a" in verdict.why


def test_T2() -> None:
    def runs(increase: float, gradients: list[float]) -> Finding:
        frame = pd.DataFrame({"increase": [increase] * len(gradients), "gradient": gradients})
        return theory.decide_descents(CLAIMS["T2"], frame).finding

    assert runs(-0.1, [1e-9, 1e-5]) is HOLDS
    assert runs(-0.1, [1e-9, 0.5]) is IN_PART
    assert runs(-0.1, [0.5, 0.5]) is FAILS
    assert runs(1e-6, [1e-9, 1e-9]) is FAILS


def test_T2_is_measured_on_real_descents() -> None:
    rng = np.random.default_rng(0)
    data = rng.uniform(-1, 1, (6, 1))
    with nl.threads(1):
        found = theory.follow(theory.Case(nl.Gaussian(rho=1.0), data, data[:2]), steps=4000)
    assert found["increase"] <= 1e-14 and found["gradient"] < 1e-6


def test_T3() -> None:
    good = pd.DataFrame([theory.assumption_quotients(nl.Gaussian(rho=3.0))])
    decide = theory.decide_assumptions
    assert decide(CLAIMS["T3"], good, refused=True).finding is HOLDS
    assert decide(CLAIMS["T3"], good, refused=False).finding is FAILS
    for column, value in (("M1", 1.01), ("M2", 0.9), ("alpha", 0.5), ("M2 by differences", 1.01)):
        assert decide(CLAIMS["T3"], good.assign(**{column: value}), refused=True).finding is FAILS


def test_T3_sees_constants_that_are_too_small() -> None:
    def value(t: float, p: Any) -> float:
        return math.exp(-t)

    def first(t: float, p: Any) -> float:
        return -math.exp(-t)

    right = nl.Gaussian(rho=1.0).constants
    wrong = nl.radial_kernel(value, first, value, constants=(1.0, 0.9 * right.M1, 0.9 * right.M2))
    found = theory.assumption_quotients(wrong)
    for name in ("M1", "M2", "M1 by differences", "M2 by differences"):
        assert found[name] == pytest.approx(1 / 0.9, rel=1e-4)


def test_S1_and_S2() -> None:
    assert estimators.decide_biased(CLAIMS["S1"], np.full(20, 0.1)).finding is HOLDS
    assert estimators.decide_biased(CLAIMS["S1"], np.array([0.1, 0.0])).finding is IN_PART
    assert estimators.decide_biased(CLAIMS["S1"], np.zeros(20)).finding is FAILS
    assert estimators.decide_unbiased(CLAIMS["S2"], np.full(20, 1e-15)).finding is HOLDS
    assert estimators.decide_unbiased(CLAIMS["S2"], np.array([1e-15, 1e-6])).finding is FAILS


def test_S3() -> None:
    def decide(*ratios: float) -> Finding:
        return estimators.decide_variances(CLAIMS["S3"], {str(j): ratio for j, ratio in enumerate(ratios)}).finding

    assert decide(2.0, 1.2) is HOLDS
    assert decide(2.0, 1.0) is IN_PART
    assert decide(0.5, 1.0) is FAILS


def test_S3_is_measured_by_draws() -> None:
    """With one landmark that data of equal weight surround, T₁ hardly varies: nothing to choose between the two."""
    data = np.random.default_rng(0).standard_normal((300, 2))
    case = theory.Case(nl.Gaussian(rho=0.3), data, data[:4])
    assert estimators.variance_ratio(case, b=10, draws=300) > 1.05


def test_S4() -> None:
    def decide(behind: bool, steps: float, other: float = 1.2) -> Finding:
        frame = pd.DataFrame(
            {"setting": ["a"] * 4 + ["b"] * 4, "behind": [behind] * 4 + [True] * 4, "steps": [steps] * 4 + [other] * 4}
        )
        return estimators.decide_descents(CLAIMS["S4"], frame).finding

    assert decide(True, 1.1) is HOLDS
    assert decide(False, 1.1) is IN_PART and decide(True, 1.0) is IN_PART
    assert decide(False, 1.0, other=1.0) is FAILS
    assert decide(True, math.inf) is HOLDS


def test_S4_steps_are_read_between_records() -> None:
    run = nl.Descent(np.zeros((1, 1)), np.array([8.0, 4.0, 0.0]), np.array([0, 10, 20]), None)
    assert estimators._steps_to(6.0, run) == 5.0
    assert estimators._steps_to(1.0, run) == 17.5
    assert estimators._steps_to(-1.0, run) == math.inf


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
    assert Stored(tmp_path / "results").benchmark() is None
    file.write_text("{")
    with pytest.raises(DamagedResultsError, match="damaged"):
        Stored(tmp_path / "results").benchmark()


def test_R3_knows_a_singular_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    assert costs.singular_difference() < 1e-13
    true = nl.radial_skd
    monkeypatch.setattr(nl, "radial_skd", lambda k, x, s, constant: true(k, x, s, constant) / len(s))
    assert costs.singular_difference() > 0.1


# -- Figure 1's landmarks ---------------------------------------------------------------------------------------------


def straight(length: float, n: int = 50) -> np.ndarray:
    """One descent in which every landmark goes straight ahead."""
    path = np.zeros((1, 11, n, 2))
    path[0, :, :, 0] = np.linspace(0.0, length, 11)[:, None]
    return path


def zigzag(length: float) -> np.ndarray:
    path = straight(length)
    path[0, 1:-1:2, :, 1] = length
    return path


def test_B1() -> None:
    def decide(one: np.ndarray, other: np.ndarray) -> Verdict:
        found = {"ρ = 1": landmarks.movement_of(one), "ρ = 16": landmarks.movement_of(other)}
        return landmarks.decide_movement(CLAIMS["B1"], found)

    spacing = math.sqrt(4 / 50)
    assert decide(zigzag(spacing * 1.01), zigzag(1.0)).finding is HOLDS
    assert decide(straight(1.0), straight(1.0)).finding is IN_PART
    assert decide(straight(0.1), straight(0.0)).finding is FAILS
    mixed = decide(straight(0.1), zigzag(1.0))
    assert mixed.finding is IN_PART and mixed.parts == {"ρ = 1": FAILS, "ρ = 16": HOLDS}
    assert "ρ = 1: does not hold" in mixed.why and "ρ = 16: holds" in mixed.why


def test_B1_measures_length_and_displacement() -> None:
    moved = landmarks.movement_of(zigzag(1.0))
    np.testing.assert_allclose(moved.spacings, 1 / math.sqrt(4 / 50))
    np.testing.assert_allclose(moved.winding, 10 * math.hypot(1.0, 0.1), rtol=1e-12)
    np.testing.assert_array_equal(landmarks.movement_of(straight(0.0)).winding, 1.0)


def test_B2() -> None:
    source = BiGaussian()
    rng = np.random.default_rng(0)
    even = np.stack(np.meshgrid(np.linspace(-0.9, 0.9, 7), np.linspace(-0.9, 0.9, 7)), -1).reshape(1, -1, 2)
    clumped = np.repeat(np.array([[-0.7, 0.7], [0.7, -0.7]]), 25, axis=0)[None] + 0.01 * rng.standard_normal((1, 50, 2))
    initial = rng.uniform(-1.0, 1.0, (1, 50, 2))
    data = nl.datasets.bigaussian().X

    def decide(optimised: np.ndarray) -> tuple[landmarks.Arrangement, Finding]:
        found = landmarks.arrangement_of(initial, optimised, data, source)
        return found, landmarks.decide_arrangement(CLAIMS["B2"], {"ρ = 1": found, "ρ = 16": found}).finding

    spread, finding = decide(even)
    assert finding is IN_PART and spread.dense < 0.55 and spread.neighbour > 1.2
    together_, finding = decide(clumped)
    assert finding is IN_PART and together_.dense == 1.0 and together_.separation < 1.0
    assert decide(initial)[1] is FAILS
    dense_part = even[0][landmarks.in_densest_half(even[0], source)]
    assert (
        landmarks.decide_arrangement(CLAIMS["B2"], {"ρ = 1": landmarks.Arrangement(1.0, 0.7, 1.3, 2.0)}).finding
        is HOLDS
        and len(dense_part) < 49
    )


def test_the_densest_half_is_half_of_the_square_and_nothing_outside() -> None:
    points = np.random.default_rng(0).uniform(-1, 1, (20_000, 2))
    assert landmarks.in_densest_half(points, BiGaussian()).mean() == pytest.approx(0.5, abs=0.01)
    assert not landmarks.in_densest_half(np.array([[-1.01, 0.8], [5.0, 5.0]]), BiGaussian()).any()
    assert landmarks.in_densest_half(np.array([[-0.8, 0.8]]), BiGaussian()).all()


def test_the_first_descent_is_that_of_the_figure() -> None:
    from nystrom_lib.companion.experiments.protocol import prepare, repetition

    experiment = paper_experiment("figure-1-rho16").replace(norms=(), factors=False, constant=False)
    with nl.threads(1):
        path = landmarks.paths("figure-1-rho16", 1)
        np.testing.assert_array_equal(path[0], repetition(prepare(experiment), 0).arrays["path"])


# -- stored tables ----------------------------------------------------------------------------------------------------

Values = Callable[[str, np.random.Generator], tuple[np.ndarray, np.ndarray]]


def made_up(
    name: str,
    values: Values,
    *,
    stand_in: bool = False,
    constants: dict[str, float] | None = None,
    curve: np.ndarray | None = None,
    m: int | None = None,
) -> Results:
    """Results of one of the paper's experiments with numbers of our own: ``values`` gives before and after."""
    experiment = PAPER[name]
    quantities = ["R", *experiment.norms]
    if experiment.factors:
        quantities += [{"trace": "E_tr", "frobenius": "E_F", "spectral": "E_sp"}[norm] for norm in experiment.norms]
    rng = np.random.default_rng(len(name))
    drawn = {quantity: values(quantity, rng) for quantity in quantities}
    outcomes = {
        j: Outcome(
            {
                f"{q}.{stage}": float(drawn[q][side][j])
                for q in drawn
                for side, stage in enumerate(("initial", "optimised"))
            },
            {} if curve is None or j else {"curve": curve},
        )
        for j in range(experiment.m if m is None else m)
    }
    d = {"bigaussian": 2, "abalone": 8, "magic": 10, "miniboone": 50}[experiment.data.kind]
    provenance = {
        "experiment": experiment.to_plain(), "fingerprint": experiment.fingerprint, "seed": experiment.seed,
        "data": {"name": "made up", "sha256": "00", "N": 2000, "d": d, "stand_in": stand_in},
        "constants": constants or {}, "sessions": [],
    }  # fmt: skip
    return Results(outcomes, provenance)


def values(ratio: float | dict[str, float], scatter: float = 0.05, linked: bool = False) -> Values:
    """Before: about 1, scattered; after: ``ratio`` times as much, scattered on its own or just as before."""

    def draw(quantity: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        before = np.exp(0.1 * rng.standard_normal(1000))
        own = np.exp(scatter * rng.standard_normal(1000))
        factor = ratio if isinstance(ratio, float) else ratio.get(quantity, 1.0)
        return before, factor * (before if linked else own)

    return draw


def decided(folder: Path, claim: str, choose: Callable[[str], Results]) -> Verdict:
    """Judge a claim by made-up results of all that it needs."""
    stored = Stored(folder)
    stored._read = {name: choose(name) for name in CLAIMS[claim].results}  # as if read from files, only sooner
    return measure(CLAIMS[claim])(CLAIMS[claim], stored)


def rho16(name: str) -> bool:
    return name.endswith("-rho16")


def test_B3(tmp_path: Path) -> None:
    assert decided(tmp_path, "B3", lambda name: made_up(name, values(0.5))).finding is HOLDS
    assert decided(tmp_path, "B3", lambda name: made_up(name, values(1.0))).finding is FAILS
    # Every repetition improves, but by a hair.
    assert decided(tmp_path, "B3", lambda name: made_up(name, values(0.99, linked=True))).finding is FAILS
    some = values({"R": 0.5, "E_tr": 0.5, "E_F": 0.5})
    assert decided(tmp_path, "B3", lambda name: made_up(name, some)).finding is IN_PART


def test_where_rho_1_and_rho_16_differ_both_are_said(tmp_path: Path) -> None:
    for name in CLAIMS["B3"].results:
        made_up(name, values(0.5 if rho16(name) else 1.0)).save(tmp_path / f"{name}.parquet")
    (verdict,) = judge(tmp_path, ["B3"])
    assert verdict.finding is IN_PART
    assert verdict.parts == {"ρ = 1": FAILS, "ρ = 16": HOLDS}
    assert "ρ = 1: does not hold" in verdict.why and "ρ = 16: holds" in verdict.why
    assert {row[0] for row in verdict.tables[0].rows} == {"ρ = 1", "ρ = 16"} and len(verdict.tables[0].rows) == 24


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


def test_the_spread_is_that_of_a_normal_law() -> None:
    sample = 10.0 + np.random.default_rng(0).standard_normal(100_000)
    found = tables.closeness(sample, 3.0 * sample)
    assert found.spread == pytest.approx(2 * 0.6745 / 10, rel=0.02) and found.spread == pytest.approx(
        found.initial_spread
    )
    assert found.range == pytest.approx((10 + 1.645) / (10 - 1.645), rel=0.01)


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


def test_rank_correlation() -> None:
    up = np.arange(10.0)
    assert tables.rank_correlation(up, up**3) == pytest.approx(1.0)
    assert tables.rank_correlation(up, -up) == pytest.approx(-1.0)
    assert tables.rank_correlation(up, np.ones(10)) == 0.0


def decaying(rate: float) -> np.ndarray:
    steps = np.arange(0.0, 4001.0, 20.0)
    return np.stack([steps, 1.0 + np.exp(-rate * steps / 4000.0)])


def test_M1(tmp_path: Path) -> None:
    def magic(ratio: float, rate: float) -> Finding:
        return decided(tmp_path, "M1", lambda name: made_up(name, values(ratio), curve=decaying(rate))).finding

    assert magic(0.5, 2.0) is HOLDS
    assert magic(0.5, 50.0) is IN_PART  # completed
    assert magic(1.0, 50.0) is FAILS


def test_M1_sees_how_late_the_fall_is() -> None:
    line = np.stack([np.arange(0.0, 4001.0, 20.0), np.linspace(5.0, 1.0, 201)])
    assert tables.late_fall(made_up("figure-4-n200", values(0.5), curve=line)) == pytest.approx(0.2)


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


def test_a_descent_that_diverged_counts_against_the_claim(tmp_path: Path) -> None:
    results = made_up("figure-2-n20", values(0.5))
    lost = {j: Outcome({k: v for k, v in each.numbers.items() if j > 20 or k.endswith("initial")})
            for j, each in results.outcomes.items()}  # fmt: skip
    _, after = tables.before_and_after(Results(lost, results.provenance), "E_tr")
    assert np.isinf(after[:21]).all() and np.isfinite(after[21:]).all()
    assert tables.improvement(*tables.before_and_after(Results(lost, results.provenance), "E_tr")).share < 0.985


def test_R2_looks_at_the_stored_tables(tmp_path: Path) -> None:
    def draw(frobenius: float) -> Values:
        sizes = {"R": 1.0, "trace": 0.1, "frobenius": frobenius, "spectral": 0.3}
        return lambda quantity, rng: (np.full(1000, sizes.get(quantity, 1.0)),) * 2

    made_up("figure-2-n20", draw(0.9)).save(tmp_path / "figure-2-n20.parquet")
    (verdict,) = judge(tmp_path, ["R2"])
    assert verdict.finding is HOLDS and verdict.numbers["rows"] == 2000
    made_up("figure-2-n20", draw(1.1)).save(tmp_path / "figure-2-n20.parquet")
    (verdict,) = judge(tmp_path, ["R2"])
    assert verdict.finding is FAILS and "Frobenius² ≤ R" in verdict.why


# -- all together -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick_verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    return judge(tmp_path_factory.mktemp("none"), ["R1", "R2", "T1", "T3", "S1", "S2", "B3", "N1"])


def test_what_is_proved_is_found(quick_verdicts: list[Verdict]) -> None:
    found = {verdict.claim.id: verdict.finding for verdict in quick_verdicts}
    assert found == {**dict.fromkeys(["R1", "R2", "T1", "T3", "S1", "S2"], HOLDS), "B3": UNTESTABLE, "N1": UNTESTABLE}


@pytest.mark.parametrize(
    ("claim", "name", "factor"),
    [("R1", "radial_skd", 3.0), ("R2", "radial_skd", 0.01), ("T1", "skd_coefficient", 100.0),
     ("S1", "one_sample_gradient", 0.0), ("S2", "two_sample_gradient", 1.01)],
)  # fmt: skip
def test_a_library_that_computes_something_else_is_found_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, claim: str, name: str, factor: float
) -> None:
    true = getattr(nl, name)
    if claim == "S1":  # a one-sample estimator that is exact has no bias
        monkeypatch.setattr(nl, name, lambda k, x, s, batch: nl.radial_skd_gradient(k, x, s))
    else:
        monkeypatch.setattr(nl, name, lambda *given, **named: factor * true(*given, **named))
    assert judge(tmp_path, [claim])[0].finding is FAILS


def test_the_page(quick_verdicts: list[Verdict]) -> None:
    text = page(quick_verdicts)
    assert text.startswith("Of 8 claims, 6 hold, 0 hold in part, 0 do not hold, and 2 are not testable here.")
    assert summary(quick_verdicts) in text
    for verdict in quick_verdicts:
        name = verdict.claim.id
        assert f"(claim-{name})=\n### {name}: {verdict.finding}\n" in text
        assert f"{{ref}}`{name} <claim-{name}>`" in text
    levels = [len(line) - len(line.lstrip("#")) for line in text.splitlines() if re.match("#+ ", line)]
    assert levels[0] == 2 and all(b - a <= 1 for a, b in itertools.pairwise(levels))
    assert max(line.count(" | ") for line in text.splitlines()) <= 2
    assert text.count("```") % 2 == 0 and "{eq}`eq-3`" in text and "{prf:ref}`thm-2-1`" in text


def test_formulas_survive_markdown(quick_verdicts: list[Verdict]) -> None:
    body = re.sub(r"```.*|`[^`\n]*`", "", page(quick_verdicts))
    assert not re.search(r"(?<!\\)_", body), "an underscore that Markdown may take for emphasis"
    assert "‖K‖{sub}`F`²" in page(quick_verdicts)


def test_tables_of_numbers_fit_the_page(tmp_path: Path) -> None:
    text = page([decided(tmp_path, "B5", lambda name: made_up(name, values(0.5)))])
    assert "All the numbers" in text
    widths = {line.count(" | ") for line in text.splitlines() if line.startswith("| ρ = ")}
    assert widths == {5}


def test_in_a_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path, quick_verdicts: list[Verdict]) -> None:
    assert __main__.main(["T3", "B3", "--results", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "T3 (§2): holds" in out and "Of 2 claims, 1 holds" in out
    assert max(map(len, plain(quick_verdicts).splitlines())) <= 110
    assert __main__.main(["T3", "--markdown", "--results", str(tmp_path)]) == 0
    assert "(claim-T3)=" in capsys.readouterr().out
    assert __main__.main(["b33", "--results", str(tmp_path)]) == 2
    assert "did you mean 'B3'" in capsys.readouterr().err


def test_an_unknown_claim_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Q1"):
        judge(tmp_path, ["Q1"])


def test_a_claim_cannot_be_changed() -> None:
    claim: Claim = CLAIMS["B5"]
    with pytest.raises(AttributeError):
        claim.rule = "anything goes"  # type: ignore[misc]
