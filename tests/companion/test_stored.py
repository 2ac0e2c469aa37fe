"""Stored results: found by the experiment they are of, computed again in part, refused if they differ."""

from dataclasses import replace
from pathlib import Path

import pytest

from companion.errors import VerificationError
from companion.experiments.outcome import Outcome
from companion.results.table import Results
from companion.running.runner import run
from companion.running.stored import find, verify

from .small import EXPERIMENT

FIVE = EXPERIMENT.replace(m=5)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(FIVE, tmp_path_factory.mktemp("run"), threads=1)


def test_they_are_found_by_what_they_are_of(results: Results, tmp_path: Path) -> None:
    assert find(FIVE, tmp_path) is None
    assert find(FIVE, tmp_path / "absent") is None
    results.save(tmp_path / "figure-9.parquet")
    found = find(FIVE, tmp_path)
    assert found is not None
    assert (found[0], found[1].checksum) == ("figure-9", results.checksum)
    assert find(FIVE.replace(m=6), tmp_path) is None
    assert find(FIVE.replace(seed=6), tmp_path) is None


def test_a_number_that_was_changed_is_noticed(results: Results, tmp_path: Path) -> None:
    numbers = {**results.outcomes[4].numbers, "trace.optimised": results.outcomes[4].numbers["trace.optimised"] * 1.01}
    changed = {**results.outcomes, 4: Outcome(numbers, results.outcomes[4].arrays)}
    replace(results, outcomes=changed).save(tmp_path / "figure-9.parquet")
    stored = find(FIVE, tmp_path)
    assert stored is not None
    with pytest.raises(VerificationError, match=r"trace \(optimised\) of repetition 4"):
        verify(stored[1], [0, 4], threads=1)
