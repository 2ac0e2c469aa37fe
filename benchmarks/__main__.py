"""``python -m benchmarks``: the library beside plain C, JAX and the machine's ceilings, and time against size.

Writes ``results.md`` and ``results.json``. With ``--only`` the parts named are measured again and the others stay.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import machine, rivals, scaling, table
from benchmarks.ceilings import Ceilings
from benchmarks.plain import compile_plain
from benchmarks.problems import is_stand_in
from benchmarks.table import Row, duration

PARTS = (*table.ROWS, "scaling", "first call")
RESULTS = Path(__file__).with_name("results")
FIRST_CALL = """
import sys, time, numpy as np
X = np.random.default_rng(0).standard_normal((300, 3))
begin = time.perf_counter()
import nystrom_lib as nl
imported = time.perf_counter()
{call}
print(imported - begin, time.perf_counter() - imported)
"""
CALLS = {
    "gradient_descent": "nl.gradient_descent(nl.Gaussian(0.5), X, X[:20], step=1e-6, iterations=2)",
    "nystrom_errors": "nl.nystrom_errors(nl.Gaussian(0.5), X, X[:20])",
    "find_landmarks": "nl.find_landmarks(nl.Gaussian(0.5), X, 20, iterations=5)",
}
HOW = """\
- Each time is the best of several rounds in which all contestants took turns; in brackets, a multiple of the library's.
- A step is timed as a long descent less one of a single step, through the public interface.
- JAX runs in double precision on as many cores as the library, with the fastest of several implementations of the step.
- A ceiling is the time of the unavoidable operations at the speed of a large matrix product, plus that of one
  exponential for each pair, both measured in the same run."""


def first_calls(folder: Path) -> dict[str, list[float]]:
    """Seconds of the import, and of each first call with an empty cache and with a warm one."""
    found: dict[str, list[float]] = {}
    for name, call in CALLS.items():
        environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / name)}
        command = [sys.executable, "-c", FIRST_CALL.format(call=call)]
        runs = [
            subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                           env=environment).stdout.split() for _ in range(2)
        ]  # fmt: skip
        found[name] = [float(runs[1][0]), float(runs[0][1]), float(runs[1][1])]
    return found


def measure(parts: list[str], known: dict[str, Any], python: str | None, quick: bool, folder: Path) -> dict[str, Any]:
    """What is known, with the given parts measured again."""
    begin, commit = time.perf_counter(), machine.commit()
    plain = compile_plain(folder)
    jax = rivals.version(python) if python is not None else ""
    bench = table.Bench(plain, python if jax else None, Ceilings(quick), folder, quick)
    rows = {row["name"]: row for row in known.get("rows", [])}
    for name in [part for part in parts if part in table.ROWS]:
        print(f"{time.perf_counter() - begin:6.0f} s  {name}", file=sys.stderr, flush=True)
        row = table.ROWS[name](bench, name)
        row.commit = commit
        rows[name] = asdict(row)
    found = known | {"quick": quick, "rows": [rows[name] for name in table.ROWS if name in rows]}
    found["machine"] = machine.describe() | {
        "JAX": jax or "not installed",
        "compiler": plain.compiler if plain else "none",
        "data": "normal random points in place of MiniBooNE" if quick
        else "a stand-in for MiniBooNE" if is_stand_in("miniboone") else "MiniBooNE itself",
    }  # fmt: skip
    if bench.ceilings.measured:
        found["ceilings"] = known.get("ceilings", {}) | bench.ceilings.measured
    if "scaling" in parts:
        found["curves"] = [asdict(curve) for curve in scaling.measure(quick)]
    if "first call" in parts:
        found["first calls"] = first_calls(folder)
    return found


def report(found: dict[str, Any]) -> str:
    """The results for people."""
    at, quick = found["machine"], " (quick run: reduced sizes, nothing to quote)" if found["quick"] else ""
    packages = ", ".join(f"{name} {number}" for name, number in at["packages"].items())
    parts = [
        f"# Speed, measured{quick}",
        f"- {at['processor']}, {at['cores']} cores, {at['system']}; other processes kept {at['load at the start']:.2f} "
        f"of them busy at the start.\n- Python {at['python']}, {packages}; BLAS: {at['blas']}; C: {at['compiler']}; "
        f"JAX: {at['JAX']}.\n- Commit {at['commit']}, {at['date']}; the data are {at['data']}.\n{HOW}",
        "## Against plain C, automatic differentiation and the ceiling",
        table.rows_as_markdown([Row(**row) for row in found["rows"]]),
    ]
    if "curves" in found:
        parts += ["## Time against n, N, b and d", scaling.as_markdown([scaling.Curve(**c) for c in found["curves"]])]
    if "first calls" in found:
        lines = [[name, *map(duration, seconds)] for name, seconds in found["first calls"].items()]
        header = ["first call", "import", "call, empty cache", "call, warm cache"]
        parts += ["## Import and compilation, in no other figure", table.markdown(header, lines)]
    lines = [[name, duration(value) if value < 1 else f"{value / 1e9:.1f} GF/s"] for name, value in
             found.get("ceilings", {}).items()]  # fmt: skip
    return "\n\n".join([*parts, "## Ceilings of this machine", table.markdown(["ceiling", "figure"], lines)]) + "\n"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--only", action="append", choices=PARTS, metavar="NAME", help=f"one of {', '.join(PARTS)}")
    parser.add_argument("--out", type=Path, help="folder for the results (default: benchmarks/results, unless --quick)")
    parser.add_argument("--jax-python", metavar="PATH", default=sys.executable, help="an interpreter that has JAX")
    asked = parser.parse_args()
    out = asked.out or (None if asked.quick else RESULTS)
    record = None if out is None else out / "results.json"
    known = json.loads(record.read_text(encoding="utf-8")) if asked.only and record and record.exists() else {}
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        found = measure(asked.only or list(PARTS), known, asked.jax_python, asked.quick, Path(folder))
    print(report(found))
    if out is not None and record is not None:
        out.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        (out / "results.md").write_text(report(found), encoding="utf-8")


if __name__ == "__main__":
    main()
