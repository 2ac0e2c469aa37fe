"""The names that parameters may take, as the library knows them, and kernels by name.

The library is imported when a kernel is made, so that the help of the command line is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import nystrom_lib as nl

#: Starts of :func:`nystrom_lib.initial_sample`.
STARTS = ("uniform", "kmeans++", "kmeans", "rpcholesky", "greedy", "herding", "leverage")
#: Names of the library's objectives by the names of the methods that minimise them.
OBJECTIVES = {
    "radial-skd": "RadialSKD", "weighted-skd": "WeightedSKD", "trace": "TraceError", "local-trace": "LocalTraceError",
}  # fmt: skip
#: Methods of :func:`nystrom_lib.find_landmarks`.
METHODS = ("auto", *OBJECTIVES, *STARTS)
#: The names that :func:`kernel_by_name` takes.
KERNEL_NAMES = ("gaussian", "matern-3/2", "matern-5/2", "rational-quadratic")


def kernel_by_name(name: str, rho: float) -> nl.Kernel:
    """The Gaussian of this ρ, or another kernel of the same width, with lengthscale ℓ = 1/√(2ρ).

    Examples
    --------
    >>> kernel_by_name("matern-3/2", rho=0.5)
    Matern(nu=1.5, lengthscale=1.0)
    """
    import nystrom_lib as nl

    gaussian = nl.Gaussian(rho)  # checks ρ
    lengthscale = (2.0 * gaussian.rho) ** -0.5
    kernels: dict[str, nl.Kernel] = {
        "gaussian": gaussian,
        "matern-3/2": nl.Matern(1.5, lengthscale=lengthscale),
        "matern-5/2": nl.Matern(2.5, lengthscale=lengthscale),
        "rational-quadratic": nl.RationalQuadratic(lengthscale=lengthscale),
    }
    return kernels[name]
