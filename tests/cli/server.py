"""A process that has everything imported and forks a real process for each call of the command line.

Most of a call's time would go into imports and the loading of loops; what is tested is what comes after them. A forked
process has none of the threads of its parent and computes on one, to the same bits. Run as a module, with what begins
the command line of a kernel; a line of JSON on standard input for each call, a line with its exit code for an answer.
"""

import atexit
import json
import os
import sys
from typing import Any

# What the commands import when they are used.
import nystrom_lib.companion.notebook.execute
import nystrom_lib.companion.running.verifying
import nystrom_lib.companion.studies.own_data  # noqa: F401
from nystrom_lib import warm_up
from nystrom_lib.companion.cli import main
from nystrom_lib.companion.notebook import kernel


def child(words: list[str], cwd: str, environment: dict[str, str], out: str, err: str) -> None:
    """Become the process that was asked for, and clear up as one does at its end.

    The rest of an interpreter's end, in which all that was imported is taken apart, would take longer than most calls.
    """
    os.chdir(cwd)
    os.environ.update(environment)
    for descriptor, path in ((0, os.devnull), (1, out), (2, err)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), descriptor)
    code: Any = 70
    try:
        main(words)
    except SystemExit as end:
        code = end.code
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code or 0)


def serve() -> None:
    """Answer until nobody asks any more."""
    kernel.START = tuple(sys.argv[1:])
    warm_up()
    print("ready", flush=True)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            child(**json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
