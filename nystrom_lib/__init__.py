"""Nyström samples and their local optimisation: the mathematics of arXiv 2203.13284, equation by equation.

>>> import nystrom_lib as nl
>>> data = nl.datasets.bigaussian().X                                # paper §4.1
>>> kernel = nl.Gaussian(rho=16.0)
>>> start = nl.uniform_sample(data, n=50, seed=456)                  # S⁽⁰⁾
>>> run = nl.gradient_descent(kernel, data, start, step=1e-6, iterations=400)
>>> before, after = (nl.nystrom_errors(kernel, data, s, "trace") for s in (start, run.sample))
>>> print(f"{before.trace:.3f} -> {after.trace:.2f}")
560.243 -> 302.91
"""

from typing import TYPE_CHECKING, Any

from . import _environment  # noqa: F401  (before numba is imported)
from ._threads import threads
from .approximation import NystromApproximation, nystrom_from_columns
from .bandwidth import median_rho
from .criteria import approximation_factors, best_rank_errors, nystrom_errors
from .derivatives import (
    largest_hessian_eigenvalue,
    radial_skd_gradient,
    radial_skd_hessian,
    skd_coefficient_gradient,
)
from .descent import Descent, DescentError, descend, gradient_descent, stochastic_gradient_descent
from .estimates import Estimate
from .kernels import (
    Gaussian,
    Kernel,
    Matern,
    Polynomial,
    RationalQuadratic,
    dot_product_kernel,
    radial_kernel,
)
from .landmarks.bounds import best_error_bound
from .landmarks.find import find_landmarks, warm_up
from .landmarks.objectives import LocalTraceError, PredictionError, RadialSKD, TraceError, WeightedSKD
from .landmarks.saved import load_landmarks
from .landmarks.search import Landmarks
from .landmarks.starts import initial_sample, uniform_sample
from .landmarks.steps import LBFGS, Adam, FixedStep, Momentum
from .lipschitz import lipschitz_bound
from .radial_skd import radial_skd, skd_coefficient, squared_frobenius_norm
from .sources import Source, open_data
from .stochastic import one_sample_gradient, two_sample_gradient

if TYPE_CHECKING:
    from . import datasets

__version__ = "1.0.0"

__all__ = [
    "LBFGS",
    "Adam",
    "Descent",
    "DescentError",
    "Estimate",
    "FixedStep",
    "Gaussian",
    "Kernel",
    "Landmarks",
    "LocalTraceError",
    "Matern",
    "Momentum",
    "NystromApproximation",
    "Polynomial",
    "PredictionError",
    "RadialSKD",
    "RationalQuadratic",
    "Source",
    "TraceError",
    "WeightedSKD",
    "approximation_factors",
    "best_error_bound",
    "best_rank_errors",
    "datasets",
    "descend",
    "dot_product_kernel",
    "find_landmarks",
    "gradient_descent",
    "initial_sample",
    "largest_hessian_eigenvalue",
    "lipschitz_bound",
    "load_landmarks",
    "median_rho",
    "nystrom_errors",
    "nystrom_from_columns",
    "one_sample_gradient",
    "open_data",
    "radial_kernel",
    "radial_skd",
    "radial_skd_gradient",
    "radial_skd_hessian",
    "skd_coefficient",
    "skd_coefficient_gradient",
    "squared_frobenius_norm",
    "stochastic_gradient_descent",
    "threads",
    "two_sample_gradient",
    "uniform_sample",
    "warm_up",
]


def __getattr__(name: str) -> Any:
    """Import ``datasets`` when it is first used: nothing else in the library reads files of points."""
    if name == "datasets":
        from importlib import import_module

        return import_module(".datasets", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
