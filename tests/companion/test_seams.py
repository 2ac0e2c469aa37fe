"""Objective, step rule and start as parts of an experiment; the paper's stay what they are."""

import nystrom_lib as nl
from companion.experiments.config import Experiment
from companion.experiments.problems import PROBLEMS, descent_by, tried
from companion.experiments.protocol import prepare, repetition
from companion.experiments.seeds import Axis, seed_for


def test_the_paper_s_problems_are_the_paper_s() -> None:
    from companion.experiments.paper import PAPER

    for this in PROBLEMS.values():
        if this.paper is not None:
            experiment = PAPER[this.paper]
            assert (experiment.data, experiment.n, experiment.kernel.parameters["rho"]) == (this.data, this.n, this.rho)


def small(descent, by="uniform", **how) -> Experiment:
    return tried(PROBLEMS["bigaussian-16"], by, descent, m=1, most=200, n=5, **how)


def test_a_repetition_is_the_library_s_own_calls() -> None:
    experiment = small(descent_by("trace", 20), "kmeans")
    outcome = repetition(prepare(experiment), 0)
    data, kernel = experiment.data.load(experiment.seed).X, nl.Gaussian(rho=16.0)
    start = nl.initial_sample(kernel, data, 5, "kmeans", seed=seed_for(experiment.seed, Axis.INITIAL_SAMPLE, 0))
    end = nl.find_landmarks(
        kernel, data, 5, method="trace", iterations=20, seed=seed_for(experiment.seed, Axis.BATCHES, 0), start=start
    ).sample
    for stage, sample in (("initial", start), ("optimised", end)):
        assert outcome.numbers[f"trace.{stage}"] == nl.nystrom_errors(kernel, data, sample, "trace").trace
