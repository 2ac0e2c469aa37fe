"""What is declared: every claim, with how it is decided."""

from companion.claims import CLAIMS
from companion.claims.base import by_share, together
from companion.claims.readings import READINGS
from tests.companion.claims import FAILS, HOLDS, IN_PART, UNTESTABLE


def test_every_claim_has_a_reading() -> None:
    assert sorted(READINGS) == sorted(CLAIMS)


def test_parts_make_a_whole() -> None:
    assert [by_share(good, 4) for good in (4, 3, 2, 1, 0)] == [HOLDS, IN_PART, IN_PART, FAILS, FAILS]
    assert by_share(0, 0) is UNTESTABLE
    assert together([HOLDS, HOLDS]) is HOLDS and together([FAILS]) is FAILS
    assert together([HOLDS, FAILS]) is IN_PART and together([UNTESTABLE, HOLDS]) is HOLDS
    assert together([]) is UNTESTABLE
