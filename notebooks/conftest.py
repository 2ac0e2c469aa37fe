"""Settings of nbval: ``pytest --nbval notebooks`` runs the notebooks again and compares every text they show."""

from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Options that would otherwise have to be typed."""
    if getattr(config.option, "nbval", False):
        sanitise = Path(__file__).with_name("sanitise.cfg")
        config.option.nbval_sanitize_with = config.option.nbval_sanitize_with or str(sanitise)


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Pictures are not compared; nbval itself leaves out PNG and JPEG only."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("image/svg+xml",)
