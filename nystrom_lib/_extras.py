"""Optional dependencies: imported when they are needed, with an error that names the extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The extra that installs a module; ``files`` installs the others.
_EXTRAS = {"dask": "cluster", "distributed": "cluster", "sklearn": "sklearn"}


def needed(module: str) -> Any:
    """A module of an extra."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        name = (error.name or module).partition(".")[0]
        extra = _EXTRAS.get(name, "files")
        raise ImportError(
            f"This needs {name}, which is not installed: pip install 'nystrom-lib[{extra}]' brings it.", name=error.name
        ) from error
