"""A small chapter for tests: every kind of parameter, a figure, prose with numbers, a cell that fails on request."""

import os
from dataclasses import dataclass
from pathlib import Path

import nbformat

import nystrom_lib as nl
from companion.chapters import Chapter
from companion.figures import style
from companion.settings import Settings, setting


@dataclass(frozen=True)
class Parameters(Settings):
    n: int = setting(10, at_least=1, at_most=500, meaning="number of landmark points")
    rho: float = setting(1.0, above=0, meaning="ρ of the Gaussian kernel")
    ranks: tuple[int, ...] = setting((1, 2), at_least=1, meaning="ranks to compare")
    norms: tuple[str, ...] = setting(("trace",), choices=("trace", "frobenius", "spectral"), meaning="norms")
    factors: bool = setting(True, meaning="divide by the best error?")
    file: str | None = setting(None, meaning="a file of one's own")
    m: int = setting(4, at_least=1, meaning="number of repetitions")
    iterations: int = setting(20, at_least=0, meaning="number of steps T")
    fail: str = setting("", choices=("", "raise", "die"), meaning="how the fourth cell ends")


#: The defaults are small already.
PROFILES = {"quick": {"m": 2}, "smoke": {"n": 5, "m": 2}}

_CELLS = (
    ("markdown", "# A tiny chapter\n\nSee {eq}`eq-5`, {numref}`figure-2` and {numref}`fig-tiny`: $R(S)$.", {}),
    ("code", "", {"tags": ["parameters", "hide-input"]}),
    (
        "code",
        "from companion import notebook\nfrom tests.companion.notebooks import tiny\n"
        'page = notebook.begin(tiny.CHAPTER, globals())\np = page.parameters',
        {},
    ),
    ("code", "tiny.fail(p.fail)\nresults = page.results(tiny.experiment(p))", {}),
    (
        "code",
        'before, after = results.table.groupby("stage")["trace"].median()[["initial", "optimised"]]\n'
        'page.say(f"The median of the trace norm goes from {before:.4g} to {after:.4g} with {p.n} landmarks.")',
        {"tags": ["hide-input"]},
    ),
    (
        "code",
        'page.show(tiny.figure(results), "fig-tiny")',
        {"mystnb": {"figure": {"name": "fig-tiny", "caption": "Before and after."}, "image": {"alt": "Two dots"}}},
    ),
    ("code", "page.foot()", {"tags": ["nbval-ignore-output"]}),
)  # fmt: skip

#: Where the tests write the notebook; the kernel only needs the parameters.
CHAPTER = Chapter("tiny", 1, "A tiny chapter", "§0", Parameters, PROFILES)


def write(folder: Path) -> Chapter:
    """Write the notebook into ``folder``; the chapter that has it."""
    cells = []
    for number, (kind, source, metadata) in enumerate(_CELLS):
        make = getattr(nbformat.v4, f"new_{kind}_cell")
        source = CHAPTER.cell() if "parameters" in metadata.get("tags", []) else source
        cells.append(make(source, metadata=metadata, id=f"tiny-{number}"))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    chapter = Chapter("tiny", 1, "A tiny chapter", "§0", Parameters, PROFILES, folder)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), chapter.path)
    return chapter


def fail(how):
    if how == "raise":
        raise ValueError("n is too small for this.")
    if how == "die":
        os._exit(9)


def experiment(p):
    from companion.experiments.components import BiGaussian, GradientDescent
    from companion.experiments.config import Experiment

    return Experiment(
        data=BiGaussian(N=200),
        kernel=nl.Gaussian(rho=p.rho),
        n=p.n,
        descent=GradientDescent(step=1e-5, iterations=p.iterations),
        m=p.m,
        factors=p.factors,
    )


@style.drawn
def figure(results):
    figure, axes = style.subplots()
    axes[0, 0].plot(results.table["R"], "o")
    return figure
