"""S1 to S4: each verdict able to go either way."""

import math

import numpy as np
import pandas as pd

from companion.claims import CLAIMS, Finding, estimators
from tests.companion.claims import FAILS, HOLDS, IN_PART


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
