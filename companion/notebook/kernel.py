"""The process a notebook runs in: always this interpreter, whatever kernels are registered on the machine."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

#: What begins the command line of a kernel.
#: -P, and ignore_cwd below: a matplotlib.py in the present folder is a file of the user's, not ours to import.
#: Not by ipykernel_launcher: it drops the first folder of PYTHONPATH where that is the present one.
START = (sys.executable, "-P", "-Xfrozen_modules=off", "-m", "ipykernel")


def kernel_class(folder: Path, log: Path, environment: Mapping[str, str]) -> type[AsyncKernelManager]:
    """A kernel manager that starts this interpreter.

    Kernels are looked up by name in the user's folders and along ``JUPYTER_PATH``, so that a ``python3`` registered
    there would take the place of ours: nothing is looked up here.

    Parameters
    ----------
    folder : Path
        For the connection file and IPython's own files: no profile, start-up file or history of the user's.
    log : Path
        Where the process writes what does not go through a cell.
    environment : mapping
        Variables to set.
    """
    spec = KernelSpec(
        argv=[*START, "-f", "{connection_file}", "--IPKernelApp.ignore_cwd=True"],
        display_name="Python 3",
        language="python",
        # A dollar sign would be taken for the name of another variable.
        env={
            name: value.replace("$", "$$")
            for name, value in {"IPYTHONDIR": str(folder / "ipython"), **environment}.items()
        },
    )

    class ProjectKernel(AsyncKernelManager):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.connection_file = str(folder / "kernel.json")

        @property
        def kernel_spec(self) -> KernelSpec:
            return spec

        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
            with log.open("ab") as output:
                await super().start_kernel(**{**options, "stdout": output, "stderr": output})

    return ProjectKernel
