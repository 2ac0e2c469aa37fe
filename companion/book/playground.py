"""The data of the playground, from the library: ``python -m companion.book.playground`` writes them.

The page computes everything else itself. Coordinates travel as the 64 bits they are, so that the page computes with
the numbers that the library has.
"""

from __future__ import annotations

import base64
import json

import numpy as np

import nystrom_lib as nl

from ..checkout import BOOK

SCRIPT = BOOK / "_assets" / "playground-data.js"
#: The ranges of the page's controls.
RHOS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
MOST_LANDMARKS = 100
#: The start of the README's example, which is the page's.
N_LANDMARKS, SEED = 50, 456


def script() -> str:
    """The data as JavaScript."""
    content = {
        "points": base64.b64encode(nl.datasets.bigaussian().X.astype("<f8").tobytes()).decode("ascii"),
        "order": order(),
        "best": {f"{rho:g}": best(rho) for rho in RHOS},
    }
    return f"// Written by python -m {__spec__.name}.\nconst playgroundData = {json.dumps(content)};\n"


def order() -> list[int]:
    """Data points to begin from: the first fifty are the README's start, the others are drawn from the rest."""
    data = nl.datasets.bigaussian().X
    sample = nl.uniform_sample(data, N_LANDMARKS, seed=SEED)
    first = [int(np.flatnonzero((data == point).all(axis=1))[0]) for point in sample]
    rest = np.setdiff1d(np.arange(len(data)), first)
    more = np.random.default_rng(SEED).permutation(rest)[: MOST_LANDMARKS - len(first)]
    return [*first, *map(int, more)]


def best(rho: float) -> list[float | None]:
    """The smallest trace error of any matrix of rank 1, 2, …: None where double precision does not carry it.

    That is :func:`nystrom_lib.best_rank_errors` for all ranks from one look at the eigenvalues, by the same rule.
    """
    values = np.linalg.eigvalsh(nl.Gaussian(rho=rho).matrix(nl.datasets.bigaussian().X))[::-1]
    tails = np.cumsum(np.maximum(values, 0.0)[::-1])[::-1]
    carried = values >= 1e8 * np.finfo(float).eps * values[0]
    return [float(f"{tails[n]:.9g}") if carried[n] else None for n in range(1, MOST_LANDMARKS + 1)]


if __name__ == "__main__":
    SCRIPT.write_text(script(), encoding="utf-8")
