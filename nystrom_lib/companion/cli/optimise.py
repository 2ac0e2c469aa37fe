"""``nystrom optimise``: the method on a file of the user's, without a notebook."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from ..errors import ConfigurationError
from .base import Command, tell
from .run import JOBS

#: What the library calls an option, and what it is called here: its sentences are passed on.
_CALLED = {
    "without=": "--without",
    "standardise=False": "--no-standardise",
    "missing='drop'": "--missing drop",
    "missing='keep'": "--missing keep",
}
_KERNELS = ["gaussian", "matern-3/2", "matern-5/2", "rational-quadratic"]
_PICTURES = (".png", ".svg", ".pdf")


def _output(*endings: str) -> Any:
    """A file to be written whose ending says how."""

    def check(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
        if value is not None and value.suffix.lower() not in endings:
            raise click.BadParameter(f"{str(value)!r} must end in one of {', '.join(endings)}.")
        if value is not None and not value.absolute().parent.is_dir():
            raise click.BadParameter(f"{str(value)!r} is in a folder that does not exist.")
        return value

    return check


def _listed(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip() for text in value for name in text.split(",") if name.strip())


@click.command("optimise", cls=Command, short_help="the method on your own file, without a notebook")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-n", "n", type=click.IntRange(min=1), default=100, show_default=True, help="How many landmark points.")
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), callback=_output(".npy", ".csv"),
    default="landmarks.npy", show_default=True, help="Where the landmarks go, as .npy or .csv.",
)  # fmt: skip
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), callback=_output(*_PICTURES), metavar="PICTURE",
    help="Draw where the landmarks went, and how R fell (.png, .svg, .pdf).",
)  # fmt: skip
@click.option(
    "--columns", multiple=True, callback=_listed, metavar="A,B,…",
    help="Use these columns only, in this order; where they have no names they are x0, x1, …",
)  # fmt: skip
@click.option("--without", multiple=True, callback=_listed, metavar="A,B,…", help="Leave these columns out.")
@click.option(
    "--missing", type=click.Choice(["drop", "keep", "refuse"]), default="drop", show_default=True,
    help="Rows with missing values: leave out, fill with the column's mean, or fail.",
)  # fmt: skip
@click.option("--missing-code", multiple=True, metavar="CODE", help="What else stands for a missing value: -999, ?, …")
@click.option("--no-standardise", is_flag=True, help="Use the columns as they are, not with mean 0 and variance 1.")
@click.option("--separator", metavar="TEXT", help="Between the fields of a text file; by default a comma.")
@click.option("--array", metavar="NAME", help="Which array of an .npz file.")
@click.option("--kernel", type=click.Choice(_KERNELS), default="gaussian", show_default=True, help="The kernel K.")
@click.option("--rho", type=float, help="ρ of the kernel; by default 1 over the median squared distance.")
@click.option("--step", type=float, help="The step γ; by default found by a short trial.")
@click.option(
    "--iterations", type=click.IntRange(min=1), metavar="T", help="By default 1,000 exact or 5,000 stochastic ones."
)
@click.option("--batch-size", type=click.IntRange(min=0), metavar="B", help="0: the exact gradient; by default by N.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Decides every draw.")
@JOBS
def optimise(
    file: Path,
    n: int,
    out: Path,
    plot: Path | None,
    columns: tuple[str, ...],
    without: tuple[str, ...],
    missing: str,
    missing_code: tuple[str, ...],
    no_standardise: bool,
    separator: str | None,
    array: str | None,
    kernel: str,
    rho: float | None,
    step: float | None,
    iterations: int | None,
    batch_size: int | None,
    seed: int,
    jobs: int | None,
) -> None:
    """Choose n landmark points for the data in FILE and move them by (stochastic) gradient descent on the radial SKD.

    FILE is CSV (also compressed), TSV, Parquet, NPY or NPZ, a row for each point. What is not given is chosen by a
    rule that is printed with its result: columns are standardised; ρ is 1 over the median squared distance; up to
    5,000 points the exact gradient is used, Eq. (5), beyond that stochastic ones, Eq. (6); and the step is half the
    one that lowers R most in a short trial on at most 2,000 of the points. Should R not get lower, the step is cut to
    a quarter and the descent done again.

    R and the trace error of the Nyström approximation are printed before and after. The landmarks are saved in the
    units of FILE (the standardisation is undone), and beside them, in a file of the same name that ends in .json,
    everything that was done: with it the run can be repeated.

    \b
    Examples:
      nystrom optimise measurements.csv -n 100 -o landmarks.npy
      nystrom optimise measurements.csv --without id,date --missing-code -999 --plot landmarks.png
      nystrom optimise points.npy -n 50 --rho 0.2 --step 5e-8 --batch-size 50 --iterations 4000
    """
    from ..experiments.components import File
    from .landmarks import Request, optimised, save

    if out.absolute() == file.absolute():
        raise ConfigurationError("--out", f"is {str(out)!r}, the file with the data; name another.")
    source = File(
        path=str(file),
        columns=columns or None,
        without=without,
        missing=missing,
        missing_numbers=tuple(float(code) for code in missing_code if _is_number(code)),
        missing_words=tuple(code for code in missing_code if not _is_number(code)),
        standardise=not no_standardise,
        separator=separator,
        array=array,
    )
    request = Request(
        source=source, n=n, kernel=kernel, rho=rho, step=step, iterations=iterations, batch_size=batch_size, seed=seed
    )
    try:
        found = optimised(request, jobs, tell)
    except ValueError as error:
        if isinstance(error, ConfigurationError):
            raise
        raise _translated(error) from error
    click.echo(found.report())
    for what, path in save(found, out, plot).items():
        click.echo(f"{what:<10} {path}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _translated(error: ValueError) -> Exception:
    """The library's sentence in the words of the command line; about columns it is the user who must do something."""
    text = str(error)
    for theirs, ours in _CALLED.items():
        text = text.replace(theirs, ours)
    if re.match(r"(columns|without|array) (names|must)", text):
        return ConfigurationError("", f"--{text}")
    return ValueError(text)
