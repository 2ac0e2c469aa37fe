"""``verify`` and ``reproduce``."""

import shutil
from pathlib import Path

import pytest

from companion.experiments.outcome import Outcome
from companion.experiments.paper import PAPER
from companion.results.table import Results
from companion.running.stored import some_of

from .conftest import call, fine, refused


def changed(path: Path, target: Path, factor: float) -> Path:
    """The same results with one number of one repetition multiplied."""
    results = Results.load(path)
    outcomes = dict(results.outcomes)
    numbers = dict(outcomes[2].numbers)
    numbers["trace.optimised"] *= factor
    outcomes[2] = Outcome(numbers, outcomes[2].arrays)
    return Results(outcomes, results.provenance).save(target)


def test_verify_recomputes_and_agrees(stored: Path, tmp_path: Path) -> None:
    said = fine(call("verify", "--results", stored, "-k", 2, cwd=tmp_path))
    lines = [line.split() for line in said.splitlines()]
    assert [line[0] for line in lines if "agrees" in line] == ["other", "small"]


def test_verify_finds_a_number_that_differs_and_a_damaged_file(stored: Path, tmp_path: Path) -> None:
    shutil.copy(stored / "other.parquet", tmp_path)
    changed(stored / "small.parquet", tmp_path / "small.parquet", 1.001)
    (tmp_path / "broken.parquet").write_bytes(b"no results at all")
    (tmp_path / ".0123456789ab.part.parquet").write_bytes(b"PAR1")  # a file that another process is writing
    done = call("verify", "--results", tmp_path, "--repetitions", 5, "--constants", cwd=tmp_path)
    assert refused(done, 1) == "2 of 3 do not agree: broken, small."
    assert "damaged or not one of ours" in done.stderr and "agrees" in done.stdout
    assert "small: The numbers differ by more than their tolerance: trace (optimised) of repetition" in done.stderr


def test_verify_suggests_a_name(stored: Path, tmp_path: Path) -> None:
    said = refused(call("verify", "smal", "--results", stored, cwd=tmp_path), 2)
    assert said == "There is no stored result 'smal' (did you mean 'small'?)."
    assert "There are no stored results in" in refused(call("verify", "--results", tmp_path, cwd=tmp_path), 1)


def test_which_repetitions_are_verified() -> None:
    there = [0, 1, 2, 3, 4]
    assert some_of(there, 3) == [0, 2, 4]
    assert some_of(there, 99) == there


def test_reproduce_computes_stores_and_does_not_compute_again(tmp_path: Path) -> None:
    words = ["reproduce", "paper", "figure-1", "--out", "out", "--work", "work"]
    assert "1 experiments" in fine(call(*words, cwd=tmp_path))
    first = Results.load(tmp_path / "out" / "figure-1.parquet")
    assert first.complete and first.experiment == PAPER["figure-1"]
    fine(call(*words, cwd=tmp_path))
    again = Results.load(tmp_path / "out" / "figure-1.parquet")
    assert again.checksum == first.checksum  # timings included: nothing was computed twice


@pytest.mark.parametrize(
    "words",
    [
        ["reproduce", "paper", "figure-1", "--out", "file/sub"],
        ["reproduce", "arena", "breast-cancer", "--work", "file/sub"],
        ["run", "bigaussian", "--out", "file"],
    ],
)
def test_a_folder_that_cannot_be_written_to_is_refused_at_once(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused(call(*words, cwd=tmp_path), 2)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
