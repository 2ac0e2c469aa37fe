"""A process that has everything imported and every loop loaded, and forks a kernel for each notebook.

Most of a short run would be that. A forked kernel has none of its threads and computes on one, to the same bits.

``warm.py serve SOCKET`` is that process. ``warm.py kernel SOCKET …`` stands for a kernel's command line: it hands over
its folder, variables, outputs and arguments, passes signals on, and ends as the kernel does. If it is killed, so is
the kernel.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import NoReturn

#: What notebooks import, the kernel itself, and the rooms of the companion whose modules they import.
IMPORTED = ("ipykernel.kernelapp", "matplotlib.pyplot", "nystrom_lib.companion.notebook", "pyarrow.parquet",
            "sklearn.cluster", "sklearn.datasets")  # fmt: skip
ROOMS = ("claims", "experiments", "figures", "results", "running", "studies")

NOTHING = b"\0"


@functools.cache
def start() -> tuple[str, ...]:
    """What begins the command line of a kernel that is forked: one process forks all those of a session."""
    folder = tempfile.mkdtemp(prefix="kernels-")
    place = os.path.join(folder, "socket")
    inline = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}  # a kernel's own choice, before any import
    command = [sys.executable, "-P", __file__, "serve", place]
    process = subprocess.Popen(command, env=os.environ | inline, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n", "kernels cannot be forked"
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(process.communicate, timeout=30)
    return sys.executable, "-S", "-E", __file__, "kernel", place


def serve(place: str) -> None:
    """Fork until whoever started us closes our input, or is gone."""
    for name in (*IMPORTED, *_modules()):
        importlib.import_module(name)
    importlib.import_module("nystrom_lib").warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who mind a kernel
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place)
        door.listen()
        print("ready", flush=True)
        while sys.stdin not in (ready := select.select([door, sys.stdin], [], [])[0]):
            line, _ = ready[0].accept()
            if os.fork() == 0:
                mind(line)
            line.close()


def _modules() -> Iterator[str]:
    for room in ROOMS:
        package = importlib.import_module(f"nystrom_lib.companion.{room}")
        yield from (f"{package.__name__}.{each.name}" for each in pkgutil.iter_modules(package.__path__))


def mind(line: socket.socket) -> NoReturn:
    """Fork the kernel, wait for its end or for that of whoever asked for it, and say how it ended."""
    for i in (0, 1):  # whose ends others wait for
        os.dup2(os.open(os.devnull, os.O_RDWR), i)
    size, descriptors, _, _ = socket.recv_fds(line, 8, 3)
    told = b""
    while len(told) < int.from_bytes(size, "big"):
        told += line.recv(2**16)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    kernel = os.fork()
    if kernel == 0:
        become(*json.loads(told), descriptors)
    while True:
        asked = line.recv(1) if select.select([line], [], [], 0.05)[0] else NOTHING
        if asked != NOTHING:
            os.kill(kernel, asked[0] if asked else signal.SIGKILL)
        ended, status = os.waitpid(kernel, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            with contextlib.suppress(OSError):
                line.sendall(bytes([code if code >= 0 else 128 - code]))
            os._exit(0)


def become(cwd: str, environment: dict[str, str], arguments: list[str], descriptors: list[int]) -> NoReturn:
    """Be the kernel."""
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    os.chdir(cwd)
    for i, descriptor in enumerate(descriptors):
        os.dup2(descriptor, i)
    os.closerange(len(descriptors), 256)
    os.environ.clear()
    os.environ.update(environment)
    os.environ.pop("JPY_PARENT_PID", None)  # whose end it would wait for, and who is not its parent
    try:
        IPKernelApp.launch_instance(argv=arguments)
    finally:
        os._exit(0)


def stand(place: str, arguments: list[str]) -> NoReturn:
    """Stand for a kernel."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(place)
        told = json.dumps([os.getcwd(), dict(os.environ), arguments]).encode()
        socket.send_fds(line, [len(told).to_bytes(8, "big")], [0, 1, 2])
        line.sendall(told)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: line.sendall(bytes([number])))
        code = line.recv(1)
        os._exit(code[0] if code else 1)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        stand(sys.argv[2], sys.argv[3:])
