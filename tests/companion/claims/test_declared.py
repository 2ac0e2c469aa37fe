"""What is declared: every claim, with how it is decided."""

import math

import pytest

from companion.claims import CLAIMS, measure
from companion.claims.base import by_share, together
from companion.experiments.paper import PAPER
from tests.companion.claims import FAILS, HOLDS, IN_PART, UNTESTABLE

IDS = "R1 R2 R3 R4 R5 T1 T2 T3 T4 S1 S2 S3 S4 S5 B1 B2 B3 B4 B5 B6 B7 A1 A2 A3 M1 M2 N1 N2 N3 C1".split()
CHAPTERS = "approximation radial_skd convergence stochastic_gradients bigaussian abalone magic miniboone".split()


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


def test_parts_make_a_whole() -> None:
    assert [by_share(good, 4) for good in (4, 3, 2, 1, 0)] == [HOLDS, IN_PART, IN_PART, FAILS, FAILS]
    assert by_share(0, 0) is UNTESTABLE
    assert together([HOLDS, HOLDS]) is HOLDS and together([FAILS]) is FAILS
    assert together([HOLDS, FAILS]) is IN_PART and together([UNTESTABLE, HOLDS]) is HOLDS
    assert together([]) is UNTESTABLE
