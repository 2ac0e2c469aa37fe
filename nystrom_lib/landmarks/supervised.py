r"""Landmarks, and the scales of features, that predict targets; every choice is made on held-out points.

Candidates differ in the ridge λ and in what moves: the landmarks alone (``"fixed"``), with one common scale
(``"common"``), or with a scale for each feature (``"feature"``). The k-means start itself, at the best of some scales
and ridges, is a candidate, and all others start from it. Each is fitted by L-BFGS on :class:`PredictionError`, whose
gradient in the scales costs nothing extra, and they are compared by the mean loss on held-out points; few points are
split into folds. Of the candidates within a standard error of the best (half of one without folds), the one that moves
least is chosen. It is then fitted for longer; beyond ``MAX_EXACT`` points it is refined by Adam on batches.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from .._threads import available_threads
from .._validation import Array
from ..descent import Budget, DescentError, independent_batches, run_descent
from ..kernels import Kernel, require_radial
from .objectives.prediction_error import PredictionError, checked_targets, fit, predictions
from .search import Landmarks, Search
from .starts import STARTS, Drawn
from .steps import Adam

RIDGES = tuple(np.geomspace(1e-3, 10.0, 9).tolist())  #: values of λ tried for the start, every second one for descents
SCALES = (0.1, 0.3, 1.0, 3.0)  #: factors of the initial scales tried for the start, where scales may change
CANDIDATE_STEPS, STEPS, BATCH_STEPS = 30, 200, 500  #: steps of a candidate, of the best one, and of Adam
HELD_OUT, MAX_HELD_OUT = 0.2, 5_000  #: share of the points that are held out, and their largest number
MAX_EXACT = 10_000  #: largest number of points for L-BFGS
MAX_WORK = 2e8  #: approximate number of multiplications of a candidate's evaluation
FOLDS = ((500, 5), (3_500, 3))  #: (N, k): below N points, k-fold cross-validation
MARGIN, FOLDS_MARGIN = 0.5, 1.0  #: standard errors within which two losses count as equal: one split, folds
START = "start"  #: the candidate that is not moved


class Points(NamedTuple):
    """Points with their targets and optional weights."""

    X: NDArray[Any]
    Y: Array
    weights: Array | None = None

    def at(self, picks: Any) -> Points:
        """The points with these indices."""
        return Points(self.X[picks], self.Y[picks], None if self.weights is None else self.weights[picks])


#: Maps predictions and targets, a row for each point, to the losses by which candidates are compared.
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
    moved: str  #: what is fitted: "start", "fixed", "common" or "feature"
    steps: int = 0

    def losses(self, kernel: Kernel, train: Points, test: Points, loss: Loss) -> Array:
        """Weighted losses on ``test`` of ridge regression on ``train``."""
        root = np.sqrt(self.scales)
        S, X = self.sample * root, train.X * root
        with np.errstate(over="ignore", invalid="ignore"):
            found = fit(kernel, S, X, train.Y, self.ridge, train.weights, intercept=True, gradient=False)
            predicted = predictions(kernel, S, test.X * root, found.coefficients) + found.intercept
            losses = loss(predicted, test.Y)
        if test.weights is not None:
            losses = losses * test.weights / test.weights.mean()
        return losses if np.isfinite(losses).all() else np.full(len(losses), 1e300)


class Candidate(NamedTuple):
    """A model for each split, and its losses on the points held out in all of them."""

    models: tuple[Model, ...]
    losses: Array

    @property
    def error(self) -> float:
        """The mean loss."""
        return float(self.losses.mean())


class Found(NamedTuple):
    """The result of a search."""

    model: Model
    start: Model
    start_error: float  #: loss of the start on the held-out points
    error: float  #: loss of the model on the held-out points


@dataclass
class Fitting:
    """A problem, and the effort that may be spent on it."""

    kernel: Kernel
    n: int
    rng: np.random.Generator
    start: Callable[[NDArray[Any], int], Array]  #: chooses the initial landmarks among points
    scales: Array  #: the initial scales
    moves: tuple[str, ...] = ("fixed",)  #: what candidates move
    ridges: tuple[float, ...] = RIDGES
    iterations: int | None = None  #: largest number of steps of each descent
    seconds: float | None = None
    progress: Callable[[int], object] | None = None
    loss: Loss = squared
    folds: bool = True  #: whether few points are split into folds
    reasons: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    _done: int = 0
    _stopped: bool = False

    # --- choosing

    def run(self, points: Points) -> Found:
        """Choose a candidate, and fit it for longer to the points that are not held out (of the last split)."""
        splits = [(points.at(train), points.at(test)) for train, test in self.splits(len(points.X))]
        parts = [(train.at(slice(self.affordable(train.X.shape[1]))), test) for train, test in splits]
        best, start, neighbours = self.choose(parts)
        train, test = splits[-1]
        model, error = best.models[-1], best.error
        if model.moved == START:
            self.reasons.append("The start was kept: no candidate is better on the held-out points.")
        else:
            what = {"fixed": "landmarks", "common": "landmarks and one common length scale"}
            moved = what.get(model.moved, "landmarks and a length scale for each feature")
            self.reasons.append(f"Fitted are {moved}: an error of {error:.4g} there, from {start.error:.4g}.")
            # a longer descent may favour another ridge
            model, error = self.longer(model, neighbours if len(splits) == 1 else [model], train, test)
        if len(splits) == 1 and len(self.ridges) > 1:
            models = [replace(model, ridge=float(model.ridge * factor)) for factor in np.geomspace(0.01, 10.0, 7)]
            model = min(models, key=lambda each: float(self.errors(each, train, test).mean()))
        return Found(model, start.models[-1], start.error, error)

    def choose(self, parts: list[tuple[Points, Points]]) -> tuple[Candidate, Candidate, list[Model]]:
        """The best candidate, the best start, and the models of the best candidate's neighbours in the ridge."""
        samples = [self.start(train.X, min(self.n, len(train.X))) for train, _ in parts]
        factors = (1.0,) if self.moves == ("fixed",) else SCALES
        starts = [
            [Model(sample, factor * self.scales, ridge, START) for sample in samples]
            for factor, ridge in itertools.product(factors, self.ridges)
        ]
        start = min(self.fitted(starts, parts), key=lambda each: each.error)
        groups = [[start]]
        ridges = self.ridges[::2]
        for moved in self.moves:
            begun = [[replace(model, ridge=ridge, moved=moved) for model in start.models] for ridge in ridges]
            groups.append(self.fitted(begun, parts))
        leaders = [min(group, key=lambda each: each.error) for group in groups]
        lowest = min(leaders, key=lambda each: each.error)
        margin = MARGIN if len(parts) == 1 else FOLDS_MARGIN
        best, group = next(
            each for each in zip(leaders, groups, strict=True)
            if _indistinguishable(each[0].losses, lowest.losses, margin)
        )  # fmt: skip
        tried = ", ".join(f"{ridge:.3g}" for ridge in (self.ridges if best is start else ridges))
        folds = f", in {len(parts)} folds" if len(parts) > 1 else ""
        ridge, count = best.models[0].ridge, len(best.losses)
        self.reasons.append(f"The ridge is {ridge:.3g}, of {tried}, by {count:,} held-out points{folds}.")
        k = int(np.argmin([each.error for each in group]))
        return best, start, [each.models[-1] for each in group[max(k - 1, 0) : k + 2]]

    def fitted(self, begun: list[list[Model]], parts: list[tuple[Points, Points]]) -> list[Candidate]:
        """Each candidate after a short descent, with its losses: in threads, unless a callback is to be called."""

        def fit_one(model: Model, part: tuple[Points, Points]) -> tuple[Model, Array]:
            moved = self.moved(model, part[0], CANDIDATE_STEPS, share=0.5)
            return moved, moved.losses(self.kernel, *part, self.loss)

        done = self.each(fit_one, itertools.chain(*begun), itertools.cycle(parts))
        models, losses = zip(*done, strict=True)
        starts = range(0, len(done), len(parts))
        return [Candidate(models[k : k + len(parts)], np.concatenate(losses[k : k + len(parts)])) for k in starts]

    def each(self, function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
        """A map in threads; one after another if a callback is to be called."""
        with ThreadPoolExecutor(1 if self.progress is not None else available_threads()) as pool:
            try:
                return list(pool.map(function, *arguments))
            except BaseException:  # Ctrl-C: the descents under way end at their next step
                self._stopped = True
                raise

    def splits(self, N: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Indices of training points and of held-out points: folds of few points, else a single split."""
        order = self.rng.permutation(N)
        folds = next((folds for below, folds in FOLDS if N < below and self.folds), 1)
        if folds == 1:
            held = max(1, min(int(HELD_OUT * N), MAX_HELD_OUT))
            return [(order[held:], order[:held])]
        parts = np.array_split(order, min(folds, N))
        return [(np.concatenate(parts[:k] + parts[k + 1 :]), parts[k]) for k in range(len(parts))]

    def affordable(self, d: int) -> int:
        """Number of points for a candidate: far more than landmarks, and few enough for a fast evaluation."""
        return int(min(max(MAX_WORK / (self.n * (self.n + 4.0 * d + 50.0)), 1_000, 4 * self.n), MAX_EXACT))

    # --- fitting

    def moved(self, model: Model, points: Points, iterations: int, share: float = 1.0) -> Model:
        """The model after a descent by L-BFGS, which ends when that share of the seconds is spent."""
        if self.iterations is not None:
            iterations = min(iterations, self.iterations)
        if iterations == 0 or model.moved == START or self.late(share):
            return model
        n, d = model.sample.shape
        free = {"fixed": 0, "common": 1, "feature": d}[model.moved]
        steps, begun = 0, np.log(model.scales)

        def unpacked(p: Array) -> tuple[Array, Array]:
            return p[free:].reshape(n, d), np.exp(begun + p[:free]) if free else model.scales

        def evaluate(p: Array) -> tuple[float, Array]:
            sample, scales = unpacked(p)
            root = np.sqrt(scales)
            found = fit(
                self.kernel, sample * root, points.X * root, points.Y, model.ridge, points.weights, intercept=True
            )
            in_scales = found.scale_gradient if free == d else [found.scale_gradient.sum()]
            gradient = np.concatenate([in_scales[:free], (found.gradient * root).ravel()])
            if not (np.isfinite(found.value) and np.isfinite(gradient).all()):
                return 1e300, np.zeros_like(p)
            return found.value, gradient

        def callback(p: Array) -> None:
            nonlocal steps
            steps += 1
            self.report(share)

        first = np.concatenate([np.zeros(free), model.sample.ravel()])
        options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 20, "ftol": 1e-7, "gtol": 1e-9}
        with np.errstate(over="ignore", invalid="ignore"):
            end = minimize(evaluate, first, jac=True, method="L-BFGS-B", callback=callback, options=options).x
        sample, scales = unpacked(end)
        return replace(model, sample=sample, scales=scales, steps=model.steps + steps)

    def refined(self, model: Model, points: Points, batch: int) -> Model:
        """The landmarks after Adam on batches; the scales stay."""
        if self.late(1.0):
            return model
        root = np.sqrt(model.scales)
        objective = PredictionError(self.kernel, points.X * root, points.Y, ridge=model.ridge)
        objective.weights, objective.intercept = points.weights, True
        left = None if self.seconds is None else max(self.seconds - (time.perf_counter() - self.began), 1e-9)
        budget = Budget(BATCH_STEPS if self.iterations is None else self.iterations, left)
        draw = independent_batches(len(points.X), batch, self.rng)
        try:
            start = model.sample * root
            run = run_descent(objective, start, Adam(), budget, batch, draw, progress=lambda done: self.report(1.0))
            sample, steps = run.sample, run.steps
        except DescentError as end:
            sample, steps = end.sample, end.iteration - 1
        return replace(model, sample=sample / root, steps=model.steps + steps)

    def longer(self, model: Model, begun: list[Model], train: Points, test: Points) -> tuple[Model, float]:
        """The best of the models after longer descents, unless ``model`` is better on held-out points; its error."""
        if len(train.X) <= MAX_EXACT:
            tried = self.each(lambda each: self.moved(each, train, STEPS - CANDIDATE_STEPS), begun)
            ridges = " or ".join(f"{each.ridge:.3g}" for each in tried)
            how = f"L-BFGS on {len(train.X):,} points, with the ridge {ridges}"
        else:
            batch = max(1_000, 4 * self.n)
            tried, how = [self.refined(model, train, batch)], f"Adam on batches of {batch:,} points"
        losses = [self.errors(each, train, test) for each in tried]
        best = int(np.argmin([each.mean() for each in losses]))
        self.reasons.append(f"{tried[best].steps - model.steps:,} more steps by {how}.")
        before = self.errors(model, train, test)
        if _indistinguishable(losses[best], before, MARGIN):
            return tried[best], float(losses[best].mean())
        self.reasons.append("They made it worse on the held-out points: the candidate was kept.")
        return model, float(before.mean())

    # --- effort

    def errors(self, model: Model, train: Points, test: Points) -> Array:
        """Squared errors on the held-out points: less noisy than the share of wrong classes."""
        return model.losses(self.kernel, train.at(slice(None, MAX_EXACT)), test, squared)

    def late(self, share: float) -> bool:
        """Whether that share of the seconds is spent, or the caller has stopped the search."""
        spent = time.perf_counter() - self.began
        return self._stopped or (self.seconds is not None and spent >= share * self.seconds)

    def report(self, share: float) -> None:
        """Count a step, call ``progress``, and end the descent if it is late."""
        self._done += 1
        try:
            if self.progress is not None:
                self.progress(self._done)
        except StopIteration:
            self._stopped = True
        if self.late(share):
            raise StopIteration


def _indistinguishable(losses: Array, best: Array, margin: float) -> bool:
    """Whether losses exceed the best ones by at most ``margin`` standard errors of the difference."""
    difference = losses - best
    return bool(difference.mean() <= margin * difference.std() / np.sqrt(len(difference)))


def predicting(search: Search, targets: ArrayLike, start: str | ArrayLike) -> Landmarks:
    """Landmarks that predict targets; errors are shares of the targets' variance."""
    kernel, n = search.kernel, search.n
    require_radial(kernel)
    Y = checked_targets(targets, len(search.source))
    Y = Y if search.numbers is None else Y[search.numbers]
    if isinstance(start, str):
        name = "kmeans" if start == "auto" else start
        how = f"a sample chosen by {name!r}"
    else:
        given, how = search.given(start), "the points given"

    def begin(points: NDArray[Any], n: int) -> Array:
        return STARTS[name](kernel, points, n, search.for_start).points if isinstance(start, str) else given[:n]

    search.reasons += ["A descent on 'prediction': targets are given.", f"The descent starts from {how}."]
    fitting = Fitting(
        kernel, n, search.for_validation, begin, np.ones(search.data.shape[1]), iterations=search.iterations,
        seconds=search.seconds, progress=search.progress, folds=False, began=search.began, reasons=search.reasons,
    )  # fmt: skip
    centred = Y - Y.mean(axis=0)
    variance = float(np.square(centred).mean(axis=0).sum())
    few = n > (1.0 - HELD_OUT) * len(Y)
    if few or variance <= 1e-28 * float(np.square(Y).sum(axis=1).mean()):
        why = "There are too few points to hold any out" if few else "The targets are constant"
        search.reasons.append(f"{why}: the start was kept.")
        first = last = Model(begin(search.data, n), fitting.scales, 1.0, START)
        before = after = 0.0
    else:
        last, first, before, after = fitting.run(Points(search.data, centred / np.sqrt(variance)))
        if after > before:
            search.reasons.append("The start was kept: it is better on the held-out points.")
            last, after = replace(first, steps=last.steps), before
    ends = Drawn(first.sample, None), Drawn(last.sample, None)
    return search.landmarks("prediction", ends[0], before, ends[1], after, last.steps)
