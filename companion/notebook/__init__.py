"""Notebooks: what one calls while it runs (``begin``, and the page it gives), and how one is executed and kept.

>>> from companion import notebook
>>> notebook.begin.__module__
'companion.notebook.page'
"""

from __future__ import annotations

from .page import begin

__all__ = ["begin"]
