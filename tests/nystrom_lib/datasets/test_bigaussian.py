"""The bi-Gaussian draw: the authors' points, bit for bit, and any others of the same kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nystrom_lib.datasets import bigaussian, sha256_of

AUTHORS = "5d957fed4e990e67c0dbb3b20abfced12a068010809070c0bd5d96e71fe7087a"


def literal(N: int, seed: Any, modes: Any, covariance: Any, half_width: float) -> tuple[np.ndarray, int]:
    """The protocol as it is written down, call by call."""
    rng = np.random.default_rng(seed)
    labels = [chr(ord("A") + k) for k in range(len(modes))]
    points: list[np.ndarray] = []
    draws = 0
    while len(points) < N:
        label = rng.choice(labels)
        point = rng.multivariate_normal(modes[labels.index(label)], covariance)
        draws += 1
        if max(abs(value) for value in point) <= half_width:
            points.append(point)
    return np.array(points), draws


def test_the_default_is_the_authors_draw() -> None:
    data = bigaussian()
    points, draws = literal(2000, 123, [(-0.8, 0.8), (0.8, -0.8)], 0.5 * np.eye(2), 1.0)
    np.testing.assert_array_equal(data.X, points)
    assert data.sha256 == AUTHORS == sha256_of(points)
    assert data.removed == (("draws outside the square", draws - 2000),)
    assert (data.N, data.d, data.stand_in, data.name) == (2000, 2, False, "bi-Gaussian")


@pytest.mark.parametrize(
    ("seed", "modes", "covariance", "half_width"),
    [
        (7, [(-0.8, 0.8), (0.8, -0.8)], 0.3, 1.0),
        ([3, 1, 4], [(0.0, 0.5, 1.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.2)], 0.2, 1.5),
        (np.random.SeedSequence(5), [(0.3,)], 0.25, 0.7),
        (11, [(2.0, 3.0), (0.0, 1.0)], 1.7, np.inf),
    ],
)
def test_other_parameters_follow_the_same_protocol(seed: Any, modes: Any, covariance: Any, half_width: float) -> None:
    data = bigaussian(150, seed, modes=modes, covariance=covariance, half_width=half_width)
    points, draws = literal(150, seed, modes, covariance * np.eye(len(modes[0])), half_width)
    np.testing.assert_array_equal(data.X, points)
    assert data.removed[0][1] == draws - 150


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"N": 1}, "N is 1; it must be at least 2"),
        ({"modes": [(np.nan, 2.0)]}, "modes holds nan at row 0"),
        ({"covariance": -1.0}, "covariance is -1.0; it must be a finite number greater than 0"),
        ({"covariance": np.eye(2)}, "it must be a number"),
        ({"half_width": 0.0}, "half_width is 0.0; it must be a finite number greater than 0"),
        ({"modes": [(50.0, 50.0)]}, "half_width = 1.0 leaves 0 of 10,000 draws"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        bigaussian(**arguments)
