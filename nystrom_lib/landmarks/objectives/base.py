"""The interface of objectives: functions of a sample that are low where it is good."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _validation as check
from ..._validation import Array, as_writable
from ...kernels import Kernel, require

Indices = NDArray[np.int64]

#: In place of a batch: all of the data.
EVERYTHING: Indices = np.empty(0, dtype=np.int64)

#: Value and gradient of a sample from the points of a batch, or from all where it is empty; nothing is checked. The
#: value is that of which the gradient, a new array, is the gradient: an estimate from a batch, perhaps short of a
#: constant or regularised where double precision needs it.
Evaluate = Callable[[Array, Indices], tuple[float, Array]]


class Objective(ABC):
    """A function of n landmarks, to be made small."""

    #: Its name in ``OBJECTIVES``.
    name: ClassVar[str]
    #: Whether the gradient from a batch of independent uniform points has the exact gradient as its mean.
    unbiased: ClassVar[bool] = False

    def __init__(self, kernel: Kernel, data: ArrayLike) -> None:
        self.kernel = require(kernel)
        self.data: NDArray[Any] = as_writable(check.points("data", data))

    @abstractmethod
    def value(self, sample: ArrayLike) -> float:
        """The objective itself, from all the data, to the digits the library's criteria have.

        It is at least 0, and 0 where the landmarks are the data.
        """

    @abstractmethod
    def prepare(self, n: int, points: int) -> Evaluate:
        """A function for n landmarks and ``points`` points at a time, with buffers that all its calls use."""

    @abstractmethod
    def cost(self, n: int, points: int) -> float:
        """Roughly the number of multiplications of a gradient from that number of points."""

    def gradient(self, sample: ArrayLike, batch: ArrayLike | None = None) -> Array:
        """The gradient of :meth:`value`, shape (n, d).

        Parameters
        ----------
        sample
            The landmarks, a row each.
        batch
            Indices into the data, repeats allowed, from which to estimate it; None for the exact gradient.
        """
        sample = self.checked(sample)
        picks = EVERYTHING if batch is None else as_writable(check.indices("batch", batch, len(self.data)))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            gradient = self.prepare(len(sample), len(picks) or len(self.data))(sample, picks)[1]
        return check.finite("The gradient", gradient)

    def checked(self, sample: ArrayLike) -> Array:
        """The landmarks as an array of as many coordinates as the data have."""
        return as_writable(check.float_points("sample", sample, dimension=self.data.shape[1]))

    def __repr__(self) -> str:
        N, d = self.data.shape
        return f"{type(self).__name__}({self.kernel!r}, {N:,} points in {d} dimensions)"
