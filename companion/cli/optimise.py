"""``nystrom optimise``: landmarks for a file of the user's."""

from __future__ import annotations

import csv
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from ..atomic_write import atomic_write, write_array, write_text
from ..choices import KERNEL_NAMES, METHODS, STARTS
from ..errors import CompanionError, ConfigurationError, Interrupted
from ..wording import duration
from .base import DASK, JOBS, Command, progress_bar, table, tell

if TYPE_CHECKING:
    from ..studies.own_data import Optimised, Request

WHAT = "landmark points in the units of the file"


class Output(click.Path):
    """A file to write: its suffix is one of those known, and its folder exists and can be written to."""

    def __init__(self, *suffixes: str) -> None:
        super().__init__(dir_okay=False, path_type=Path)
        self.suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check the path."""
        path = Path(value)
        folder = path.absolute().parent
        if path.suffix.lower() not in self.suffixes:
            self.fail(f"{str(path)!r} must end in one of {', '.join(self.suffixes)}.", param, ctx)
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            self.fail(f"{str(path)!r} is in a folder that does not exist or cannot be written to.", param, ctx)
        return super().convert(path, param, ctx)


def _names(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Names separated by commas; one that contains a comma is in double quotes."""
    names = tuple(name.strip() for text in value for row in csv.reader([text], skipinitialspace=True) for name in row)
    if not all(names) or (value and not names):
        raise click.BadParameter("a name is empty.")
    return names


_POSITIVE = click.FloatRange(0.0, min_open=True)


@click.command("optimise", cls=Command, short_help="find landmarks for your own file")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("-n", "n", type=click.IntRange(1), help="Number of landmarks (default: 100, or as --tolerance needs).")
@click.option("--tolerance", type=_POSITIVE, metavar="E", help="In place of -n: relative error allowed, e.g. 0.05.")
@click.option(
    "-o", "--out", type=Output(".npy", ".csv"), default="landmarks.npy", show_default=True, help="File of landmarks."
)
@click.option(
    "--plot", type=Output(".png", ".svg", ".pdf"), metavar="PICTURE",
    help="File of the picture (default: beside the landmarks, as .svg).",
)  # fmt: skip
@click.option("--no-plot", is_flag=True, help="Draw no picture.")
@click.option(
    "--method", type=click.Choice(METHODS), default="auto", show_default=True,
    help="The objective to minimise (the paper's is radial-skd), or a method of choosing points.",
)  # fmt: skip
@click.option("--seconds", type=_POSITIVE, metavar="S", help="Time limit (default: until more steps gain little).")
@click.option("--iterations", type=click.IntRange(0), metavar="T", help="Number of steps instead.")
@click.option(
    "--start", type=click.Choice(["auto", *STARTS]), default="auto", show_default=True, help="Initial sample."
)
@click.option("--kernel", type=click.Choice(KERNEL_NAMES), default="gaussian", show_default=True, help="Kernel K.")
@click.option(
    "--rho", type=click.FloatRange(1e-100, 1e100),
    help="Kernel parameter ρ (default: 1 over the median squared distance).",
)  # fmt: skip
@click.option(
    "--columns", multiple=True, callback=_names, metavar="A,B,…",
    help="Columns to use, in this order; without a header they are x0, x1, …",
)  # fmt: skip
@click.option("--without", multiple=True, callback=_names, metavar="A,B,…", help="Columns to leave out.")
@click.option("--one-hot", is_flag=True, help="Turn each column of words into columns of 0 and 1.")
@click.option(
    "--header/--no-header", default=None, help="Does the first line name the columns? (default: if it has no number)"
)
@click.option("--separator", metavar="X", help="Separator of the fields of a text file (default: detected).")
@click.option(
    "--missing", type=click.Choice(["drop", "keep", "refuse"]), default="drop", show_default=True,
    help="Rows with missing values: leave out, fill with the column's mean, or fail.",
)  # fmt: skip
@click.option("--missing-code", multiple=True, metavar="CODE", help="What else marks a missing value: -999, ?, …")
@click.option(
    "--standardise/--no-standardise", default=True, show_default=True, help="Rescale columns to mean 0 and variance 1."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all random numbers.")
@click.option("--tries", type=click.IntRange(1), default=1, show_default=True, help="Seeds to try; the best is kept.")
@click.option("--exact", is_flag=True, help="Compute the errors from all points, however many.")
@DASK
@JOBS
def optimise(
    out: Path, plot: Path | None, no_plot: bool, dask: str | None, jobs: int | None, **options: Any
) -> None:
    """Find landmarks for the points in FILE with a small error of the Nyström approximation.

    FILE is CSV (also compressed; semicolons, tabs and decimal commas are recognised), Parquet or NPY with a row for
    each point, or a folder of Parquet files. By default columns are standardised, ρ is 1 over the median squared
    distance, and a descent on the trace error moves the landmarks until more steps gain little. Each choice is printed
    with its reason.

    Printed are the trace error before and after; the smallest error possible (beyond 5,500 points a lower bound); and
    the number of uniform landmarks with the same error. For many points errors are estimated, with an interval. The
    landmarks are saved in the units of FILE; beside them a record (.json) and a picture (.svg). Ctrl-C ends the descent
    and keeps the best landmarks so far.

    With --dask the workers of a cluster read the file themselves, under the same path, and make the passes over it.

    \b
    Examples:
      nystrom optimise measurements.csv -n 100 -o landmarks.npy
      nystrom optimise measurements.csv --tolerance 0.05           about the fewest with at most 5 % error
      nystrom optimise measurements.csv --without id,date --missing-code -999 --plot landmarks.png
      nystrom optimise abalone.data --one-hot                      columns of words, too
      nystrom optimise points.npy -n 50 --method radial-skd --rho 0.2 --iterations 4000
    """
    plot = None if no_plot else plot or out.with_suffix(".svg")
    _check_outputs(options["file"], out, plot)
    from ..running.cluster import connection

    request = _request(options, exact=options.pop("exact") or dask is not None)
    try:
        with connection(dask) if dask is not None else nullcontext() as client:
            optimised, report = _optimised(request, jobs, client)
    except ConfigurationError:
        raise
    except (ValueError, ArithmeticError) as error:  # of the library, about the data or an argument
        raise CompanionError(" ".join(str(error).split())) from error
    saved = _save(optimised, out, None if optimised.stopped else plot)
    click.echo(report)
    for what, path in saved.items():
        click.echo(f"{what:<10} {path}")
    if "picture" in saved:
        click.echo("The picture shows the landmarks, and the mean error against n: uniform, optimised, best possible.")
    click.echo(
        "\nTo use them, for points X in the units of the file:\n\n"
        f"    landmarks = nystrom_lib.load_landmarks({str(saved['record'])!r})\n"
        "    features = landmarks.features(X)"
    )


def _check_outputs(file: Path, out: Path, plot: Path | None) -> None:
    """Refuse to overwrite the data, or a .json file that is not a record of ours."""
    record = out.with_suffix(".json")
    for path in (out, record, plot):
        if path is not None and path.exists() and path.samefile(file):
            raise ConfigurationError("--out", f"would overwrite {str(path)!r}, the file with the data.")
    if record.exists() and WHAT not in record.read_text(encoding="utf-8", errors="replace"):
        raise ConfigurationError("--out", f"would overwrite {str(record)!r}, which is not a record of landmarks.")


def _request(options: dict[str, Any], exact: bool) -> Request:
    """The options as the library takes them: those of the file, and the others."""
    from ..experiments.components import File
    from ..studies.own_data import Request

    if options["tolerance"] is not None:
        for name, default in (("n", None), ("tries", 1), ("start", "auto")):
            if options[name] != default:
                raise ConfigurationError("--tolerance", f"excludes {'-' if name == 'n' else '--'}{name}.")
    codes = options.pop("missing_code")
    numbers = [code for code in codes if _is_number(code)]
    options |= {
        "path": str(options.pop("file")),
        "columns": options["columns"] or None,
        "missing_numbers": tuple(map(float, numbers)),
        "missing_words": tuple(code for code in codes if code not in numbers),
    }
    source = File.from_plain({name: options.pop(name) for name in File.names() if name in options})
    return Request(source, options.pop("n") or 100, exact=exact, **options)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# -- computing -------------------------------------------------------------------------------------------------


@contextmanager
def _stop_on_ctrl_c() -> Iterator[Event]:
    """The first Ctrl-C sets the event, which ends the descent; the second interrupts."""
    stop = Event()

    def handle(*_: Any) -> None:
        if stop.is_set():
            raise Interrupted("Stopped before the descent had ended; nothing was saved.")
        stop.set()
        tell("stopping; the best landmarks so far are kept (press Ctrl-C again to discard them)")

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _optimised(request: Request, jobs: int | None, client: Any) -> tuple[Optimised, str]:
    """The landmarks and the report."""
    import nystrom_lib as nl

    from ..studies import own_data

    with progress_bar(desc="reading", unit=" rows", unit_scale=True) as bar:
        dataset = own_data.load(request.source, request.seed, lambda rows: bar.update(rows - bar.n), client)
    with nl.threads(jobs) if jobs else nullcontext(), _stop_on_ctrl_c() as stop:
        number = f"{request.n:,}" if request.tolerance is None else "few"
        tell(f"{dataset.name}: {dataset.N:,} points; looking for {number} landmarks …")
        began = time.monotonic()
        form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}, {postfix}"
        with progress_bar(desc="descent", total=1.0, bar_format=form) as bar:

            def progress(steps: int) -> None:
                if stop.is_set():
                    raise StopIteration

            def watch(share: float, error: float) -> None:
                bar.set_postfix_str(f"mean error {error:.4g}", refresh=False)
                bar.update(share - bar.n)

            optimised = request.optimised(dataset, progress, watch, client)
        seconds = time.monotonic() - began
        tell("computing the trace error …")
        optimised = replace(optimised, stopped=stop.is_set()).or_start()
        return optimised, _report(optimised, seconds)


# -- reporting and saving --------------------------------------------------------------------------------------


def _report(optimised: Optimised, seconds: float) -> str:
    data, n = optimised.dataset, optimised.request.n
    total = data.N * optimised.result.mean_diagonal
    left_out = "".join(f"; {reason}: {count:,}" for reason, count in data.removed if count)
    scaled = "" if data.mean is None else " It is that of the standardised data."
    change = f"{100 * (optimised.after / optimised.before - 1):+.1f} %" if optimised.before > 0.0 else ""
    rows = [["before", f"{optimised.before:.6g}", ""], ["after", f"{optimised.after:.6g}", change]]
    words = [
        "Before is the initial sample of the descent, after are the landmarks. Their relative error, over the trace of "
        f"the kernel matrix, is {100 * optimised.after / total:.3g} %."
    ]
    if optimised.stopped:
        words.append("The descent was stopped; these are the best landmarks found.")
    else:
        tell("computing the smallest error possible …")
        if optimised.best is not None:
            factor = "" if optimised.factor is None else f"E_tr = {optimised.factor:.4g}"
            rows.append(["best possible", f"{optimised.best:.6g}", factor])
        else:
            rows.append(["best possible", f"≥ {optimised.best_bound:.6g}", ""])
            if optimised.best_bound > 0.0:
                ratio = optimised.at_most / optimised.best_bound
                words.append(f"With 90 % confidence the error is within a factor of {ratio:.3g} of the best possible.")
        if (estimate := optimised.estimate) is not None:
            low, high = estimate.bounds
            words.append(
                f"Errors are estimated from {estimate.points:,} points (--exact: from all); the one after is between "
                f"{low:.6g} and {high:.6g} with at least {100 * estimate.confidence:g} % confidence."
            )
        tell("comparing with uniform landmarks …")
        number, enough = optimised.equivalent
        words.append(
            f"Uniform landmarks would need {'' if enough else 'more than '}{number:,} for the same error "
            f"({number / n:.1f} times as many)."
        )
    lines = [
        f"{data.name}: N = {data.N:,}, d = {data.d}{left_out}",
        *(f"  {reason}" for reason in (optimised.kernel_reason + scaled, *optimised.result.reasons)),
        "",
        table(["trace error", "", ""], rows, right=[1]),
        "",
        *words,
        f"{n:,} landmarks found in {duration(seconds)}.",
    ]
    return "\n".join(lines)


def _save(optimised: Optimised, out: Path, plot: Path | None) -> dict[str, Path]:
    """Write landmarks, record and picture; if the disk is full, print the landmarks rather than lose them."""
    record = out.with_suffix(".json")
    content = optimised.record() | {"landmarks": out.name}
    text = optimised.frame().to_csv(index=False)
    try:
        if out.suffix.lower() == ".csv":
            write_text(out, text)
        else:
            write_array(out, optimised.landmarks)
        write_text(record, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        click.echo(text, nl=False)
        raise CompanionError(f"{out} cannot be written ({error.strerror}); the landmarks are printed above.") from error
    if plot is None:
        return {"landmarks": out, "record": record}
    from ..figures.own_data import report

    figure = report(optimised)
    try:
        atomic_write(plot, lambda part: figure.savefig(part))
    except OSError as error:
        raise CompanionError(f"{plot} cannot be written ({error.strerror}); the landmarks are in {out}.") from error
    return {"landmarks": out, "record": record, "picture": plot}
