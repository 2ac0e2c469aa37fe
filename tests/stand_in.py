"""``stand_in.py SOCKET words…`` stands for ``python words…``, which the process behind the socket forks; see ``warm``.

It hands over its folder, variables, outputs and words, passes signals on, and ends as the forked process does. If it
is killed, so is that. A file of its own, because it imports little and so begins at once.
"""

import json
import os
import signal
import socket
import sys
from typing import NoReturn


def stand(place: str, words: list[str]) -> NoReturn:
    """Stand for a forked process."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(place)
        told = json.dumps([os.getcwd(), dict(os.environ), words]).encode()
        socket.send_fds(line, [len(told).to_bytes(8, "big")], [0, 1, 2])
        line.sendall(told)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: line.sendall(bytes([number])))
        answer = line.recv(2)
        code = int.from_bytes(answer, "big", signed=True) if answer else 1
        if code < 0:
            signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        os._exit(code)


if __name__ == "__main__":
    stand(sys.argv[1], sys.argv[2:])
