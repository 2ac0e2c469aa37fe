"""The landing page's figure, answer and numbers for each experiment, from the stored results."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import pandas as pd
import yaml

from ..checkout import ROOT
from ..experiments.paper import PAPER
from ..results.archive import Archive
from ..results.summary import change
from ..results.table import Results
from ..wording import listed, markdown_table, number, percent
from .errors import BookError
from .learned import TITLES

#: The bi-Gaussian experiments with the ρ that the paper prints, and with that of the authors' notebook.
NOTEBOOK = [name for name in TITLES if name.endswith("-rho16")]
PRINTED = [name for name in TITLES if name.startswith("figure-2") and name not in NOTEBOOK]


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


#: The rows of the table: data, the setting that varies, the chapter and its experiments.
ROWS: Sequence[tuple[str, str, str, list[str]]] = [
    ("bi-Gaussian, ρ = 1 as printed", "n", "05_bigaussian", PRINTED),
    ("bi-Gaussian, ρ = 16 as in the authors' notebook", "n", "05_bigaussian", NOTEBOOK),
    ("Abalone, n = 50", "ρ", "06_abalone", [name for name in TITLES if name.startswith("figure-3")]),
    ("MAGIC, ρ = 0.2", "n", "07_magic", [name for name in TITLES if name.startswith("figure-4")]),
]


def answer(results: Mapping[str, Results]) -> str:
    """In how many experiments the trace error falls in every sample, and what happens in the others."""
    shares = {name: change(results[name], "trace").improved for name in TITLES}
    others = [name for name in TITLES if shares[name] < 1.0]
    words = f"In {len(TITLES) - len(others)} of {len(TITLES)} experiments every sample ends with a smaller trace error."
    if others:
        shown = [f"{percent(shares[name])} of the samples in “{TITLES[name]}”" for name in others]
        words += f" In the others the error falls for {listed(shown)}."
    return words + "\n"


def table(results: Mapping[str, Results], links: bool = True) -> str:
    """The trace error before and after, and how often it falls, by experiment."""
    rows = []
    for title, symbol, chapter, names in ROWS:
        shown = [results[name] for name in names]
        settings = ", ".join(f"{_setting(each, symbol):g}" for each in shown)
        rows.append(
            [
                f"{{doc}}`{title} </notebooks/{chapter}>`" if links else title,
                f"{symbol} = {settings}",
                "; ".join(" → ".join(_medians(each)) for each in shown),
                ", ".join(percent(change(each, "trace").improved) for each in shown)
                + f" of {shown[0].experiment.m:,}",
            ]
        )
    return markdown_table(["data", "setting", "error before → after", "smaller in"], rows) + "\n"


def _setting(results: Results, symbol: str) -> float:
    return results.experiment.n if symbol == "n" else results.experiment.kernel.to_plain()["rho"]


CAPTION = (
    "Trace error in multiples of the smallest possible at the same rank, medians over the samples of each experiment; "
    "and the share of the samples whose error is smaller after the descent than before.\n"
)


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
