"""What the book asks of Sphinx beyond its settings: our docstrings, and the repository's own address.

Sphinx's napoleon takes "Eq. (14): …" at the head of a property for a type and links every word of it; and it turns
the types of an Attributes section into links to pages that are in other manuals. Both are undone here.
"""

from __future__ import annotations

import os
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.ext.napoleon import Config as NapoleonConfig
from sphinx.ext.napoleon.docstring import NumpyDocstring

_STYLE = NapoleonConfig(napoleon_use_param=False, napoleon_use_rtype=False)


class Docstring(NumpyDocstring):
    """numpydoc's sections, with an Attributes section that looks like the Parameters."""

    def _parse_attributes_section(self, section: str) -> list[str]:
        return self._format_fields("Attributes", self._consume_fields())


def process_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring in place."""
    kind = "function" if what in ("attribute", "data", "property") else what
    lines[:] = Docstring(list(lines), _STYLE, app, kind, name, obj, options).lines()


def use_own_repository(app: Sphinx, config: Config) -> None:
    """Launch buttons lead to the repository the book is built from, where the build knows it."""
    url = os.environ.get("NYSTROM_REPOSITORY")
    if url:
        config.html_theme_options["repository_url"] = url


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls this."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("config-inited", use_own_repository)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
