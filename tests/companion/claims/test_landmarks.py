"""B1 and B2: Figure 1's landmarks, and each verdict able to go either way."""

import math

import numpy as np

import nystrom_lib as nl
from companion.claims import CLAIMS, Finding, Verdict, landmarks
from companion.experiments.components import BiGaussian
from companion.experiments.paper import paper_experiment
from tests.companion.claims import FAILS, HOLDS, IN_PART


def straight(length: float, n: int = 50) -> np.ndarray:
    """One descent in which every landmark goes straight ahead."""
    path = np.zeros((1, 11, n, 2))
    path[0, :, :, 0] = np.linspace(0.0, length, 11)[:, None]
    return path


def zigzag(length: float) -> np.ndarray:
    path = straight(length)
    path[0, 1:-1:2, :, 1] = length
    return path


def moved(path: np.ndarray) -> landmarks.Movement:
    return landmarks.movement_of(landmarks.Walks.along(path))


def test_B1() -> None:
    def decide(one: np.ndarray, other: np.ndarray) -> Verdict:
        found = {"ρ = 1": moved(one), "ρ = 16": moved(other)}
        return landmarks.decide_movement(CLAIMS["B1"], found)

    spacing = math.sqrt(4 / 50)
    assert decide(zigzag(spacing * 1.01), zigzag(1.0)).finding is HOLDS
    assert decide(straight(1.0), straight(1.0)).finding is IN_PART
    assert decide(straight(0.1), straight(0.0)).finding is FAILS
    mixed = decide(straight(0.1), zigzag(1.0))
    assert mixed.finding is IN_PART and mixed.parts == {"ρ = 1": FAILS, "ρ = 16": HOLDS}
    assert "ρ = 1: does not hold" in mixed.why and "ρ = 16: holds" in mixed.why


def test_B2() -> None:
    source = BiGaussian()
    rng = np.random.default_rng(0)
    even = np.stack(np.meshgrid(np.linspace(-0.9, 0.9, 7), np.linspace(-0.9, 0.9, 7)), -1).reshape(1, -1, 2)
    clumped = np.repeat(np.array([[-0.7, 0.7], [0.7, -0.7]]), 25, axis=0)[None] + 0.01 * rng.standard_normal((1, 50, 2))
    initial = rng.uniform(-1.0, 1.0, (1, 50, 2))
    data = nl.datasets.bigaussian().X

    def decide(optimised: np.ndarray) -> tuple[landmarks.Arrangement, Finding]:
        found = landmarks.arrangement_of(initial, optimised, data, source)
        return found, landmarks.decide_arrangement(CLAIMS["B2"], {"ρ = 1": found, "ρ = 16": found}).finding

    spread, finding = decide(even)
    assert finding is IN_PART and spread.dense < 0.55 and spread.neighbour > 1.2
    together_, finding = decide(clumped)
    assert finding is IN_PART and together_.dense == 1.0 and together_.separation < 1.0
    assert decide(initial)[1] is FAILS
    dense_part = even[0][landmarks.in_densest_half(even[0], source)]
    assert (
        landmarks.decide_arrangement(CLAIMS["B2"], {"ρ = 1": landmarks.Arrangement(1.0, 0.7, 1.3, 2.0)}).finding
        is HOLDS
        and len(dense_part) < 49
    )


def test_the_first_descent_is_that_of_the_figure() -> None:
    from companion.experiments.protocol import prepare, repetition

    experiment = paper_experiment("figure-1-rho16").replace(norms=(), factors=False, constant=False)
    with nl.threads(1):
        path = landmarks.path("figure-1-rho16", 0)
        np.testing.assert_array_equal(path, repetition(prepare(experiment), 0).arrays["path"])
