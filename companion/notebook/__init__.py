"""Notebooks: what one calls while it runs (``begin``, and the page it gives), and how one is executed and kept."""

from __future__ import annotations

from .page import begin

__all__ = ["begin"]
