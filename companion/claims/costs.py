"""R3, R4, R5, S5, M2, N2 and N3: times, from the committed benchmark, the stored timings or a quick measurement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import nystrom_lib as nl

from ..experiments.paper import PAPER, SEED
from ..experiments.protocol import load_data
from ..results.archive import Archive
from ..studies import costs
from .base import Case, NotStored
from .declared import CLAIMS


def exponents(archive: Archive, claim: str, group: str = "") -> Iterator[Case]:
    """By how much each exponent of the committed benchmark exceeds that of the paper's formula.

    The formulas of the paper do not count the dimension d, and so it is left out.
    """
    benchmark = archive.file("../benchmarks/results/results.json") or {"quick": True}
    curves = [] if benchmark.get("quick") else [each for each in benchmark["curves"] if each["claim"] == claim]
    if not curves:
        raise NotStored("The benchmark is not stored; `python -m benchmarks` measures it.")
    for curve in curves:
        if curve["axis"] != "d":
            measured, formula = costs.exponent(curve["grid"], curve["seconds"]), float(curve["claimed_slope"])
            values = {"slack": measured - formula, "exponent": measured, "formula": formula}
            yield Case(f"{curve['work']} against {curve['axis']}", values, group=group)


def radial_skd(archive: Archive) -> Iterator[Case]:
    """R3: the exponents, and what a singular K_S changes."""
    yield from exponents(archive, "R3", "exponents")
    yield Case("every landmark given twice", {"difference": singular_difference()}, group="singular K_S")


def singular_difference() -> float:
    """R and ∇R with every landmark given twice: R is the same, each copy has half the derivative."""
    data = np.random.default_rng(SEED).standard_normal((500, 4))
    kernel, sample = nl.Gaussian(rho=0.2), data[:40].copy()
    twice = np.concatenate([sample, sample])
    R, again = (nl.radial_skd(kernel, data, s, constant=False) for s in (sample, twice))
    gradient, halves = (nl.radial_skd_gradient(kernel, data, s) for s in (sample, twice))
    added = halves[: len(sample)] + halves[len(sample) :]
    return max(abs(again / R - 1.0), float(np.linalg.norm(added - gradient) / np.linalg.norm(gradient)))


def criteria(archive: Archive) -> Iterator[Case]:
    """R4: the exponents; the name says where the bound is not attained."""
    unattained = CLAIMS["R4"].limit("unattained")
    for case in exponents(archive, "R4"):
        attained = case.values["slack"] >= -unattained
        yield Case(case.name if attained else f"{case.name} (the bound is not attained)", case.values)


def stochastic_step(archive: Archive) -> Iterator[Case]:
    """S5: the exponents."""
    return exponents(archive, "S5")


def direct_descent(archive: Archive) -> Iterator[Case]:
    """R5: the cost of a whole gradient of the trace error, and what a descent on it leaves of the error."""
    timed = archive.file("direct_descent.json")
    if timed is None:
        raise NotStored("The timings are not stored; `python -m benchmarks.direct` takes them.")
    for label, each in timed["problems"].items():
        values = {
            "gradient": each["gradient_s"] / each["trace_s"],
            "error": float(np.median(each["error_quotients"])),
            "over ∇R": each["gradient_s"] / each["radial_gradient_s"],
            "n·d": each["n"] * each["d"],
            "seconds of each descent": each["descent_s"],
        }
        stand_in = bool(each["stand_in"])
        yield Case(f"{label} (stand-in)" if stand_in else label, values, counts=not stand_in)


def norms(archive: Archive) -> Iterator[Case]:
    """M2: processor seconds of the Frobenius and the spectral norm over those of the trace norm."""
    for label, name in (("bi-Gaussian", "figure-2-n50"), ("Abalone", "figure-3-rho1")):
        experiment = PAPER[name]
        kernel, data = experiment.kernel, np.asarray(load_data(experiment).X)
        calls = costs.criteria(kernel, data, nl.uniform_sample(data, experiment.n, SEED))
        seconds = {norm: costs.seconds(calls[norm]) for norm in ("trace", "Frobenius", "spectral")}
        for norm in ("Frobenius", "spectral"):
            yield Case(f"{norm} over trace, {label}", {"dearer": seconds[norm] / seconds["trace"]})


_TIMED = {"radial_skd_s": "R up to its constant", "trace_s": "trace norm", "descent_s": "descent"}


def _timings(archive: Archive) -> Mapping[str, Any]:
    timings = archive.file("miniboone_timings.json")
    if timings is None:
        raise NotStored("The timings are not stored: results/miniboone_timings.json is missing.")
    return timings


def miniboone(archive: Archive) -> Iterator[Case]:
    """N2: our seconds at the size of MiniBooNE, with those of plain C."""
    timings = _timings(archive)
    plain = timings.get("plain_c", {})
    for name, work in _TIMED.items():
        seconds = timings["ours"][name]
        other = {"plain C": plain[name], "plain C over ours": plain[name] / seconds} if name in plain else {}
        yield Case(work, {name: seconds, **other})


def miniboone_in_trace_norms(archive: Archive) -> Iterator[Case]:
    """N3: our seconds in units of one trace norm; those of plain C are shown."""
    timings = _timings(archive)
    for who, label in (("ours", ""), ("plain_c", ", plain C")):
        for name in ("radial_skd_s", "descent_s") if who in timings else ():
            part = timings[who][name] / timings[who]["trace_s"]
            yield Case(f"{_TIMED[name]}{label}", {"part": part}, counts=who == "ours")
