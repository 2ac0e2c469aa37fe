"""Settings shared by all tests."""

import gc
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from hypothesis.configuration import set_hypothesis_home_dir
from ipykernel import kernelspec

from . import warm

ROOT = Path(__file__).resolve().parent.parent

# A shell that starts us in the background has Ctrl-C ignored, and the processes we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

set_hypothesis_home_dir(ROOT / ".cache" / "hypothesis")
# The kernels of notebooks do not look for modules in the present folder, and some of ours are in `tests`.
os.environ["PYTHONPATH"] = str(ROOT)
# The same examples at every run, so that a red test stays red until it is mended; no deadline,
# because the first example may pay for compilation.
hypothesis.settings.register_profile("project", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("project")


# Chooses which stored repetitions are computed again: others at every run. In the environment, so that all processes
# of a run have the same.
os.environ.setdefault("NYSTROM_TEST_SEED", str(int(time.time())))
warm.begin()


def pytest_report_header() -> str:
    """How to have the same choice again."""
    return f"stored repetitions are chosen by NYSTROM_TEST_SEED={os.environ['NYSTROM_TEST_SEED']}"


#: What takes long, begun first: with whole files shared out among processes, the last of them would wait for it.
#: One file that needs the book comes long before the others, which would wait while it is built.
LONG = (
    "tests/companion/test_wheel", "tests/book/test_browser", ".ipynb", "test_vectors", "test_threads",
    "notebooks/test_smoke", "tests/book/", "tests/companion/cli/", "tests/companion/notebooks/",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, each in one piece."""

    def rank(item: pytest.Item) -> int:
        path = item.path.as_posix()
        return next((i for i, part in enumerate(LONG) if part in path), len(LONG))

    items.sort(key=rank)


gc.disable()  # until everything is imported and collected


def pytest_collection_finish() -> None:
    """Nobody looks for rubbish among all that was imported, again and again."""
    gc.freeze()
    gc.enable()


def pytest_configure() -> None:
    """In the suite, nbval's kernels are forked; ``python -m pytest notebooks`` alone starts them as anybody does."""
    kernelspec.make_ipkernel_cmd = lambda *_, **__: [*warm.kernel(), "-f", "{connection_file}"]


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder that holds pyproject.toml."""
    return ROOT


@pytest.fixture(scope="module")
def forked() -> Iterator[None]:
    """Kernels that are forked from a process which has everything imported."""
    from companion.notebook import kernel

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "START", warm.kernel())
        yield
