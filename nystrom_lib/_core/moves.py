"""From gradient to move, for the loops that do many steps before they come back."""

from __future__ import annotations

import math

from .compile import ORDERED, fused, inner, jit


@inner(flags=ORDERED)
def finite(A):
    """Whether every number of a matrix is."""
    total = 0.0
    for k in range(A.shape[0]):
        for l in range(A.shape[1]):
            total += 0.0 * A[k, l]  # NaN for a NaN and for infinities
    return total == 0.0


@jit(flags=ORDERED)
def adam(sample, gradient, first, second, steps, length, beta1, beta2):
    """One step of Adam in place, a second moment for each landmark, not for each coordinate; it is the steps-th."""
    correct1 = 1.0 / (1.0 - beta1**steps)
    correct2 = 1.0 / (1.0 - beta2**steps)
    for k in range(sample.shape[0]):
        square = 0.0
        for l in range(sample.shape[1]):
            square = fused(gradient[k, l], gradient[k, l], square)
        second[k] = fused(1.0 - beta2, square, beta2 * second[k])
        size = math.sqrt(second[k] * correct2)
        scale = length * correct1 / size if size > 0.0 else 0.0
        for l in range(sample.shape[1]):
            first[k, l] = fused(beta1, first[k, l], (1.0 - beta1) * gradient[k, l])
            sample[k, l] -= scale * first[k, l]
