"""For nbval: ``python -m pytest notebooks`` runs them again and compares every text they show."""

import os
from collections.abc import Iterator

import pytest

JOBS = "NYSTROM_JOBS"


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Pictures are not compared; nbval itself leaves out PNG and JPEG only."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("image/svg+xml",)
        collector.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """A kernel, which starts with the first cell, uses one core: others may be busy with other tests."""
    with pytest.MonkeyPatch.context() as patch:
        if JOBS not in os.environ:
            patch.setenv(JOBS, "1")
        return (yield)
