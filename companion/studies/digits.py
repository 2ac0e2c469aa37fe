"""How many digits of a plotted criterion are right.

The criteria are computed in double precision, or with 32 digits where K_S is so nearly singular that double precision
would show. The same computed with 32 digits and the landmarks in reverse order, so that everything rounds differently,
tells how far either is to be trusted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import nystrom_lib as nl

from ..experiments.config import Experiment
from ..experiments.outcome import Array
from ..experiments.seeds import Axis, seed_for

#: More are not claimed: the reference itself ends in double precision.
MOST = 12


@dataclass(frozen=True)
class Digits:
    """Of one sample: how near to singular K_S is, what was used, and the digits by norm."""

    smallest_pivot: float
    precision: str
    in_double: dict[str, int]
    plotted: dict[str, int]


def right_digits(value: float, reference: float) -> int:
    """How many digits of ``value`` are right.

    Examples
    --------
    >>> right_digits(1.0001, 1.0), right_digits(-3.0, 1.0)
    (4, 0)
    """
    difference = abs(value - reference)
    if difference == 0.0:
        return MOST
    return max(0, min(MOST, math.floor(-math.log10(difference / abs(reference)) + 1e-9)))


def digits_of_criteria(experiment: Experiment, data: Array, *, j: int = 0, matrix: Array | None = None) -> Digits:
    """The digits of the criteria of repetition j's initial sample, all in the norms of the experiment.

    Parameters
    ----------
    experiment : Experiment
        With a kernel of the library.
    data : array, (N, d)
        Its data.
    j : int
        Which repetition.
    matrix : array, optional
        The kernel matrix, if at hand.
    """
    kernel = experiment.kernel.build()
    sample = experiment.initial.draw(kernel, data, experiment.n, seed_for(experiment.seed, Axis.INITIAL_SAMPLE, j))
    norms = experiment.norms
    plotted = nl.nystrom_errors(kernel, data, sample, norms, matrix=matrix)
    double = (
        plotted
        if plotted.precision == "double"
        else nl.nystrom_errors(kernel, data, sample, norms, matrix=matrix, precision="double")
    )
    reference = nl.nystrom_errors(kernel, data, sample[::-1].copy(), norms, matrix=matrix, precision="extended")

    def digits(errors: Any) -> dict[str, int]:
        return {norm: right_digits(getattr(errors, norm), getattr(reference, norm)) for norm in norms}

    return Digits(
        smallest_pivot=nl.NystromApproximation(kernel, sample).smallest_pivot,
        precision=plotted.precision,
        in_double=digits(double),
        plotted=digits(plotted),
    )
