r"""Landmarks, and the scales of features, that predict targets; every choice is made on held-out points.

Candidates differ in the ridge λ and in what moves: the landmarks alone (``"fixed"``), with one common scale
(``"common"``), or with a scale for each feature (``"feature"``). Each is fitted from the same start by L-BFGS on
:class:`PredictionError`, whose gradient in the scales costs nothing extra, and compared by the mean loss on points it
has not seen. The start itself is a candidate. Few points are split into folds. Of the candidates that are within a
standard error of the best, or half of one without folds, the one that moves least is taken. It is then fitted for
longer; beyond ``MAX_EXACT`` points it is refined by Adam on batches.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ._threads import available
from ._validation import Array
from .descent import Budget, DescentError, follow, independent_batches
from .kernels import Kernel
from .objectives.prediction_error import PredictionError, fit, predictions
from .steps import Adam

RIDGES = (1e-3, 1e-2, 0.1, 1.0, 10.0)  #: candidates for λ
CANDIDATE_STEPS, STEPS, BATCH_STEPS = 30, 200, 500  #: of a candidate, of the best one, and of Adam
HELD_OUT, MAX_HELD_OUT = 0.2, 5_000  #: share of the points that are held out, and how many at most
MAX_EXACT = 10_000  #: points on which L-BFGS is run at most
MAX_WORK = 2e8  #: multiplications of an evaluation for a candidate, roughly
FOLDS = ((500, 5), (3_500, 3))  #: below so many points, so many folds in place of a single held-out part
MARGIN, FOLDS_MARGIN = 0.5, 1.0  #: standard errors within which losses on one held-out part, or in folds, are equal
FRESH_START = "start"  #: the candidate that is not moved


class Points(NamedTuple):
    """Points with their targets, and weights if they have any."""

    X: NDArray[Any]
    Y: Array
    weights: Array | None = None

    def at(self, picks: Any) -> Points:
        """Some of them."""
        return Points(self.X[picks], self.Y[picks], None if self.weights is None else self.weights[picks])


#: From predictions and targets, a row each, to the losses by which candidates are compared.
Loss = Callable[[Array, Array], Array]


def squared(predicted: Array, targets: Array) -> Array:
    """Squared errors, summed over the targets."""
    errors: Array = np.square(predicted - targets).sum(axis=1)
    return errors


@dataclass(frozen=True)
class Model:
    """Landmarks and scales: the kernel is κ(Σ ρ_l (s_l − x_l)²)."""

    sample: Array  #: the landmarks, (n, d)
    scales: Array  #: ρ, (d,)
    ridge: float
    moved: str  #: what was fitted: "start", "fixed", "common" or "feature"
    steps: int = 0

    def losses(self, kernel: Kernel, train: Points, test: Points, loss: Loss) -> Array:
        """The losses on ``test``, times their weights, of the ridge regression on ``train``."""
        root = np.sqrt(self.scales)
        S, X = self.sample * root, train.X * root
        with np.errstate(over="ignore", invalid="ignore"):
            found = fit(kernel, S, X, train.Y, self.ridge, train.weights, intercept=True, gradient=False)
            predicted = predictions(kernel, S, test.X * root, found.coefficients) + found.intercept
            losses = loss(predicted, test.Y)
        if test.weights is not None:
            losses = losses * test.weights / test.weights.mean()
        return losses if np.isfinite(losses).all() else np.full(len(losses), 1e300)


@dataclass
class Search:
    """What is fitted, and how much effort it may take."""

    kernel: Kernel
    n: int
    rng: np.random.Generator
    start: Callable[[NDArray[Any], int], Array]  #: so many landmarks for these points
    scales: Array  #: where scales begin, or where they stay
    moves: tuple[str, ...] = ("fixed",)  #: what candidates move
    ridges: tuple[float, ...] = RIDGES
    iterations: int | None = None  #: of each descent at most
    seconds: float | None = None
    progress: Callable[[int], object] | None = None
    loss: Loss = squared
    folds: bool = True  #: whether few points are split into folds, or once like many
    reasons: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    single: bool = True  #: whether there was one split
    rivals: list[Model] = field(default_factory=list)  #: the candidates with the next smaller and larger ridge
    _done: int = 0
    _stopped: bool = False

    # --- choosing

    def choose(self, points: Points) -> tuple[Model, Array, tuple[Points, Points], float, float]:
        """The best candidate, its start, the split it was fitted on, and the errors of the best start and of it."""
        models: dict[tuple[str, float], Model] = {}
        losses: dict[tuple[str, float], list[Array]] = {}
        fresh = np.geomspace(self.ridges[0], self.ridges[-1], 2 * len(self.ridges) - 1).tolist()  # without a descent
        splits = self.splits(len(points.X))
        self.single = len(splits) == 1
        train = test = points
        for train_picks, test_picks in splits:
            train, test = points.at(train_picks), points.at(test_picks)
            some = train.at(slice(None, self.affordable(train.X.shape[1])))
            sample = self.start(some.X, min(self.n, len(some.X)))
            keys = [(FRESH_START, ridge) for ridge in fresh] + list(itertools.product(self.moves, self.ridges))
            starts = [Model(sample, self.scales, ridge, moved) for moved, ridge in keys]
            fitted = self.each(partial(self.moved, points=some, iterations=CANDIDATE_STEPS, share=0.5), starts)
            for key, model in zip(keys, fitted, strict=True):
                models[key] = model
                losses.setdefault(key, []).append(model.losses(self.kernel, some, test, self.loss))
        pooled = {key: np.concatenate(found) for key, found in losses.items()}
        leaders = [
            min((key for key in pooled if key[0] == moved), key=lambda key: float(pooled[key].mean()))
            for moved in (FRESH_START, *self.moves)
        ]
        best = min(leaders, key=lambda key: float(pooled[key].mean()))
        margin = MARGIN if self.single else FOLDS_MARGIN
        best = next(key for key in leaders if _indistinguishable(pooled[key], pooled[best], margin))
        tried = ", ".join(f"{ridge:g}" for ridge in self.ridges)
        folds = f", in {len(splits)} folds" if len(splits) > 1 else ""
        self.reasons.append(f"The ridge is {best[1]:g}, of {tried}, by {len(pooled[best]):,} held-out points{folds}.")
        start = models[leaders[0]].sample
        near = [ridge for ridge in self.ridges if 0.05 < ridge / best[1] < 20.0 and ridge != best[1]]
        self.rivals = [models[best[0], ridge] for ridge in near] if best[0] != FRESH_START else []
        return models[best], start, (train, test), float(pooled[leaders[0]].mean()), float(pooled[best].mean())

    def splits(self, N: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Training points and held-out points, by number: folds of few points, else a single split."""
        order = self.rng.permutation(N)
        folds = next((folds for below, folds in FOLDS if N < below and self.folds), 1)
        if folds == 1:
            held = max(1, min(int(HELD_OUT * N), MAX_HELD_OUT))
            return [(order[held:], order[:held])]
        parts = np.array_split(order, min(folds, N))
        return [(np.concatenate(parts[:k] + parts[k + 1 :]), parts[k]) for k in range(len(parts))]

    def affordable(self, d: int) -> int:
        """Points for a candidate, so that landmarks are fewer by far and an evaluation takes milliseconds."""
        return int(min(max(MAX_WORK / (self.n * (self.n + 4.0 * d + 50.0)), 1_000, 4 * self.n), MAX_EXACT))

    # --- moving

    def each(self, move: Callable[[Model], Model], models: list[Model]) -> list[Model]:
        """All models moved, side by side in threads; one after another where a callback is to be called."""
        if self.progress is not None or available() == 1:
            return [move(model) for model in models]
        with ThreadPoolExecutor(available()) as pool:
            return list(pool.map(move, models))

    def moved(self, model: Model, points: Points, iterations: int, share: float = 1.0) -> Model:
        """The model after a descent by L-BFGS, which ends when that share of the seconds is spent."""
        if self.iterations is not None:
            iterations = min(iterations, self.iterations)
        if iterations == 0 or model.moved == FRESH_START or self.late(share):
            return model
        n, d = model.sample.shape
        free = {"fixed": 0, "common": 1, "feature": d}[model.moved]
        steps = 0

        def unpacked(p: Array) -> tuple[Array, Array]:
            return p[free:].reshape(n, d), np.exp(p[:free]) * np.ones(d) if free else model.scales

        def evaluate(p: Array) -> tuple[float, Array]:
            sample, scales = unpacked(p)
            root = np.sqrt(scales)
            found = fit(
                self.kernel, sample * root, points.X * root, points.Y, model.ridge, points.weights, intercept=True
            )
            in_scales = found.scale_gradient if free == d > 1 else [found.scale_gradient.sum()]
            gradient = np.concatenate([in_scales[:free], (found.gradient * root).ravel()])
            if not (np.isfinite(found.value) and np.isfinite(gradient).all()):
                return 1e300, np.zeros_like(p)
            return found.value, gradient

        def callback(p: Array) -> None:
            nonlocal steps
            steps += 1
            self.report()
            if self.late(share):
                raise StopIteration

        logs = np.log(model.scales)
        first = np.concatenate([logs if free == d > 1 else [logs.mean()][:free], model.sample.ravel()])
        options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 20, "ftol": 1e-7, "gtol": 1e-9}
        with np.errstate(over="ignore", invalid="ignore"):
            end = minimize(evaluate, first, jac=True, method="L-BFGS-B", callback=callback, options=options).x
        sample, scales = unpacked(end)
        return replace(model, sample=sample, scales=scales, steps=model.steps + steps)

    def refined(self, model: Model, points: Points) -> Model:
        """The landmarks after Adam on batches, the scales as they are."""
        size, root = max(1_000, 4 * self.n), np.sqrt(model.scales)
        objective = PredictionError(self.kernel, points.X * root, points.Y, ridge=model.ridge)
        objective.weights, objective.intercept = points.weights, True
        left = None if self.seconds is None else max(self.seconds - (time.perf_counter() - self.began), 1e-9)
        budget = Budget(BATCH_STEPS if self.iterations is None else self.iterations, left)
        draw = independent_batches(len(points.X), size, self.rng)
        try:
            run = follow(objective, model.sample * root, Adam(), budget, size, draw, progress=lambda _: self.report())
            sample, steps = run.sample, run.steps
        except DescentError as end:
            sample, steps = end.sample, end.iteration - 1
        return replace(model, sample=sample / root, steps=model.steps + steps)

    def finish(self, model: Model, train: Points, test: Points) -> tuple[Model, float]:
        """The model fitted for longer, unless that is worse on the held-out points, and its error there."""
        if model.moved == FRESH_START:
            self.reasons.append("The start was kept: no candidate is better on the held-out points.")
            return model, float(self.losses(model, train, test).mean())
        if len(train.X) <= MAX_EXACT:
            rivals = [model, *self.rivals] if self.single else [model]  # a longer descent may favour another ridge
            tried = self.each(lambda rival: self.moved(rival, train, STEPS - CANDIDATE_STEPS), rivals)
            how = f"L-BFGS on {len(train.X):,} points, with the ridge {' or '.join(f'{m.ridge:g}' for m in tried)}"
        else:
            tried, how = [self.refined(model, train)], f"Adam on batches of {max(1_000, 4 * self.n):,} points"
        losses = [self.losses(each, train, test) for each in tried]
        best = int(np.argmin([each.mean() for each in losses]))
        self.reasons.append(f"{tried[best].steps - model.steps:,} more steps by {how}.")
        kept = self.losses(model, train, test)
        if _indistinguishable(losses[best], kept, MARGIN):
            return tried[best], float(losses[best].mean())
        self.reasons.append("They made it worse on the held-out points: the candidate was kept.")
        return model, float(kept.mean())

    def best_ridge(self, model: Model, train: Points, test: Points) -> float:
        """The ridge with which these landmarks predict the held-out points best."""
        factors = np.geomspace(0.01, 10.0, 7) if self.single and len(self.ridges) > 1 else [1.0]
        models = [replace(model, ridge=float(model.ridge * factor)) for factor in factors]
        errors = [float(self.losses(other, train, test).mean()) for other in models]
        return models[int(np.argmin(errors))].ridge

    # --- effort

    def losses(self, model: Model, train: Points, test: Points) -> Array:
        """The squared errors on the held-out points: less noisy than the share of wrong classes, for small choices."""
        return model.losses(self.kernel, train.at(slice(None, MAX_EXACT)), test, squared)

    def late(self, share: float) -> bool:
        """Whether that share of the seconds is spent, or the caller wants an end."""
        spent = time.perf_counter() - self.began
        return self._stopped or (self.seconds is not None and spent >= share * self.seconds)

    def report(self) -> None:
        """Another step."""
        self._done += 1
        try:
            if self.progress is not None:
                self.progress(self._done)
        except StopIteration:
            self._stopped = True


def _indistinguishable(losses: Array, best: Array, margin: float) -> bool:
    """Whether losses are larger by so many standard errors of the difference at most."""
    difference = losses - best
    return bool(difference.mean() <= margin * difference.std() / np.sqrt(len(difference)))


class Found(NamedTuple):
    """Landmarks for a given kernel."""

    model: Model
    start: Array
    start_error: float
    error: float


def find(search: Search, points: Points) -> Found:
    """Landmarks trained on the points that are not held out; errors are shares of the targets' variance."""
    Y = points.Y - points.Y.mean(axis=0)
    variance = float(np.square(Y).mean(axis=0).sum())
    few = search.n > (1.0 - HELD_OUT) * len(Y)
    if few or variance <= 1e-28 * float(np.square(points.Y).sum(axis=1).mean()):
        why = "There are too few points to hold any out" if few else "The targets are constant"
        search.reasons.append(f"{why}: the start was kept.")
        sample = search.start(points.X, search.n)
        return Found(Model(sample, search.scales, 1.0, FRESH_START), sample, 0.0, 0.0)
    points = points._replace(Y=Y / np.sqrt(variance))
    model, start, splits, start_error, _ = search.choose(points)
    model, error = search.finish(model, *splits)
    if error > start_error:
        search.reasons.append("The start was kept: it is better on the held-out points.")
        model, error = Model(start, search.scales, model.ridge, FRESH_START, model.steps), start_error
    return Found(model, start, start_error, error)
