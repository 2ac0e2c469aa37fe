"""The page of a run: nbconvert's HTML, with the book's references as words and captions below the figures."""

from __future__ import annotations

import base64
import html
import os
import re
from pathlib import Path

from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import TagRemovePreprocessor

from ..atomic_write import write_text
from ..checkout import BOOK
from .clean import read_notebook

#: Labels, lines of links and entries of the index.
_SILENT = re.compile(r"^(\([\w-]+\)=|```\{(equation-links|index)\}[^\n]*\n```)\n", re.M)
_NUMBERED = re.compile(r"^\$\$ \(eq-(\w+)\)$", re.M)
_ROLE = re.compile(r"\{[\w:+-]+\}`(?:([^`<]*\S)\s*<[^`]*>|([^`]*))`")
_DIRECTIVE = re.compile(r"^(`{3,}|:{3,})\{(?!code)([\w-]+)\} *(.*?)\n(?::[\w-]+:.*?\n)*(.*?)^\1$", re.DOTALL | re.M)


def write_html(path: Path, title: str) -> None:
    """Write the page of an executed notebook beside it."""
    notebook = read_notebook(path)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = plain_markdown(cell.source)
        shown = cell.metadata.get("mystnb", {})
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/svg+xml" in data:  # nbconvert knows neither captions nor alternative texts
                alt = html.escape(shown.get("image", {}).get("alt", ""))
                encoded = base64.b64encode(data.pop("image/svg+xml").encode()).decode("ascii")
                picture = f'<img alt="{alt}" src="data:image/svg+xml;base64,{encoded}">'
                data["text/markdown"] = f"{picture}\n\n{shown.get('figure', {}).get('caption', '')}"
            if "text/markdown" in data:
                data["text/markdown"] = plain_markdown(data["text/markdown"])
    exporter = HTMLExporter(exclude_input_prompt=True, exclude_output_prompt=True)  # type: ignore[no-untyped-call]
    tags = {"remove_cell_tags": ["remove-cell"], "remove_input_tags": ["remove-input", "hide-input", "hide-cell"]}
    exporter.register_preprocessor(TagRemovePreprocessor(enabled=True, **tags), enabled=True)  # type: ignore[no-untyped-call]
    mathjax = BOOK / "_vendor" / "mathjax" / "tex-chtml.js"  # the book's copy, so that formulas need no network
    exporter.mathjax_url = Path(os.path.relpath(mathjax, path.parent)).as_posix()
    exporter.require_js_url = ""
    text, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    # nbconvert configures MathJax 2; the book has MathJax 3
    settings = Path(__file__).with_name("mathjax.html").read_text(encoding="utf-8")
    write_text(path.with_suffix(".html"), text.replace("<head>", f"<head>{settings}", 1))


def plain_markdown(text: str) -> str:
    """MyST Markdown with references as words and boxes as paragraphs with a heading.

    Examples
    --------
    >>> plain_markdown("By {eq}`eq-5` and {numref}`figure-2`, see {ref}`here <theory-c>`.")
    'By (5) and figure 2, see here.'
    >>> plain_markdown("(label)=\\n$$\\na = b\\n$$ (eq-5)\\n")
    '$$\\na = b\\n\\\\tag{5}\\n$$\\n'
    """
    text = _NUMBERED.sub(r"\\tag{\1}\n$$", _SILENT.sub("", text))
    text = _DIRECTIVE.sub(lambda box: f"**{(box[3] or box[2]).capitalize()}**\n\n{box[4]}", text)
    text = re.sub(r"\{eq\}`eq-(\w+)`", r"(\1)", text)
    return _ROLE.sub(lambda role: role[1] or role[2].replace("-", " "), text)
