"""``verify``, ``compare``, ``paper`` and ``beyond``."""

import shutil
from pathlib import Path

import pytest

from companion.cli.folders import repetitions_stored
from companion.experiments.outcome import Outcome
from companion.experiments.paper import PAPER
from companion.results.table import Results
from companion.running.verifying import some_of

from .conftest import call, fine, interrupt, refused


def changed(path: Path, target: Path, factor: float) -> Path:
    """The same results with one number of one repetition multiplied."""
    results = Results.load(path)
    outcomes = dict(results.outcomes)
    numbers = dict(outcomes[2].numbers)
    numbers["trace.optimised"] *= factor
    outcomes[2] = Outcome(numbers, outcomes[2].arrays)
    return Results(outcomes, results.provenance).save(target)


def test_verify_recomputes_and_agrees(stored: Path, tmp_path: Path) -> None:
    said = fine(call("verify", "--results", stored, "-k", 2, "--seed", 3, cwd=tmp_path))
    lines = [line.split() for line in said.splitlines()]
    assert "repetition no." in said.splitlines()[0], "these are numbers of repetitions, not how many"
    assert [line[0] for line in lines if "agrees" in line] == ["other", "small"]


def test_verify_finds_a_number_that_differs(stored: Path, tmp_path: Path) -> None:
    shutil.copy(stored / "other.parquet", tmp_path)
    changed(stored / "small.parquet", tmp_path / "small.parquet", 1.001)
    done = call("verify", "--results", tmp_path, "--repetitions", 5, "--constants", cwd=tmp_path)
    assert refused(done, 1) == "1 of 2 do not agree: small."
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("trace"))
    assert line.split()[1] == "optimised" and line.split()[-1] == "NO"


def test_verify_reports_a_damaged_file_and_goes_on(stored: Path, tmp_path: Path) -> None:
    shutil.copy(stored / "small.parquet", tmp_path)
    (tmp_path / "broken.parquet").write_bytes(b"no results at all")
    (tmp_path / ".0123456789ab.part.parquet").write_bytes(b"PAR1")  # another process is just saving its results
    done = call("verify", "--results", tmp_path, "-k", 1, cwd=tmp_path)
    assert refused(done, 1) == "1 of 2 do not agree: broken."
    assert "damaged or not one of ours" in done.stderr and "agrees" in done.stdout


def test_verify_knows_what_is_stored(stored: Path, tmp_path: Path) -> None:
    said = refused(call("verify", "smal", "--results", stored, cwd=tmp_path), 2)
    assert said == "There is no stored result 'smal' (did you mean 'small'?); known: other, small."
    assert "no stored results in" in refused(call("verify", "--results", tmp_path, cwd=tmp_path), 1)


def test_which_repetitions_are_verified() -> None:
    there = [0, 1, 2, 3, 4]
    assert some_of(there, 3) == [0, 2, 4]
    assert some_of(there, 99) == some_of(there, 99, 1) == there
    drawn = {tuple(some_of(there, 2, seed)) for seed in range(20)}
    assert len(drawn) > 3 and all(len(each) == 2 for each in drawn)


def test_compare_agrees_with_itself(stored: Path, tmp_path: Path) -> None:
    file = stored / "small.parquet"
    said = fine(call("compare", file, file, cwd=tmp_path))
    assert said.splitlines()[0] == "small: agree" and said.splitlines()[-1] == "The results agree."
    said = fine(call("compare", stored, file, cwd=tmp_path))
    assert "other is in" in said


def test_compare_tells_numbers_and_settings_that_differ(stored: Path, tmp_path: Path) -> None:
    other = changed(stored / "small.parquet", tmp_path / "small.parquet", 1.001)
    done = call("compare", stored / "small.parquet", other, cwd=tmp_path)
    assert "differ" in refused(done, 1)
    assert [line.split()[0] for line in done.stdout.splitlines() if line.endswith(" NO")] == ["trace"]
    done = call("compare", stored / "small.parquet", stored / "other.parquet", cwd=tmp_path)
    refused(done, 1)
    assert "kernel.rho: 4.0 against 1.0" in done.stdout


def test_compare_takes_the_folder_of_a_run(smoke: Path, stored: Path) -> None:
    run = smoke / "runs" / "magic-001"
    assert "The results agree." in fine(call("compare", run, run, cwd=smoke))
    assert "have no results in common" in refused(call("compare", run, stored, cwd=smoke), 1)


def test_compare_needs_results(stored: Path, tmp_path: Path) -> None:
    assert "holds no results" in refused(call("compare", tmp_path, stored, cwd=tmp_path), 1)


def test_paper_lists_every_experiment(tmp_path: Path) -> None:
    said = fine(call("paper", "--list", cwd=tmp_path))
    assert [line.split()[0] for line in said.splitlines()[2:]] == list(PAPER)
    said = fine(call("paper", "--list", "figure-2*", "figure-1", cwd=tmp_path))
    assert len(said.splitlines()) == 2 + 7


def test_paper_computes_stores_and_does_not_compute_again(tmp_path: Path) -> None:
    words = ["paper", "figure-1", "--out", "out", "--work", "work"]
    said = fine(call(*words, cwd=tmp_path))
    assert "out/figure-1.parquet" in said
    first = Results.load(tmp_path / "out" / "figure-1.parquet")
    assert first.complete and first.experiment == PAPER["figure-1"]
    fine(call(*words, cwd=tmp_path))
    again = Results.load(tmp_path / "out" / "figure-1.parquet")
    assert again.checksum == first.checksum  # timings included: nothing was done twice


def test_paper_stopped_by_ctrl_c_says_what_is_stored(tmp_path: Path) -> None:
    work = tmp_path / "work"
    words = ["paper", "figure-2-n20", "--out", tmp_path / "out", "--work", work]
    said = refused(interrupt(words, tmp_path, lambda: repetitions_stored(work) > 2), 130)
    stored = repetitions_stored(work)
    assert stored > 2
    assert said.startswith("0 of 1 experiments are done") and f"{stored} of 1000 repetitions are stored" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["out", "work"])
def test_paper_refuses_a_file_as_a_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("", encoding="utf-8")
    assert "is a file" in refused(call("paper", "figure-1", f"--{name}", tmp_path / name, cwd=tmp_path), 2)


@pytest.mark.parametrize("option", ["--out", "--log"])
def test_the_arena_says_before_half_an_hour_that_it_cannot_write(option: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    words = ["arena", "breast-cancer", "--most", "100", option, "file/here"]
    assert f"{option} is 'file', and" in refused(call(*words, cwd=tmp_path), 2)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_beyond_stopped_by_ctrl_c_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Catches a finished repetition that is done again, and an experiment that is called done before it is saved."""
    out, work = tmp_path / "out", tmp_path / "work"
    words = ["beyond", "bigaussian-1.kmeans-radial", "bigaussian-1.KMeans", "bigaussian-1.uniform-radial",
             "--out", out, "--work", work, "--jobs", 2]  # fmt: skip
    said = refused(interrupt(words, tmp_path, lambda: repetitions_stored(work) > 2), 130)
    saved = [Results.load(path) for path in out.glob("*.parquet")]
    assert said.startswith(f"Stopped: {len(saved)} of 3 experiments are done") and said.endswith("goes on from there.")
    assert 2 < repetitions_stored(work) < 33
    fine(call(*words, cwd=tmp_path))
    names = {"bigaussian-1.kmeans-radial", "bigaussian-1.KMeans", "bigaussian-1.uniform-radial"}
    assert {path.stem for path in out.glob("*.parquet")} == names
    first = Results.load(out / "bigaussian-1.kmeans-radial.parquet")
    assert first.complete and len(first.provenance["sessions"]) == 2, "the second went on with what the first had done"
