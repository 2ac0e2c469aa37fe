"""Results: saved, loaded, compared, verified; damaged ones refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from companion.errors import CompanionError, VerificationError
from companion.experiments.outcome import Outcome
from companion.results.comparing import check, differences
from companion.results.table import Results
from companion.running.runner import run
from companion.running.stored import verify

from .small import EXPERIMENT

SMALL = EXPERIMENT.replace(m=6)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(SMALL, tmp_path_factory.mktemp("results"))


def altered(results: Results, name: str, factor: float, j: int = 3) -> Results:
    numbers = dict(results.outcomes[j].numbers)
    numbers[name] *= factor
    changed = Outcome(numbers, results.outcomes[j].arrays)
    return Results({**results.outcomes, j: changed}, results.provenance)


def test_a_file_gives_everything_back(results: Results, tmp_path: Path) -> None:
    path = results.save(tmp_path / "deep" / "small.parquet")
    loaded = Results.load(path)
    assert loaded.checksum == results.checksum
    assert loaded.provenance == results.provenance
    assert loaded.experiment == SMALL and loaded.complete
    pd.testing.assert_frame_equal(loaded.table, results.table)
    pd.testing.assert_frame_equal(loaded.curves, results.curves)
    for ours, theirs in zip(loaded.path(0), results.path(0), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert [file.name for file in path.parent.iterdir()] == ["small.parquet"]
    assert path.stat().st_size < 40_000


@pytest.mark.parametrize("content", [b"", b"PAR1", b"a poem" * 100])
def test_what_is_not_a_results_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.parquet"
    path.write_bytes(content)
    with pytest.raises(CompanionError, match=r"other\.parquet"):
        Results.load(path)
    with pytest.raises(FileNotFoundError, match="no results file"):
        Results.load(tmp_path / "absent.parquet")


# -- comparing -------------------------------------------------------------------------------------------------


def compare(found: Results, stored: Results) -> pd.DataFrame:
    return differences(found.outcomes, stored.outcomes, stored)


def test_equal_results_agree(results: Results, tmp_path: Path) -> None:
    again = run(SMALL, tmp_path)
    comparison = compare(again, results)
    assert check(comparison) is comparison
    assert (comparison["difference"] == 0.0).all()
    assert "seconds" not in set(comparison["quantity"])
    assert comparison["reason"].str.len().gt(20).all()


@pytest.mark.parametrize("name", ["R.initial", "E_sp.optimised", "rank.initial"])
def test_a_changed_number_is_found(results: Results, name: str) -> None:
    comparison = compare(altered(results, name, 1.5 if name.startswith("rank") else 1.0005), results)
    (row,) = comparison[~comparison["within"]].to_dict("records")
    assert (f"{row['quantity']}.{row['stage']}", row["repetition"]) == (name, 3)
    with pytest.raises(VerificationError, match=rf"{row['quantity']} \({row['stage']}\) of repetition 3 is"):
        check(comparison)


@pytest.mark.parametrize("name", ["curve", "path"])
def test_a_changed_curve_or_path_is_found(results: Results, name: str) -> None:
    array = results.outcomes[0].arrays[name].copy()
    array[-1, -1] *= 1.0002
    for wrong in (array, array[:, :-1]):
        arrays = {**results.outcomes[0].arrays, name: wrong}
        false = Results({**results.outcomes, 0: Outcome(results.outcomes[0].numbers, arrays)}, results.provenance)
        with pytest.raises(VerificationError, match=rf"{name} \(optimised\) of repetition 0 is"):
            check(compare(results, false))


# -- verifying -------------------------------------------------------------------------------------------------


def test_stored_results_are_verified_by_doing_them_again(results: Results, tmp_path: Path) -> None:
    loaded = Results.load(results.save(tmp_path / "small.parquet"))
    verification = verify(loaded, [0, 4], constants=True)
    assert set(verification["stage"]) == {"constant", "initial", "optimised"}
    assert (verification["difference"] == 0).all(), "results are not deterministic on one machine"


def test_a_falsified_constant_is_found(results: Results) -> None:
    constants = {**results.constants, "squared_norm": results.constants["squared_norm"] * 1.001}
    false = Results(results.outcomes, {**results.provenance, "constants": constants})
    with pytest.raises(VerificationError, match="squared_norm"):
        verify(false, [1], constants=True)
    with pytest.raises(VerificationError, match="R "):
        verify(false, [1])


def test_other_data_are_found(results: Results) -> None:
    data = {**results.provenance["data"], "sha256": "0" * 64}
    with pytest.raises(VerificationError, match="The data differ"):
        verify(Results(results.outcomes, {**results.provenance, "data": data}), [0])
