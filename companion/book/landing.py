"""The landing page's figure, verdict and four numbers, from the stored results."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import yaml

from ..checkout import ROOT
from ..experiments.paper import PAPER
from ..results.archive import Archive
from ..results.summary import change
from ..results.table import Results
from ..wording import number, percent
from .errors import BookError
from .learned import TITLES

#: The bi-Gaussian experiments with the ρ that the paper prints, and with that of the authors' notebook.
NOTEBOOK = [name for name in TITLES if name.endswith("-rho16")]
PRINTED = [name for name in TITLES if name.startswith("figure-2") and name not in NOTEBOOK]


@dataclass(frozen=True)
class Number:
    """A number of the landing page, and the sentence that says what it is."""

    value: str
    meaning: str
    page: str


def load(archive: Archive) -> dict[str, Results]:
    """The stored results of the paper, by name; those that are missing are named."""
    missing = archive.missing(TITLES)
    if missing:
        raise BookError(
            f"{archive.folder.name}/ holds no results of {', '.join(missing)}; "
            "`make paper` computes the paper's experiments."
        )
    return {name: results for name in PAPER if (results := archive.results(name)) is not None}


def figure_svg(results: Mapping[str, Results]) -> str:
    """The one figure."""
    from ..figures import answer, style

    return style.svg(answer.before_and_after(panels(results)))


def panels(results: Mapping[str, Results]) -> dict[str, dict[str, pd.DataFrame]]:
    """The panels of the figure: ρ = 1 goes to the thousands, and next to it nothing else could be read."""
    names = {
        "": [name for name in TITLES if name not in PRINTED],
        "ρ = 1 on the bi-Gaussian data, on a scale of its own": PRINTED,
    }
    return {title: {TITLES[name]: results[name].table for name in rows} for title, rows in names.items()}


def alt_text(results: Mapping[str, Results]) -> str:
    """The one figure for those who do not see it."""
    shown = [f"{title}: {' to '.join(_medians(results[name]))}" for name, title in TITLES.items()]
    return (
        "Trace error over the smallest possible at the same rank, before and after the descent, for "
        f"{len(TITLES)} experiments. Medians: {'; '.join(shown)}."
    )


def _medians(results: Results) -> tuple[str, str]:
    """The medians of the trace factor before and after, as they are shown."""
    before, after = change(results, "E_tr").medians
    return number(before), number(after)


def verdict(verdicts: Sequence[Any]) -> Number:
    """How many claims hold."""
    by_word = Counter(str(each.finding) for each in verdicts)
    others = ", ".join(f"{count} “{finding}”" for finding, count in by_word.items() if finding != "holds")
    return Number(
        f"{by_word['holds']} of {len(verdicts)} claims",
        "of the paper hold as stated" + (f"; the others: {others}." if others else "."),
        "claims",
    )


def numbers(results: Mapping[str, Results]) -> list[Number]:
    """The four numbers."""
    better = {name: change(results[name], "trace").better for name in TITLES}
    paper = np.concatenate([better[name] for name in TITLES if name not in NOTEBOOK])
    printed = np.concatenate([better[name] for name in PRINTED])
    notebook = np.concatenate([better[name] for name in NOTEBOOK])
    four = [
        Number(
            percent(paper.mean()),
            f"of {len(paper):,} samples, drawn at random and then moved by the descent as the paper prints it, "
            "approximate the kernel matrix better than before, in the trace norm. On the bi-Gaussian data alone it is "
            f"{percent(printed.mean())} of {len(printed):,} with ρ = 1 as printed, and {percent(notebook.mean())} with "
            "ρ = 16, which is that of the authors' notebook.",
            "learned",
        )
    ]
    for name, page in (
        ("figure-2-n50", "notebooks/05_bigaussian"),
        ("figure-3-rho1", "notebooks/06_abalone"),
        ("figure-4-n200", "notebooks/07_magic"),
    ):
        where = TITLES[name].replace("Bi-Gaussian", "the bi-Gaussian data")
        beside = ""
        if f"{name}-rho16" in TITLES:
            beside = f" With ρ = 16, which the paper does not print: {' → '.join(_medians(results[f'{name}-rho16']))}."
        four.append(
            Number(
                " → ".join(_medians(results[name])),
                f"is how the trace error changes on {where}: medians over {results[name].experiment.m:,} samples, "
                f"in multiples of the smallest error possible at that rank.{beside}",
                page,
            )
        )
    return four


def cards(shown: Sequence[Number]) -> str:
    """The numbers as cards, at most two beside each other, each a link to where it comes from."""
    across = min(2, len(shown))
    lines = [f"::::{{grid}} 1 {across} {across} {across}", ":gutter: 3", ":class-container: numbers", ""]
    for each in shown:
        lines += [
            f":::{{grid-item-card}} {each.value}",
            f":link: /{each.page}",
            ":link-type: doc",
            ":class-title: number",
            each.meaning,
            ":::",
            "",
        ]
    return "\n".join([*lines, "::::", ""])


def figure_block(alt: str) -> str:
    """The figure as the page includes it: without a number, which would be taken for one of the paper's."""
    return "\n".join(
        [
            "```{image} /_generated/answer.svg",
            f":alt: {alt}",
            ":width: 100%",
            "```",
            "",
            "*Trace error of Nyström approximations, in multiples of the smallest error possible at the same rank: "
            "landmark points drawn from the data (orange) and the same points after the descent (blue). A dot is the "
            "median over all repetitions of an experiment, a bar covers nine tenths of them.*",
            "",
        ]
    )


def citation() -> str:
    """BibTeX for the paper and for this companion, from CITATION.cff."""
    known = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    paper = known["preferred-citation"]
    authors = " and ".join(f"{each['family-names']}, {each['given-names']}" for each in paper["authors"])
    return "\n".join(
        [
            "```bibtex",
            "@misc{hutchings2022local,",
            f"  author = {{{authors}}},",
            *_title("  title  = ", paper["title"]),
            f"  year   = {{{paper['year']}}},",
            f"  doi    = {{{paper['doi']}}},",
            f"  note   = {{arXiv:{paper['url'].rpartition('/')[2]}}}",
            "}",
            "",
            "@software{nystrom_lib,",
            f"  author  = {{{{{known['authors'][0]['name']}}}}},",
            *_title("  title   = ", known["title"]),
            f"  version = {{{known['version']}}}",
            "}",
            "```",
            "",
        ]
    )


def _title(before: str, title: str) -> list[str]:
    """A title in lines that fit their box."""
    return textwrap.wrap(f"{before}{{{_tex(title)}}},", 76, subsequent_indent=" " * len(before))


def _tex(text: str) -> str:
    return text.replace("Nyström", '{N}ystr{\\"o}m').replace("_", "\\_")
