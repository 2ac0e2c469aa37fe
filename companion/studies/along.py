"""The question of the whole book along one descent: R falls; does the trace error follow?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..results.table import Results


@dataclass(frozen=True)
class Along:
    """R and the trace factor of Eq. (8) at some iterations of a descent."""

    iterations: Array
    R: Array
    E_tr: Array


def along(results: Results, data: Array, j: int = 0) -> Along:
    """R as it was recorded, and the trace factor of each sample that was kept.

    Parameters
    ----------
    results : Results
        Of an experiment that kept the path of repetition j and knows the best trace error of its rank.
    data : array, (N, d)
        Its data.
    j : int
        Which repetition.
    """
    iterations, path = results.path(j)
    kernel, best = results.experiment.kernel.build(), results.constants["trace"]
    factors = [nl.nystrom_errors(kernel, data, sample, "trace").trace / best for sample in path]
    curve = results.curves
    values = curve.loc[curve["repetition"] == j, "R"].to_numpy()
    return Along(np.asarray(iterations, dtype=float), values, np.array(factors))
