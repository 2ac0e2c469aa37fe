"""``nystrom optimise``: the method on a file of the user's, without a notebook."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...advice import KERNEL_NAMES
from ..errors import CompanionError, ConfigurationError, Interrupted
from .base import Command, duration, table, tell
from .run import JOBS

if TYPE_CHECKING:
    from ...datasets import Dataset
    from ..experiments.config import Experiment
    from ..results.table import Results
    from ..studies.own_data import Optimised, Request

#: What the library calls an option, and what it is called here: its sentences are passed on.
_CALLED = {
    "without=": "--without",
    "standardise=False": "--no-standardise",
    "missing='drop'": "--missing drop",
    "missing='keep'": "--missing keep",
}
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
@click.option("--kernel", type=click.Choice(KERNEL_NAMES), default="gaussian", show_default=True, help="The kernel K.")
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
    from ..studies.own_data import Request

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
    request = Request(source, n, kernel, rho, step, iterations, batch_size, seed)
    try:
        found = _optimised(request, jobs)
    except ConfigurationError:
        raise
    except ValueError as error:
        raise _translated(error) from error
    click.echo(_report(found))
    for what, path in _saved(found, out, plot).items():
        click.echo(f"{what:<10} {path}")


def _optimised(request: Request, jobs: int | None) -> Optimised:
    from ..running.runner import aside
    from ..studies.own_data import optimised

    dataset = request.source.load(request.seed)
    tell(f"{dataset.name}: {dataset.N:,} points; choosing what was not given …")
    advice = aside(lambda: request.advice(dataset))
    found = optimised(request, dataset, advice, lambda experiment: _results(experiment, dataset, jobs), tell)
    before, after = found.measured("R")
    if after != after:
        at = int(found.results.table["diverged_at"].max())
        raise CompanionError(f"The descent left the finite numbers at iteration {at}; try a smaller --step.")
    if not found.is_lower:
        raise CompanionError(
            f"R did not get lower with γ = {found.advice.step:g} ({before:.6g} before, {after:.6g} after), so nothing "
            "was saved; try a smaller --step or more --iterations."
        )
    return found


def _results(experiment: Experiment, dataset: Dataset, jobs: int | None) -> Results:
    from ..running.runner import run

    # The trace error is what the paper looks at for large N; the others cost O(N³).
    experiment = experiment.replace(norms=("trace",), factors=False)
    with tempfile.TemporaryDirectory(prefix="nystrom-") as folder:
        try:
            return run(experiment, folder, dataset=dataset, threads=jobs)
        except KeyboardInterrupt:
            raise Interrupted("Stopped before the descent was done; nothing was saved.") from None


def _report(found: Optimised) -> str:
    data, results = found.dataset, found.results
    left_out = "".join(f"; {reason}: {count:,}" for reason, count in data.removed if count)
    names = {"R": "R, Eq. (3)" if "squared_norm" in results.constants else "R − ‖K‖_F²", "trace": "trace error"}
    rows = []
    for quantity, name in names.items():
        before, after = found.measured(quantity)
        rows.append([name, f"{before:.6g}", f"{after:.6g}", _change(before, after)])
    seconds = float(results.table["seconds"].max())
    lines = [
        f"{data.name}: N = {data.N:,}, d = {data.d}{left_out}",
        *(f"  {reason}" for reason in found.advice.reasons),
        "",
        table(["", "before", "after", "change"], rows, right=[1, 2, 3]),
        "",
        f"{found.advice.n} landmarks moved in {duration(seconds)}; they are saved in the units of {data.name}.",
    ]
    return "\n".join(lines)


def _change(before: float, after: float) -> str:
    if before <= 0:  # without its constant R is negative, and a percentage would say nothing
        return f"{after - before:+.3g}"
    return f"{100 * (after / before - 1):+.1f} %"


def _saved(found: Optimised, out: Path, plot: Path | None) -> dict[str, Path]:
    """Write landmarks, record and picture; what each is, and where."""
    import numpy as np

    if out.suffix.lower() == ".csv":
        found.frame().to_csv(out, index=False)
    else:
        np.save(out, found.landmarks, allow_pickle=False)
    record = out.with_suffix(".json")
    record.write_text(json.dumps(found.record(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    written = {"landmarks": out, "record": record}
    if plot is not None:
        from ..figures.own_data import report

        report(found).savefig(plot)
        written["picture"] = plot
    return written


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
    if re.match(r"(columns|without|array) (names|must)|(rho|step) is", text):
        return ConfigurationError("", f"--{text}")
    return ConfigurationError("", f"-{text}") if text.startswith("n is") else ValueError(text)
