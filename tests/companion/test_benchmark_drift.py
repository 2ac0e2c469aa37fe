"""The script that measures how far results move between machines."""

from pathlib import Path

import pytest

from benchmarks import drift

NUMBERS = {
    "figure-2-n20": {"constant squared_norm": 10.0, "0 R.initial": 2.0, "1 R.initial": 4.0, "0 E_tr.optimised": 3.0}
}


def test_differences_are_relative_and_set_against_the_tolerance() -> None:
    moved = {"figure-2-n20": {**NUMBERS["figure-2-n20"], "1 R.initial": 4.0 * (1 + 2e-9), "0 E_tr.optimised": 3.0003}}
    rows = {
        (quantity, relative > 0): (relative, part) for _, quantity, relative, part in drift.differences(moved, NUMBERS)
    }
    relative, part = rows["R", True]
    assert relative == pytest.approx(2e-9, rel=1e-3) and part == pytest.approx(2.0, rel=1e-2)
    assert rows["E_tr", True][0] == pytest.approx(1e-4) and rows["E_tr", True][1] == pytest.approx(1.0)
    assert ("squared_norm", False) in rows


def test_a_missing_number_is_beyond_every_tolerance() -> None:
    lost = {"figure-2-n20": {"constant squared_norm": 10.0}}
    assert max(part for *_, part in drift.differences(lost, NUMBERS)) == float("inf")


def test_the_table_has_a_column_for_each_variant_but_the_first() -> None:
    moved = {"figure-2-n20": {**NUMBERS["figure-2-n20"], "0 E_tr.optimised": 3.0003}}
    lines = drift.table({"here": NUMBERS, "there": NUMBERS, "elsewhere": moved}).splitlines()
    assert lines[2] == "| experiment | quantity | there | elsewhere |"
    assert "| figure-2-n20 | R | 0 | 0 |" in lines
    assert "| figure-2-n20 | E_tr | 0 | 1e-04 (1e+00) |" in lines


def test_the_child_computes_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from companion.experiments.paper import paper_experiment

    small = paper_experiment("figure-2-n20")
    small = small.replace(
        data=small.data.replace(N=60), n=4, m=3, descent=small.descent.replace(iterations=2), norms=("trace",)
    )
    monkeypatch.setattr(drift, "paper_experiment", lambda name: small)
    found = drift.compute(["small"], 2, 1)["small"]
    assert {"constant squared_norm", "constant trace", "0 R.initial", "1 E_tr.optimised"} <= set(found)
    assert not any("seconds" in key or key.startswith("2 ") for key in found)


def test_each_instruction_set_has_its_own_compiled_loops(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = []

    def run(command: list[str], env: dict[str, str], **_: object) -> object:
        seen.append((env["NUMBA_CACHE_DIR"], env.get("NUMBA_CPU_NAME"), env.get("OPENBLAS_CORETYPE")))
        return type("Done", (), {"stdout": "{}"})

    monkeypatch.setattr(drift.subprocess, "run", run)
    for variant in drift.VARIANTS:
        drift.run(variant, ["figure-2-n20"], 1, tmp_path)
    folders = {cpu: folder for folder, cpu, _ in seen}
    assert folders["generic"] != folders[None]
    assert {blas for *_, blas in seen} >= {None, "Haswell", "Prescott"}
