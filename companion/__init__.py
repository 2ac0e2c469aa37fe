"""What runs the paper rather than computes it: experiments, and the results they leave.

A room for each idea, and imports go one way: ``experiments`` are declared, ``results`` are what their repetitions
leave behind, and ``running`` makes the ones from the others. ``studies`` are the smaller computations of the chapters,
``figures`` draw both, ``chapters`` say which parameters they take, ``claims`` are judged, a ``notebook`` shows it all.
The ``book`` and the command line, ``cli``, are made of everything before. What all rooms need lies beside them:
``settings``, ``errors``, ``wording``, and where the ``checkout`` is.

>>> import companion
>>> companion.paper_experiment("figure-2-n20").n
20
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Public names and the module each lives in, imported when first asked for: results need pandas, which takes a while.
_WHERE = {
    "Experiment": "experiments.config",
    "Record": "experiments.config",
    "PAPER": "experiments.paper",
    "figure": "experiments.paper",
    "paper_experiment": "experiments.paper",
    "run": "running.runner",
    "Comparison": "results.comparing",
    "Results": "results.table",
    "compare": "results.comparing",
    "verify": "running.verifying",
    "ClusterError": "errors",
    "CompanionError": "errors",
    "ConfigurationError": "errors",
    "DamagedResultsError": "errors",
    "DataMismatchError": "errors",
    "Interrupted": "errors",
    "StoreError": "errors",
    "VerificationError": "errors",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
