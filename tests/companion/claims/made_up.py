"""Stored results with numbers of our own, to see verdicts go either way."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from companion.claims import CLAIMS, Case, Finding, Verdict, verdict
from companion.experiments.outcome import Outcome
from companion.experiments.paper import PAPER
from companion.results.archive import Archive
from companion.results.table import Results

Values = Callable[[str, np.random.Generator], tuple[np.ndarray, np.ndarray]]

FILES = {
    "later_checks.json": "later_checks", "miniboone_timings.json": "timings",
    "direct_descent.json": "direct_descent", "../benchmarks/results/results.json": "benchmark",
}  # fmt: skip


class MadeUp(Archive):
    """An archive of made-up results; other stored files are given by their names in :data:`FILES`."""

    def __init__(self, choose: Callable[[str], Results | None] = lambda name: None, **stored: Any) -> None:
        super().__init__(Path())
        self.choose, self.stored = choose, stored

    def results(self, name: str) -> Results | None:
        return self.choose(name)

    def file(self, path: str) -> dict[str, Any] | None:
        return self.stored.get(FILES[path])


def decided(claim: str, choose: Callable[[str], Results | None] = lambda name: None, **stored: Any) -> Verdict:
    """Decide a claim by made-up results."""
    return verdict(CLAIMS[claim], MadeUp(choose, **stored))


def finding(claim: str, cases: Iterable[Case], later: bool = False) -> Finding:
    """What the rule of a claim, or of its later check, finds from some cases."""
    rule = CLAIMS[claim].later if later else CLAIMS[claim].rule
    assert rule is not None
    return rule.decide(cases)[0]


def made_up(
    name: str,
    values: Values,
    *,
    stand_in: bool = False,
    constants: dict[str, float] | None = None,
    curve: np.ndarray | None = None,
) -> Results:
    """Results of one of the paper's experiments with numbers of our own: ``values`` gives before and after."""
    experiment = PAPER[name]
    quantities = ["R", *experiment.norms]
    if experiment.factors:
        quantities += [{"trace": "E_tr", "frobenius": "E_F", "spectral": "E_sp"}[norm] for norm in experiment.norms]
    rng = np.random.default_rng(len(name))
    drawn = {quantity: values(quantity, rng) for quantity in quantities}
    outcomes = {
        j: Outcome(
            {
                f"{q}.{stage}": float(drawn[q][side][j])
                for q in drawn
                for side, stage in enumerate(("initial", "optimised"))
            },
            {} if curve is None or j else {"curve": curve},
        )
        for j in range(experiment.m)
    }
    d = {"bigaussian": 2, "abalone": 8, "magic": 10, "miniboone": 50}[experiment.data.kind]
    provenance = {
        "experiment": experiment.to_plain(), "fingerprint": experiment.fingerprint, "seed": experiment.seed,
        "data": {"name": "made up", "sha256": "00", "N": 2000, "d": d, "stand_in": stand_in},
        "constants": constants or {}, "sessions": [],
    }  # fmt: skip
    return Results(outcomes, provenance)


def values(
    ratio: float | dict[str, float], scatter: float | dict[str, float] = 0.05, *, linked: bool = False
) -> Values:
    """Before: about 1, scattered; after: ``ratio`` times as much, scattered on its own or just as before."""

    def draw(quantity: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        before = np.exp(0.1 * rng.standard_normal(1000))
        size = scatter.get(quantity, 0.05) if isinstance(scatter, dict) else scatter
        own = np.exp(size * rng.standard_normal(1000))
        factor = ratio.get(quantity, 1.0) if isinstance(ratio, dict) else ratio
        return before, factor * (before if linked else own)

    return draw


def decaying(rate: float) -> np.ndarray:
    steps = np.arange(0.0, 4001.0, 20.0)
    return np.stack([steps, 1.0 + np.exp(-rate * steps / 4000.0)])
