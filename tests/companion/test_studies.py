"""The computations behind the theory chapters do what they claim."""

import itertools

import numpy as np
import pandas as pd
import pytest

import nystrom_lib as nl
from companion.chapters import approximation, convergence, radial_skd
from companion.chapters import stochastic_gradients as estimators
from companion.chapters.bigaussian import recorded_descent
from companion.choices import kernel_by_name
from companion.experiments.config import Record
from companion.running.runner import run
from companion.studies import curvature, own_data
from companion.studies.request import Request

from .small import EXPERIMENT

DATA = nl.datasets.bigaussian(N=120).X
KERNEL = nl.Gaussian(rho=1.0)
SAMPLE = nl.uniform_sample(DATA, 6, 3)


# -- chapter 1


def test_a_shift_and_a_cut_off_lose_the_digits_the_library_keeps():
    data = nl.datasets.bigaussian(N=400).X
    errors = approximation.trace_errors(KERNEL, data, nl.uniform_sample(data, 60, 0))
    relative = (errors / errors["exact"] - 1.0).abs()
    assert relative[approximation.DEFAULT] < 1e-6
    assert relative.filter(like="jitter").iloc[0] > 0.1
    assert relative.filter(like="left out").iloc[0] > 1e3 * relative[approximation.DEFAULT]


@pytest.mark.parametrize("norm", ["trace", "frobenius", "spectral"])
def test_the_partial_derivative_that_is_timed_is_the_right_one(norm):
    move = np.zeros_like(SAMPLE)
    move[0, 0] = 1e-5
    above, below = (getattr(nl.nystrom_errors(KERNEL, DATA, SAMPLE + sign * move), norm) for sign in (1, -1))
    found = approximation.partial_derivative(KERNEL, DATA, SAMPLE, norm)
    assert found == pytest.approx((above - below) / 2e-5, rel=1e-5)


# -- R


def test_surface_is_R_with_the_landmark_there():
    p = radial_skd.RadialSKDParameters(N=120, check_N=50, iterations=3)
    for sample in (SAMPLE[:1], SAMPLE):
        found = radial_skd.surface(p, sample, side=7)
        for row, column in itertools.product((0, 3, 6), repeat=2):
            place = np.array([[found.axis[column], found.axis[row]]])
            R = nl.radial_skd(p.kernel(), p.data(), np.concatenate([place, sample[1:]]))
            assert found.values[row, column] == pytest.approx(R, rel=1e-12)
        ends = (np.concatenate([found.path[[k]], sample[1:]]) for k in (0, -1))
        first, last = (nl.radial_skd(p.kernel(), p.data(), each) for each in ends)
        assert last < first


# -- the theorem


@pytest.mark.parametrize("name", ["Gaussian", "Matérn 3/2"])
def test_each_step_of_the_proof_holds(name):
    kernel = curvature.kernels(1.0)[name]
    bound = nl.lipschitz_bound(kernel, DATA, 6)
    tried = convergence.ConvergenceParameters(N=120, n=6, m=3).samples()
    ratios = pd.DataFrame([curvature.proof_ratios(kernel, DATA, sample, bound) for sample in tried]).max()
    assert len(ratios) == 8
    assert ((ratios > 0) & (ratios <= 1)).all()
    assert curvature.lipschitz_ratio(kernel, DATA, tried, bound) <= ratios["‖∇²R‖₂ ≤ L"] * 3


# -- estimators

PARTS = estimators.terms(KERNEL, DATA, SAMPLE)


def test_estimates_are_the_library_s():
    batches = np.random.default_rng(0).integers(len(DATA), size=(4, 12))
    one, two, four = (estimators.estimates(PARTS, batches, kind) for kind in estimators.PARTS)
    for k, batch in enumerate(batches):
        case = (KERNEL, DATA, SAMPLE)
        assert one[k] == pytest.approx(nl.one_sample_gradient(*case, batch).ravel(), rel=1e-9)
        assert two[k] == pytest.approx(nl.two_sample_gradient(*case, batch[:6], batch[6:]).ravel(), rel=1e-9)
        parts = np.array_split(batch, 4)
        assert four[k] == pytest.approx(nl.stochastic.four_sample_gradient(*case, *parts).ravel(), rel=1e-9)


def test_every_batch_shows_the_bias_and_its_absence():
    tiny = estimators.terms(KERNEL, DATA[:4], SAMPLE[:2])
    table = estimators.enumeration(tiny, 4).set_index("estimator")
    assert (table["batches"] == 4**4).all()
    assert table.loc["one-sample", "bias / ‖∇R‖"] > 1e-3
    assert table.loc[["two-sample", "four-sample"], "bias / ‖∇R‖"].max() < 1e-12
    bias = estimators.every_batch(tiny, 3, "one-sample").mean(axis=0) - tiny.gradient
    assert estimators.one_sample_bias(tiny, 3) == pytest.approx(bias, rel=1e-9, abs=1e-9 * np.abs(bias).max())


# -- the reader's own data


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((50, 3)) * [1, 10, 100] + [5, 0, -5], columns=["a", "b", "c"])
    frame.to_csv(tmp_path / "mine.csv", index=False)
    return tmp_path / "mine.csv", frame


def found_for(request):
    return own_data.optimise(request, own_data.load(request))


@pytest.mark.parametrize("standardise", [True, False])
def test_landmarks_come_home_in_the_file_s_units(table, tmp_path, standardise):
    path, frame = table
    found = found_for(Request(str(path), n=4, method="uniform", standardise=standardise))
    record = found.save(tmp_path / "landmarks.csv")
    features = nl.load_landmarks(record).features(frame.to_numpy())
    approximation = nl.NystromApproximation(found.kernel, found.result.sample)
    assert features == pytest.approx(approximation.features(found.dataset.X))
    home = pd.read_csv(tmp_path / "landmarks.csv")
    assert list(home) == ["a", "b", "c"]
    # uniform landmarks are rows of the file
    near = np.abs(home.to_numpy()[:, None] - frame.to_numpy()[None]).max(axis=2)
    assert (near.min(axis=1) < 1e-9).all()
    assert found.record()["standardisation"]["done"] is standardise


def test_it_is_find_landmarks_that_is_called(table):
    how = {"method": "radial-skd", "start": "kmeans", "iterations": 20, "seed": 9}
    found = found_for(Request(str(table[0]), n=6, rho=0.25, kernel="matern-5/2", **how))
    kernel = kernel_by_name("matern-5/2", 0.25)
    again = nl.find_landmarks(kernel, found.dataset.X, 6, **how)
    np.testing.assert_array_equal(found.result.sample, again.sample)
    assert found.reasons[0] == "ρ = 0.25, as given." and found.reasons[1:] == again.reasons
    trace = nl.nystrom_errors(kernel, found.dataset.X, again.sample, "trace").trace
    best = nl.best_rank_errors(kernel, found.dataset.X, 6, "trace").trace
    assert (found.after, found.best) == (trace, best)


# -- the two variances


@pytest.mark.parametrize("b", [2, 3, 4])
@pytest.mark.parametrize("kernel", [nl.Gaussian(rho=0.7), nl.Polynomial(degree=2)])
def test_the_two_variances_are_those_over_every_batch(kernel, b):
    """Catches a moment left out, a wrong power of b, or a batch divided in another way than the estimator's."""
    rng = np.random.default_rng(7)
    data, sample = rng.standard_normal((5, 2)), rng.standard_normal((3, 2))
    batches = np.array(list(itertools.product(range(5), repeat=b)))
    exact = estimators.exact_variances(estimators.terms(kernel, data, sample), b)
    one = np.array([nl.one_sample_gradient(kernel, data, sample, batch).ravel() for batch in batches])
    halves = [np.array_split(batch, 2) for batch in batches]
    two = np.array([nl.two_sample_gradient(kernel, data, sample, x, y).ravel() for x, y in halves])
    assert exact["one-sample"] == pytest.approx(one.var(axis=0).sum(), rel=1e-10)
    assert exact["two-sample"] == pytest.approx(two.var(axis=0).sum(), rel=1e-10)


# -- along a descent, and the forces of the gradient


def test_the_two_forces_add_up_to_the_negative_gradient():
    """Catches a sign, or a part that is counted twice."""
    attraction, repulsion = radial_skd.forces(KERNEL, DATA, SAMPLE)
    gradient = nl.radial_skd_gradient(KERNEL, DATA, SAMPLE)
    assert attraction + repulsion == pytest.approx(-gradient, rel=1e-10)
    attraction, repulsion = radial_skd.forces(KERNEL, DATA, SAMPLE[:1])
    assert np.abs(repulsion).max() < 1e-9 * np.abs(attraction).max()


def test_R_and_the_trace_factor_are_those_of_the_samples_kept(tmp_path):
    experiment = EXPERIMENT.replace(m=1, record=Record(repetitions=(0,), every=5, path=True))
    results = run(experiment, tmp_path, threads=1)
    data = experiment.data.load(experiment.seed).X
    found, (iterations, path) = recorded_descent(1.0, results, data), results.path(0)
    kernel, last = experiment.kernel, path[-1]
    assert found.iterations.tolist() == iterations.tolist()
    assert found.R[-1] == pytest.approx(nl.radial_skd(kernel, data, last), rel=1e-9)
    assert found.E_tr[-1] == pytest.approx(nl.approximation_factors(kernel, data, last, norms="trace").trace, rel=1e-6)
    table = results.table.set_index("stage")["E_tr"]
    assert (found.E_tr[0], found.E_tr[-1]) == pytest.approx((table["initial"], table["optimised"]), rel=1e-9)


# -- a kernel whose diagonal vanishes


def test_with_the_linear_kernel_R_depends_on_directions_only():
    """The two facts that chapter 3 relies on: ∇R(aS) = ∇R(S)/a, and it is orthogonal to S."""
    kernel = nl.Polynomial(degree=1, offset=0.0)
    for a in (1.0, 0.01):
        R = nl.radial_skd(kernel, DATA, a * SAMPLE)
        assert R == pytest.approx(nl.radial_skd(kernel, DATA, SAMPLE), rel=1e-9)
    gradient = nl.radial_skd_gradient(kernel, DATA, SAMPLE)
    np.testing.assert_allclose(nl.radial_skd_gradient(kernel, DATA, 0.01 * SAMPLE), 100 * gradient, rtol=1e-8)
    assert abs(np.sum(gradient * SAMPLE)) < 1e-9 * np.linalg.norm(gradient) * np.linalg.norm(SAMPLE)
