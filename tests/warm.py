"""A process that has everything imported and every loop loaded, and forks a Python for each that is asked for.

Most of a short run would be that. A forked process has none of the threads of its parent and computes on one, to the
same bits. Where a new interpreter is what is tested, ``sys.executable`` starts one.

``warm.py SOCKET PID`` is the process that forks, for all processes of a run of the tests, whose first is PID and with
which it ends; ``stand_in`` asks for a forked Python and stands for it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Iterator
from typing import Any, NoReturn

#: What processes of the tests import, and the rooms of the companion whose modules they import.
IMPORTED = (
    "distributed", "ipykernel.kernelapp", "matplotlib.pyplot", "nbconvert", "companion.cli",
    "companion.notebook.execute", "papermill.cli", "pyarrow.parquet", "sklearn.cluster", "sklearn.datasets",
)  # fmt: skip
ROOMS = ("claims", "experiments", "figures", "results", "running", "studies")

#: The folder of the socket and the first process of a run of the tests: the others find them in their environment.
FOLDER, FIRST = "NYSTROM_TEST_SOCKET", "NYSTROM_TEST_PROCESS"


def begin() -> None:
    """Called by every process of the tests; the first says where the others find what forks."""
    if FOLDER not in os.environ:
        os.environ[FIRST] = str(os.getpid())
        os.environ[FOLDER] = os.path.join(tempfile.gettempdir(), f"forks-{os.getpid()}-{time.time_ns():x}")


@functools.cache
def python() -> tuple[str, ...]:
    """What begins the command line of a forked Python, where ``sys.executable`` begins that of a new one."""
    place = os.path.join(os.environ[FOLDER], "socket")
    with contextlib.suppress(FileExistsError):  # somebody else was first
        os.mkdir(os.environ[FOLDER])
        inline = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}  # a kernel's own choice, before any import
        command = [sys.executable, "-P", __file__, place, os.environ[FIRST]]
        subprocess.run(command, env=os.environ | inline, stdin=subprocess.DEVNULL, start_new_session=True, check=True)
    end = time.monotonic() + 120
    while not os.path.exists(place):
        assert time.monotonic() < end, "no process can be forked"
        time.sleep(0.05)
    return _stand_in(place)


def kernel() -> tuple[str, ...]:
    """What begins the command line of a forked kernel."""
    return *python(), "-m", "ipykernel"


def _stand_in(place: str) -> tuple[str, ...]:
    return sys.executable, "-S", "-E", os.path.join(os.path.dirname(__file__), "stand_in.py"), place


# -- the process that forks --------------------------------------------------------------------------------------


def serve(place: str, first: int) -> None:
    """Fork while the first process of the tests is there."""
    for name in (*IMPORTED, *_modules()):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name)
    importlib.import_module("nystrom_lib").warm_up()
    _fork_kernels(place)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who mind a process
    gc.freeze()  # nobody looks through all of this for rubbish again
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(f"{place}-")
        door.listen()
        if os.fork():
            os._exit(0)  # whoever started us waits for that
        os.rename(f"{place}-", place)
        while _is_there(first):
            if select.select([door], [], [], 1.0)[0]:
                line, _ = door.accept()
                if os.fork() == 0:
                    mind(line)
                line.close()
    shutil.rmtree(os.path.dirname(place))


def _modules() -> Iterator[str]:
    for room in ROOMS:
        package = importlib.import_module(f"companion.{room}")
        yield from (f"{package.__name__}.{each.name}" for each in pkgutil.iter_modules(package.__path__))


def _fork_kernels(place: str) -> None:
    """Whoever is forked has its kernels forked: those of chapters, nbval's, and the python3 that papermill looks up."""
    from ipykernel import kernelspec

    from companion.notebook import kernel

    kernel.START = (*_stand_in(place), "-m", "ipykernel")
    command = [*kernel.START, "-f", "{connection_file}"]
    kernelspec.make_ipkernel_cmd = lambda *_, **__: command
    folder = os.path.join(os.path.dirname(place), "kernels", "python3")
    os.makedirs(folder)
    with open(os.path.join(folder, "kernel.json"), "w") as file:
        json.dump({"argv": command, "display_name": "Python 3", "language": "python"}, file)
    os.environ["JUPYTER_PATH"] = os.path.dirname(place)


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def mind(line: socket.socket) -> NoReturn:
    """Fork the process, wait for its end or for that of whoever asked for it, and say how it ended."""
    size, descriptors, _, _ = socket.recv_fds(line, 8, 3)
    told = b""
    while len(told) < int.from_bytes(size, "big"):
        told += line.recv(2**16)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process = os.fork()
    if process == 0:
        become(*json.loads(told), descriptors)
    for descriptor in descriptors:  # whose ends others wait for
        os.close(descriptor)
    end = [os.pidfd_open(process)] if hasattr(os, "pidfd_open") else []  # else the end is seen a little later
    while True:
        if line in select.select([line, *end], [], [], 0.05)[0]:
            asked = line.recv(1)
            os.kill(process, asked[0] if asked else signal.SIGKILL)
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            with contextlib.suppress(OSError):
                line.sendall(code.to_bytes(2, "big", signed=True))
            os._exit(0)


# -- the process that is forked ----------------------------------------------------------------------------------


def become(cwd: str, environment: dict[str, str], words: list[str], descriptors: list[int]) -> NoReturn:
    """Be the Python that was asked for."""
    os.setsid()
    os.chdir(cwd)
    for i, descriptor in enumerate(descriptors):
        os.dup2(descriptor, i)
    os.closerange(len(descriptors), 256)
    environment.setdefault("JUPYTER_PATH", os.environ["JUPYTER_PATH"])
    os.environ.clear()
    os.environ.update(environment)
    os.environ.pop("JPY_PARENT_PID", None)  # whose end a kernel would wait for, and who is not its parent
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, "w", buffering=1 if os.isatty(1) else -1, closefd=False)
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    os._exit(_end(_run(words)))


def _run(words: list[str]) -> Any:
    """``python words…``; gives what it exits with."""
    how, what, *sys.argv = words
    sys.argv.insert(0, how if how == "-c" else what)
    try:
        if how == "-m":
            sys.path.insert(0, os.getcwd())
            if not hasattr(sys.modules.get(what), "__path__"):
                sys.modules.pop(what, None)  # a module that we have imported is to run all the same
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            assert how == "-c", f"python {how} is not forked"
            sys.path.insert(0, "")
            sys.modules["__main__"] = main = types.ModuleType("__main__")
            exec(compile(what, "<string>", "exec"), main.__dict__)
    except SystemExit as end:
        return end.code
    except BaseException as error:
        sys.excepthook(*sys.exc_info())
        return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _end(code: Any) -> int:
    """Clear up as an interpreter does; but not all that was imported, which would take longer than most processes."""
    if not isinstance(code, int | None):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 120
    if code is not None and code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return (code or 0) & 0xFF


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
