"""Landmarks for the points of a file: ``python -m nystrom_lib points.csv -n 100 -o landmarks.npy``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from . import _validation as check
from ._validation import Array
from .bandwidth import median_rho
from .descent import DescentError
from .kernels import Gaussian
from .landmarks.find import METHODS, Landmarks, find_landmarks

DESCRIPTION = """\
Find landmarks for a Nyström approximation of the Gaussian kernel matrix of the points in a file, and save them.

POINTS is a .npy file, or a text file with one point per line and numbers separated by commas or by blanks; its first
line may name the columns. The relative error printed is tr(K - K̂) / tr(K). Beside it stands a lower bound of what
the best possible landmarks leave; both hold for all the points, with 95 % confidence where they are from some of them.
"""
EPILOG = """\
examples:
  python -m nystrom_lib points.csv -n 100 -o landmarks.npy
  python -m nystrom_lib points.csv --tolerance 0.05 -o landmarks.npy
  python -m nystrom_lib points.npy -n 500 --rho 0.5 --seconds 10 --standardise -o landmarks.csv
"""


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = argparse.ArgumentParser(
        "python -m nystrom_lib", None, DESCRIPTION, EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("points", metavar="POINTS", type=Path, help="the file of points, a row each")
    number = made.add_mutually_exclusive_group(required=True)
    number.add_argument("-n", type=int, help="number of landmarks")
    number.add_argument("--tolerance", type=float, help="or the relative error allowed, for the fewest landmarks found")
    output = "where to save the landmarks, a row each: .npy, or any other suffix for comma-separated text"
    standardise = "rescale columns to zero mean and unit variance first; landmarks are saved in the units of the file"
    made.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=output)
    made.add_argument("--rho", type=float, help="kernel parameter in K = exp(-rho |x - y|²) (default: the median rule)")
    made.add_argument("--method", choices=METHODS, default="auto", metavar="M", help="%(choices)s (default: auto)")
    made.add_argument("--seconds", type=float, help="time limit (default: a number of steps that is usually enough)")
    made.add_argument("--seed", type=int, default=0, help="seed of all random numbers (default: 0)")
    made.add_argument("--standardise", action="store_true", help=standardise)
    return made


def read_points(path: Path) -> Array:
    """The points of a .npy or text file."""
    try:
        if path.suffix.lower() == ".npy":
            return check.float_points("array", np.load(path, allow_pickle=False))
        with open(path, encoding="utf-8-sig") as file:
            first = file.readline()
        delimiter = "," if "," in first else None
        names = not any(is_number(field) for field in first.split(delimiter))
        return np.loadtxt(path, delimiter=delimiter, skiprows=int(names), ndmin=2, encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, EOFError) as error:  # UnicodeDecodeError is a ValueError
        raise ValueError(f"{path} cannot be read: {str(error).partition(chr(10))[0].partition(';')[0]}.") from error


def is_number(field: str) -> bool:
    """Whether this is the text of a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def run(options: argparse.Namespace) -> str:
    """Find and save the landmarks; what to print."""
    output: Path = options.output
    if not output.absolute().parent.is_dir() or output.is_dir():
        raise ValueError(f"output is {str(output)!r}; it must be a file in a folder that exists.")
    if output.resolve() == options.points.resolve():
        raise ValueError(f"output is {str(output)!r}; it must not be the file of points.")
    points = read_points(options.points)
    mean, scale = np.zeros(points.shape[1]), np.ones(points.shape[1])
    if options.standardise:
        mean, scale = points.mean(axis=0), points.std(axis=0)
        if not (scale > 0.0).all():
            raise ValueError(f"column {int(np.argmin(scale)) + 1} of {options.points} is constant; leave it out.")
    X = (points - mean) / scale
    rho = median_rho(X, options.seed) if options.rho is None else options.rho
    how = {"tolerance": options.tolerance, "method": options.method, "seconds": options.seconds, "seed": options.seed}
    found = find_landmarks(Gaussian(rho), X, options.n, **how)
    landmarks = mean + scale * found.sample
    if output.suffix.lower() == ".npy":
        np.save(output, landmarks)
    else:
        np.savetxt(output, landmarks, fmt="%.17g", delimiter=",")
    rule = "by the median rule" if options.rho is None else "as given"
    return "\n".join([
        f"{options.points}: {len(X):,} points of {X.shape[1]} coordinates",
        f"rho: {rho:g}, {rule}",
        f"method: {found.method}",
        *(f"  {reason}" for reason in found.reasons),
        f"relative error: at most {found.error_bound:.4g}; the best {len(landmarks):,} landmarks: at least "
        f"{found.best_error_bound:.4g}{within(found)}",
        f"{len(landmarks):,} landmarks saved in {output}",
    ])  # fmt: skip


def within(found: Landmarks) -> str:
    """How far from the best possible, if that is known."""
    if found.best_error_bound <= 0.0:
        return ""
    return f" (so these are within a factor of {found.error_bound / found.best_error_bound:.3g} of the best)"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    options = parser().parse_args(argv)
    try:
        print(run(options))
    except (ValueError, OSError, DescentError) as error:
        print(f"nystrom_lib: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
