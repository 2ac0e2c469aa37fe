"""Beyond the paper: eight problems, and the methods tried on each, as named experiments.

Four of the problems are the paper's own; the other four come with scikit-learn. Every experiment here is stored at full
scale in ``results/beyond/`` under its name, ``PROBLEM.WAY``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from nystrom_lib import LBFGS, Adam, FixedStep, Gaussian, Momentum

from ..choices import STARTS
from .components import (
    SIZES,
    Abalone,
    BiGaussian,
    Chosen,
    DataSource,
    Descend,
    Descent,
    FindLandmarks,
    InitialSample,
    Magic,
    ScikitLearnCentres,
    ScikitLearnData,
    Stay,
    Uniform,
    part_of,
)
from .config import Experiment, Record
from .paper import PAPER, SEED

Rule = FixedStep | Adam | LBFGS

#: Repetitions of each experiment.
M = 11


@dataclass(frozen=True)
class Problem:
    """Data, a kernel and a number of landmarks."""

    name: str
    title: str
    data: DataSource
    N: int  #: the number of points
    rho: float  #: of the Gaussian kernel
    n: int
    paper: str | None = None  #: the paper's experiment with this data, kernel and n

    def points(self, most: int | None = None) -> DataSource:
        """D, or a part of it with ``most`` points."""
        return self.data if most is None or most >= self.N else part_of(self.data, most, self.N)


def _listed() -> dict[str, Problem]:
    roll, blobs, cancer = 5_000, 10_000, ScikitLearnData(name="breast-cancer")
    problems = (
        Problem("bigaussian-1", "bi-Gaussian, ρ = 1", BiGaussian(), 2_000, 1.0, 50, "figure-2-n50"),
        Problem("bigaussian-16", "bi-Gaussian, ρ = 16", BiGaussian(), 2_000, 16.0, 50, "figure-2-n50-rho16"),
        Problem("abalone", "Abalone", Abalone(), 4_175, 1.0, 50, "figure-3-rho1"),
        Problem("magic", "MAGIC", Magic(), 18_905, 0.2, 200, "figure-4-n200"),
        Problem("digits", "digits", ScikitLearnData(name="digits"), SIZES["digits"], 0.01, 100),
        Problem("breast-cancer", "breast cancer", cancer, SIZES["breast-cancer"], 0.02, 50),
        Problem("swiss-roll", "swiss roll", ScikitLearnData(name="swiss-roll", N=roll), roll, 1.0, 100),
        Problem("blobs", "blobs", ScikitLearnData(name="blobs", N=blobs), blobs, 0.05, 100),
    )
    return {each.name: each for each in problems}


PROBLEMS: Mapping[str, Problem] = MappingProxyType(_listed())


# -- what is tried ---------------------------------------------------------------------------------------------

#: scikit-learn's methods of choosing points.
CENTRES = ("KMeans", "MiniBatchKMeans", "BisectingKMeans")
#: The descents that follow a start.
DESCENTS_FROM: Mapping[str, str] = {"radial": "radial-skd", "trace": "trace", "weighted": "weighted-skd"}


def start(by: str) -> InitialSample:
    """A start by its name, the library's or scikit-learn's."""
    if by in CENTRES:
        return ScikitLearnCentres(by=by)
    return Uniform() if by == "uniform" else Chosen(by=by)


def tried(this: Problem, by: str, descent: Descent, *, m: int = M, most: int | None = None, n: int | None = None,
          seed: int = SEED, record: Record | None = None) -> Experiment:  # fmt: skip
    """One experiment on a problem: a start, and a descent from there on."""
    return Experiment(
        data=this.points(most),
        kernel=Gaussian(rho=this.rho),
        n=n or this.n,
        descent=descent,
        m=m,
        seed=seed,
        initial=start(by),
        norms=("trace",),
        record=record or Record(),
    )


def descent_by(method: str, iterations: int | None = None) -> Descent:
    """A descent by its name in :data:`DESCENTS_FROM`, or none."""
    return Stay() if method == "none" else FindLandmarks(method=DESCENTS_FROM[method], iterations=iterations)


# -- the descents of chapter "descents" ------------------------------------------------------------------------

#: Steps, steps between records, and γ of the scale-free rule in units of n/ρ, one number for all problems: a landmark
#: has a share 1/n in T₁, and the curvature of log K² is 4ρ.
STEPS, EVERY, FREE_STEP = 1_000, 20, 0.1
EXACT = ("bigaussian-1", "bigaussian-16", "abalone")


def rules(this: Problem) -> dict[str, Rule]:
    """The step rules tried on R with the exact gradient; γ of the first is the paper's for these data."""
    paper = PAPER[this.paper or ""].descent
    step = float(paper.to_plain()["step"])
    free = FREE_STEP * this.n / this.rho
    return {
        "fixed": FixedStep(step=step),
        "scale-free": FixedStep(step=free, scale_free=True),
        "momentum": Momentum(step=0.1 * free, scale_free=True),
        "adam": Adam(),
        "lbfgs": LBFGS(),
    }


def exact(this: Problem, rule: Rule, *, steps: int = STEPS, every: int = EVERY, m: int = M, most: int | None = None,
          seed: int = SEED) -> Experiment:  # fmt: skip
    """R against steps from a uniform sample; every repetition is recorded."""
    descent = Descend(objective="radial-skd", rule=rule, iterations=steps)
    record = Record(repetitions=tuple(range(m)), every=every)
    return tried(this, "uniform", descent, m=m, most=most, seed=seed, record=record)


# -- all of them -----------------------------------------------------------------------------------------------


def _beyond() -> dict[str, Experiment]:
    named: dict[str, Experiment] = {}
    for name, this in PROBLEMS.items():
        for by in STARTS:
            for method in ("radial", "trace"):
                named[f"{name}.{by}-{method}"] = tried(this, by, descent_by(method))
        named[f"{name}.uniform-weighted"] = tried(this, "uniform", descent_by("weighted"))
        for by in CENTRES:
            named[f"{name}.{by}"] = tried(this, by, Stay())
        if name in EXACT:
            for rule, how in rules(this).items():
                named[f"{name}.steps-{rule}"] = exact(this, how)
    return named


BEYOND: Mapping[str, Experiment] = MappingProxyType(_beyond())
