"""The page of a run: one HTML file that reads without a network.

The book renders the same notebook with cross-references; here they become plain words, so that a chapter run with other
parameters reads well by itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import DictLoader
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode

from ..atomic_write import write_text
from ..chapters import Chapter
from ..checkout import BOOK
from .clean import read_notebook, tags

#: Formulas are typeset where the book's own copy of MathJax is, and are shown in TeX elsewhere.
MATHJAX = BOOK / "_vendor" / "mathjax" / "tex-chtml.js"

_TEMPLATE = """\
{%- extends 'basic/index.html.j2' -%}
{%- block header -%}
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ resources.title }}</title>
<style>{{ resources.style }}</style>
{%- if resources.mathjax %}
<script>window.MathJax = {tex: {inlineMath: [["$", "$"], ["\\\\(", "\\\\)"]], processEscapes: true},
options: {enableMenu: false}};</script>
<script defer src="{{ resources.mathjax }}"></script>
{%- endif %}
</head>
<body>
<main>
{%- endblock header -%}
{%- block footer %}
</main>
</body>
</html>
{% endblock footer -%}
{%- block input_group -%}
{%- if 'remove-input' in cell.metadata.get('tags', []) -%}
{%- elif 'hide-input' in cell.metadata.get('tags', []) or 'hide-cell' in cell.metadata.get('tags', []) -%}
<details><summary>Code</summary>{{ super() }}</details>
{%- else -%}
{{ super() }}
{%- endif -%}
{%- endblock input_group -%}
{%- block data_svg scoped -%}
<img src="data:image/svg+xml;base64,{{ output.data['image/svg+xml'] | text_base64 }}"
 alt="{{ output.metadata.get('alt', '') | escape_html }}">
{%- endblock data_svg -%}
{%- block in_prompt -%}{%- endblock in_prompt -%}
{%- block output_area_prompt -%}{%- endblock output_area_prompt -%}
"""

_STYLE = """
:root { color-scheme: light dark; --text: #1a1a1a; --page: #fff; --code: #f5f5f5; --line: #ccc; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6e6; --page: #161616; --code: #232323; --line: #555; } }
body { margin: 0; background: var(--page); color: var(--text); font: 1.05rem/1.6 Georgia, "Times New Roman", serif; }
main { max-width: 50rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1, h2, h3 { line-height: 1.25; }
a.anchor-link { display: none; }
pre, code { font: 0.85rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
.highlight, .jp-OutputArea-output pre { background: var(--code); padding: 0.1rem 0.8rem; overflow-x: auto; }
.rendered_html { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.95rem; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--line); text-align: left; }
details > summary { cursor: pointer; font-size: 0.85rem; opacity: 0.8; }
img { max-width: 100%; height: auto; background: #fff; }
"""


def write_html(path: Path, chapter: Chapter) -> Path:
    """Write the page of an executed notebook beside it."""
    notebook = read_notebook(path)
    numbers = figure_numbers(notebook, chapter)
    notebook.cells = [_readable(cell, numbers) for cell in notebook.cells if "remove-cell" not in tags(cell)]
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        extra_loaders=[DictLoader({"run.html.j2": _TEMPLATE})], template_name="basic", template_file="run.html.j2"
    )
    resources: dict[str, Any] = {"title": chapter.title, "style": _STYLE, "mathjax": _mathjax(path.parent)}
    text, _ = exporter.from_notebook_node(notebook, resources)
    target = path.with_suffix(".html")
    write_text(target, text)
    return target


def figure_numbers(notebook: NotebookNode, chapter: Chapter) -> dict[str, str]:
    """The chapter's number and then their own, with the paper's number beside it, as in the book."""
    named = [name for cell in notebook.cells if (name := _figure(cell).get("name"))]
    return {
        name: f"Figure {chapter.number}.{place}" + (f" ({_the_papers(name)})" if name.startswith("figure-") else "")
        for place, name in enumerate(named, start=1)
    }


def _the_papers(name: str) -> str:
    return f"the paper's Figure {name.removeprefix('figure-')}"


def _figure(cell: NotebookNode) -> dict[str, str]:
    figure: dict[str, str] = cell.metadata.get("mystnb", {}).get("figure", {})
    return figure


def _mathjax(folder: Path) -> str:
    return Path(os.path.relpath(MATHJAX, folder)).as_posix() if MATHJAX.is_file() else ""


def _readable(cell: NotebookNode, numbers: Mapping[str, str]) -> NotebookNode:
    """Without the book's markup; figures with their number, caption and alternative text."""
    if cell.cell_type == "markdown":
        cell.source = plain_markdown(cell.source, numbers)
        return cell
    outputs = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "text/markdown" in data:
            data["text/markdown"] = plain_markdown(data["text/markdown"], numbers)
        outputs.append(output)
        if "image/svg+xml" in data:
            output.metadata["alt"] = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            caption = _figure(cell).get("caption", "").strip()
            number = numbers.get(_figure(cell).get("name", ""), "")
            outputs.append(_prose(plain_markdown(f"**{number}.** {caption}" if number else caption, numbers)))
    cell.outputs = outputs
    return cell


def _prose(text: str) -> NotebookNode:
    return nbformat.from_dict(  # type: ignore[no-any-return, no-untyped-call]
        {"output_type": "display_data", "metadata": {}, "data": {"text/markdown": text, "text/plain": text}}
    )


#: Lines of the book's markup that say nothing by themselves: labels, lines of links, entries of the index.
_SILENT = re.compile(r"^(\([\w-]+\)=|```\{(equation-links|index)\}[^\n]*\n```)\n", re.MULTILINE)
_NUMBERED = re.compile(r"^\$\$ \(eq-(\w+)\)$", re.MULTILINE)
_ROLE = re.compile(r"\{([\w:+-]+)\}`([^`]*)`")


def plain_markdown(text: str, numbers: Mapping[str, str] | None = None) -> str:
    """Markdown in which cross-references are words and boxes are quotations.

    Parameters
    ----------
    text : str
        MyST Markdown.
    numbers : mapping, optional
        What to call the figures that are referred to by name.

    Examples
    --------
    >>> plain_markdown("By {eq}`eq-5` and {numref}`figure-2`, see {ref}`the theory <theory-convergence>`.")
    "By (5) and the paper's Figure 2, see the theory."
    >>> plain_markdown("(label)=\\n$$\\na = b\\n$$ (eq-5)\\n\\n```{equation-links} 5\\n```\\n")
    '$$\\na = b\\n\\\\tag{5}\\n$$\\n'
    """
    text = _NUMBERED.sub(r"\\tag{\1}\n$$", _SILENT.sub("", text))
    return _ROLE.sub(lambda match: _words(match[1], match[2], numbers or {}), _boxes(text))


def _words(role: str, target: str, numbers: Mapping[str, str]) -> str:
    if "<" in target:
        return target.partition("<")[0].strip()
    if target in numbers:
        return numbers[target]
    if role == "eq":
        return f"({target.removeprefix('eq-')})"
    if role.startswith("cite"):
        return f"[{target}]"
    kind, _, rest = target.rpartition("/")[2].partition("-")
    if kind == "figure":
        return _the_papers(target)
    if kind == "fig":
        return f"Figure {rest.replace('-', ' ')}"
    if kind == "thm":
        return f"Theorem {rest.replace('-', '.')}"
    return f"*{kind.capitalize()}: {rest}*" if rest else f"*{kind.replace('_', ' ')}*"


def _boxes(text: str) -> str:
    """```{note}``` and its kind as quotations."""
    lines, fence = [], ""
    for line in text.splitlines():
        opened = re.match(r"(`{3,}|:{3,})\{(?!code)([\w-]+)\}\s*(.*)", line)
        if opened and not fence:
            fence = opened[1]
            title = opened[2] if opened[2] in ("exercise", "solution") else opened[3] or opened[2]
            lines.append(f"> **{title.strip().capitalize()}**")
            lines.append(">")
        elif fence and line.strip() == fence:
            fence = ""
        elif fence and re.match(r":[\w-]+:", line):
            continue
        else:
            lines.append(f"> {line}" if fence else line)
    return "\n".join(lines)
