"""``nystrom optimise``: landmarks for a file of the user's."""

from __future__ import annotations

import csv
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

from ..atomic_write import atomic_write
from ..errors import CompanionError, ConfigurationError, Interrupted
from ..settings import Declared
from ..studies.request import Request
from ..wording import duration
from .base import DASK, JOBS, Command, progress_bar, table

if TYPE_CHECKING:
    from ..studies.own_data import Optimised

#: What the record of landmarks begins with.
WHAT = "landmark points in the units of the file"


def _names(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...] | None:
    """Names separated by commas; one that contains a comma is in double quotes."""
    rows = csv.reader("\n".join(value).splitlines(), skipinitialspace=True)
    names = tuple(name.strip() for row in rows for name in row)
    if not all(names) or (value and not names):
        raise click.BadParameter("a name is empty.")
    return names or parameter.default  # type: ignore[return-value]


#: Defaults that chapter 13 has otherwise.
DEFAULTS = {"n": None, "start": "auto"}


def _option(name: str, declared: Declared) -> click.Option:
    """The option for a setting of :class:`Request`."""
    word, default = "-n" if name == "n" else f"--{name.replace('_', '-')}", DEFAULTS.get(name, declared.default)
    how: dict[str, Any] = {"default": default, "show_default": default not in (None, False, ())}
    if declared.item is bool and (declared.optional or default):
        word = f"{word}/--no-{word[2:]}"
    elif declared.item is bool:
        how["is_flag"] = True
    elif declared.lists:
        how |= {"multiple": True, "callback": _names, "metavar": "A,B,…"}
    elif declared.choices:
        how["type"] = click.Choice(declared.choices)
    else:
        how["type"] = declared.item
    return click.Option([word, name], help=f"{declared.meaning[0].upper()}{declared.meaning[1:]}", **how)


SETTINGS: list[click.Parameter] = [_option(name, each) for name, each in Request.declared().items() if name != "file"]


@click.command("optimise", cls=Command, short_help="find landmarks for your own file", params=SETTINGS)
@click.argument("file", type=click.Path(exists=True))
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", default="landmarks.npy",
    show_default=True, help="File of the landmarks, .npy or .csv.",
)  # fmt: skip
@DASK
@JOBS
def optimise(out: Path, dask: str | None, jobs: int | None, **options: Any) -> None:
    """Find landmarks for the points in FILE with a small error of the Nyström approximation.

    FILE is CSV (also compressed), Parquet or NPY with a row for each point, or a folder of Parquet files. Each choice
    is printed with its reason, and with the trace error before and after, the smallest possible (beyond 5,500 points a
    lower bound), and the number of uniform landmarks with the same error; for many points these are estimates.

    The landmarks are saved in the units of FILE; beside them a record (.json) and a picture (.svg). Ctrl-C ends the
    descent and keeps the best landmarks so far. With --dask the workers of a cluster read the file under the same path.

    \b
    Examples:
      nystrom optimise measurements.csv -n 100 -o landmarks.npy
      nystrom optimise measurements.csv --tolerance 0.05           about the fewest with at most 5 % error
      nystrom optimise measurements.csv --without id,date --missing-code -999
      nystrom optimise abalone.data --one-hot                      columns of words, too
      nystrom optimise points.npy -n 50 --method radial-skd --rho 0.2 --iterations 4000
    """
    from ..running.cluster import connection

    if not out.name:
        raise ConfigurationError("--out", "is empty; it must name a file.")
    _check_outputs(options["file"], out)
    request = Request(**options | {"exact": options["exact"] or dask is not None})
    try:
        with connection(dask) if dask is not None else nullcontext() as client:
            optimised, report = _optimised(request, jobs, client)
    except ConfigurationError:
        raise
    except (ValueError, ArithmeticError) as error:  # of the library, about the data or an argument
        raise CompanionError(" ".join(str(error).split())) from error
    saved = _save(optimised, out)
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


def _check_outputs(file: str, out: Path) -> None:
    """Refuse a file that cannot be written, and to overwrite the data or a .json file that is not a record of ours."""
    if out.suffix.lower() not in (".npy", ".csv"):
        raise ConfigurationError("", f"{str(out)!r} must end in one of .npy, .csv.")
    if not os.access(out.absolute().parent, os.W_OK):
        raise ConfigurationError("", f"{str(out)!r} is in a folder that does not exist or cannot be written to.")
    record, picture = out.with_suffix(".json"), out.with_suffix(".svg")
    for path in (out, record, picture):
        if path.exists() and path.samefile(file):
            raise ConfigurationError("--out", f"would overwrite {str(path)!r}, the file with the data.")
    if record.exists() and WHAT not in record.read_text(encoding="utf-8", errors="replace"):
        raise ConfigurationError("--out", f"would overwrite {str(record)!r}, which is not a record of landmarks.")


# -- computing -------------------------------------------------------------------------------------------------


@contextmanager
def _stop_on_ctrl_c() -> Iterator[Event]:
    """The first Ctrl-C sets the event, which ends the descent; the second interrupts."""
    stop = Event()

    def handle(*_: Any) -> None:
        if stop.is_set():
            raise Interrupted("Stopped before the descent had ended; nothing was saved.")
        stop.set()
        click.echo("stopping; the best landmarks so far are kept (press Ctrl-C again to discard them)", err=True)

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
        dataset = own_data.load(request, lambda rows: bar.update(rows - bar.n), client)
    with nl.threads(jobs) if jobs else nullcontext(), _stop_on_ctrl_c() as stop:
        number = f"{request.n or 100:,}" if request.tolerance is None else "few"
        click.echo(f"{dataset.name}: {dataset.N:,} points; looking for {number} landmarks …", err=True)
        began = time.monotonic()
        form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}, {postfix}"
        with progress_bar(desc="descent", total=1.0, bar_format=form) as bar:

            def progress(steps: int) -> None:
                if stop.is_set():
                    raise StopIteration

            def watch(share: float, error: float) -> None:
                bar.set_postfix_str(f"mean error {error:.4g}", refresh=False)
                bar.update(share - bar.n)

            optimised = own_data.optimise(request, dataset, progress, watch, client)
        seconds = time.monotonic() - began
        click.echo("computing the trace error …", err=True)
        optimised = replace(optimised, stopped=stop.is_set())
        return optimised, _report(optimised, seconds)


# -- reporting and saving --------------------------------------------------------------------------------------


def _report(optimised: Optimised, seconds: float) -> str:
    data = optimised.dataset
    total = data.N * optimised.result.mean_diagonal
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
        click.echo("computing the smallest error possible …", err=True)
        if optimised.best is not None:
            factor = f"E_tr = {optimised.after / optimised.best:.4g}" if optimised.best else ""
            rows.append(["best possible", f"{optimised.best:.6g}", factor])
        else:
            rows.append(["best possible", f"≥ {optimised.best_bound:.6g}", ""])
            if optimised.best_bound > 0.0:
                most = optimised.after if optimised.estimate is None else optimised.estimate.bounds[1]
                ratio = most / optimised.best_bound
                words.append(f"With 90 % confidence the error is within a factor of {ratio:.3g} of the best possible.")
        if (estimate := optimised.estimate) is not None:
            low, high = estimate.bounds
            words.append(
                f"Errors are estimated from {estimate.points:,} points (--exact: from all); the one after is between "
                f"{low:.6g} and {high:.6g} with at least {100 * estimate.confidence:g} % confidence."
            )
        click.echo("comparing with uniform landmarks …", err=True)
        words.append(optimised.in_uniform)
    lines = [
        optimised.heading,
        *(f"  {reason}" for reason in (optimised.kernel_reason + scaled, *optimised.result.reasons)),
        "",
        table(["trace error", "", ""], rows, right=[1]),
        "",
        *words,
        f"{optimised.n:,} landmarks found in {duration(seconds)}.",
    ]
    return "\n".join(lines)


def _save(optimised: Optimised, out: Path) -> dict[str, Path]:
    """Write landmarks, record and picture; if the disk is full, print the landmarks rather than lose them."""
    try:
        saved = {"landmarks": out, "record": optimised.save(out)}
    except OSError as error:
        click.echo(optimised.frame().to_csv(index=False), nl=False)
        raise CompanionError(
            f"{out} or its record cannot be written ({error.strerror}); the landmarks are printed above."
        ) from error
    if optimised.stopped:
        return saved
    from ..figures.own_data import report

    figure, picture = report(optimised), out.with_suffix(".svg")
    try:
        atomic_write(picture, lambda part: figure.savefig(part))
    except OSError as error:
        raise CompanionError(f"{picture} cannot be written ({error.strerror}); the landmarks are in {out}.") from error
    return saved | {"picture": picture}
