"""A small book of a few runs: the same pages as in the book, for whoever ran a chapter with other parameters."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from ..checkout import BOOK, ROOT
from ..notebook.page import markdown_table
from .building import empty
from .errors import BookError
from .rendering import CONFIG, render

#: What a cross-reference says where the page it leads to is not part of the book.
_ROLE = re.compile(r"\{([\w:.+-]+)\}`([^`]+)`")
#: Before the label of an exercise, where it is given and where its solution names it.
_EXERCISE = re.compile(r"^(?::label: |`+\{solution\} )(?=ex-)", flags=re.MULTILINE)
_CHAPTER = re.compile(r"\[([^\]]+)\]\(\w+\.ipynb\)")
_EXPLICIT = re.compile(r"(.+?)\s*<[^>]*>", flags=re.DOTALL)
#: How labels read: ``eq-5`` is (5), ``thm-2-1`` Theorem 2.1.
_LABELS = (
    (re.compile(r"eq-(\w+)"), "({})"),
    (re.compile(r"thm-([\d-]+)"), "Theorem {}"),
    (re.compile(r"rem-([\d-]+)"), "Remark {}"),
    (re.compile(r"figure-(\d+)"), "Figure {}"),
)


def build_small(run_folders: Iterable[str | Path], out: str | Path) -> Path:
    """A browsable book of some runs.

    Parameters
    ----------
    run_folders : iterable of path
        Folders of runs, each with an executed notebook.
    out : path
        Where the book's sources (``source``) and pages (``_build/html``) come to.

    Returns
    -------
    Path
        The page to open.
    """
    folders = [Path(folder).resolve() for folder in run_folders]
    if not folders:
        raise BookError("run_folders is empty; name at least one folder of a run.")
    out = Path(out).resolve()
    source = empty(out / "source")
    names = {folder: _page_name(place, folder) for place, folder in enumerate(folders, start=1)}
    for folder, name in names.items():
        text = json.dumps(standing_alone(_notebook(folder), name), ensure_ascii=False)
        (source / f"{name}.ipynb").write_text(text, encoding="utf-8")
    (source / "index.md").write_text(_front(names), encoding="utf-8")
    toc = {"format": "jb-book", "root": "index", "chapters": [{"file": name} for name in names.values()]}
    (source / "_toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False), encoding="utf-8")
    for name in ("_assets", "_extra", "_vendor"):
        shutil.copytree(BOOK / name, source / name)
    config = source / "_config.yml"
    config.write_text(yaml.safe_dump(_config(), sort_keys=False, allow_unicode=True), encoding="utf-8")
    return render(source, out, config) / "index.html"


def _page_name(place: int, folder: Path) -> str:
    return f"{place:02d}_{re.sub(r'[^A-Za-z0-9._-]+', '-', folder.name)}"


def _notebook(folder: Path) -> dict[str, Any]:
    found = sorted(folder.glob("*.ipynb"))
    if len(found) != 1:
        raise BookError(f"{folder} holds {len(found)} notebooks; the folder of a run holds exactly one.")
    notebook: dict[str, Any] = json.loads(found[0].read_text(encoding="utf-8"))
    return notebook


def _config() -> dict[str, Any]:
    """The book's own configuration without what needs the rest of the book, or the repository."""
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    for key in ("launch_buttons", "bibtex_bibfiles", "repository"):
        config.pop(key, None)
    config["title"] = "Runs of the companion"
    config["html"]["use_repository_button"] = False
    settings = config["sphinx"]["config"]
    settings["extensions"] = [name for name in settings["extensions"] if name != "sphinxcontrib.bibtex"]
    settings.pop("bibtex_reference_style", None)
    local = config["sphinx"].get("local_extensions", {})
    config["sphinx"]["local_extensions"] = {name: str(ROOT / path) for name, path in local.items()}
    return config


def _front(names: Mapping[Path, str]) -> str:
    """The first page: a line for each run."""
    rows = []
    for folder, name in names.items():
        known = _run_facts(folder)
        rows.append([f"{{doc}}`{name}`", f"`{folder.name}`", known or "the paper's"])
    table = markdown_table(["Chapter", "Folder", "Parameters"], rows)
    words = "Each page is a chapter as it was run, with the parameters it was run with."
    return f"# Runs of the companion\n\n{words}\n\n{table}\n"


def _run_facts(folder: Path) -> str:
    """The parameters that ``run.json`` tells, if there is one."""
    path = folder / "run.json"
    if not path.is_file():
        return ""
    values = json.loads(path.read_text(encoding="utf-8")).get("parameters", {})
    return ", ".join(f"`{name} = {value}`" for name, value in values.items())


def standing_alone(notebook: dict[str, Any], prefix: str) -> dict[str, Any]:
    """A notebook whose cross-references to the rest of the book are plain words, and whose figure names are its own."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = _EXERCISE.sub(rf"\g<0>{prefix}-", plain_references("".join(cell["source"])))
        shown = cell.get("metadata", {}).get("mystnb", {}).get("figure", {})
        if "name" in shown:
            shown["name"] = f"{prefix}-{shown['name']}"
        if "caption" in shown:
            shown["caption"] = plain_references(shown["caption"])
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/markdown" in data:
                data["text/markdown"] = plain_references("".join(data["text/markdown"]))
    return notebook


def plain_references(text: str) -> str:
    """What leads to other pages, roles and links to chapters, as the words a reader would see.

    Examples
    --------
    >>> plain_references("By Eq. {eq}`eq-5` and {numref}`figure-2`, see {doc}`the proof </theory/proof>`.")
    'By Eq. (5) and Figure 2, see the proof.'
    """
    return _ROLE.sub(lambda match: _words(match[1], match[2]), _CHAPTER.sub(r"\1", text))


def _words(role: str, content: str) -> str:
    if role in ("math", "code", "sub", "sup", "abbr", "kbd"):
        return f"{{{role}}}`{content}`"
    explicit = _EXPLICIT.fullmatch(content)
    if explicit:
        return explicit[1]
    for pattern, words in _LABELS:
        found = pattern.fullmatch(content)
        if found:
            return words.format(found[1].upper().replace("-", "."))
    name = content.lstrip("~/").rpartition("/")[2]
    return f"`{name}`" if role.startswith("py:") else name.replace("-", " ").replace("_", " ")
