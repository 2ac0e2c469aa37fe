"""The workflow that tests every change and publishes the book."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml


@pytest.fixture(scope="module")
def workflow(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((root / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    return loaded


def test_the_workflow_calls_targets_that_exist(workflow: dict[str, Any], root: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", (root / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    called = [step["run"].split()[1] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert set(called) <= targets
    assert {"test", "test-all", "book", "lock"} <= set(called)


def test_the_book_is_published_from_main_only_and_only_if_the_tests_pass(workflow: dict[str, Any]) -> None:
    publish = workflow["jobs"]["publish"]
    assert "refs/heads/main" in publish["if"] and "push" in publish["if"]
    assert set(publish["needs"]) == {"test", "book"}
    upload = [step for step in workflow["jobs"]["book"]["steps"] if "upload-pages" in step.get("uses", "")]
    assert upload[0]["with"]["path"] == "_build/html"


def test_ci_runs_what_everybody_runs(root: Path) -> None:
    script = root / ".ci" / "run"
    assert script.stat().st_mode & 0o111, ".ci/run is not executable"
    assert script.read_text(encoding="utf-8").splitlines()[-1] == "exec make test"
