"""What runs the paper rather than computes it: experiments, and the results they leave.

Data flow one way: a configuration (``config``, of the parts in ``components``) is run (``runner``, on a cluster
``cluster``) by doing one ``protocol`` many times; each repetition goes into a ``store``; what is in there makes
``results``, with their ``provenance``.

>>> from nystrom_lib import companion
>>> companion.paper_experiment("figure-2-n20").n
20
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Public names and the module each lives in, imported when first asked for: results need pandas, which takes a while.
_WHERE = {
    "Experiment": "config",
    "Record": "config",
    "PAPER": "experiments",
    "figure": "experiments",
    "paper_experiment": "experiments",
    "run": "runner",
    "Comparison": "results",
    "Results": "results",
    "compare": "results",
    "verify": "results",
    "ClusterError": "errors",
    "CompanionError": "errors",
    "ConfigurationError": "errors",
    "DamagedResultsError": "errors",
    "DamagedStoreError": "errors",
    "DataMismatchError": "errors",
    "Interrupted": "errors",
    "StoreError": "errors",
    "UnwritableStoreError": "errors",
    "VerificationError": "errors",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
