"""R3, R4 and S5: each verdict able to go either way, and where the exponents come from."""

import math

from companion.claims import CLAIMS, Finding, costs
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
