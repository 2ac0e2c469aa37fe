"""The paper's four data sets, and your own.

Each function returns a `Dataset`: the points, one per row, with a hash, what was left out of them and why,
where they come from and under which licence. Only `fetch_miniboone` and `miniboone_sample` use the network.
"""

from ._bigaussian import bigaussian
from ._dataset import DamagedFileError, Dataset, cache_folder, sha256_of
from ._miniboone import FetchError, fetch_miniboone, miniboone, miniboone_sample
from ._own import from_array, from_file
from ._packaged import abalone, magic

__all__ = [
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
    "miniboone_sample",
    "sha256_of",
]
