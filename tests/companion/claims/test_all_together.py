"""What is proved is found, a library that computes something else is found out, and the page says so."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import nystrom_lib as nl
from companion.claims import Verdict, judge
from companion.studies import curvature, estimators, landscape
from tests.companion.claims import FAILS, HOLDS, UNTESTABLE


@pytest.fixture(scope="module")
def quick_verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    return judge(tmp_path_factory.mktemp("none"), ["R1", "R2", "T1", "T3", "S1", "S2", "B3", "N1"])


def test_what_is_proved_is_found(quick_verdicts: list[Verdict]) -> None:
    found = {verdict.claim.id: verdict.finding for verdict in quick_verdicts}
    assert found == {**dict.fromkeys(["R1", "R2", "T1", "T3", "S1", "S2"], HOLDS), "B3": UNTESTABLE, "N1": UNTESTABLE}


@pytest.mark.parametrize(
    ("claim", "name", "factor"),
    [("R1", "radial_skd", 3.0), ("R2", "radial_skd", 0.01), ("T1", "skd_coefficient", 100.0)],
)
def test_a_library_that_computes_something_else_is_found_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, claim: str, name: str, factor: float
) -> None:
    true = getattr(nl, name)
    monkeypatch.setattr(nl, name, lambda *given, **named: factor * true(*given, **named))
    assert judge(tmp_path, [claim])[0].finding is FAILS


@pytest.mark.parametrize(
    ("claim", "module", "name", "spoil"),
    [
        ("R2", landscape, "sides", lambda found: found | {"R": 0.01 * found["frobenius"]}),
        ("T1", curvature, "chain", lambda found: replace(found, values=dict.fromkeys(found.values, math.inf))),
        ("T1", curvature, "lipschitz_ratio", lambda found: 100.0 * found),
        ("T3", curvature, "largest_derivatives", lambda found: {name: 1.01 * found[name] for name in found}),
        ("S2", estimators, "every_batch", lambda found: 1.01 * found),
        ("S1", estimators, "relative_bias", lambda found: 0.0),
    ],
)
def test_the_chapter_s_computation_is_the_one_that_is_judged(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    claim: str,
    module: ModuleType,
    name: str,
    spoil: Callable[[Any], Any],
) -> None:
    """Catches a claim that computes for itself what the chapter named as its evidence shows."""
    true = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: spoil(true(*given)))
    assert judge(tmp_path, [claim])[0].finding is FAILS
