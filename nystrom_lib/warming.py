"""Compile all loops in advance."""

from __future__ import annotations

import time

import numpy as np

from .criteria import nystrom_errors
from .derivatives import radial_skd_hessian
from .descent import stochastic_gradient_descent
from .kernels import Gaussian
from .landmarks.find import load
from .landmarks.objectives import LocalTraceError
from .landmarks.starts import initial_sample


def warm_up() -> float:
    """Compile every loop for double precision, or load it from the cache.

    A first use on a new machine compiles for up to a minute; the code is kept on disk, and later processes load it in a
    second or two. Call this before measuring time, or before many processes start at once.

    Returns
    -------
    float
        The seconds it took.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.warm_up() > 0
    True
    """
    begin = time.perf_counter()
    kernel = Gaussian(1.0)
    points = np.random.default_rng(0).standard_normal((2700, 6))
    sample = points[:20].copy()
    stochastic_gradient_descent(kernel, points, sample, step=1e-9, iterations=1, batch_size=20, seed=0)
    LocalTraceError(kernel, points[:50]).gradient(sample)
    nystrom_errors(kernel, points, sample, precision="double")
    kernel.matrix(points[:300])
    initial_sample(kernel, points, 20, "kmeans", seed=0)
    load()
    nystrom_errors(kernel, points[:50], sample, precision="extended")
    radial_skd_hessian(kernel, points[:50], sample[:2])
    return time.perf_counter() - begin
