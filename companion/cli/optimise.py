"""``nystrom optimise``: good landmarks for a file of the user's, without a notebook."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import tempfile
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..atomic_write import atomic_write, write_array, write_text
from ..choices import KERNEL_NAMES, METHODS, STARTS
from ..errors import CompanionError, ConfigurationError, Interrupted
from ..wording import duration
from .base import Command, Whole, bar, table, tell
from .run import JOBS

if TYPE_CHECKING:
    from nystrom_lib import Estimate

    from ..studies.own_data import Optimised, Request

#: What the library calls an option, and what it is called here: its sentences are passed on.
_CALLED = {
    "without=": "--without",
    "one_hot=True": "--one-hot",
    "one_hot takes": "--one-hot takes",
    "one_hot is True": "--one-hot is given",
    "missing_numbers is": "--missing-code is",
    "missing_words is": "--missing-code is",
    "standardise=False": "--no-standardise",
    "missing='drop'": "--missing drop",
    "missing='keep'": "--missing keep",
    "method='local-trace'": "--method local-trace",
}
_OURS = r"(columns|without|array|separator|header) (names|must|is)|(rho|seconds|method|start) is"
_PICTURES = (".png", ".svg", ".pdf")
WHAT = "landmark points in the units of the file"


def _output(*endings: str) -> Any:
    """A file to be written whose ending says how."""

    def check(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
        if value is not None and value.suffix.lower() not in endings:
            raise click.BadParameter(f"{str(value)!r} must end in one of {', '.join(endings)}.")
        if value is not None and not value.absolute().parent.is_dir():
            raise click.BadParameter(f"{str(value)!r} is in a folder that does not exist.")
        if value is not None and not os.access(value.absolute().parent, os.W_OK):
            raise click.BadParameter(f"{str(value)!r} is in a folder that cannot be written to.")
        return value

    return check


def _listed(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Names between commas; one that holds a comma stands in quotes."""
    names = (name.strip() for row in csv.reader(value, skipinitialspace=True) for name in row)
    return tuple(name for name in names if name)


@click.command("optimise", cls=Command, short_help="good landmarks for your own file")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("-n", "n", type=Whole(1), help="How many landmark points; by default 100, or what --tolerance needs.")
@click.option("--tolerance", type=float, metavar="E", help="Instead of -n: the relative error allowed, e.g. 0.05.")
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), callback=_output(".npy", ".csv"),
    default="landmarks.npy", show_default=True, help="Where the landmarks go, as .npy or .csv.",
)  # fmt: skip
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), callback=_output(*_PICTURES), metavar="PICTURE",
    help="Where the picture goes (.png, .svg, .pdf); by default beside the landmarks, as .svg.",
)  # fmt: skip
@click.option("--no-plot", is_flag=True, help="Draw no picture.")
@click.option(
    "--method", "--objective", "method", type=click.Choice(METHODS), default="auto", show_default=True,
    help="What to descend on (auto to radial-skd: the paper's is radial-skd), or a way to choose points.",
)  # fmt: skip
@click.option("--seconds", type=float, metavar="S", help="How long to descend; by default until more gains little.")
@click.option("--iterations", type=Whole(0), metavar="T", help="How many steps instead.")
@click.option(
    "--start", type=click.Choice(["auto", *STARTS]), default="auto", show_default=True, help="Where a descent begins."
)
@click.option("--kernel", type=click.Choice(KERNEL_NAMES), default="gaussian", show_default=True, help="The kernel K.")
@click.option("--rho", type=float, help="ρ of the kernel; by default 1 over the median squared distance.")
@click.option(
    "--columns", multiple=True, callback=_listed, metavar="A,B,…",
    help="Use these columns only, in this order; where they have no names they are x0, x1, …",
)  # fmt: skip
@click.option("--without", multiple=True, callback=_listed, metavar="A,B,…", help="Leave these columns out.")
@click.option("--one-hot", is_flag=True, help="Turn each column of words into columns of 0 and 1.")
@click.option(
    "--header/--no-header", default=None, help="Does the first line name the columns? By default if it has no number."
)
@click.option("--separator", metavar="X", help="Between the fields of a text file; by default what makes them even.")
@click.option("--array", metavar="NAME", help="Which array of an .npz file.")
@click.option(
    "--missing", type=click.Choice(["drop", "keep", "refuse"]), default="drop", show_default=True,
    help="Rows with missing values: leave out, fill with the column's mean, or fail.",
)  # fmt: skip
@click.option("--missing-code", multiple=True, metavar="CODE", help="What else stands for a missing value: -999, ?, …")
@click.option("--no-standardise", is_flag=True, help="Use the columns as they are, not with mean 0 and variance 1.")
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Decides every draw.")
@click.option("--tries", type=Whole(1), default=1, show_default=True, help="Seeds to try, of which the best is kept.")
@click.option("--exact", is_flag=True, help="The errors from all points, however many.")
@click.option(
    "--dask", metavar="ADDRESS",
    help="Let this Dask cluster make the passes over the data (means, scales, exact errors), and the tries if there are"
    " several, e.g. tcp://10.0.0.5:8786.",
)  # fmt: skip
@JOBS
def optimise(
    file: Path,
    n: int | None,
    tolerance: float | None,
    out: Path,
    plot: Path | None,
    no_plot: bool,
    method: str,
    seconds: float | None,
    iterations: int | None,
    start: str,
    kernel: str,
    rho: float | None,
    columns: tuple[str, ...],
    without: tuple[str, ...],
    one_hot: bool,
    header: bool | None,
    separator: str | None,
    array: str | None,
    missing: str,
    missing_code: tuple[str, ...],
    no_standardise: bool,
    seed: int,
    tries: int,
    exact: bool,
    dask: str | None,
    jobs: int | None,
) -> None:
    """Find landmark points for the data in FILE whose Nyström approximation has a small error.

    FILE is CSV (also compressed; semicolons, tabulators and decimal commas are recognised), Parquet, NPY or NPZ, a row
    for each point; or a folder of Parquet files. Of .npy and Parquet with more than a million rows only what is needed
    is kept. Where the errors of all points would take long, they are estimated from 100,000, with an interval; --exact
    computes them. By default columns are standardised, ρ is 1 over the median
    squared distance, and a descent on the trace error itself moves landmarks until more steps gain little;
    --method radial-skd is the paper's own method. What was chosen is printed with its reason.

    Printed are the trace error before and after; the smallest error possible, or beyond 5,500 points a lower bound of
    it, and how many times that ours is; and how many uniform landmarks the same error would take. Ctrl-C ends the
    descent and keeps the best so far. The landmarks are saved in the units of FILE, and beside them, in files of the
    same name, everything that was done (.json) and a picture of the landmarks and of the error against n (.svg).

    With --tolerance it finds about the fewest landmarks whose trace error, divided by the trace of the kernel matrix,
    is at most that.

    With --dask the workers of a cluster read the file themselves, under the same path, and compute the exact errors,
    the same to the last bit as --exact does here; the descent, whose cost does not depend on the number of points,
    stays here. A worker that is lost costs nothing but time.

    \b
    Examples:
      nystrom optimise measurements.csv -n 100 -o landmarks.npy
      nystrom optimise measurements.csv --tolerance 0.05       about the fewest that leave at most 5 %
      nystrom optimise measurements.csv --without id,date --missing-code -999 --plot landmarks.png
      nystrom optimise abalone.data --one-hot          words become columns of 0 and 1
      nystrom optimise points.npy -n 50 --method radial-skd --rho 0.2 --iterations 4000
      nystrom optimise points.npy -n 500 --seconds 60 --start kmeans
      nystrom optimise /data/points.npy -n 1000 --dask tcp://10.0.0.5:8786
    """
    from ..experiments.components import File
    from ..studies.own_data import Request

    if n is not None and tolerance is not None:
        raise ConfigurationError("--tolerance", "is given, and so is -n; give one of them.")
    if tolerance is not None and tries > 1:
        raise ConfigurationError("--tries", f"is {tries}; with --tolerance it must be 1.")
    if tolerance is not None and start != "auto":
        raise ConfigurationError("--start", f"is {start!r}; with --tolerance it must be 'auto'.")
    plot = None if no_plot else plot or out.with_suffix(".svg")
    _check_outputs(file, out, plot)
    source = File(
        path=str(file),
        columns=columns or None,
        without=without,
        missing=missing,
        missing_numbers=tuple(float(code) for code in missing_code if _is_number(code)),
        missing_words=tuple(code for code in missing_code if not _is_number(code)),
        one_hot=one_hot,
        standardise=not no_standardise,
        separator=separator,
        header=header,
        array=array,
    )
    exact = exact or dask is not None
    request = Request(source, n or 100, kernel, rho, method, start, iterations, seconds, seed, exact, tries, tolerance)
    try:
        with _cluster(dask) as client:
            optimised, report = _optimised(request, jobs, client)
    except ConfigurationError:
        raise
    except ValueError as error:
        raise _translated(error) from error
    # Saved first: whoever reads what is printed may have gone.
    saved = _saved(optimised, out, None if optimised.stopped else plot)
    click.echo(report)
    for what, path in saved.items():
        click.echo(f"{what:<10} {path}")
    if "picture" in saved:
        click.echo("The picture shows the landmarks, and the mean error against n: uniform, optimised, best possible.")
    click.echo(f"\nTo use them, for points X in the units of the file:\n\n{_use(saved['record'])}")


# -- doing it --------------------------------------------------------------------------------------------------


def _cluster(address: str | None) -> AbstractContextManager[Any]:
    """A client of the cluster, or None."""
    if address is None:
        return nullcontext()
    from ..running.cluster import connection

    return connection(address)


def _optimised(request: Request, jobs: int | None, client: Any) -> tuple[Optimised, str]:
    """The landmarks, and what to say of them."""
    import nystrom_lib as nl

    from ..running.runner import interruptible
    from ..studies import large_data

    with bar(desc="reading", unit=" rows", unit_scale=True) as shown:
        dataset = large_data.load(request.source, request.seed, lambda rows: shown.update(rows - shown.n), client)
    stop = threading.Event()

    def progress(done: int) -> None:
        if stop.is_set():
            raise StopIteration

    def work() -> tuple[Optimised, str]:
        with nl.threads(jobs) if jobs else nullcontext():
            chosen = request.chosen(dataset)
            number = f"{request.n:,}" if request.tolerance is None else "few"
            tell(f"{dataset.name}: {dataset.N:,} points; looking for {number} landmarks …")
            began = time.monotonic()
            form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}, {postfix}"
            with bar(desc="descent", total=1.0, bar_format=form) as shown:

                def watch(share: float, error: float) -> None:
                    shown.set_postfix_str(f"mean error {error:.4g}", refresh=False)
                    shown.update(share - shown.n)

                optimised = request.optimised(dataset, chosen, progress, watch, client)
            seconds = time.monotonic() - began
            tell("computing the trace error …")
            optimised = replace(optimised, stopped=stop.is_set()).or_start()
            return optimised, _report(optimised, seconds, stop)

    def interrupted() -> None:
        """The first Ctrl-C asks the descent to come to an end, the second leaves."""
        if stop.is_set():
            raise Interrupted("Stopped before the descent was done; nothing was saved.") from None
        stop.set()
        tell("stopping; the best so far is kept (Ctrl-C again: it is not)")

    return interruptible(work, interrupted)


# -- saying it -------------------------------------------------------------------------------------------------


def _report(optimised: Optimised, seconds: float, stop: threading.Event) -> str:
    data, n = optimised.dataset, optimised.request.n
    left_out = "".join(f"; {reason}: {count:,}" for reason, count in data.removed if count)
    rows = [["before", f"{optimised.before:.6g}", ""], ["after", f"{optimised.after:.6g}", _change(optimised)]]
    left = _percent(optimised.after, data.N * optimised.result.mean_diagonal)
    words = [
        "Before is the sample that the descent began at, after are the landmarks: "
        f"{left} of the trace of the kernel matrix is left."
    ]
    if stop.is_set():
        words.append("The descent was stopped; these are the best landmarks it had found.")
    else:
        tell("computing the smallest error possible …")
        if optimised.best is not None:
            factor = "" if optimised.factor is None else f"E_tr = {optimised.factor:.4g}"
            rows.append(["best possible", f"{optimised.best:.6g}", factor])
        else:
            least = optimised.best_bound
            rows.append(["best possible", f"≥ {least:.6g}", ""])
            if least > 0.0:
                words.append(
                    f"These landmarks are within a factor of {optimised.at_most / least:.3g} of the best {n:,} that "
                    "exist, with at least 90 % confidence."
                )
        if optimised.estimate is not None:
            words.append(_sure(optimised.estimate))
        tell("counting how many uniform landmarks that would take …")
        number, enough = optimised.equivalent
        words.append(
            f"Uniform landmarks would need {'' if enough else 'more than '}{number:,} for the same error "
            f"({number / n:.1f} times as many)."
        )
    lines = [
        f"{data.name}: N = {data.N:,}, d = {data.d}{left_out}",
        *(f"  {reason}" for reason in (_rho(optimised), *optimised.result.reasons)),
        "",
        table(["trace error", "", ""], rows, right=[1]),
        "",
        *words,
        f"{n:,} landmarks found in {duration(seconds)}.",
    ]
    return "\n".join(lines)


def _use(record: Path) -> str:
    """Two lines of Python that load the result."""
    return f"    landmarks = nystrom_lib.load_landmarks({str(record)!r})\n    features = landmarks.features(X)"


def _sure(estimate: Estimate) -> str:
    low, high = estimate.bounds
    return (
        f"The errors are estimated from {estimate.points:,} points (--exact: from all); the one after is between "
        f"{low:.6g} and {high:.6g} with at least {100 * estimate.confidence:g} % confidence."
    )


def _percent(error: float, whole: float) -> str:
    return f"{100 * error / whole:.3g} %" if error > 1e-12 * whole else "nothing"


def _rho(optimised: Optimised) -> str:
    """The choice of ρ, and of which data it is."""
    reason = optimised.chosen.reason
    return reason if optimised.dataset.mean is None else f"{reason} It is that of the standardised data."


def _full_report() -> int:
    from ..studies.own_data import FULL_REPORT

    return FULL_REPORT


def _change(optimised: Optimised) -> str:
    if optimised.result.sample is optimised.result.start:
        return "the start, which nothing was better than" if optimised.result.steps else ""
    return f"{100 * (optimised.after / optimised.before - 1):+.1f} %" if optimised.before > 0 else ""


# -- saving it -------------------------------------------------------------------------------------------------


def _check_outputs(file: Path, out: Path, plot: Path | None) -> None:
    """Nothing may be written over the data, nor over a .json file that is not a record of ours."""
    record = out.with_suffix(".json")
    for option, path in (("--out", out), ("--out", record), ("--plot", plot)):
        if path is not None and path.exists() and path.samefile(file):
            raise ConfigurationError(option, f"is {str(path)!r}, the file with the data; name another.")
    if record.exists() and not _is_record(record):
        raise ConfigurationError(
            "--out", f"is {str(out)!r}, whose record would be written over {str(record)!r}, a file of another kind."
        )


def _is_record(path: Path) -> bool:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(record, dict) and str(record.get("what", "")).startswith(WHAT)


def _saved(optimised: Optimised, out: Path, plot: Path | None) -> dict[str, Path]:
    """Write landmarks, record and picture, each whole; what each is, and where."""
    try:
        written = _write(optimised, out)
    except OSError as error:
        elsewhere = _kept_elsewhere(optimised, out.name)
        raise CompanionError(f"{out} cannot be written ({_reason(error)}); {elsewhere}.") from error
    if plot is not None:
        from ..figures.own_data import report

        tell("drawing …")
        figure = report(optimised)
        try:
            atomic_write(plot, lambda part: figure.savefig(part))
        except OSError as error:
            raise CompanionError(f"{plot} cannot be written ({_reason(error)}); the landmarks are in {out}.") from error
        written["picture"] = plot
    return written


def _kept_elsewhere(optimised: Optimised, name: str) -> str:
    """Where the landmarks are if not where they were asked for: among temporary files, or else in print."""
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix="nystrom-"))
        _write(optimised, folder / name)
    except OSError as error:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        click.echo(optimised.frame().to_csv(index=False), nl=False)
        return f"nor can a temporary file ({_reason(error)}): the landmarks are printed above, as CSV"
    return f"the landmarks are in {folder / name}"


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _write(optimised: Optimised, out: Path) -> dict[str, Path]:
    record = out.with_suffix(".json")
    text = json.dumps(optimised.record() | {"landmarks": out.name}, indent=1, ensure_ascii=False) + "\n"
    if out.suffix.lower() == ".csv":
        write_text(out, optimised.frame().to_csv(index=False))
    else:
        write_array(out, optimised.landmarks)
    write_text(record, text)
    return {"landmarks": out, "record": record}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _translated(error: ValueError) -> Exception:
    """The library's sentence in the words of the command line; about an option it is the user who must do something."""
    text = str(error)
    for theirs, ours in _CALLED.items():
        text = text.replace(theirs, ours)
    if re.match(_OURS, text):
        return ConfigurationError("", f"--{text}")
    return ConfigurationError("", f"-{text}") if text.startswith("n is") else ValueError(text)
