"""Landmarks for the points of a file: ``python -m nystrom_lib points.csv -n 100 -o landmarks.npy``."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .bandwidth import median_rho
from .descent import DescentError
from .kernels import Gaussian
from .landmarks.find import METHODS, find_landmarks
from .sources import open_data

DESCRIPTION = """\
Find landmarks for a Nyström approximation of the Gaussian kernel matrix of the points in a file, and save them.

POINTS is a .npy file, or a text file with one point per line and numbers separated by commas or by blanks; its first
line may name the columns. The relative error printed is tr(K - K̂) / tr(K). Beside it stands a lower bound of what
the best possible landmarks leave; both hold for all the points, with 95 % confidence where they are from some of them.

examples:
  python -m nystrom_lib points.csv --tolerance 0.05 -o landmarks.npy
  python -m nystrom_lib points.npy -n 500 --rho 0.5 --seconds 10 --standardise -o landmarks.csv
"""


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = argparse.ArgumentParser(
        "python -m nystrom_lib", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
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


def read_points(path: Path) -> Any:
    """The path of an .npy file, which is read as needed, or the points of a text file."""
    if path.suffix.lower() == ".npy":
        return path
    if path.exists() and not path.is_file():  # it is read twice: a pipe would lose points
        raise ValueError(f"{path} is not a regular file.")
    try:
        with open(path, encoding="utf-8-sig") as file:
            first, empty = file.readline(), not any(map(str.strip, file))
        names = not re.search(r"(^|[\s,])[-+]?\.?\d", first)  # no field begins as a number does
        if names and empty:
            raise ValueError("it holds no point")
        delimiter = "," if "," in first else None
        return np.loadtxt(path, delimiter=delimiter, skiprows=int(names), ndmin=2, encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # also UnicodeDecodeError
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0].partition("; use")[0]
        raise ValueError(f"{path} cannot be read: {reason.rstrip('.')}.") from error


def run(options: argparse.Namespace) -> str:
    """Find and save the landmarks; what to print."""
    output: Path = options.output
    writable = output.absolute().parent.is_dir() and os.access(output.absolute().parent, os.W_OK)
    if not writable or (output.exists() and not output.is_file()):
        raise ValueError(f"output is {str(output)!r}; it must be a file in a folder that exists and can be written to.")
    if output.resolve() == options.points.resolve():
        raise ValueError(f"output is {str(output)!r}; it must not be the file of points.")
    data = open_data(read_points(options.points), standardise=options.standardise)
    rho = median_rho(data, options.seed) if options.rho is None else options.rho
    found = find_landmarks(
        Gaussian(rho), data, options.n, tolerance=options.tolerance, method=options.method, seconds=options.seconds,
        seed=options.seed,
    )  # fmt: skip
    landmarks = data.in_original_units(found.sample)
    temporary = output.with_name(f".{output.name}.part")  # a full disk leaves no file cut short
    try:
        with open(temporary, "wb") as file:
            if output.suffix.lower() == ".npy":
                np.save(file, landmarks)
            else:
                np.savetxt(file, landmarks, fmt="%.17g", delimiter=",")
        temporary.replace(output)
    finally:
        temporary.unlink(missing_ok=True)
    upper, lower, n = found.error_bound, found.best_error_bound, len(landmarks)
    within = f" (so these are within a factor of {upper / lower:.3g} of the best)" if lower > 0.0 else ""
    return "\n".join([
        f"{options.points}: {len(data):,} points of {data.d} coordinates",
        f"rho: {rho:g}, {'by the median rule' if options.rho is None else 'as given'}",
        f"method: {found.method}",
        *(f"  {reason}" for reason in found.reasons),
        f"relative error: at most {upper:.4g}; the best {n:,} landmarks: at least {lower:.4g}{within}",
        f"{n:,} landmarks saved in {output}",
    ])  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    options = parser().parse_args(argv)
    try:
        print(run(options))
    except (ValueError, TypeError, OSError, ImportError, DescentError) as error:
        print(f"nystrom_lib: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("nystrom_lib: stopped; nothing was saved", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
