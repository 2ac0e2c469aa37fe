"""The arena: what is tried, that a stopped run goes on, and that what is stored reads back. No time is compared."""

from pathlib import Path

import numpy as np
import pytest

import nystrom_lib as nl
from companion.chapters.on_problems import OnProblems
from companion.experiments.seeds import Axis, seed_for
from companion.results import provenance
from companion.running import arena

pytest.importorskip("sklearn")
MOST = 120
RESULTS = Path(__file__).resolve().parents[2] / "results"
FEW = arena.Terms(MOST)


@pytest.fixture(scope="module")
def best() -> dict[str, float]:
    return arena.best_errors(["bigaussian-16"], FEW)


def test_a_chapter_takes_stored_trials_or_holds_those_it_is_asked_for() -> None:
    """Catches the stored table shown for other numbers of landmarks or another seed, and such trials not so held."""
    chapter = OnProblems(problems=("breast-cancer",), N=100, n=7, m=2, seed=5)
    table, origin = chapter.timed(Path("nowhere"), (0.02,), ("uniform", "kmeans"))
    assert origin == "held in this run" and len(table) == 2 * (2 + len(arena.DESCENTS))
    kernel, data, n = arena._posed("breast-cancer", arena.Terms(100, 7, 5))
    assert (len(data), n) == (100, 7)
    best = nl.best_rank_errors(kernel, data, 7, norms=("trace",)).trace
    start = nl.initial_sample(kernel, data, 7, seed=seed_for(5, Axis.INITIAL_SAMPLE, 1))
    row = table[(table["way"] == "uniform") & (table["repetition"] == 1)].iloc[0]
    assert row["E_tr"] == pytest.approx(nl.nystrom_errors(kernel, data, start, ("trace",)).trace / best, rel=1e-9)
    usual = OnProblems(problems=("breast-cancer", "digits"))
    stored, origin = usual.timed(RESULTS, (0.3, 3.0), ())
    assert set(stored["budget"]) == {0.3, 3.0} and set(stored["problem"]) == set(usual.problems)
    assert origin.startswith("measured on") and stored["budget"].notna().all()


@pytest.mark.parametrize("way", [*arena.ENDING, *arena.DESCENTS])
def test_a_trial_ends_above_the_best_there_is(way: str, best: dict[str, float]) -> None:
    budget = 0.5 if way in arena.DESCENTS else None  # enough for a step, whatever else runs here
    row = arena.attempt(arena.Trial("bigaussian-16", way, budget, 0), best["bigaussian-16"], FEW)
    assert row["E_tr"] >= 1.0 and row["seconds"] > 0.0
    assert (row["steps"] > 0) == (way in arena.DESCENTS)


def test_a_stopped_run_goes_on_and_what_is_stored_reads_back(
    tmp_path: Path, best: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [arena.Trial("bigaussian-16", way, None, j) for way in ("uniform", "kmeans") for j in range(2)]
    log = tmp_path / "log.jsonl"
    arena.hold(wanted[:3], best, log, terms=FEW)
    log.write_text(log.read_text() + '\n{"problem": "bigauss')  # killed while it wrote
    done = []
    attempt = arena.attempt
    monkeypatch.setattr(arena, "attempt", lambda trial, *rest: done.append(trial) or attempt(trial, *rest))
    table = arena.hold(wanted, best, log, terms=FEW)
    assert done == wanted[3:]
    read, machine = arena.load(arena.save(table, tmp_path / "arena.json", jobs=1))
    np.testing.assert_allclose(read["E_tr"], table["E_tr"], rtol=1e-7)
    assert read["budget"].isna().all() and list(read["way"]) == list(table["way"])
    assert machine["threads"] == {"trials": 1, "each": 1}
    assert arena.hold(wanted, best, log, terms=FEW).equals(table), "the line that was cut off did not spoil the next"
    told: list[int] = []
    assert arena.hold(wanted, best, log, terms=FEW, progress=told.append).equals(table) and told == [4]
    here = dict(provenance.environment())
    monkeypatch.setattr(provenance, "environment", lambda: here | {"commit": "0" * 40})
    arena.hold(wanted[:1], best, log, terms=FEW)
    assert done == [*wanted[3:], wanted[0]], "trials of another commit do not count"
