"""What the paper's Conclusion leaves open, as parts of an experiment: objective, step rule and start.

The paper's own (radial SKD, fixed step, uniform sample) are parts of their own and stay what they are: a stored result
keeps its fingerprint. From here on an experiment may name another of each.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import nystrom_lib as nl

from ..choices import OBJECTIVES, STARTS
from ..settings import Component, registry, setting
from .components import DESCENTS, INITIAL_SAMPLES, Descent, InitialSample
from .outcome import Array

# -- starts ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chosen(InitialSample):
    """One of the library's other starts."""

    kind: ClassVar[str] = "chosen"
    by: str = setting(choices=tuple(name for name in STARTS if name != "uniform"))

    def draw(self, kernel: nl.Kernel, data: Array, n: int, seed: np.random.SeedSequence) -> Array:
        """n landmark points, a row for each."""
        return nl.initial_sample(kernel, data, n, self.by, seed=seed)


# -- step rules ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule(Component):
    """How to move."""

    @abstractmethod
    def build(self) -> Any:
        """The library's step rule."""


@dataclass(frozen=True)
class FixedStep(Rule):
    """γ times the gradient, or times the gradient of the logarithm."""

    kind: ClassVar[str] = "fixed"
    step: float = setting(above=0)
    scale_free: bool = False
    decay: bool = False

    def build(self) -> Any:
        """The library's step rule."""
        return nl.FixedStep(self.step, scale_free=self.scale_free, decay=self.decay)


@dataclass(frozen=True)
class Momentum(FixedStep):
    """γ times a fading sum of gradients."""

    kind: ClassVar[str] = "momentum"
    decay: bool = True
    beta: float = setting(0.9, at_least=0)

    def build(self) -> Any:
        """The library's step rule."""
        return nl.Momentum(self.step, scale_free=self.scale_free, decay=self.decay, beta=self.beta)


@dataclass(frozen=True)
class Adam(Rule):
    """One second moment for each landmark; by default the first steps are as long as the library says."""

    kind: ClassVar[str] = "adam"
    step: float | None = setting(None, above=0)

    def build(self) -> Any:
        """The library's step rule."""
        return nl.Adam(self.step)


@dataclass(frozen=True)
class LBFGS(Rule):
    """L-BFGS, for exact gradients."""

    kind: ClassVar[str] = "lbfgs"

    def build(self) -> Any:
        """The library's step rule."""
        return nl.LBFGS()


RULES = registry(FixedStep, Momentum, Adam, LBFGS)


# -- descents --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stay(Descent):
    """No descent: the start is the end."""

    kind: ClassVar[str] = "none"

    @property
    def steps(self) -> int:
        """None."""
        return 0

    def descend(
        self, kernel: nl.Kernel, data: Array, start: Array, seed: np.random.SeedSequence, **how: Any
    ) -> nl.Descent:
        """The start."""
        return _arrived(start, 0)


@dataclass(frozen=True)
class Descend(Descent):
    """Any objective by any step rule.

    Parameters
    ----------
    objective : str
        What to descend on.
    rule : Rule
        How to move.
    iterations : int
        T.
    batch_size : int or None
        b, independent and uniform; None for the exact gradient.
    """

    kind: ClassVar[str] = "descend"
    objective: str = setting(choices=tuple(OBJECTIVES))
    rule: Rule = setting(slot=RULES)
    iterations: int = setting(at_least=0, at_most=10**9)
    batch_size: int | None = setting(None, at_least=1)

    @property
    def steps(self) -> int:
        """T."""
        return self.iterations

    @property
    def drifts(self) -> bool:
        """With steps that adapt it does."""
        return isinstance(self.rule, Adam | LBFGS)

    @property
    def lowers(self) -> str:
        """Its objective, if it is stored."""
        return _lowered(self.objective)

    def descend(
        self, kernel: nl.Kernel, data: Array, start: Array, seed: np.random.SeedSequence, *, constant: float, **how: Any
    ) -> nl.Descent:
        """Batches from the seed of their own axis; what is recorded is the objective's value, without a constant."""
        objective = OBJECTIVES[self.objective](kernel, data)
        return nl.descend(
            objective, start, self.rule.build(),
            iterations=self.iterations, batch_size=self.batch_size, seed=seed, **how,
        )  # fmt: skip


@dataclass(frozen=True)
class FindLandmarks(Descent):
    """:func:`nystrom_lib.find_landmarks` from the initial sample on, by the rules it prints.

    Parameters
    ----------
    method : str
        ``"auto"`` or an objective.
    iterations : int or None
        Steps; None for as many as the rules say.
    """

    kind: ClassVar[str] = "find-landmarks"
    method: str = setting("auto", choices=("auto", *OBJECTIVES))
    iterations: int | None = setting(None, at_least=0, at_most=10**9)

    @property
    def steps(self) -> int:
        """T, or 0 where the rules decide."""
        return self.iterations or 0

    @property
    def drifts(self) -> bool:
        """Always: its steps adapt."""
        return True

    @property
    def lowers(self) -> str:
        """What its method stands for."""
        return _lowered(self.method)

    def descend(
        self, kernel: nl.Kernel, data: Array, start: Array, seed: np.random.SeedSequence, **how: Any
    ) -> nl.Descent:
        """The one call, which records nothing on its way."""
        landmarks = nl.find_landmarks(
            kernel, data, len(start), method=self.method, iterations=self.iterations, seed=seed, start=start,
            progress=how.get("progress"),
        )  # fmt: skip
        return _arrived(landmarks.sample, landmarks.steps)


def _lowered(objective: str) -> str:
    return {nl.RadialSKD.name: "R", nl.WeightedSKD.name: ""}.get(objective, "error")


def _arrived(sample: Array, steps: int) -> nl.Descent:
    return nl.Descent(sample, np.empty(0), np.empty(0, dtype=np.int64), None, steps)


INITIAL_SAMPLES[Chosen.kind] = Chosen
for _descent in (Stay, Descend, FindLandmarks):
    DESCENTS[_descent.kind] = _descent
