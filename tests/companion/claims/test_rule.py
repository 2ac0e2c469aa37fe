"""What is declared, and the one rule of decision."""

import math
import re
import subprocess

import pytest

from companion.checkout import ROOT
from companion.claims import CLAIMS, DECLARED, QUESTIONS, Case, Finding, Outcome, cases_of
from companion.claims.base import Rule, Threshold
from tests.companion.claims import FAILS, HOLDS, IN_PART, UNTESTABLE

LIMITS = {"low": Threshold(1.0, "at most"), "high": Threshold(2.0, "at least"), "share": Threshold(0.75, "value")}


def rule(**options: object) -> Rule:
    return Rule("statistic", "rule", LIMITS, "commit", **options)  # type: ignore[arg-type]


def found(good: int, total: int, **options: object) -> Finding:
    cases = [Case(str(k), {"low": 1.0 if k < good else 1.1}) for k in range(total)]
    return rule(**options).decide(cases)[0]


def test_the_share_of_cases_that_pass_decides() -> None:
    assert [found(good, 4) for good in (4, 3, 2, 1, 0)] == [HOLDS, IN_PART, IN_PART, FAILS, FAILS]
    assert found(0, 0) is UNTESTABLE
    assert [found(good, 4, holds_from="share") for good in (3, 2, 1)] == [HOLDS, IN_PART, FAILS]
    assert [found(good, 4, in_part="any") for good in (1, 0)] == [IN_PART, FAILS]
    assert found(3, 4, in_part="never") is FAILS
    assert [found(good, 4, refutes=True) for good in (4, 2, 1, 0)] == [FAILS, FAILS, IN_PART, HOLDS]


@pytest.mark.parametrize(
    ("values", "condition", "passes"),
    [
        ({"low": 1.0, "high": 2.0, "shown": math.inf}, True, True),
        ({"low": 1.0, "high": 1.9}, True, False),
        ({"low": math.nan}, True, False),
        ({"low": 1.0}, False, False),
    ],
)
def test_a_case_passes_if_all_its_values_do(values: dict[str, float], condition: bool, passes: bool) -> None:
    assert Case("a", values, condition=condition).passes(LIMITS) is passes


def test_parts_and_groups_are_decided_apart() -> None:
    def case(value: float, part: str, group: str = "", counts: bool = True) -> Case:
        return Case("a", {"low": value}, part, group, counts)

    assert rule().decide([case(1.0, "a"), case(9.0, "b")]) == (IN_PART, {"a": HOLDS, "b": FAILS})
    assert rule(decided_by="a").decide([case(1.0, "a"), case(9.0, "b")])[0] is HOLDS
    assert rule().decide([case(1.0, "a", "x"), case(9.0, "a", "y")]) == (IN_PART, {"a": IN_PART})
    assert rule().decide([case(1.0, "a"), case(9.0, "b", counts=False)]) == (HOLDS, {"a": HOLDS, "b": UNTESTABLE})


def test_the_summary_counts_the_cases_and_gives_the_range() -> None:
    cases = [Case("a", {"low": 0.5}), Case("b", {"low": 1.5}), Case("c", {"low": 9.0}, counts=False)]
    outcome = Outcome.of(rule(), cases)
    assert outcome.summary == "1 of 2 cases pass. Values: low 0.500 to 1.50 (at most 1)."


def test_every_claim_has_a_function_a_reading_and_a_commit() -> None:
    for claim in CLAIMS.values():
        assert claim.reading is not None and claim.reading.verdict in {HOLDS, IN_PART, FAILS, "open"}
        for each in filter(None, (claim.rule, claim.later)):
            assert cases_of(each.cases) and each.declared in DECLARED
            assert each.holds_from in {"", *each.thresholds}
    for question in QUESTIONS.values():
        assert question.says.endswith("?") and question.rule.statistic.endswith(".")
        assert question.rule.declared in DECLARED


@pytest.mark.parametrize("commit", ["415d5103f6", "308bd2d634"])
def test_the_page_names_the_commit_that_fixed_the_thresholds(commit: str) -> None:
    """Catches a commit that does not exist, and a threshold that was changed or removed after it."""
    file = f"{commit}:nystrom_lib/companion/claims/declared.py"
    shown = subprocess.run(["git", "show", file], cwd=ROOT, capture_output=True, text=True, check=False)
    if shown.returncode:
        pytest.skip("this copy has no history")
    then = re.findall(r'"(\w+)":\s*Threshold\(\s*([-+.e\d ]+),', shown.stdout)
    rules = [each for claim in CLAIMS.values() for each in (claim.rule, claim.later) if each]
    now = {(name, threshold.value) for each in rules for name, threshold in each.thresholds.items()}
    assert len(then) > 20
    assert {(name, sum(map(float, value.split(" + ")))) for name, value in then} <= now
