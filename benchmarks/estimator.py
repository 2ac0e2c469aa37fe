"""``python -m benchmarks.estimator``: ``fit`` and ``transform`` on MAGIC, n = 200, beside scikit-learn's ``Nystroem``.

Prints the best seconds of several rounds, and the trace error left, as Markdown.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.kernel_approximation import Nystroem as ScikitLearn

import nystrom_lib as nl
from benchmarks.problems import MAGIC
from benchmarks.timing import stopwatch, take_turns
from nystrom_lib.estimators import Nystroem

ROUNDS = 5
LANDMARKS = ("uniform", "kmeans", "rpcholesky", "optimised")


def main() -> None:
    """Fit, transform, print."""
    data, asked = MAGIC.points, {"gamma": MAGIC.rho, "n_components": MAGIC.n, "random_state": 0}
    makers = {"scikit-learn": partial(ScikitLearn, **asked)}
    makers |= {f"ours, {name}": partial(Nystroem, **asked, landmarks=name) for name in LANDMARKS}

    nl.warm_up()
    left = {name: len(data) - np.square(make().fit_transform(data)).sum() for name, make in makers.items()}
    times = {name: stopwatch(lambda make=make: make().fit_transform(data)) for name, make in makers.items()}  # type: ignore[misc]
    best = take_turns(times, ROUNDS)
    print("| landmarks | seconds | trace error |\n|---|---|---|")
    for name, seconds in best.items():
        print(f"| {name} | {seconds:.3f} | {left[name]:.1f} |")


if __name__ == "__main__":
    main()
