"""The arena: what is tried, that a stopped run goes on, and that what is stored reads back. No time is compared."""

from pathlib import Path

import numpy as np
import pytest

from companion.results import provenance
from companion.running import arena

pytest.importorskip("sklearn")
MOST = 120
FEW = arena.Terms(MOST)


@pytest.mark.parametrize("way", [*arena.ENDING, *arena.DESCENTS])
def test_a_trial_ends_above_the_best_there_is(way: str) -> None:
    budget = 0.5 if way in arena.DESCENTS else None  # enough for a step, whatever else runs here
    row = arena.attempt(FEW, arena.Trial("bigaussian-16", way, budget, 0))
    assert row["E_tr"] >= 1.0 and row["seconds"] > 0.0
    assert (row["steps"] > 0) == (way in arena.DESCENTS)


def test_a_stopped_run_goes_on_and_what_is_stored_reads_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [arena.Trial("bigaussian-16", way, None, j) for way in ("uniform", "kmeans") for j in range(2)]
    arena.hold(wanted[:3], tmp_path, FEW)
    done = []
    attempt = arena.attempt
    monkeypatch.setattr(arena, "attempt", lambda *given: done.append(given[1]) or attempt(*given))
    table = arena.hold(wanted, tmp_path, FEW)
    assert done == wanted[3:]
    read, machine = arena.load(arena.save(table, tmp_path / "arena.json"))
    np.testing.assert_allclose(read["E_tr"], table["E_tr"], rtol=1e-7)
    assert read["budget"].isna().all() and list(read["way"]) == list(table["way"])
    assert machine["threads"] == {"trials": 1, "each": 1}
    assert arena.hold(wanted, tmp_path, FEW).equals(table)
    here = dict(provenance.environment())
    monkeypatch.setattr(provenance, "environment", lambda: here | {"commit": "0" * 40})
    arena.hold(wanted[:1], tmp_path, FEW)
    assert done == [*wanted[3:], wanted[0]], "trials of another commit do not count"
