"""What `make setup` installs."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_LINES = (Path(__file__).parents[1] / "requirements.txt").read_text(encoding="utf-8").split()


def locked(package: str) -> bool:
    """Whether a package is here in the version of the lock, from which pictures and others' results are stored."""
    try:
        return f"{package}=={version(package)}" in _LINES
    except PackageNotFoundError:
        return False
