"""The help of the commands, and the exit codes of errors."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from companion.cli import nystrom
from companion.cli.base import Command
from companion.errors import CompanionError, ConfigurationError, Interrupted

from .conftest import call


def test_help_needs_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from companion.cli import main\n"
        "sys.argv = ['nystrom', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    loaded = set(done.stdout.split())
    assert "click" in loaded
    assert not loaded & {"numba", "pandas", "pyarrow", "matplotlib", "papermill", "nbformat", "IPython", "distributed"}


@pytest.mark.parametrize("name", nystrom.commands)
def test_every_command_has_examples(name: str, tmp_path: Path) -> None:
    text = call(name, "--help", cwd=tmp_path).stdout
    assert "Example" in text and f"nystrom {name}" in text


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ConfigurationError("n", "is 0; it must be more."), 2, "n is 0; it must be more."),
        (CompanionError("Full."), 1, "Full."),
        (OSError(28, "No space left on device", "a.csv"), 1, "a.csv: No space left on device"),
        (Interrupted("Stopped: 3 are stored."), 130, "Stopped: 3 are stored."),
        (KeyboardInterrupt(), 130, "Stopped."),
    ],
    ids=repr,
)
def test_errors_have_the_documented_exit_codes(error: BaseException, code: int, said: str) -> None:
    @click.command(cls=Command)
    def failing() -> None:
        raise error

    done = CliRunner().invoke(failing)
    assert done.exit_code == code and done.stderr.strip().endswith(f"Error: {said}")
