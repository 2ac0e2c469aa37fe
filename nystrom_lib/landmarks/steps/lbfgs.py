"""L-BFGS (Liu and Nocedal 1989) by scipy, for exact gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ... import _validation as check
from ..._validation import Array
from ..objectives.base import EVERYTHING, Objective
from .adam import Adam
from .base import Move, StepRule

_TOO_LARGE = 1e150  # replaces a value that is not finite, so that the line search takes a shorter step


@dataclass(frozen=True)
class LBFGS(StepRule):
    r"""Limited-memory BFGS with a line search: ``scipy.optimize.minimize(method="L-BFGS-B")``.

    The value never rises. Each step evaluates all of the data once or a few times, so this is for small N; for large N
    use :class:`Adam` with batches. It ends where no step lowers the value any more.

    Parameters
    ----------
    memory
        The number of past steps that the curvature is estimated from.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> objective = nl.TraceError(nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]])
    >>> nl.descend(objective, [[0.2]], nl.LBFGS(), iterations=10).sample.round(4)
    array([[0.5]])
    """

    memory: int = 20

    name: ClassVar[str] = "lbfgs"
    exact_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory", check.integer("memory", self.memory, least=1))

    def begin(self, objective: Objective, sample: Array) -> Move:
        """Not available: scipy owns the loop, see :meth:`minimise`."""
        raise TypeError("LBFGS gives no single steps; use descend.")

    def minimise(
        self, objective: Objective, sample: Array, iterations: int, after_step: Callable[[Array], None]
    ) -> None:
        """Minimise, with a call after each step; ``StopIteration`` raised there ends the minimisation."""
        from scipy.optimize import OptimizeResult, minimize

        evaluate = objective.prepare(len(sample), len(objective.data))
        length = Adam().length(objective, sample) or 1.0  # scipy's first step is one unit long

        def value_and_gradient(scaled: Array) -> tuple[float, Array]:
            value, gradient = evaluate(length * scaled.reshape(sample.shape), EVERYTHING)
            if not (np.isfinite(value) and np.isfinite(gradient).all()):
                return _TOO_LARGE, np.zeros(sample.size)
            return value, length * gradient.ravel()

        def callback(intermediate_result: OptimizeResult) -> None:
            after_step(length * intermediate_result.x.reshape(sample.shape))

        options = {"maxcor": self.memory, "maxiter": iterations, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0}
        start = sample.ravel() / length
        minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", callback=callback, options=options)
