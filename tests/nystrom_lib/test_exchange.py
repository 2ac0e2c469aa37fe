"""Exchanges: exact costs and gains, far landmarks repaired, no more effort than allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.descent import Budget, run_descent, shuffled_batches
from nystrom_lib.landmarks import exchange as module
from nystrom_lib.landmarks.exchange import AdamWithExchanges, ExchangeEngine, exchange
from tests.cases import BUILT_IN, Floats, cloud, notebook_data, pair

KERNEL = nl.Gaussian(rho=4.0)


def error(kernel: Any, sample: Floats, points: Floats) -> float:
    return float(nl.NystromApproximation(kernel, sample).residuals(points).sum())


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name != "linear"])
def test_the_landmark_that_costs_least_goes_and_the_point_that_gains_most_comes(name: str) -> None:
    """Catches a wrong cost or gain: each landmark is left out in turn, each point taken in, and the error computed."""
    kernel = pair(name)[0]
    X, S = (2.0 * A for A in cloud(8, 40, 6))
    S[2] = S[1] + 0.05  # says nearly what another says
    dropped, taken = exchange(kernel, S, X, rng())
    assert len(dropped) == len(taken) == 1  # a tenth of six, and at least one
    whole = error(kernel, S, X)
    costs = [error(kernel, np.delete(S, j, axis=0), X) - whole for j in range(6)]
    assert dropped[0] == np.argmin(costs)
    left = nl.NystromApproximation(kernel, S).residuals(X)
    gains = [whole - error(kernel, np.vstack([S, x]), X) - left[i] for i, x in enumerate(X)]
    assert taken[0] == np.argmax(gains)
    assert gains[taken[0]] > 2 * costs[dropped[0]]


def test_each_choice_knows_of_those_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches two points taken for the same gain: each is the best of what the ones before leave."""
    monkeypatch.setattr(module, "_MAX_SHARE", 0.5)
    X, S = cloud(3, 60, 10)
    S[5:] = 50.0 + np.arange(15).reshape(5, 3)  # out of sight: free to go
    dropped, taken = exchange(KERNEL, S, X, rng())
    assert sorted(dropped) == [5, 6, 7, 8, 9] and len(set(taken)) == 5
    sample = S
    for pick in taken:
        whole, left = error(KERNEL, sample, X), nl.NystromApproximation(KERNEL, sample).residuals(X)
        gains = [whole - error(KERNEL, np.vstack([sample, x]), X) - left[i] for i, x in enumerate(X)]
        assert gains[pick] == pytest.approx(max(gains), rel=1e-6)
        sample = np.vstack([sample, X[pick]])


def test_what_does_not_pay_is_not_done() -> None:
    """Catches an exchange for its own sake: twice the cost has to be gained."""
    data = notebook_data()
    good = nl.find_landmarks(nl.Gaussian(16.0), data, 30, seed=1).sample
    dropped, taken = exchange(nl.Gaussian(16.0), good, data[:1024], rng())
    assert len(dropped) == len(taken) == 0
    X, _ = cloud(2, 20, 1)
    for kernel in (nl.Gaussian(1e-12), nl.Gaussian(1.0)):  # nothing is left of points that are landmarks
        dropped, taken = exchange(kernel, X, X, rng())
        assert len(dropped) == len(taken) == 0 and dropped.dtype == taken.dtype == np.int64


def test_copies_of_landmarks_are_the_first_to_go() -> None:
    """Catches a failed Cholesky taken for good: the ridge lets copies be seen for what they are."""
    X, S = cloud(2, 200, 10)
    S[7] = S[3]
    dropped, taken = exchange(nl.Gaussian(rho=20.0), S, X, rng())
    assert dropped.tolist() in ([3], [7]) and len(taken) == 1
    dropped, taken = exchange(nl.Gaussian(rho=20.0), np.tile(S[:1], (10, 1)), X, rng())
    assert len(dropped) == 1


def descend(sample: Floats, iterations: int, exchanges: bool = True, seed: int = 0) -> Floats:
    data = notebook_data()
    rule = AdamWithExchanges(rng=rng(seed)) if exchanges else nl.Adam()
    objective = nl.TraceError(nl.Gaussian(rho=16.0), data)
    draw = shuffled_batches(len(data), 96, rng(seed + 1))
    return run_descent(objective, sample, rule, Budget(iterations, None), 96, draw).sample


def test_ten_landmarks_out_of_sight_are_repaired() -> None:
    """Catches an exchange that never happens: no descent brings back what has no gradient."""
    data, kernel = notebook_data(), nl.Gaussian(rho=16.0)
    good = nl.uniform_sample(data, 50, 3)
    bad = good.copy()
    bad[::5] = 40.0 + np.arange(20).reshape(10, 2)
    repaired, left = descend(bad, 2500), descend(bad, 2500, exchanges=False)
    assert np.abs(repaired).max() < 2.0 and np.sum(np.abs(left).max(axis=1) > 30.0) == 10
    assert error(kernel, repaired, data) < 1.05 * error(kernel, descend(good, 2500), data)
    assert error(kernel, left, data) > 1.2 * error(kernel, repaired, data)


class Counted(ExchangeEngine):
    """Counts what it does."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.exchanged: list[float] = []

    def _exchange(self, per_step: float) -> None:
        before, state = self._left, self._rng.bit_generator.state
        super()._exchange(per_step)
        if self._rng.bit_generator.state != state:  # points were drawn
            self.exchanged.append(before - self._left)


@pytest.mark.parametrize("iterations", [1, 10, 60, 300, 2000])
@pytest.mark.parametrize("n", [5, 50])
def test_effort_is_capped(n: int, iterations: int) -> None:
    """Catches exchanges that cost more than a tenth of all steps together: few steps have none, many have all."""
    data = notebook_data()
    objective = nl.TraceError(nl.Gaussian(rho=16.0), data)
    S = nl.uniform_sample(data, n, 0)
    engine = Counted(AdamWithExchanges(rng=rng()), objective, S, 96)
    batches = rng().integers(0, 2000, (min(iterations, 300), 96))
    assert engine.advance(batches, 0.0, 1 / iterations) == len(batches)
    assert sum(engine.exchanged) <= 0.1 * (1 + 1e-12)
    if iterations == 1:
        assert not engine.exchanged
    if (n, iterations) == (50, 2000):
        assert len(engine.exchanged) >= 3


def test_what_is_new_has_no_past() -> None:
    """Catches a point that sets out with the moments of the landmark it replaced."""
    S = nl.uniform_sample(notebook_data(), 50, 3)
    S[::5] = 40.0 + np.arange(20).reshape(10, 2)
    engine = ExchangeEngine(AdamWithExchanges(rng=rng()), nl.TraceError(KERNEL, notebook_data()), S, 96)
    first, second = engine._moments
    first[:] = second[:] = 1.0
    engine._exchange(1e-9)
    new = (engine.take() != S).any(axis=1)
    assert new[::5].sum() == new.sum() == 5  # a tenth
    assert (first == ~new[:, None]).all() and (second == ~new).all()


def test_exchanges_happen_at_their_shares() -> None:
    """Catches an exchange at every chunk, or steps lost around one."""
    data = notebook_data()
    S = nl.uniform_sample(data, 50, 0)
    batches = rng().integers(0, 2000, (450, 96))
    samples = []
    for cuts in ([450], [1, 119, 30, 300], [240, 210]):
        engine = Counted(AdamWithExchanges(rng=rng()), nl.TraceError(nl.Gaussian(rho=16.0), data), S, 96)
        done = 0
        for count in cuts:
            assert engine.advance(batches[done : done + count], done / 4000, 1 / 4000) == count
            done += count
            assert len(engine.exchanged) == sum(4000 * share < done for share in module.SHARES)
        samples.append(engine.take())
    for other in samples[1:]:
        assert other == pytest.approx(samples[0], rel=1e-4, abs=1e-4)
