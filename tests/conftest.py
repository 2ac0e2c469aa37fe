"""Settings shared by all tests."""

import signal
from pathlib import Path

import hypothesis
import pytest
from hypothesis.configuration import set_hypothesis_home_dir

ROOT = Path(__file__).resolve().parent.parent

# A shell that starts us in the background has Ctrl-C ignored, and the processes we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

set_hypothesis_home_dir(ROOT / ".cache" / "hypothesis")
# The same examples at every run, so that a red test stays red until it is mended; no deadline,
# because the first example may pay for compilation.
hypothesis.settings.register_profile("project", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("project")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder that holds pyproject.toml."""
    return ROOT
