"""papermill and pytest as processes, called as their documentation says, and what a notebook shows."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[3]


def start(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """``python arguments…`` to its end."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("NYSTROM", "PYTEST"))}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=500)


def papermill(source: Path, target: Path, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Plain papermill."""
    return start("-m", "papermill", "--no-progress-bar", source, target, *arguments, cwd=cwd)


def texts(path: Path) -> list[str]:
    """Every text that the outputs of a notebook hold, in order; pictures left out."""
    found = []
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            found.append(output.get("text") or data.get("text/markdown") or output.get("evalue") or "")
    return found


def pictures(path: Path) -> list[str]:
    """Every SVG that a notebook shows."""
    return [
        output.data["image/svg+xml"]
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if "image/svg+xml" in output.get("data", {})
    ]
