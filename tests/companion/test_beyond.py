"""Beyond the paper: studies, questions and their answers, and what is stored."""

import itertools

import numpy as np
import pandas as pd
import pytest

import nystrom_lib as nl
from companion.chapters import arena, designs, objectives, prediction
from companion.checkout import RESULTS
from companion.claims import beyond
from companion.experiments.problems import BEYOND
from companion.results.table import Results
from companion.running.stored import verify
from companion.wording import percent

from ..lock import locked

# -- questions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "word"),
    [((0.95, 0.5), "Yes"), ((0.951, 0.5), "In part"), ((0.96, 0.97, 0.5), "No"), ((), "Not tested")],
)
def test_cases_decide(values: tuple[float, ...], word: str) -> None:
    assert beyond.answer("X1", {str(k): value for k, value in enumerate(values)}).word == word


# -- what is stored --------------------------------------------------------------------------------------------------


def test_everything_is_stored_and_nothing_else() -> None:
    assert {path.stem for path in (RESULTS / "beyond").glob("*.parquet")} == set(BEYOND)
    for name, experiment in BEYOND.items():
        stored = Results.load(RESULTS / "beyond" / f"{name}.parquet")
        assert stored.experiment == experiment and stored.complete, name
        assert stored.provenance["sessions"][0]["commit"], name
        assert (stored.table["E_tr"] >= 1.0 - 1e-9).all(), name


@pytest.mark.slow  # as the chapters do whenever nbval runs them
@pytest.mark.parametrize(
    "name", ["breast-cancer.kmeans-trace", "bigaussian-16.uniform-weighted", "abalone.MiniBatchKMeans"]
)
def test_a_stored_repetition_is_computed_again(name: str) -> None:
    pytest.importorskip("sklearn")
    if name.endswith("KMeans") and not locked("scikit-learn"):
        pytest.skip("stored with another scikit-learn, whose k-means may draw otherwise")
    verify(Results.load(RESULTS / "beyond" / f"{name}.parquet"), [3], threads=1)


def test_the_stored_answers_are_those_of_the_numbers() -> None:
    answers = beyond.stored_answers(RESULTS)
    assert {f"X{k}" for k in range(1, 19)} <= set(answers)
    trace, means = (
        Results.load(RESULTS / "beyond" / f"digits.{way}.parquet").table for way in ("uniform-trace", "KMeans")
    )
    ratio = trace.query("stage == 'optimised'")["E_tr"].median() / means.query("stage == 'initial'")["E_tr"].median()
    assert answers["X1"].cases["digits"] == pytest.approx(ratio, rel=1e-12)
    assert percent(max(answers["X1"].cases.values())) in beyond.story(answers)


def test_the_objectives_are_compared_again() -> None:
    """The starts are the same; ends may be other minima of nearly the same depth on another processor."""
    table, _ = objectives.converged(objectives.ObjectivesParameters())
    stored = table[(table["problem"] == "bigaussian-16") & (table["repetition"] == 0)]
    found = pd.DataFrame(objectives.converged_rows(objectives.ObjectivesParameters(problems=("bigaussian-16",)), 1))
    for column, tolerance in (("before", 1e-9), ("after", 0.05)):
        np.testing.assert_allclose(found[column], stored[column], rtol=tolerance)
    assert table["converged"].all() and len(table) == 144
    assert (objectives.over_trace(table)[["radial", "weighted"]] > 1.0).all(axis=None)


def test_the_methods_are_compared_at_each_budget() -> None:
    table = pd.DataFrame({"problem": ["a", "b"] * 2, "way": ["x"] * 2 + ["y"] * 2, "E_tr": [2.0, 3.0, 4.0, 2.0]})
    found = arena.compared(table.assign(budget=[np.nan, np.nan, 1.0, 1.0]), "x", "y", [1.0])
    assert found.iloc[0].tolist() == ["1", "1 of 2", 0.5, 1.5]


def test_a_determinantal_sample_has_the_probabilities_of_its_determinants() -> None:
    """All pairs of four points, by det K_S over the sum of them."""
    matrix = nl.Gaussian(rho=1.0).matrix(np.array([[0.0], [0.3], [1.0], [1.2]]))
    eigen, draws = np.linalg.eigh(matrix), 3_000
    drawn = [tuple(sorted(objectives.determinantal(np.arange(4), *eigen, 2, seed))) for seed in range(draws)]
    pairs = list(itertools.combinations(range(4), 2))
    determinants = np.array([np.linalg.det(matrix[np.ix_(pair, pair)]) for pair in pairs])
    shares = np.array([drawn.count(pair) for pair in pairs]) / draws
    np.testing.assert_allclose(shares, determinants / determinants.sum(), atol=0.04)


def test_sobol_points_lie_in_the_box_of_the_data_and_follow_their_quantiles() -> None:
    X = np.random.default_rng(0).exponential(size=(500, 2))
    box, quantiles = (objectives.sobol(X, 50, 1, each) for each in (False, True))
    for points in (box, quantiles):
        assert points.shape == (50, 2) and (points >= X.min(axis=0)).all() and (points <= X.max(axis=0)).all()
    np.testing.assert_allclose(np.median(quantiles, axis=0), np.median(X, axis=0), atol=0.1)
    assert (np.median(box, axis=0) > 2.0 * np.median(X, axis=0)).all()


def test_the_study_of_prediction_is_read_back_and_answers_its_questions() -> None:
    p = prediction.PredictionParameters()
    stored = prediction.load()
    assert stored is not None and stored[0] == p.to_plain() and stored[2]["commit"] and not stored[2]["dirty"]
    found = {name: beyond.answer(name, cases) for name, cases in prediction.cases(stored[1], p).items()}
    assert list(found) == [f"X{k}" for k in range(19, 25)]
    rings = stored[1].query("problem == 'rings' and N == 2000")
    supervised = rings.query("method == 'supervised' and n == 50")["error"].median()
    uniform = rings.query("method == 'uniform' and n == 200")["error"].median()
    assert found["X19"].cases["Abalone's rings"] == pytest.approx(supervised / uniform, rel=1e-12)
    again = list(itertools.islice(prediction.rows(p, "diabetes", 0, quick=True), 2))
    prediction.check(stored[1], again)
    with pytest.raises(ArithmeticError, match="The stored error"):
        prediction.check(stored[1], [again[0] | {"error": 1.01 * again[0]["error"]}])


# -- studies ---------------------------------------------------------------------------------------------------------


def test_the_mean_variance_is_that_of_the_process() -> None:
    p = designs.DesignsParameters(N=100, n=(7,), seeds=1)
    kernel, data = nl.Gaussian(rho=p.rho), designs.grid("square", p.N)
    sample = designs.design("uniform", "square", 7, kernel, data, 0)
    exact = np.mean([1.0 - k @ np.linalg.solve(kernel.matrix(sample), k) for k in kernel.matrix(data, sample)])
    assert designs.variances(p).loc[("square", 7), "uniform"] == pytest.approx(exact, rel=1e-9)


def test_a_descent_along_the_sphere_stays_on_it_and_goes_down() -> None:
    objective = nl.TraceError(nl.Gaussian(rho=4.0), designs.lattice(300))
    start = designs.scattered(10, 0)
    end = designs.descend(objective, start, 60)
    np.testing.assert_allclose(np.linalg.norm(end, axis=1), 1.0, rtol=1e-14)
    assert objective.value(end) < 0.95 * objective.value(start)
    gradient = designs.tangent(end, objective.gradient(end))
    np.testing.assert_allclose((gradient * end).sum(axis=1), 0.0, atol=1e-10)


def beyond_results(name: str) -> Results:
    return Results.load(RESULTS / "beyond" / f"{name}.parquet")


def test_only_the_end_of_a_descent_that_lets_rounding_grow_may_drift() -> None:
    from companion.results.comparing import differences, row

    stored, still = beyond_results("abalone.uniform-trace"), beyond_results("abalone.KMeans")
    pairs = [(0, 1.005, 1.0)]
    assert row("E_tr", "optimised", pairs, stored)["within"]
    assert not row("E_tr", "optimised", [(0, 1.03, 1.0)], stored)["within"]
    assert not row("E_tr", "initial", pairs, stored)["within"]
    assert not row("E_tr", "optimised", pairs, still)["within"]
    adapts, fixed = (beyond_results(f"abalone.steps-{rule}") for rule in ("adam", "fixed"))
    # what was descended on comes out alike, the rest does as well, and the ways there part
    assert row("R", "optimised", pairs, adapts)["within"]
    assert row("E_tr", "optimised", [(0, 1.2, 1.0)], adapts)["within"]
    assert not row("R", "optimised", [(0, 1.03, 1.0)], adapts)["within"]
    assert not row("R", "optimised", pairs, fixed)["within"]
    # neither R nor the error was descended on
    weighted = beyond_results("abalone.uniform-weighted")
    assert row("R", "optimised", [(0, 1.2, 1.0)], weighted)["within"]
    assert row("E_tr", "optimised", [(0, 1.2, 1.0)], weighted)["within"]
    # an error of a ten-millionth of the trace has many minima beside each other
    tiny = beyond_results("bigaussian-1.uniform-trace")
    assert row("E_tr", "optimised", [(0, 1.1, 1.0)], tiny)["within"]
    assert row("trace", "optimised", [(0, 4.0e-4, 3.6e-4)], tiny)["within"]
    assert not row("trace", "optimised", [(0, 7.2e-4, 3.6e-4)], tiny)["within"]
    # where rounding chooses the start, both stages may drift, but not what is the same for all
    batches = beyond_results("magic.MiniBatchKMeans")
    assert row("E_tr", "initial", [(0, 1.1, 1.0)], batches)["within"]
    assert not row("trace", "constant", [(-1, 1.1, 1.0)], batches)["within"]
    for results, compared in ((adapts, False), (fixed, True)):
        table = differences(results.outcomes, results.outcomes, results)
        assert ("curve" in set(table["quantity"])) == compared
