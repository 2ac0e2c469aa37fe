"""The counterexample to T2: a descent at 1/L in which a landmark drifts off for ever."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from flint import arb, arb_mat

import nystrom_lib as nl
from companion.studies import drift
from tests.oracle import Jet, precision


@pytest.fixture(scope="module")
def run() -> pd.DataFrame:
    return drift.follow()


def test_the_landmark_moves_outward_in_every_stretch_while_R_and_its_gradient_fall(run: pd.DataFrame) -> None:
    """Catches a step that is not 1/L, a start that settles, or a descent that is thrown out and not pushed."""
    assert len(run) == drift.STRETCHES + 1 and run["step"].iloc[-1] == drift.STRETCHES * drift.STEPS
    assert (run["place"].diff().dropna() > 0).all()
    assert (run["R"].diff().dropna() < 0).all() and (run["R"] > 0).all()
    assert (run["gradient"].diff().dropna() < 0).all()
    assert run["place"].iloc[0] == 5.0 and 5.6 < run["place"].iloc[-1] < 5.8
    # As √(2 log t): each stretch adds less than the one before.
    assert (run["place"].diff().dropna().diff().dropna() < 0).all()


def test_at_1_over_L_every_step_lowers_R() -> None:
    """The descent is one of those the theorem covers: R falls by at least half of γ‖∇R‖² in each step."""
    bound = nl.lipschitz_bound(drift.KERNEL, drift.DATA, 4)
    assert drift.step() == bound.step == pytest.approx(0.01986, rel=1e-3)
    steps = nl.gradient_descent(
        drift.KERNEL, drift.DATA, drift.START, step=bound.step, iterations=50, record_every=1, keep_path=True
    )
    squares = [np.sum(nl.radial_skd_gradient(drift.KERNEL, drift.DATA, sample) ** 2) for sample in steps.path[:-1]]
    assert (-np.diff(steps.values) >= 0.5 * bound.step * np.array(squares) - 1e-15).all()


# --- what the proof of the proposition leaves to interval arithmetic


def limit_problem(z: list[Any]) -> Jet:
    """R with the fourth landmark infinitely far away, up to its constant, with gradient and Hessian."""
    variables = []
    for k, value in enumerate(z):
        gradient = arb_mat(3, 1)
        gradient[k, 0] = arb(1)
        variables.append(Jet(value, gradient, arb_mat(3, 3)))

    def phi(difference: Jet) -> Jet:
        return (difference * difference * (-arb(1) / 2)).exp()

    T1, Q = Jet.constant(0, 3), Jet.constant(4, 3)  # three landmarks' own entries, and the fourth's
    for j, s in enumerate(variables):
        T1 = T1 + phi(s + arb(1)) + phi(s + arb(-1))
        for other in variables[:j]:
            Q = Q + phi(s + other * (-1)) * 2
    return T1 * T1 * Q ** (-1.0) * (-1)


def test_the_limit_problem_is_R_with_a_landmark_far_away() -> None:
    sample = np.array([[-1.1], [0.1], [1.3], [1e3]])
    with precision():
        jet = limit_problem([arb(-1.1), arb(0.1), arb(1.3)])
        assert float(jet.value.mid()) == pytest.approx(
            nl.radial_skd(drift.KERNEL, drift.DATA, sample, constant=False), rel=1e-14
        )
        gradient = [float(jet.gradient[k, 0].mid()) for k in range(3)]
    assert gradient == pytest.approx(nl.radial_skd_gradient(drift.KERNEL, drift.DATA, sample)[:3, 0], rel=1e-12)


def test_the_limit_problem_has_a_strict_minimum_beyond_the_data() -> None:
    """Proved in balls: the gradient at (−a, 0, a) changes sign for a in the interval, the Hessian is positive there."""
    low, high = "1.2064", "1.2065"
    with precision():
        signs = [limit_problem([-arb(a), arb(0), arb(a)]).gradient[2, 0] for a in (low, high)]
        assert signs[0] < 0 < signs[1]
        a = (arb(low) + arb(high)) / 2
        a = arb(a.mid(), (arb(high) - arb(low)).mid())  # wider than the interval
        assert a.contains(arb(low)) and a.contains(arb(high)) and a > 1
        H = limit_problem([-a, arb(0), a]).hessian
        minors = [arb_mat([[H[i, j] for j in range(k)] for i in range(k)]).det() for k in (1, 2, 3)]
        assert all(minor > 0 for minor in minors)
