"""Landmarks on a sphere: steps along it, by the rules for steps in space."""

from __future__ import annotations

from typing import Any

import numpy as np

import nystrom_lib as nl

from ..experiments.outcome import Array


def lattice(n: int) -> Array:
    """n points of a Fibonacci lattice: equal steps in height, the golden angle between one and the next.

    Examples
    --------
    >>> np.linalg.norm(lattice(5), axis=1).round(12)
    array([1., 1., 1., 1., 1.])
    """
    height = 1.0 - (2.0 * np.arange(n) + 1.0) / n
    angle = np.pi * (1.0 + 5.0**0.5) * np.arange(n)
    radius = np.sqrt(1.0 - height**2)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])


def scattered(n: int, seed: int) -> Array:
    """n random points, each place as likely as any other."""
    return onto(np.random.default_rng(seed).standard_normal((n, 3)))


def clustered(N: int, seed: int) -> Array:
    """N points: half of them around three places, half of them anywhere."""
    rng = np.random.default_rng(seed)
    places = scattered(3, seed)[rng.integers(0, 3, N // 2)]
    return np.concatenate([onto(places + 0.3 * rng.standard_normal(places.shape)), scattered(N - N // 2, seed + 1)])


def onto(points: Array) -> Array:
    """The nearest points of the sphere."""
    nearest: Array = points / np.linalg.norm(points, axis=1, keepdims=True)
    return nearest


def along(points: Array, vectors: Array) -> Array:
    """The parts of vectors that are tangent to the sphere at points.

    Examples
    --------
    >>> along(np.array([[0.0, 0.0, 1.0]]), np.array([[1.0, 2.0, 3.0]]))
    array([[1., 2., 0.]])
    """
    tangent: Array = vectors - (vectors * points).sum(axis=1, keepdims=True) * points
    return tangent


def descend(objective: Any, start: Array, steps: int) -> Array:
    """A descent that stays on the sphere: the gradient's tangent part, a step by Adam, and back onto the sphere."""
    move = nl.Adam().begin(objective, start)
    sample = start
    for step in range(steps):
        sample = onto(move(sample, 0.0, along(sample, objective.gradient(sample)), step / steps))
    return sample
