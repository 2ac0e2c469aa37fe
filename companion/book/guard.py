"""The right Jupyter Book, or a sentence."""

from __future__ import annotations

from ..results import provenance
from .errors import BookError

WANTED = "1"


def require_jupyter_book(version: str | None = None) -> str:
    """The version of Jupyter Book that is installed; refused unless it is a 1.x.

    Parameters
    ----------
    version : str, optional
        A version to judge in place of the installed one.

    Examples
    --------
    >>> require_jupyter_book("1.0.4")
    '1.0.4'
    """
    version = version or provenance.version("jupyter-book")
    if version is None:
        raise BookError("jupyter-book is not installed; `make setup` installs the version this book needs.")
    if version.partition(".")[0] != WANTED:
        raise BookError(
            f"jupyter-book is {version}; it must be a {WANTED}.x, because later ones ignore _config.yml and fetch "
            "their theme from the network. `make setup` installs the right one."
        )
    return version
