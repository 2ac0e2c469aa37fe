"""The table, as Markdown for people and as JSON for programs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.memory import MEGABYTE, Peak
from benchmarks.rows import AGREEMENT_BAR, Comparison, Row
from benchmarks.scaling import SLACK, Curve
from benchmarks.startup import IMPORT_BAR

COLUMNS = {"plain C": "plain C, one thread", "jax": "JAX", "torch": "PyTorch", "one thread": "one thread"}


@dataclass
class Results:
    """Everything one run measured."""

    machine: dict[str, Any]
    quick: bool
    ceilings: dict[str, float] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    peaks: list[Peak] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    startup: dict[str, dict[str, float]] = field(default_factory=dict)
    seconds: float = 0.0


# --- judging -----------------------------------------------------------------------------------------------


def verdict(row: Row) -> str:
    """Which bars of a row are met; reduced sizes are not judged, agreement always is."""
    judged = {name: comparison.met for name, comparison in row.against.items()}
    missed = [name for name, met in judged.items() if met is False and row.full_size]
    if row.agreement is not None and not row.agreement <= AGREEMENT_BAR:
        missed.append("agreement")
    if missed:
        return "**missed**: " + ", ".join(COLUMNS.get(name, name) for name in missed)
    if not row.full_size:
        return "not judged: reduced size"
    return "met" if any(met is not None for met in judged.values()) else "no bar"


def verdict_as_data(row: Row) -> dict[str, Any]:
    """A row for the JSON file, with the bars and whether each is met."""
    data = dataclasses.asdict(row)
    for name, comparison in row.against.items():
        data["against"][name]["met"] = comparison.met if row.full_size else None
    data["verdict"] = verdict(row).replace("*", "")
    return data


# --- numbers as people read them ---------------------------------------------------------------------------


def duration(seconds: float) -> str:
    """Seconds with three digits in a unit that suits them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(seconds / 1e-9)} ns"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _cell(comparison: Comparison | None, full_size: bool) -> str:
    if comparison is None:
        return "–"
    text = f"{duration(comparison.seconds)}: {_three_digits(comparison.ratio)}×"
    bar = f"≥ {comparison.at_least:g}" if comparison.at_least is not None else ""
    bar = f"≤ {comparison.at_most:g}" if comparison.at_most is not None else bar
    if not bar:
        return text
    if not full_size:
        return f"{text} (bar {bar})"
    return f"{text} ({bar} {'met' if comparison.met else '**missed**'})"


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    rule = "|" + "---|" * len(header)
    rows = ["| " + " | ".join(line) + " |" for line in (header, *lines)]
    return "\n".join([rows[0], rule, *rows[1:]])


# --- the sections ------------------------------------------------------------------------------------------


def bars_section(rows: list[Row]) -> str:
    header = [
        "work",
        "threads",
        "ours",
        *COLUMNS.values(),
        "ceiling",
        "most possible against C",
        "agreement with C",
        "verdict",
    ]
    lines = []
    for row in rows:
        plain, ceiling = row.against.get("plain C"), row.against.get("ceiling")
        possible = f"{_three_digits(plain.seconds / ceiling.seconds)}×" if plain and ceiling else "–"
        lines.append(
            [
                f"{row.work}, {row.setting}",
                str(row.threads),
                duration(row.seconds),
                *(_cell(row.against.get(name), row.full_size) for name in COLUMNS),
                _cell(ceiling, row.full_size),
                possible,
                "–" if row.agreement is None else f"{row.agreement:.1e}",
                verdict(row),
            ]
        )
    notes = [f"- {row.work}, {row.setting}: {note}." for row in rows for note in row.notes]
    return "\n".join(["## Against C, automatic differentiation and the ceiling", "", table(header, lines), "", *notes])


def details_section(rows: list[Row]) -> str:
    lines = [
        [f"{row.work}, {row.setting}", name, duration(seconds)] for row in rows for name, seconds in row.details.items()
    ]
    return "## Other times of the same run\n\n" + table(["work", "what", "time"], lines)


def memory_section(peaks: list[Peak]) -> str:
    lines = [
        [
            peak.work,
            peak.setting,
            f"{peak.bytes / MEGABYTE:,.0f} MB",
            f"{peak.at_start_bytes / MEGABYTE:,.0f} MB",
            f"≤ {peak.bar / MEGABYTE:,.0f} MB",
            ("met" if peak.met else "**missed**") if peak.full_size else "not judged: reduced size",
        ]
        for peak in peaks
    ]
    header = ["work", "setting", "peak", "process before the work", "bar", "verdict"]
    return "## Peak memory\n\n" + table(header, lines)


def startup_section(startup: dict[str, dict[str, float]]) -> str:
    states = list(startup)
    names = list(startup[states[0]])
    lines = [[name, *(duration(startup[state][name]) for state in states)] for name in names]
    slowest = max(startup[state][names[0]] for state in states)
    judged = "met" if slowest < IMPORT_BAR else "**missed**"
    text = f"The import has to take under {IMPORT_BAR:g} s: {judged}. A first call is given less a second."
    return f"## Import and compilation, in no other figure\n\n{table(['what', *states], lines)}\n\n{text}"


def ceilings_section(ceilings: dict[str, float]) -> str:
    lines = [[name, _ceiling(name, value)] for name, value in ceilings.items()]
    return "## Ceilings of this machine, measured in the same run\n\n" + table(["what", "figure"], lines)


def _ceiling(name: str, value: float) -> str:
    if name.startswith("seconds"):
        return duration(value)
    return f"{value / 1e9:.1f} {'GB/s' if name.startswith('bytes') else 'GF/s'}"


def scaling_section(curves: list[Curve], judged: bool) -> str:
    lines = [
        [
            curve.claim,
            curve.work,
            curve.formula,
            f"{curve.axis} from {curve.grid[0]:,} to {curve.grid[-1]:,}",
            ", ".join(f"{name}={size:,}" for name, size in curve.fixed.items()),
            f"{duration(curve.seconds[0])} to {duration(curve.seconds[-1])}",
            f"{curve.slope:.2f}",
            f"{curve.claimed_slope:.2f}",
            ("yes" if curve.no_steeper else "**no**") if judged else "not judged",
        ]
        for curve in curves
    ]
    header = ["claim", "work", "O(·)", "along", "with", "time", "slope", "slope of the claim", "no steeper"]
    text = (
        "One thread. The slope of a claim is that of its formula on the same grid (times d along d, which "
        f"the paper leaves out); a measured slope counts as steeper from {SLACK:g} above it."
    )
    return f"## Time against n, N, b and d\n\n{table(header, lines)}\n\n{text}"


QUIET = 0.2
BUSY = "- **The machine was busy when the run began: ratios of threads and all small times are not to be trusted.**"
HOW = f"""\
- Every time is the best of several rounds in which all contestants took turns. A step is timed as a long
  descent less one of a single step, through the public interface; the fixed cost of a call is given apart.
- JAX and PyTorch run in double precision on as many cores as we do; JAX in the fastest of several ways to
  write the step, with the loop over the steps compiled as well where that is faster.
- A ceiling is the time of the unavoidable work at the best speed found in this run: matrix products at the
  shapes in question, with the symmetry of K_S used, plus one exponential for each pair; for the trace norm
  all operations at the speed of a large matrix product; for the GD step the exponentials alone.
- Agreement is the largest difference from the C version, relative to the largest value: of a gradient and of
  the movement of a few steps, of R, of the norms. It has to be at most {AGREEMENT_BAR:g}."""


def how_section(results: Results) -> str:
    machine = results.machine
    packages = _named(machine["packages"])
    opponents = _named(machine["opponents"]) or "none installed"
    return "\n".join(
        [
            f"- {machine['processor']}, {machine['cores']} cores, {machine['system']}; "
            f"others kept {machine['load at the start']:.2f} of them busy at the start.",
            f"- Python {machine['python']}, {packages}; BLAS: {machine['blas']}; C: {machine['compiler']}.",
            f"- Opponents: {opponents}. Commit {machine['commit']}, {machine['date']}; the run took "
            f"{results.seconds:.0f} s.",
            f"- Data: {machine['data']}",
            *([BUSY] if machine["load at the start"] > QUIET else []),
            HOW,
        ]
    )


def _named(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())


def markdown(results: Results) -> str:
    """The whole report."""
    title = "# Speed, measured" + (" (quick run: reduced sizes, nothing to quote)" if results.quick else "")
    parts = [title, how_section(results)]
    if results.rows:
        parts.append(bars_section(results.rows))
    if results.peaks:
        parts.append(memory_section(results.peaks))
    if results.curves:
        parts.append(scaling_section(results.curves, not results.quick))
        parts.append("![Time against n, N, b and d](scaling.svg)")
    if results.startup:
        parts.append(startup_section(results.startup))
    if results.ceilings:
        parts.append(ceilings_section(results.ceilings))
    if any(row.details for row in results.rows):
        parts.append(details_section(results.rows))
    return "\n\n".join(parts) + "\n"


def as_json(results: Results) -> str:
    data = dataclasses.asdict(results)
    data["rows"] = [verdict_as_data(row) for row in results.rows]
    data["peaks"] = [dataclasses.asdict(p) | {"met": p.met if p.full_size else None} for p in results.peaks]
    data["curves"] = [dataclasses.asdict(c) | {"slope": c.slope, "no_steeper": c.no_steeper} for c in results.curves]
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def write(results: Results, folder: Path) -> None:
    """Write ``results.md`` and ``results.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.md").write_text(markdown(results), encoding="utf-8")
    (folder / "results.json").write_text(as_json(results), encoding="utf-8")
