"""``python -m benchmarks``: measure, write the table and the plot, say which bars are met."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import ceilings, machine, memory, plot, report, rivals, rows, scaling, startup
from benchmarks.plain import compile_plain
from benchmarks.problems import MINIBOONE, is_stand_in

PARTS = (*rows.ROWS, "memory", "scaling", "startup")
RESULTS = Path(__file__).with_name("results")


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument(
        "--only",
        action="append",
        choices=PARTS,
        metavar="NAME",
        help=f"one part, may be repeated: {', '.join(PARTS)}",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="folder for the table and the plot; a full run writes benchmarks/results, a quick or partial "
        "one prints its table only",
    )
    parser.add_argument(
        "--opponents-python",
        metavar="PATH",
        help="an interpreter that has JAX or PyTorch; without it, this one if it has them",
    )
    return parser.parse_args(given)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measure(options: argparse.Namespace, folder: Path) -> report.Results:
    """Run the parts asked for, in the order of the table."""
    begin = time.perf_counter()
    parts = options.only or PARTS
    python = options.opponents_python or sys.executable
    plain = compile_plain(folder)
    found = {} if options.quick and not options.opponents_python else rivals.versions(python)
    results = report.Results(machine=machine.describe(), quick=options.quick)
    results.machine |= {
        "opponents": found,
        "compiler": plain.compiler if plain else "none",
        "data": _data(options.quick),
    }
    bench = rows.Bench(plain, python, found, ceilings.Ceilings(options.quick), folder, options.quick)
    # First, while no library has a thread pool awake.
    ceilings.describe(bench.ceilings, 2)
    for name, row in rows.ROWS.items():
        if name in parts:
            say(f"{time.perf_counter() - begin:6.0f} s  {name}")
            results.rows.append(row(bench))
    if "memory" in parts:
        say(f"{time.perf_counter() - begin:6.0f} s  memory")
        results.peaks = memory.measure(folder, bench.problem(MINIBOONE))
    if "scaling" in parts:
        say(f"{time.perf_counter() - begin:6.0f} s  scaling")
        results.curves = scaling.measure(options.quick)
    if "startup" in parts and (options.only or not options.quick):
        say(f"{time.perf_counter() - begin:6.0f} s  startup")
        results.startup = startup.measure(folder)
    results.ceilings = dict(sorted(bench.ceilings.measured.items()))
    results.seconds = time.perf_counter() - begin
    return results


def _data(quick: bool) -> str:
    if quick:
        return "normal random points in place of MiniBooNE."
    return "MiniBooNE is a stand-in of the same shape." if is_stand_in("miniboone") else "MiniBooNE itself."


def main(given: list[str] | None = None) -> int:
    options = arguments(given)
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as name:
        results = measure(options, Path(name))
    print(report.markdown(results))
    out = options.out or (None if options.quick or options.only else RESULTS)
    if out is not None:
        report.write(results, out)
        if results.curves:
            plot.draw(results.curves, out)
        say(f"The table is in {out}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
