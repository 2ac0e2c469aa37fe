"""Configurations: typed, range-checked, strict when read, and known by their fingerprint."""

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.errors import ConfigurationError
from companion.experiments.components import (
    KERNELS,
    Abalone,
    BiGaussian,
    GradientDescent,
    StochasticGradientDescent,
)
from companion.experiments.config import NORMS, Experiment, Record
from companion.experiments.paper import PAPER
from companion.results.table import Results
from companion.running import stored
from companion.settings import canonical_json, setting
from nystrom_lib import Gaussian, Matern


def experiment(**changes: Any) -> Experiment:
    settings: dict[str, Any] = {
        "data": BiGaussian(N=100),
        "kernel": Gaussian(rho=1.0),
        "n": 5,
        "descent": GradientDescent(step=1e-6, iterations=10),
        "m": 3,
        "seed": 1,
    }
    return Experiment(**{**settings, **changes})


positive = st.floats(min_value=1e-90, max_value=1e90, allow_nan=False)
datas = st.one_of(
    st.builds(BiGaussian, N=st.integers(2, 9), seed=st.none() | st.integers(0, 3), variance=positive),
    st.builds(Abalone, attributes=st.sampled_from(["sex", "rings"]), clean=st.booleans()),
)
kernels = st.builds(Gaussian, rho=positive) | st.builds(Matern, nu=st.sampled_from([0.5, 1.5, 2.5]))
descents = st.builds(GradientDescent, step=positive, iterations=st.integers(0, 3)) | st.builds(
    StochasticGradientDescent, step=positive, iterations=st.integers(0, 3), batch_size=st.integers(1, 3)
)
norms = st.sets(st.sampled_from(NORMS)).map(lambda chosen: tuple(norm for norm in NORMS if norm in chosen))
experiments = st.builds(
    Experiment,
    data=datas,
    kernel=kernels,
    n=st.integers(1, 3),
    descent=descents,
    m=st.integers(1, 3),
    seed=st.integers(0, 2) | st.integers(0, 2**63 - 1),
    norms=norms,
    factors=st.booleans(),
    record=st.sampled_from([Record(), Record(repetitions=(0,), every=2, path=True)]),
)


@given(experiments)
def test_json_gives_the_same_configuration_back(one: Experiment) -> None:
    assert Experiment.from_plain(json.loads(canonical_json(one.to_plain()))) == one


@given(experiments, experiments)
def test_equal_configurations_and_only_they_have_equal_fingerprints(one: Experiment, other: Experiment) -> None:
    assert (one == other) == (one.fingerprint == other.fingerprint)
    assert (one == other) <= (hash(one) == hash(other))


def test_only_m_leaves_the_series_as_it_is() -> None:
    """Repetitions are stored by series, so that a run can be extended."""
    base = experiment()
    others = [base.replace(n=6), base.replace(seed=2), base.replace(kernel=Gaussian(rho=1.0000000000000002))]
    assert base.replace(m=4).series == base.series
    assert len({base.series, *(one.series for one in others)}) == 4


@dataclasses.dataclass(frozen=True)
class NewerExperiment(Experiment):
    """An experiment as a later version may have it."""

    tempered: float = setting(0.0, at_least=0, newer=True)


@dataclasses.dataclass(frozen=True)
class NewerGaussian:
    """A kernel as a later version may have it."""

    rho: float
    tapered: bool = False


def test_a_newer_setting_at_its_default_leaves_every_stored_result_to_be_found(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = {path.stem: Results.load(path) for path in (root / "results").glob("*.parquet")}
    assert set(everything) == set(PAPER)
    monkeypatch.setitem(KERNELS, "gaussian", NewerGaussian)
    monkeypatch.setitem(KERNELS.newer, "gaussian", ("tapered",))
    for name, results in everything.items():
        origin = results.provenance["data"]
        monkeypatch.setattr(stored, "load", lambda *_, sha256=origin["sha256"]: SimpleNamespace(sha256=sha256))
        now = NewerExperiment.from_plain(results.provenance["experiment"])
        assert isinstance(now.kernel, NewerGaussian) and now.tempered == 0.0
        assert now.fingerprint == results.provenance["fingerprint"]
        found = stored.find(now, root / "results")
        assert found is not None and found[0] == name
        for other in (now.replace(tempered=0.5), now.replace(kernel=NewerGaussian(now.kernel.rho, tapered=True))):
            assert other.fingerprint != now.fingerprint and other.series != now.series
            assert stored.find(other, root / "results") is None
            assert NewerExperiment.from_plain(other.to_plain()) == other


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n": 0}, "n is 0; it must be a whole number, at least 1 and at most 1,000,000"),
        ({"n": True}, "n is True; it must be a whole number"),
        ({"seed": -1}, "seed is -1; it must be a whole number, at least 0"),
        ({"norms": ["trace", "max"]}, "norms is .'trace', 'max'.; it must be a list of texts, each one of 'trace'"),
        ({"norms": ["spectral", "trace"]}, "norms is .*; give each once, in the order"),
        ({"kernel": {"kind": "gaussian", "rho": float("nan")}}, "kernel: rho is nan; it must be from 1e-100"),
        ({"kernel": {"kind": "gaussian", "rho": 10**400}}, "kernel: rho is 10*.*; it must be from 1e-100"),
        ({"data": {"kind": "bigaussian", "seed": "1"}}, "data.seed is '1'; .* whole number, at least 0, or null"),
        ({"kernel": {"kind": "gausian", "rho": 1}}, "kernel.kind is 'gausian' .did you mean 'gaussian'"),
        ({"kernel": 3}, "kernel.kind is 3; known: gaussian, matern"),
        ({"data": {"kind": "abalone", "attributes": "age"}}, "data.attributes is 'age'; it must be text, one of 'sex'"),
        ({"record": {"repetitions": [1, 0], "every": 1}}, "record.repetitions .* in increasing order"),
    ],
)
def test_a_bad_value_is_refused_with_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        Experiment.from_plain({**experiment().to_plain(), **changes})
