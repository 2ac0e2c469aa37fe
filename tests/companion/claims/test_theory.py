"""R1, R2 and T1 to T3: each verdict able to go either way."""

from pathlib import Path

import numpy as np
import pandas as pd

import nystrom_lib as nl
from companion.claims import CLAIMS, Finding, judge, theory
from tests.companion.claims import FAILS, HOLDS, IN_PART
from tests.companion.claims.made_up import Values, made_up


def test_R1() -> None:
    decide = theory.decide_range
    assert decide(CLAIMS["R1"], np.array([0.0, 0.3, 1.0])).finding is HOLDS
    assert decide(CLAIMS["R1"], np.array([-1e-9, 0.3])).finding is FAILS
    assert decide(CLAIMS["R1"], np.array([0.3, 1.1])).finding is FAILS


def test_R2() -> None:
    good = pd.DataFrame([[1.0, 0.5, 0.7], [np.nan, 0.1, 0.2]], columns=list(theory._INEQUALITIES))
    assert theory.decide_inequalities(CLAIMS["R2"], good, good[:0]).finding is HOLDS
    for column in range(3):
        bad = good.copy()
        bad.iloc[0, column] = 1.001
        assert theory.decide_inequalities(CLAIMS["R2"], bad, good[:0]).finding is FAILS
        assert theory.decide_inequalities(CLAIMS["R2"], good, bad).finding is FAILS


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


def test_T3() -> None:
    good = pd.DataFrame([theory.assumption_quotients(nl.Gaussian(rho=3.0))])
    decide = theory.decide_assumptions
    assert decide(CLAIMS["T3"], good, refused=True).finding is HOLDS
    assert decide(CLAIMS["T3"], good, refused=False).finding is FAILS
    for column, value in (("M1", 1.01), ("M2", 0.9), ("alpha", 0.5), ("M2 by differences", 1.01)):
        assert decide(CLAIMS["T3"], good.assign(**{column: value}), refused=True).finding is FAILS
