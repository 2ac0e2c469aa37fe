"""Settings shared by all tests."""

import signal
from pathlib import Path

import hypothesis
import pytest
from hypothesis.configuration import set_hypothesis_home_dir

ROOT = Path(__file__).resolve().parent.parent

# A shell that runs the tests in the background has Ctrl-C ignored, here and in every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

set_hypothesis_home_dir(ROOT / ".cache" / "hypothesis")
# The same examples at every run, so that a failure can be repeated; no deadline, because the first example may compile.
hypothesis.settings.register_profile("project", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("project")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder that holds pyproject.toml."""
    return ROOT
