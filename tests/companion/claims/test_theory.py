"""R1, R2, T1–T4: each verdict able to go either way."""

import numpy as np
import pandas as pd
import pytest

import nystrom_lib as nl
from companion.claims import theory
from tests.companion.claims import FAILS, HOLDS, IN_PART, UNTESTABLE
from tests.companion.claims.made_up import MadeUp, Values, decided, finding, made_up


def test_R2_includes_the_stored_tables() -> None:
    def draw(frobenius: float) -> Values:
        sizes = {"R": 1.0, "trace": 0.1, "frobenius": frobenius, "spectral": 0.3}
        return lambda quantity, rng: (np.full(1000, sizes.get(quantity, 1.0)),) * 2

    def decide(frobenius: float) -> list[str]:
        archive = MadeUp(lambda name: made_up(name, draw(frobenius)) if name == "figure-2-n20" else None)
        cases = list(theory.inequalities(archive))
        assert cases[0].values["samples"] == 2090
        return [case.name for case in cases if case.values["rounding"] > 1e-6]

    assert decide(0.9) == [] and decide(1.1) == ["Frobenius² ≤ R"]


def test_T2() -> None:
    def decide(increase: float, *gradients: float) -> str:
        return finding("T2", theory.descent_cases([(increase, each) for each in gradients]))

    assert decide(-0.1, 1e-9, 1e-5) is HOLDS
    assert decide(-0.1, 1e-9, 0.5) is IN_PART
    assert decide(1e-6, 1e-9, 1e-9) is FAILS


def drifting(**changed: list[float]) -> pd.DataFrame:
    run = {"step": [0, 10, 20], "place": [5.0, 5.4, 5.7], "R": [3.0, 2.0, 1.0], "gradient": [0.3, 0.2, 0.1]}
    return pd.DataFrame({**run, **changed})


@pytest.mark.parametrize(
    ("run", "force", "expected"),
    [
        (drifting(), 1.0, FAILS),
        (drifting(place=[5.0, 4.9, 5.7]), 1.0, HOLDS),
        (drifting(place=[5.0, 5.1, 5.2]), 1.0, HOLDS),
        (drifting(R=[3.0, 3.1, 1.0]), 1.0, HOLDS),
        (drifting(gradient=[0.3, 0.2, 0.25]), 1.0, HOLDS),
        (drifting(), -1.0, HOLDS),
    ],
)
def test_T2_is_refuted_by_a_drift_and_by_nothing_less(run: pd.DataFrame, force: float, expected: str) -> None:
    assert finding("T2", theory.drift_cases(run, np.array([1.0, force])), later=True) is expected


def test_T3() -> None:
    good = pd.DataFrame([theory.assumption_quotients(nl.Gaussian(rho=3.0))])
    assert finding("T3", theory.assumption_cases(good, refused=True)) is HOLDS
    assert finding("T3", theory.assumption_cases(good, refused=False)) is FAILS
    for column, value in (("M1", 1.01), ("M2", 0.9), ("alpha", 1.5), ("M2 by differences", 1.01)):
        assert finding("T3", theory.assumption_cases(good.assign(**{column: value}), refused=True)) is FAILS


def test_T4() -> None:
    def rows(*eigenvalues: float, gradient: float = 1e-9, pathological: bool = False) -> list[dict[str, object]]:
        rest = {"rho": 1.0, "start": 0, "pathological": pathological, "gradient": gradient}
        return [{**rest, "eigenvalue": value} for value in eigenvalues]

    def decide(*given: dict[str, object]) -> str:
        return decided("T4", later_checks={"T4": list(given)}).finding

    assert decide(*rows(0.1, 0.2), *rows(-0.3, pathological=True)) is HOLDS
    assert decide(*rows(-0.1, -0.2)) is FAILS
    assert decide(*rows(0.1, 0.2, gradient=0.5)) is UNTESTABLE
    assert decided("T4").finding is UNTESTABLE
