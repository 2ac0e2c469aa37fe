"""B3–B7, A1, A2, M1, N1–N3: what the stored tables of the experiments say."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..results.archive import Archive
from ..results.summary import Change, change, quantile, rank_correlation, spread_of
from ..results.table import Results
from ..studies.timings import in_order
from ..wording import FACTORS, number, percent
from .base import Claim, Finding, Table, Verdict, by_share, sentence, together
from .declared import IMPROVEMENT

_FACTORS = tuple(FACTORS.values())
_NS = ("20", "50", "80")
_RHOS = {"ρ = 1": "", "ρ = 16": "-rho16"}
_ABALONE_RHOS = ("0.25", "1", "4")
#: The first is the reading that decides.
_ATTRIBUTES = {"with sex": "", "with rings": "-rings"}


# -- statistics of one table --------------------------------------------------------------------------------------


def before_and_after(results: Results, quantity: str) -> Change:
    """Repetition by repetition; a diverged descent counts as infinitely bad."""
    return change(results, quantity, diverged=np.inf)


@dataclass(frozen=True)
class Improvement:
    """How a quantity changed from initial to optimised samples."""

    share: float  #: of repetitions that improve
    ratio: float  #: of medians, after over before
    gap: float  #: lower quartile before − upper quartile after, in units of the median before

    def clear(self, claim: Claim) -> bool:
        """All three thresholds."""
        return (
            self.share >= claim.limit("share") and self.ratio <= claim.limit("ratio") and self.gap > claim.limit("gap")
        )


def improvement(change: Change) -> Improvement:
    """Share improved, ratio of medians, gap between the boxes."""
    before, after = change.medians
    gap = quantile(change.before, 0.25) - quantile(change.after, 0.75)
    return Improvement(share=change.improved, ratio=after / before, gap=gap / before)


@dataclass(frozen=True)
class Closeness:
    """How close optimised values are to each other."""

    spread: float  #: interquartile range over median
    range: float  #: 95 % over 5 % quantile
    initial_spread: float  #: interquartile range over median of the initial values

    def close(self, claim: Claim) -> bool:
        """All three thresholds."""
        return (
            self.spread <= claim.limit("spread")
            and self.range <= claim.limit("range")
            and self.spread <= claim.limit("relative") * self.initial_spread
        )


def closeness(change: Change) -> Closeness:
    """Spread and range of the values after, and the spread of those before."""
    after = change.after
    return Closeness(spread_of(after), quantile(after, 0.95) / quantile(after, 0.05), spread_of(change.before))


def separation(change: Change) -> float:
    """What a reader of two boxes sees: the distance of their medians over the mean of their heights."""
    before, after = change.medians
    heights = [quantile(values, 0.75) - quantile(values, 0.25) for values in (change.before, change.after)]
    return (before - after) / (sum(heights) / 2.0)


def excess_left(change: Change) -> float:
    """Which part of what a factor can lose, its excess over 1, is left: from median to median."""
    before, after = change.medians
    return (after - 1.0) / (before - 1.0)


# -- words --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Examined:
    """What was found in some tables: cases that pass or not, by what they are about, with words and numbers."""

    cases: Mapping[str, Mapping[str, bool]]
    words: str
    numbers: Mapping[str, float]
    tables: tuple[Table, ...] = ()

    @property
    def findings(self) -> dict[str, Finding]:
        """The verdict on each group of cases."""
        return {group: by_share(sum(cases.values()), len(cases)) for group, cases in self.cases.items()}

    @property
    def finding(self) -> Finding:
        """All groups in one word."""
        return together(self.findings.values())

    @property
    def reason(self) -> str:
        """Which cases fail, if any."""
        if len(self.cases) == 1:
            return failing(next(iter(self.cases.values())))
        return "; ".join(f"{group}: {self.findings[group]}, {failing(cases)}" for group, cases in self.cases.items())


def failing(cases: Mapping[str, bool]) -> str:
    """How many cases pass, and the names of those that do not."""
    bad = [name for name, passed in cases.items() if not passed]
    if not bad:
        return f"all {len(cases)} cases pass"
    if len(bad) == len(cases):
        return f"none of {len(cases)} cases passes"
    return f"{len(cases) - len(bad)} of {len(cases)} cases pass, not: {', '.join(bad)}"


def _absent(claim: Claim, missing: Iterable[str]) -> Verdict:
    return Verdict(
        claim,
        Finding.UNTESTABLE,
        "Nothing was measured.",
        f"These results are not there, or not complete: {', '.join(missing)}; `make paper` computes them.",
    )


def _together(claim: Claim, readings: Mapping[str, Examined], deciding: Iterable[str]) -> Verdict:
    """One verdict from several readings (ρ = 1 and 16; sex and rings), of which some decide and all are said."""
    findings = {name: each.finding for name, each in readings.items()}
    return Verdict(
        claim,
        together(findings[name] for name in deciding),
        " ".join(f"{sentence(f'{name}: {each.words}')}" for name, each in readings.items()),
        " ".join(sentence(f"{name}: {each.finding} ({each.reason})") for name, each in readings.items()),
        {f"{name}, {key}": number for name, each in readings.items() for key, number in each.numbers.items()},
        findings,
        _stacked(readings),
    )


def _stacked(readings: Mapping[str, Examined]) -> tuple[Table, ...]:
    """The same tables of several readings, one below the other, with the reading in front."""
    stacks = zip(*(each.tables for each in readings.values()), strict=True)
    return tuple(
        Table(
            stack[0].caption,
            ("reading", *stack[0].headings),
            tuple((name, *row) for name, table in zip(readings, stack, strict=True) for row in table.rows),
        )
        for stack in stacks
    )


def _yes(passed: bool) -> str:
    return "yes" if passed else "no"


def _span(values: Iterable[float], written: Callable[[float], str] = number) -> str:
    values = list(values)
    return f"{written(min(values))} to {written(max(values))}"


def _improved(results: Mapping[str, Results], quantities: Iterable[str]) -> dict[str, Improvement]:
    """For each table, by the label it goes under, and each quantity."""
    quantities = tuple(quantities)
    return {
        f"{quantity} at {label}": improvement(before_and_after(result, quantity))
        for label, result in results.items()
        for quantity in quantities
    }


def _say_improved(claim: Claim, improvements: Mapping[str, Improvement]) -> str:
    clear = sum(each.clear(claim) for each in improvements.values())
    shares = [each.share for each in improvements.values()]
    often = f"{_span(shares, percent)} of the repetitions improve" if min(shares) < 1.0 else "every repetition improves"
    return (
        f"{clear} of {len(improvements)} criteria improve clearly; the medians fall to "
        f"{_span(each.ratio for each in improvements.values())} of what they were, and {often}"
    )


def _improvement_table(claim: Claim, improvements: Mapping[str, Improvement]) -> Table:
    return Table(
        "Improvement of each criterion",
        ("criterion", "repetitions that improve", "median after / before", "boxes", "clear"),
        tuple(
            (
                name,
                percent(each.share),
                f"{each.ratio:.3g}",
                "apart" if each.gap > 0 else "overlap",
                _yes(each.clear(claim)),
            )
            for name, each in improvements.items()
        ),
    )


def _gains(results: Mapping[str, Results]) -> tuple[dict[str, float], Table]:
    """The spectral norm's kept part over that of trace and Frobenius, and the kept parts themselves."""
    quotients, rows = {}, []
    for label, result in results.items():
        parts = {factor: before_and_after(result, factor).kept for factor in _FACTORS}
        for factor in _FACTORS[:2]:
            quotients[f"E_sp against {factor} at {label}"] = parts["E_sp"] / parts[factor]
        rows.append((label, *(f"{part:.3g}" for part in parts.values())))
    caption = "Part of each factor that is kept: the median of after / before"
    return quotients, Table(caption, ("setting", *_FACTORS), tuple(rows))


def _closeness(results: Mapping[str, Results]) -> dict[str, Closeness]:
    return {
        f"{factor} at {label}": closeness(before_and_after(result, factor))
        for label, result in results.items()
        for factor in _FACTORS
    }


def _closeness_table(claim: Claim, factors: Mapping[str, Closeness]) -> Table:
    return Table(
        "Closeness of the optimised samples",
        ("factor", "interquartile range / median", "the same, initial", "95 % / 5 % quantile", "close"),
        tuple(
            (name, f"{each.spread:.2g}", f"{each.initial_spread:.2g}", f"{each.range:.3g}", _yes(each.close(claim)))
            for name, each in factors.items()
        ),
    )


# -- bi-Gaussian --------------------------------------------------------------------------------------------------


def _at_both_rho(claim: Claim, stored: Archive, examine: Callable[[Claim, dict[str, Results]], Examined]) -> Verdict:
    if missing := stored.missing(claim.results):
        return _absent(claim, missing)
    readings = {rho: examine(claim, _tables(stored, "n", "figure-2-n", _NS, variant)) for rho, variant in _RHOS.items()}
    return _together(claim, readings, deciding=readings)


def _tables(stored: Archive, symbol: str, prefix: str, values: Iterable[str], variant: str) -> dict[str, Results]:
    """The tables of a figure by label, "n = 20" and so on."""
    tables = {f"{symbol} = {value}": stored.results(f"{prefix}{value}{variant}") for value in values}
    return {label: results for label, results in tables.items() if results is not None}


def bigaussian_improvement(claim: Claim, stored: Archive) -> Verdict:
    """B3."""
    return _at_both_rho(claim, stored, examine_improvement)


def examine_improvement(claim: Claim, results: dict[str, Results]) -> Examined:
    """R and all three factors."""
    improvements = _improved(results, ("R", *_FACTORS))
    cases = {name: each.clear(claim) for name, each in improvements.items()}
    return Examined(
        {"improvement": cases},
        _say_improved(claim, improvements),
        {name: each.ratio for name, each in improvements.items()},
        (_improvement_table(claim, improvements),),
    )


def bigaussian_gain(claim: Claim, stored: Archive) -> Verdict:
    """B4."""
    verdict = _at_both_rho(claim, stored, examine_gain)
    if verdict.finding is Finding.UNTESTABLE:
        return verdict
    shown = {
        f"{rho}, {label}": result
        for rho, variant in _RHOS.items()
        for label, result in _tables(stored, "n", "figure-2-n", _NS, variant).items()
    }
    return replace(verdict, beside=_as_a_boxplot_reads(shown))


def _as_a_boxplot_reads(results: Mapping[str, Results]) -> str:
    """The other reading of "larger gain", in numbers."""
    rows = {
        name: [separation(before_and_after(result, factor)) for factor in _FACTORS] for name, result in results.items()
    }
    numbers = "; ".join(f"{name}: {' / '.join(number(value, 2) for value in row)}" for name, row in rows.items())
    behind = sum(row[2] < min(row[:2]) for row in rows.values())
    return (
        "The rule compares the parts of the factors that are kept; a reader of the paper's boxplots sees how far the "
        "boxes are apart. The difference of the medians over the mean interquartile range, for E_tr / E_F / E_sp: "
        f"{numbers}. It is smallest for the spectral norm in {behind} of {len(rows)} settings."
    )


def examine_gain(claim: Claim, results: dict[str, Results]) -> Examined:
    """The spectral norm against the other two."""
    quotients, table = _gains(results)
    return Examined(
        {"gain": {name: quotient >= claim.limit("margin") for name, quotient in quotients.items()}},
        f"the spectral norm keeps {_span(quotients.values())} times the part that the other two keep",
        quotients,
        (table,),
    )


def bigaussian_closeness(claim: Claim, stored: Archive) -> Verdict:
    """B5."""
    return _at_both_rho(claim, stored, examine_closeness)


def examine_closeness(claim: Claim, results: dict[str, Results]) -> Examined:
    """E_tr and E_F decide; E_sp is shown."""
    factors = _closeness(results)
    cases = {name: each.close(claim) for name, each in factors.items() if not name.startswith("E_sp")}
    spreads = {name: each.spread for name, each in factors.items()}
    return Examined(
        {"closeness": cases},
        f"interquartile range over median of E_tr and E_F: {_span(spreads[name] for name in cases)} "
        f"(initial: {_span(factors[name].initial_spread for name in cases)})",
        spreads,
        (_closeness_table(claim, factors),),
    )


def bigaussian_coarseness(claim: Claim, stored: Archive) -> Verdict:
    """B6."""
    return _at_both_rho(claim, stored, examine_coarseness)


def examine_coarseness(claim: Claim, results: dict[str, Results]) -> Examined:
    """Is the spectral norm's separation the smallest?"""
    rows = {
        label: [separation(before_and_after(result, factor)) for factor in _FACTORS]
        for label, result in results.items()
    }
    quotients = {f"separation of E_sp at {label}": row[2] / min(row[:2]) for label, row in rows.items()}
    table = tuple((label, *(f"{value:.3g}" for value in row)) for label, row in rows.items())
    return Examined(
        {"coarseness": {name: quotient <= claim.limit("margin") for name, quotient in quotients.items()}},
        f"the spectral norm separates the boxes by {_span(quotients.values())} of the smaller of the other two",
        quotients,
        (Table("Separation of the boxes before and after", ("setting", *_FACTORS), table),),
    )


def bigaussian_in_particular(claim: Claim, stored: Archive) -> Verdict:
    """B7."""
    return _at_both_rho(claim, stored, examine_in_particular)


def examine_in_particular(claim: Claim, results: dict[str, Results]) -> Examined:
    """Is the spectral factor's spread larger than the others'?"""
    quotients, rows = {}, []
    for label, result in results.items():
        spreads = {factor: spread_of(before_and_after(result, factor).after) for factor in _FACTORS}
        for factor in _FACTORS[:2]:
            quotients[f"spread of E_sp over {factor} at {label}"] = spreads["E_sp"] / spreads[factor]
        rows.append((label, *(f"{value:.2g}" for value in spreads.values())))
    return Examined(
        {"spread": {name: quotient >= claim.limit("margin") for name, quotient in quotients.items()}},
        f"the spread of the spectral factor is {_span(quotients.values())} times that of the other two",
        quotients,
        (Table("Spread of the optimised factors", ("setting", *_FACTORS), tuple(rows)),),
    )


# -- Abalone ------------------------------------------------------------------------------------------------------


def _with_both_attributes(
    claim: Claim, stored: Archive, examine: Callable[[Claim, dict[str, Results]], Examined]
) -> Verdict:
    if missing := stored.missing(claim.results):
        return _absent(claim, missing)
    readings = {
        name: examine(claim, _tables(stored, "ρ", "figure-3-rho", _ABALONE_RHOS, variant))
        for name, variant in _ATTRIBUTES.items()
    }
    return _together(claim, readings, deciding=[next(iter(readings))])


def abalone_improvement(claim: Claim, stored: Archive) -> Verdict:
    """A1."""
    verdict = _with_both_attributes(claim, stored, examine_abalone)
    if verdict.finding is Finding.UNTESTABLE:
        return verdict
    return replace(verdict, beside=_unfair(_tables(stored, "ρ", "figure-3-rho", _ABALONE_RHOS, "")))


def _unfair(results: Mapping[str, Results]) -> str:
    """What the rule on the ratio of medians leaves out, for E_tr."""
    changes = {label: before_and_after(result, "E_tr") for label, result in results.items()}
    left = "; ".join(f"{label}: {percent(excess_left(each))}" for label, each in changes.items())
    every = sum(each.improved == 1.0 for each in changes.values())
    apart = sum(improvement(each).gap > 0 for each in changes.values())
    ratio = IMPROVEMENT["ratio"].value
    return (
        f"The rule asks that the median fall to {ratio:g} of what it was. But a factor cannot fall below 1: one that "
        f"begins below {1.0 / ratio:g} cannot pass. Of the excess E_tr − 1, which is all that can be lost, this part "
        f"is left: {left}. Every repetition improves E_tr in {every} of {len(changes)} settings, and its boxes are "
        f"apart in {apart}."
    )


def examine_abalone(claim: Claim, results: dict[str, Results]) -> Examined:
    """The three factors, and the decay of the eigenvalues; R is shown."""
    improvements = _improved(results, ("R", *_FACTORS))
    cases = {name: each.clear(claim) for name, each in improvements.items() if not name.startswith("R ")}
    left = {label: part_left(result) for label, result in results.items()}
    for low, high in itertools.pairwise(left):
        cases[f"decay from {low} to {high}"] = left[high] >= claim.limit("growth") * left[low]
    words = ", ".join(f"{part:.2g} at {label}" for label, part in left.items())
    return Examined(
        {"improvement and decay": cases},
        f"{_say_improved(claim, improvements)}; part of the trace beyond the first 50 eigenvalues: {words}",
        {
            **{name: each.ratio for name, each in improvements.items()},
            **{f"left at {name}": part for name, part in left.items()},
        },
        (_improvement_table(claim, improvements),),
    )


def part_left(results: Results) -> float:
    """‖K − K_n‖_* over tr K, which is N for a kernel that is 1 on its diagonal."""
    return results.constants["trace"] / float(results.provenance["data"]["N"])


def abalone_gain_and_impact(claim: Claim, stored: Archive) -> Verdict:
    """A2."""
    verdict = _with_both_attributes(claim, stored, examine_gain_and_impact)
    if verdict.finding is Finding.UNTESTABLE:
        return verdict
    return replace(verdict, beside=_as_a_boxplot_reads(_tables(stored, "ρ", "figure-3-rho", _ABALONE_RHOS, "")))


def examine_gain_and_impact(claim: Claim, results: dict[str, Results]) -> Examined:
    """Two groups of cases: the gain by norm, and what is left of the initial sample."""
    gain, close = examine_gain(claim, results), examine_closeness(claim, results)
    changes = {
        f"{factor} at {label}": before_and_after(result, factor)
        for label, result in results.items()
        for factor in _FACTORS
    }
    correlations = {name: rank_correlation(each.before, each.after) for name, each in changes.items()}
    impact = {
        name: passed and abs(correlations[name]) <= claim.limit("correlation")
        for name, passed in close.cases["closeness"].items()
    }
    table = Table(
        "Rank correlation of the factor before with the factor after",
        ("factor", "correlation"),
        tuple((name, f"{value:.2f}") for name, value in correlations.items()),
    )
    return Examined(
        {"larger gain in trace and Frobenius": gain.cases["gain"], "limited impact of the initial sample": impact},
        f"{gain.words}; {close.words}; rank correlation of E_tr and E_F before with after: "
        f"{_span(correlations[name] for name in impact)}",
        {
            **gain.numbers,
            **{f"spread of {name}": number for name, number in close.numbers.items()},
            **{f"correlation of {name}": number for name, number in correlations.items()},
        },
        (*gain.tables, *close.tables, table),
    )


# -- MAGIC --------------------------------------------------------------------------------------------------------


def magic_improvement(claim: Claim, stored: Archive) -> Verdict:
    """M1."""
    if missing := stored.missing(claim.results):
        return _absent(claim, missing)
    results = {f"n = {n}": result for n in (100, 200) if (result := stored.results(f"figure-4-n{n}")) is not None}
    improvements = _improved(results, ("R", "E_tr"))
    late = late_fall(results["n = 200"])
    cases = {name: each.clear(claim) for name, each in improvements.items()}
    cases["not completed"] = late >= claim.limit("unfinished")
    return Verdict(
        claim,
        by_share(sum(cases.values()), len(cases)),
        sentence(_say_improved(claim, improvements))
        + f" Of the fall of R with n = 200, {percent(late)} happens in the last fifth of the steps.",
        sentence(failing(cases)),
        {**{name: each.ratio for name, each in improvements.items()}, "late": late},
        tables=(_improvement_table(claim, improvements),),
        beside=f"{_unfair(results)} {_noise(claim, results['n = 200'], late)}",
    )


def _noise(claim: Claim, results: Results, late: float) -> str:
    """How well the end of one stochastic descent is known."""
    curve = results.curves[results.curves["repetition"] == results.curves["repetition"].min()]
    R = curve["R"].to_numpy()
    tail = R[-max(2, len(R) // 5) :]
    scatter = float(np.abs(np.diff(tail)).mean()) / float(R[0] - R[-1])
    return (
        "For “not completed” the rule looks at one stochastic descent, whose R changes from record to record by "
        f"{percent(scatter)} of its whole fall (mean over the last fifth): {percent(late)} against the threshold of "
        f"{percent(claim.limit('unfinished'))} is within the noise."
    )


def late_fall(results: Results) -> float:
    """Which part of the whole fall of R, in the first recorded descent, happens in the last fifth of its steps."""
    curves = results.curves
    curve = curves[curves["repetition"] == curves["repetition"].min()]
    steps, R = curve["iteration"].to_numpy(), curve["R"].to_numpy()
    then = R[np.searchsorted(steps, 0.8 * steps[-1])]
    return float((then - R[-1]) / (R[0] - R[-1])) if R[0] != R[-1] else 0.0


# -- MiniBooNE ----------------------------------------------------------------------------------------------------


def miniboone_decay(claim: Claim, stored: Archive) -> Verdict:
    """N1: on the data themselves a verdict, on a stand-in none."""
    if missing := stored.missing(claim.results):
        return _absent(claim, missing)
    results = stored.results("figure-5")
    assert results is not None
    R = results.curves["R"].to_numpy()
    trace = before_and_after(results, "trace")
    before, after = trace.before[0], trace.after[0]
    numbers = {
        "decay": float(R[-1] / R[0]),
        "falling": float((np.diff(R) < 0).mean()),
        "trace": float(after / before),
    }
    cases = {
        "R decays": numbers["decay"] <= claim.limit("decay"),
        "R falls all along": numbers["falling"] >= claim.limit("falling"),
        "the trace norm improves": numbers["trace"] <= claim.limit("trace"),
    }
    seen = (
        f"R goes from {number(R[0])} to {number(R[-1])} ({numbers['decay']:.3g} of it) and falls in "
        f"{percent(numbers['falling'])} of the stretches; the trace norm goes from {number(before)} to "
        f"{number(after)} ({numbers['trace']:.3g} of it)."
    )
    if results.stand_in:
        return Verdict(
            claim,
            Finding.UNTESTABLE,
            f"On a stand-in of the same shape, not on MiniBooNE: {seen}",
            "The data are not here, and what happens on a stand-in says nothing about MiniBooNE's values.",
            {**numbers, "stand_in": True},
        )
    return Verdict(
        claim,
        by_share(sum(cases.values()), len(cases)),
        seen,
        sentence(failing(cases)),
        {**numbers, "stand_in": False},
    )


_TIMED = {
    "radial_skd_s": "R up to its constant",
    "trace_s": "the trace norm",
    "descent_s": "the descent",
}


def miniboone_timings(claim: Claim, stored: Archive) -> Verdict:
    """N2."""
    timings, results = stored.timings(), stored.results("figure-5")
    if timings is None:
        return _absent(claim, ["miniboone_timings"])
    ours, plain = timings["ours"], timings.get("plain_c", {})
    absent = [name for name in _TIMED if name not in ours]
    if absent:
        return _absent(claim, [f"ours.{name} of miniboone_timings" for name in absent])
    cases = {work: ours[name] <= claim.limit(name) for name, work in _TIMED.items()}
    stand_in = bool(timings.get("stand_in", results is None or results.stand_in))
    where = "a stand-in of MiniBooNE's shape: the same arithmetic" if stand_in else "MiniBooNE"
    numbers = {f"ours, {name}": float(ours[name]) for name in _TIMED}
    for name in _TIMED:
        if name in plain:
            numbers |= {f"hardware, {name}": claim.limit(name) / plain[name]}
            numbers |= {f"software, {name}": plain[name] / ours[name]}
    return Verdict(
        claim,
        by_share(sum(cases.values()), len(cases)),
        f"On {timings['machine']}, timed on {where}: "
        + "; ".join(_timing(work, claim.limit(name), ours[name], plain.get(name)) for name, work in _TIMED.items())
        + ".",
        sentence(failing(cases))
        + " The machine is not the authors': the plain C times say how much of the gain is the machine's where "
        "plain C does the same work as the paper's program, which for the trace norm is not known."
        + (f" Scaled, not run in full: {timings['scaled']}." if "scaled" in timings else ""),
        {**numbers, "stand_in": stand_in},
        beside=f"{in_order(ours)} At this size the trace norm is nothing to be avoided.",
    )


def miniboone_relative_timings(claim: Claim, stored: Archive) -> Verdict:
    """N3."""
    timings = stored.timings()
    if timings is None:
        return _absent(claim, ["miniboone_timings"])
    quotients: dict[str, dict[str, float]] = {
        who: {work: timings[who][name] / timings[who]["trace_s"] for name, work in _TIMED.items() if name != "trace_s"}
        for who in ("ours", "plain_c")
        if who in timings
    }
    return decide_relative_timings(claim, quotients)


def decide_relative_timings(claim: Claim, quotients: Mapping[str, Mapping[str, float]]) -> Verdict:
    """N3 from the quotients of ours and, where there are any, of plain C."""
    cases = {work: value <= claim.limit("part") for work, value in quotients["ours"].items()}
    written = {
        who: " and ".join(f"{work} {number(value, 2)}" for work, value in works.items())
        for who, works in quotients.items()
    }
    descent = quotients["ours"]["the descent"]
    return Verdict(
        claim,
        by_share(sum(cases.values()), len(cases)),
        f"In units of one trace norm: {written['ours']}"
        + (f"; with plain C, {written['plain_c']}" if "plain_c" in written else "")
        + "; in the paper, R up to its constant 0.001 and the descent 0.2.",
        sentence(failing(cases))
        + (
            " The paper's order of descent and trace norm is reversed: computed once through a triangular factor, the "
            "trace norm is the cheaper of the two."
            if descent > 1.0
            else ""
        ),
        {f"{who}, {work}": value for who, works in quotients.items() for work, value in works.items()},
    )


def _timing(work: str, paper: float, ours: float, plain: float | None) -> str:
    words = f"{work}: {ours:.3g} s, the paper {paper:,g} s"
    if plain is None:
        return words
    quotients = f"paper / plain C {number(paper / plain)}, plain C / ours {number(plain / ours)}"
    return f"{words}, plain C on one thread {plain:,.3g} s ({quotients})"
