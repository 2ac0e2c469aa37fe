"""B1 and B2: Figure 1's landmarks, and each verdict able to go either way."""

import math

import numpy as np

import nystrom_lib as nl
from companion.claims import CLAIMS, Finding, landmarks, later
from companion.claims.landmarks import Walks
from companion.experiments.components import BiGaussian
from companion.experiments.paper import PAPER
from tests.companion.claims import FAILS, HOLDS, IN_PART
from tests.companion.claims.made_up import finding


def straight(length: float, n: int = 50) -> np.ndarray:
    """One descent in which every landmark goes straight ahead."""
    path = np.zeros((1, 11, n, 2))
    path[0, :, :, 0] = np.linspace(0.0, length, 11)[:, None]
    return path


def zigzag(length: float) -> np.ndarray:
    path = straight(length)
    path[0, 1:-1:2, :, 1] = length
    return path


def test_B1() -> None:
    def decide(one: np.ndarray, other: np.ndarray) -> tuple[Finding, dict[str, Finding]]:
        walked = {"ρ = 1": Walks.along(one), "ρ = 16": Walks.along(other)}
        cases = [case for rho, each in walked.items() for case in landmarks.movement_cases(rho, each)]
        return CLAIMS["B1"].rule.decide(cases)

    spacing = math.sqrt(4 / 50)
    assert decide(zigzag(spacing * 1.01), zigzag(1.0))[0] is HOLDS
    assert decide(straight(1.0), straight(1.0))[0] is IN_PART
    assert decide(straight(0.1), straight(0.0))[0] is FAILS
    assert decide(straight(0.1), zigzag(1.0)) == (IN_PART, {"ρ = 1": FAILS, "ρ = 16": HOLDS})


def test_B2() -> None:
    source = BiGaussian()
    rng = np.random.default_rng(0)
    even = np.stack(np.meshgrid(np.linspace(-0.9, 0.9, 7), np.linspace(-0.9, 0.9, 7)), -1).reshape(1, -1, 2)
    clumped = np.repeat(np.array([[-0.7, 0.7], [0.7, -0.7]]), 25, axis=0)[None] + 0.01 * rng.standard_normal((1, 50, 2))
    initial = rng.uniform(-1.0, 1.0, (1, 50, 2))
    data = nl.datasets.bigaussian().X

    def decide(optimised: np.ndarray) -> tuple[dict[str, float], Finding]:
        walked = Walks(initial, optimised, np.zeros(optimised.shape[:2]))
        cases = list(landmarks.arrangement_cases("ρ = 1", walked, data, source))
        return {**cases[0].values, **cases[1].values}, finding("B2", cases)

    spread, found = decide(even)
    assert found is IN_PART and spread["dense"] < 0.55 and spread["neighbour"] > 1.2
    crowded, found = decide(clumped)
    assert found is IN_PART and crowded["dense"] == 1.0 and crowded["separation"] < 1.0
    assert decide(initial)[1] is FAILS
    dense = even[:, landmarks.in_densest_half(even[0], source)]
    assert decide(dense)[1] is HOLDS and 0 < dense.shape[1] < 49


def test_the_first_descent_is_that_of_the_figure() -> None:
    from companion.experiments.protocol import prepare, repetition

    experiment = PAPER["figure-1-rho16"].replace(norms=(), factors=False, constant=False)
    with nl.threads(1):
        path = later.path("figure-1-rho16", 0)
        np.testing.assert_array_equal(path, repetition(prepare(experiment), 0).arrays["path"])
