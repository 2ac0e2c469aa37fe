"""The companion to the paper: experiments, their results, chapters, claims, book and command line.

Imports go in one direction: ``experiments`` are configurations, ``running`` computes their repetitions, ``results``
are tables with provenance, ``figures`` and ``studies`` serve several chapters, ``chapters`` have a module each,
``claims`` are decided on results, and ``notebook``, ``book`` and ``cli`` present them. All use ``settings``,
``errors``, ``wording`` and ``checkout``.

>>> import companion
>>> companion.paper_experiment("figure-2-n20").n
20
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Public names and their modules, which are imported at first use: pandas takes a while to import.
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
