"""What only some users need is installed on request, and named where it is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Which extra brings a module; what is not named here comes with ``companion``.
_EXTRAS = {
    "dask": "cluster",
    "distributed": "cluster",
    "jupyter_book": "book",
    "sklearn": "sklearn",
    "sphinx": "book",
}


def sentence(error: ModuleNotFoundError) -> str:
    """Which package is missing, and what to type.

    Examples
    --------
    >>> sentence(ModuleNotFoundError(name="distributed"))
    "This needs distributed, which is not installed: pip install 'nystrom-lib[cluster]' brings it."
    """
    module = (error.name or "a package").partition(".")[0]
    extra = _EXTRAS.get(module, "companion")
    return f"This needs {module}, which is not installed: pip install 'nystrom-lib[{extra}]' brings it."


def needed(module: str) -> Any:
    """A module of an extra; an ImportError says which extra, if it is not there."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(sentence(error), name=error.name) from error
