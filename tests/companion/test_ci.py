"""What CI does around `make test`: a browser if one can be had, and the workflow that publishes the book."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

NEEDED = ("bash", "dirname", "id", "timeout", "cat", "env")


def fake(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, root: Path) -> Path:
    """A machine with next to nothing on it, where make and apt-get only write down how they are called."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"{name} is not on this machine, and .ci/run is for machines that have it")
        (programs / name).symlink_to(found)
    (tmp_path / "project" / ".ci").mkdir(parents=True)
    shutil.copy(root / ".ci" / "run", tmp_path / "project" / ".ci" / "run")
    for name in ("make", "apt-get"):
        fake(programs, name, f'echo "{name} $*" >> "{tmp_path}/calls"')
    # Whoever is not root asks sudo.
    fake(programs, "sudo", 'shift; exec "$@"')
    return tmp_path


def calls(machine: Path) -> list[str]:
    script = machine / "project" / ".ci" / "run"
    run = subprocess.run([script], env={"PATH": str(machine / "bin")}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return (machine / "calls").read_text(encoding="utf-8").splitlines()


def test_a_browser_is_installed_where_there_is_none(machine: Path) -> None:
    update, install, make = calls(machine)
    assert "update" in update and install.endswith("chromium") and make == "make test"


def test_a_machine_that_cannot_install_one_runs_the_tests_all_the_same(machine: Path) -> None:
    fake(machine / "bin", "apt-get", "exit 100")
    assert calls(machine) == ["make test"]


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
