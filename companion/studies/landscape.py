"""R as a surface, as a distance, and by its inequalities: §1.3 on examples one can see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..experiments.outcome import Array
from .estimators import terms


@dataclass(frozen=True)
class Surface:
    """R over a grid of places for one landmark, the others fixed.

    Attributes
    ----------
    x, y : array
        The grid's coordinates.
    values : array, (len(y), len(x))
        R with the landmark there.
    others : array, (n − 1, 2)
        The landmarks that stay.
    """

    x: Array
    y: Array
    values: Array
    others: Array

    @property
    def lowest(self) -> Array:
        """The best place on the grid."""
        row, column = np.unravel_index(int(np.argmin(self.values)), self.values.shape)
        return np.array([self.x[column], self.y[row]])


@nl.threads(1)
def surface(
    kernel: nl.Kernel, data: Array, others: Array, *, half_width: float = 1.0, side: int = 61, constant: float = 0.0
) -> Surface:
    """R as one landmark moves over a square about the origin.

    Parameters
    ----------
    kernel, data
        K and the points of D, in the plane.
    others
        The landmarks that stay, shape (n − 1, 2); none for n = 1.
    half_width, side
        Half the square's side, and how many places along it.
    constant
        ‖K‖_F², to make the values R itself.
    """
    axis = np.linspace(-half_width, half_width, side)
    places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    # Eq. (3) for all places at once: what the moving landmark adds to T₁ and to ‖K_S‖_F²
    T1 = kernel.squared(places, data).sum(axis=1)
    norm = kernel.diagonal(places) ** 2
    if len(others):
        T1 = T1 + float(kernel.squared(others, data).sum())
        norm = norm + float(kernel.squared(others).sum()) + 2.0 * kernel.squared(places, others).sum(axis=1)
    return Surface(axis, axis, (constant - T1**2 / norm).reshape(side, side), others)


@nl.threads(1)
def alone(kernel: nl.Kernel, data: Array, sample: Array, moving: int, step: float, iterations: int) -> Array:
    """Where one landmark goes under gradient descent while the others stay; shape (iterations + 1, d)."""
    now = np.array(sample, dtype=float)
    path = [now[moving].copy()]
    for _ in range(iterations):
        now[moving] -= step * nl.radial_skd_gradient(kernel, data, now)[moving]
        path.append(now[moving].copy())
    return np.array(path)


# -- R as a distance ----------------------------------------------------------------------------------------------


def embedding_distance(kernel: nl.Kernel, data: Array, sample: Array, c: Array, *, constant: float) -> Array:
    """‖μ_D − c μ_S‖² in the RKHS of K², with μ_D = Σ K²(x_i, ·) and μ_S = Σ K²(s_j, ·), for each c."""
    T1 = float(kernel.squared(sample, data).sum())
    norm = float(kernel.squared(sample).sum())
    distance: Array = constant - 2.0 * c * T1 + c**2 * norm
    return distance


def operator_distance(data: Array, sample: Array) -> float:
    """Remark 1.2 for the linear kernel, whose RKHS has finite dimension: min over c of ‖XᵀX − c SᵀS‖_F².

    With K(x, t) = ⟨x, t⟩ the integral operator of a set of points is the matrix of their second moments, so that the
    Hilbert–Schmidt norm can be computed with matrices, without Eq. (3).
    """
    A, B = data.T @ data, sample.T @ sample
    c = np.sum(A * B) / np.sum(B * B)
    return float(np.sum((A - c * B) ** 2))


# -- the gradient -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Forces:
    """The two parts of −∇R at a sample: what the data do to each landmark, and what the other landmarks do to it."""

    sample: Array
    attraction: Array
    repulsion: Array


def forces(kernel: nl.Kernel, data: Array, sample: Array) -> Forces:
    """Eq. (5) as two forces: 2 T₁ T₂ / ‖K_S‖² and −T₁² Υ / ‖K_S‖⁴; a row for each landmark."""
    parts = terms(kernel, data, sample)
    T1, T2 = parts.first.mean(), parts.second.mean(axis=0)
    attraction, repulsion = 2.0 * T1 / parts.norm * T2, -((T1 / parts.norm) ** 2) * parts.upsilon
    return Forces(sample, attraction.reshape(sample.shape), repulsion.reshape(sample.shape))


# -- the inequalities ---------------------------------------------------------------------------------------------

#: How a random sample is drawn for the inequalities: where its landmarks lie.
PLACES = ("points of the data", "anywhere in the square", "in and around the square", "copies of one point")


def random_sample(data: Array, n: int, place: str, rng: np.random.Generator) -> Array:
    """n landmarks drawn in one of the ways of :data:`PLACES`."""
    d = data.shape[1]
    if place == PLACES[0]:
        return nl.uniform_sample(data, min(n, len(data)), rng)
    if place == PLACES[3]:
        return np.repeat(rng.uniform(-1, 1, (1, d)), n, axis=0)
    return rng.uniform(-1, 1, (n, d)) * (1.0 if place == PLACES[1] else 3.0)


#: The three inequalities between norms, left side and right, by the names of :func:`sides`.
CHAINS = (("spectral", "frobenius"), ("frobenius", "R"), ("trace", "frobenius"))


def sides(
    kernel: nl.Kernel, data: Array, sample: Array, constant: float, matrix: Array | None = None
) -> dict[str, float]:
    """Every quantity of the two chains of §1.3 at one sample: squared norms (trace: over N), R, ‖K‖_F²."""
    errors = nl.nystrom_errors(kernel, data, sample, matrix=matrix)
    return {
        "spectral": errors.spectral**2,
        "frobenius": errors.frobenius**2,
        "trace": errors.trace**2 / len(data),
        "R": nl.radial_skd(kernel, data, sample, constant=constant),
        "constant": constant,
    }


@nl.threads(1)
def inequalities(data: Array, rhos: tuple[float, ...], m: int, seed: int) -> pd.DataFrame:
    """Columns rho, place, n and those of :func:`sides`, for m random samples."""
    rng = np.random.default_rng(seed)
    rows = []
    known = {rho: (nl.Gaussian(rho), nl.Gaussian(rho).matrix(data)) for rho in rhos}
    for j in range(m):
        rho, place = rhos[j % len(rhos)], PLACES[j % len(PLACES)]
        kernel, K = known[rho]
        n = int(rng.integers(1, 41))
        sample = random_sample(data, n, place, rng)
        rows.append({"rho": rho, "place": place, "n": n, **sides(kernel, data, sample, float(np.sum(K * K)), K)})
    return pd.DataFrame(rows)


def slack(table: pd.DataFrame) -> pd.DataFrame:
    """How often each inequality holds (to rounding), and the left side over the right: median and largest."""
    K, error = r"\lVert\mathbf K\rVert", r"\lVert\mathbf K - \hat{\mathbf K}(\mathcal S)\rVert"
    written = {
        "0": "0",
        "R": r"R(\mathcal S)",
        "constant": rf"{K}_{{\mathrm F}}^2",
        "spectral": rf"{error}_2^2",
        "frobenius": rf"{error}_{{\mathrm F}}^2",
        "trace": rf"{error}_*^2/N",
    }
    table = table.assign(**{"0": 0.0})
    rows = []
    for left, right in (("0", "R"), ("R", "constant"), *CHAINS):
        holds = table[left] <= table[right] + 1e-10 * table["constant"]
        ratio = table[left] / table[right]
        name = rf"${written[left]} \leqslant {written[right]}$"
        rows.append((name, int(holds.sum()), len(table), float(ratio.median()), float(ratio.max())))
    return pd.DataFrame(rows, columns=["inequality", "holds", "of", "median left/right", "largest left/right"])
