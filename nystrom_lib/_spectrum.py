"""The largest eigenvalues of a symmetric matrix, from products with vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._validation import Array


def symmetric_product(A: Array) -> Callable[[Array], Array]:
    """v ↦ A v from the upper half of A."""
    from scipy.linalg.blas import dsymv

    return lambda v: dsymv(1.0, A.T, v, lower=1)  # of the transpose: BLAS stores matrices by columns


def largest_eigenvalue(product: Callable[[Array], Array], N: int) -> float:
    """The largest eigenvalue of a positive-semidefinite operator."""
    if N <= 16:
        return float(np.linalg.norm(np.column_stack([product(e) for e in np.eye(N)]), 2))
    return float(top_eigenvalues(product, N, 1)[0])


def top_eigenvalues(product: Callable[[Array], Array], N: int, count: int) -> Array:
    """The ``count`` largest eigenvalues, in decreasing order, by ARPACK's Lanczos iteration from a fixed start."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    start = np.random.default_rng(0).standard_normal(N)
    if not np.any(product(start)):
        return np.zeros(count)
    operator = LinearOperator((N, N), matvec=lambda v: product(np.asarray(v).ravel()), dtype=np.float64)
    # The error of an eigenvalue is about the square of the tolerance. For one eigenvalue a small basis is fastest:
    # ARPACK fills the basis before it tests for convergence.
    basis = min(N, 8 if count == 1 else 2 * count + 20)
    try:
        values = eigsh(operator, k=count, which="LA", v0=start, ncv=basis, tol=1e-7, return_eigenvectors=False)
    except ArpackNoConvergence:
        raise ValueError("The Lanczos iteration fails: the kernel matrix must be positive semi-definite.") from None
    ordered: Array = np.sort(values)[::-1]
    return ordered
