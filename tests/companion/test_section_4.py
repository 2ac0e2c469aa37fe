"""The chapters on §4: at their defaults they are the paper's experiments; and what they compute besides."""

import numpy as np
import pytest

import nystrom_lib as nl
from companion.chapters import abalone, bigaussian, magic, miniboone
from companion.errors import ConfigurationError
from companion.experiments.components import BiGaussian, Magic, Part, StochasticGradientDescent
from companion.experiments.config import Experiment, Record
from companion.experiments.paper import PAPER
from nystrom_lib import Gaussian

SMALL = Experiment(
    data=BiGaussian(N=120, seed=1),
    kernel=Gaussian(rho=2.0),
    n=6,
    descent=StochasticGradientDescent(step=1e-4, iterations=40, batch_size=10),
    m=3,
    seed=5,
    record=Record(repetitions=(0,), every=10),
)


def test_at_the_defaults_the_chapters_are_the_paper() -> None:
    two, three, four, five = (each.CHAPTER.parameters() for each in (bigaussian, abalone, magic, miniboone))
    asked = [
        *(two.paths(rho) for rho in two.rho),
        *(two.repetitions(rho, n) for rho in two.rho for n in two.n),
        *(three.repetitions(rho, reading) for rho in three.rho for reading in three.attributes),
        *(four.repetitions(n) for n in four.n),
        five.descent(),
    ]
    assert {each.fingerprint for each in asked} == {each.fingerprint for each in PAPER.values()}
    assert len(asked) == len(PAPER)


@pytest.mark.parametrize(
    ("module", "values", "message"),
    [
        (bigaussian, {"rho": ()}, "rho is an empty list"),
        (magic, {"n": (100,)}, r"iterations is \[3000, 4000\]; it must have one value, or as many as n"),
        (miniboone, {"N": 200_000}, "N is 200000; it must be a whole number, at least 2 and at most 129,592"),
    ],
)
def test_what_no_experiment_could_be_is_refused(module, values, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        module.CHAPTER.parameters(**values)


def test_a_part_of_the_data_is_a_draw_from_it() -> None:
    part, whole = Part(of=Magic(), N=50), nl.datasets.magic()
    found = part.load(3)
    assert found.N == 50 and "50 of 18,905" in found.name and found.sha256 == nl.datasets.sha256_of(found.X)
    assert {tuple(row) for row in found.X} <= {tuple(row) for row in whole.X}
    assert np.array_equal(part.load(3).X, found.X) and not np.array_equal(part.load(4).X, found.X)
    experiment = SMALL.replace(data=part)
    assert Experiment.from_plain(experiment.to_plain()) == experiment
