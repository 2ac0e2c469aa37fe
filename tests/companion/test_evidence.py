"""Nothing that was stored, declared or published may change unnoticed.

``evidence.json`` was written from commit 3d69cc7. It holds the sha256 of every stored result, the fingerprint and the
seal of every stored experiment, the sha256 of every declared claim and question, all verdicts and answers, and the
parameters of all public functions. The test states each contract in a few lines of its own, so that renamed modules and
classes cannot change it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import nystrom_lib as nl
import nystrom_lib.estimators
from companion.claims import CLAIMS, QUESTIONS, judge
from companion.claims.base import Threshold
from companion.claims.beyond import stored_answers
from companion.experiments.config import Experiment
from companion.experiments.paper import PAPER
from companion.experiments.problems import BEYOND
from companion.results.table import Results

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
EVIDENCE: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "evidence.json").read_text(encoding="utf-8"))

#: Public names that were removed on purpose; CHANGELOG says what replaces each.
REMOVED: tuple[str, ...] = (
    "Advice", "Constants", "CustomKernel", "Errors", "Factors", "LipschitzBound", "LocalApproximation", "Objective",
    "Source.mark", "StepRule", "advise", "advised_batch_size", "advised_iterations", "advised_step", "draw_batch",
    "estimate_T1", "estimate_T2", "estimate_radial_skd", "four_sample_gradient", "hessian_vector_product",
    "initial_indices", "kernel_by_name", "uniform_indices",
)  # fmt: skip

#: Functions whose parameters changed on purpose: a step rule no longer gets the values of the descent, `from_array`
#: names its options, `from_file` reads no .npz archives, `fetch_miniboone` has no settings for the transfer, and the
#: paper's descents have no `dtype`.
CHANGED: tuple[str, ...] = (
    "Adam.begin", "FixedStep.begin", "LBFGS.begin", "Momentum.begin", "datasets.fetch_miniboone", "datasets.from_array",
    "datasets.from_file", "gradient_descent", "stochastic_gradient_descent",
)  # fmt: skip


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def canonical(plain: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, ASCII."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def test_stored_files_are_unchanged() -> None:
    """Catches an edited, renamed or deleted result; new files are allowed, and so are new timings of the arena."""
    changed = [
        name
        for name, digest in EVIDENCE["files"].items()
        if not (path := RESULTS / name).is_file() or sha256(path.read_bytes()) != digest
    ]
    assert changed == []


@pytest.mark.parametrize("group", [PAPER, BEYOND], ids=["paper", "beyond"])
def test_fingerprints_and_seals_are_unchanged(group: Mapping[str, Experiment]) -> None:
    """Catches a renamed class or a new field that changes the fingerprint under which a result is found."""
    for name, experiment in group.items():
        stored = f"beyond/{name}" if group is BEYOND else name
        frozen = EVIDENCE["experiments"][stored]
        stamp = json.loads(pq.read_schema(RESULTS / f"{stored}.parquet").metadata[b"nystrom_lib"])
        plain = stamp["provenance"]["experiment"]
        fingerprint = sha256(f"nystrom-experiment/1\n{canonical(plain)}".encode("ascii"))
        assert frozen == {"fingerprint": fingerprint, "seal": stamp["seal"]}, name
        assert stamp["format"] == 1, name
        assert experiment.fingerprint == fingerprint, name
        assert Experiment.from_plain(plain) == experiment, name


def test_every_stored_experiment_is_declared() -> None:
    """Catches an experiment that lost its name: its stored result would never be shown again."""
    assert set(EVIDENCE["experiments"]) == {*PAPER, *(f"beyond/{name}" for name in BEYOND)}


@pytest.mark.parametrize("name", ["figure-1", "figure-2-n20", "beyond/abalone.steps-fixed"])
def test_seals_cover_numbers_and_provenance(name: str) -> None:
    """Catches a change in how the seal of a file is computed: a table, one with curves, and one with paths."""
    results = Results.load(RESULTS / f"{name}.parquet")
    sealed = f"{results.checksum} {canonical(results.provenance)}".encode("ascii")
    assert sha256(sealed) == EVIDENCE["experiments"][name]["seal"]


def limits(thresholds: Mapping[str, Threshold]) -> dict[str, Any]:
    return {name: [each.value, each.meaning] for name, each in thresholds.items()}


def test_declared_claims_are_unchanged() -> None:
    """Catches a claim, a rule or a threshold that was edited after its result was known."""
    digests = {}
    for claim in CLAIMS.values():
        later = claim.later and {
            **{name: getattr(claim.later, name) for name in ("why", "statistic", "rule", "decides", "known")},
            "thresholds": limits(claim.later.thresholds),
        }
        declared = {name: getattr(claim, name) for name in ("id", "section", "says")}
        declared |= {name: getattr(claim.rule, name) for name in ("statistic", "rule", "known")}
        declared |= {"thresholds": limits(claim.rule.thresholds), "later": later}
        digests[claim.id] = sha256(canonical(declared).encode("ascii"))
    assert digests == EVIDENCE["claims"]


def test_declared_questions_are_unchanged() -> None:
    """Catches a question or a threshold that was edited after its result was known; new questions are allowed."""
    digests = {}
    for each in QUESTIONS.values():
        limit = each.rule.thresholds["threshold"]
        declared = {"id": each.id, "asks": each.says, "statistic": each.rule.statistic}
        declared |= {"threshold": limit.value, "at_most": limit.comparison == "at most"}
        digests[each.id] = sha256(canonical(declared).encode("ascii"))
    assert {name: digests.get(name) for name in EVIDENCE["questions"]} == EVIDENCE["questions"]


def test_verdicts_are_unchanged() -> None:
    """Catches a verdict that changed although neither the stored results nor the rules did."""
    found = {
        verdict.claim.id: {
            "finding": str(verdict.finding),
            "later": verdict.later and str(verdict.later.finding),
            "parts": {part: str(finding) for part, finding in verdict.first.parts.items()},
        }
        for verdict in judge(RESULTS)
    }
    assert found == EVIDENCE["verdicts"]


def test_answers_are_unchanged() -> None:
    """Catches an answer to a question beyond the paper that changed."""
    answers = stored_answers(RESULTS)
    found = {name: [each.word, each.passed, len(each.cases)] for name, each in answers.items()}
    assert {name: found.get(name) for name in EVIDENCE["answers"]} == EVIDENCE["answers"]


def public(name: str) -> Callable[..., Any]:
    target: Any = nl
    for part in name.split("."):
        target = getattr(target, part)
    return target  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "name",
    [each for each in EVIDENCE["signatures"] if not {each, each.partition(".")[0]} & {*REMOVED, *CHANGED}],
)
def test_public_calls_still_work(name: str) -> None:
    """Catches a renamed, reordered or removed parameter, and a changed default.

    A new parameter must have a default, and a required one may get one.
    """
    now = inspect.signature(public(name)).parameters
    frozen = {parameter: (kind, default) for parameter, kind, default in EVIDENCE["signatures"][name]}
    before = [each for each, (kind, _) in frozen.items() if kind.startswith("POSITIONAL")]
    assert [each for each in now if now[each].kind.name.startswith("POSITIONAL")][: len(before)] == before
    for parameter, (kind, default) in frozen.items():
        assert now[parameter].kind.name == kind, parameter
        assert default is None or repr(now[parameter].default) == default, parameter
    assert [each for each in now if each not in frozen and now[each].default is inspect.Parameter.empty] == []


def test_removed_names_are_gone() -> None:
    """Catches a name that is listed as removed and is still there."""
    assert [name for name in REMOVED if exists(name)] == []


def exists(name: str) -> bool:
    try:
        public(name)
    except AttributeError:
        return False
    return True
