"""The page of a run: nbconvert's HTML, with the book's references as words and captions below the figures."""

from __future__ import annotations

import base64
import html
import os
import re
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import TagRemovePreprocessor
from nbformat import NotebookNode

from ..atomic_write import write_text
from ..chapters import Chapter
from ..checkout import BOOK
from .clean import read_notebook

#: Labels, lines of links and entries of the index.
_SILENT = re.compile(r"^(\([\w-]+\)=|```\{(equation-links|index)\}[^\n]*\n```)\n", re.M)
_NUMBERED = re.compile(r"^\$\$ \(eq-(\w+)\)$", re.M)
_ROLE = re.compile(r"\{[\w:+-]+\}`(?:([^`<]*\S)\s*<[^`]*>|([^`]*))`")
_DIRECTIVE = re.compile(r"^(`{3,}|:{3,})\{(?!code)([\w-]+)\} *(.*?)\n(?::[\w-]+:.*?\n)*(.*?)^\1$", re.DOTALL | re.M)


def write_html(path: Path, chapter: Chapter) -> None:
    """Write the page of an executed notebook beside it."""
    notebook = read_notebook(path)
    figures = [name for cell in notebook.cells if (name := _figure(cell).get("name"))]
    numbers = {name: f"Figure {chapter.number}.{place}" for place, name in enumerate(figures, start=1)}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = plain_markdown(cell.source, numbers)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/markdown" in data:
                data["text/markdown"] = plain_markdown(data["text/markdown"], numbers)
            if "image/svg+xml" in data:  # nbconvert knows no alternative text
                alt = html.escape(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", ""))
                encoded = base64.b64encode(data.pop("image/svg+xml").encode()).decode("ascii")
                data["text/html"] = f'<img alt="{alt}" src="data:image/svg+xml;base64,{encoded}">'
        if name := _figure(cell).get("name"):
            caption = plain_markdown(f"**{numbers[name]}.** {_figure(cell).get('caption', '')}", numbers)
            shown = {"output_type": "display_data", "metadata": {}, "data": {"text/markdown": caption}}
            cell.outputs.append(nbformat.from_dict(shown))  # type: ignore[no-untyped-call]
    exporter = HTMLExporter(exclude_input_prompt=True, exclude_output_prompt=True)  # type: ignore[no-untyped-call]
    tags = {"remove_cell_tags": ["remove-cell"], "remove_input_tags": ["remove-input", "hide-input", "hide-cell"]}
    exporter.register_preprocessor(TagRemovePreprocessor(enabled=True, **tags), enabled=True)  # type: ignore[no-untyped-call]
    mathjax = BOOK / "_vendor" / "mathjax" / "tex-chtml.js"  # the book's copy, so that formulas need no network
    exporter.mathjax_url = Path(os.path.relpath(mathjax, path.parent)).as_posix()
    exporter.require_js_url = ""
    text, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": chapter.title}})
    # nbconvert configures MathJax 2; the book has MathJax 3
    settings = Path(__file__).with_name("mathjax.html").read_text(encoding="utf-8")
    write_text(path.with_suffix(".html"), text.replace("<head>", f"<head>{settings}", 1))


def _figure(cell: NotebookNode) -> dict[str, str]:
    figure: dict[str, str] = cell.metadata.get("mystnb", {}).get("figure", {})
    return figure


def plain_markdown(text: str, numbers: Mapping[str, str]) -> str:
    """MyST Markdown with references as words and boxes as paragraphs with a heading.

    Examples
    --------
    >>> plain_markdown("By {eq}`eq-5` and {numref}`figure-2`, see {ref}`here <theory-c>`.", {"figure-2": "Figure 5.3"})
    'By (5) and Figure 5.3, see here.'
    >>> plain_markdown("(label)=\\n$$\\na = b\\n$$ (eq-5)\\n", {})
    '$$\\na = b\\n\\\\tag{5}\\n$$\\n'
    """

    def words(match: re.Match[str]) -> str:
        target = match[1] or match[2]
        return f"({target[3:]})" if target.startswith("eq-") else numbers.get(target, target.replace("-", " "))

    text = _NUMBERED.sub(r"\\tag{\1}\n$$", _SILENT.sub("", text))
    return _ROLE.sub(words, _DIRECTIVE.sub(lambda box: f"**{(box[3] or box[2]).capitalize()}**\n\n{box[4]}", text))
