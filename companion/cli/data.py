"""``nystrom data``: the paper's data sets, which are here, and whether they are intact."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from ..atomic_write import without_temporary
from ..errors import CompanionError, ConfigurationError
from ..wording import did_you_mean
from .base import GROUP, Group, Whole, table

if TYPE_CHECKING:
    from nystrom_lib.datasets import Dataset

FETCHED = "miniboone"


@click.group("data", cls=Group, short_help="the paper's data sets: list, fetch, check", **GROUP)
def data() -> None:
    """The paper's four data sets: list them, fetch the one that is not in the package, check them.

    \b
    Examples:
      nystrom data list
      nystrom data fetch miniboone
      nystrom data check
    """


@data.command("list", short_help="what there is, and where")
def list_data() -> None:
    """List the data sets: size, what was left out, where they are.

    MiniBooNE is too large to come with the package. Until it is fetched, or a file is named by the environment
    variable NYSTROM_MINIBOONE, a labelled stand-in of the same shape takes its place.

    \b
    Example:
      nystrom data list
    """
    from nystrom_lib import datasets

    rows = [_row(name, load()) for name, load in datasets.REGISTRY.items()]
    click.echo(table(["name", "title", "N", "d", "left out", "source"], rows, right=[2, 3, 4]))
    click.echo(f"\nFetched data are kept in {datasets.cache_folder()} (NYSTROM_CACHE names another folder).")


def _row(name: str, dataset: Dataset) -> list[str]:
    removed = sum(count for _, count in dataset.removed)
    return [name, dataset.name, f"{dataset.N:,}", str(dataset.d), f"{removed:,}", dataset.source]


@data.command("fetch", short_help="fetch MiniBooNE")
@click.argument("names", nargs=-1)
@click.option(
    "--retries", type=Whole(0), default=4, show_default=True, help="How often to try again."
)
def fetch(names: tuple[str, ...], retries: int) -> None:
    """Fetch data that do not come with the package: MiniBooNE, from the UCI repository (about 90 MB).

    What arrives is checked by its sha256 before it counts. Where it is here already, the network is not touched. If
    this machine has no network, bring the file and name it: NYSTROM_MINIBOONE=/path/to/MiniBooNE_PID.txt.

    \b
    Example:
      nystrom data fetch
    """
    from nystrom_lib import datasets

    for name in _known(names or (FETCHED,)):
        if name != FETCHED:
            click.echo(f"{name}: nothing to fetch, it comes with the package or is drawn on the spot")
            continue
        click.echo(f"{name}: {datasets.fetch_miniboone(retries=retries)}")


@data.command("check", short_help="are the files intact?")
@click.argument("names", nargs=-1)
def check(names: tuple[str, ...]) -> None:
    """Read the data sets again, check their files by their hashes, and compare with the stored results.

    With no NAMES all of them. MiniBooNE may be absent then; when it is named it must be here.

    \b
    Examples:
      nystrom data check
      nystrom data check miniboone
    """
    from nystrom_lib import datasets

    wanted = _known(names or datasets.REGISTRY)
    recorded = _recorded()
    for name in wanted:
        if name == FETCHED and not names and datasets.miniboone().stand_in:
            click.echo(f"{name}: not here; its stand-in is used (nystrom data fetch {name})")
            continue
        dataset = datasets.miniboone(stand_in="never") if name == FETCHED else datasets.REGISTRY[name]()
        known = recorded.get(dataset.name)
        if known is not None and dataset.sha256 not in known:
            raise CompanionError(
                f"{name} has sha256 {dataset.sha256[:16]}…; the stored results were made from {sorted(known)[0][:16]}…."
            )
        same = "; the same as in the stored results" if known else ""
        click.echo(f"{name}: intact, N = {dataset.N:,}, d = {dataset.d}, sha256 {dataset.sha256[:16]}…{same}")


def _recorded() -> dict[str, set[str]]:
    """The hashes of the data that the stored results were made from, by the data's title."""
    from ..checkout import RESULTS
    from ..results.table import Results

    hashes: dict[str, set[str]] = {}
    for path in without_temporary(RESULTS.glob("*.parquet")):
        origin = Results.load(path).provenance["data"]
        hashes.setdefault(origin["name"], set()).add(origin["sha256"])
    return hashes


def _known(names: Iterable[str]) -> list[str]:
    from nystrom_lib import datasets

    for name in names:
        if name not in datasets.REGISTRY:
            hint = did_you_mean(name, datasets.REGISTRY)
            raise ConfigurationError("", f"There is no data set {name!r}{hint}; known: {', '.join(datasets.REGISTRY)}.")
    return list(names)
