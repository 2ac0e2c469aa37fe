"""S4: each verdict able to go either way."""

from companion.claims import Verdict
from tests.companion.claims import FAILS, HOLDS, IN_PART
from tests.companion.claims.made_up import decided


def test_S4() -> None:
    def decide(behind: bool, steps: float, other: float = 1.2) -> Verdict:
        rows = []
        for setting, is_behind, needed in (("a", behind, steps), ("b", True, other)):
            row = {"setting": setting, "behind": is_behind, "steps": needed}
            for kind in ("one-sample", "two-sample"):
                row |= {f"{kind} behind": is_behind, f"{kind} steps": needed}
            rows += [row] * 4
        return decided("S4", later_checks={"S4": rows})

    for found, expected in (
        (decide(True, 1.1), HOLDS),
        (decide(False, 1.1), IN_PART),
        (decide(True, 1.0), IN_PART),
        (decide(True, 1.0, other=1.0), FAILS),
    ):
        assert found.finding is expected and found.later is not None and found.later.finding is expected
