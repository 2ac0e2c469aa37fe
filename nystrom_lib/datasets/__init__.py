"""The paper's four data sets, and your own.

Each function returns a `Dataset`: the points, one per row, with a hash, what was left out of them and why,
where they come from and under which licence. To add a data set, write a function that returns a `Dataset`
and name it in `REGISTRY`.

Nothing here uses the network, except `fetch_miniboone` when it is called.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ._bigaussian import bigaussian
from ._cache import DamagedFileError, cache_folder
from ._dataset import Dataset, sha256_of
from ._fetch import FetchError, fetch_miniboone
from ._miniboone import miniboone
from ._own import from_array, from_file
from ._packaged import abalone, magic

#: The paper's data sets by their short names, in the paper's order.
REGISTRY: Mapping[str, Callable[..., Dataset]] = MappingProxyType(
    {"bigaussian": bigaussian, "abalone": abalone, "magic": magic, "miniboone": miniboone}
)

__all__ = [
    "REGISTRY",
    "DamagedFileError",
    "Dataset",
    "FetchError",
    "abalone",
    "bigaussian",
    "cache_folder",
    "fetch_miniboone",
    "from_array",
    "from_file",
    "magic",
    "miniboone",
    "sha256_of",
]
