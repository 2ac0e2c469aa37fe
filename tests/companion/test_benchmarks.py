"""The benchmarks run, and their results agree with plain C."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="without gcc there is no C version to agree with")
def test_results_agree_with_plain_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["rows"]
    agreements = {row["name"]: row["agreement"] for row in rows if row["agreement"] is not None}
    assert set(agreements) >= {"sgd-miniboone", "gd-bigaussian", "R", "trace norm", "‖K‖_F²"}
    assert max(agreements.values()) <= 1e-10
    assert "## Time against n, N, b and d" in (tmp_path / "results.md").read_text(encoding="utf-8")
