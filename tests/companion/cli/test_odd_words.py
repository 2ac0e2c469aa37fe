"""Odd words and odd files on the command line: each is refused in one sentence, and nothing is left behind."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .conftest import call

#: Other files: NYSTROM_FUZZ_SEED=1.
SEED = int(os.environ.get("NYSTROM_FUZZ_SEED", "20"))

WORDS = [line.split() for line in """
list extra more
list ../x
run bigaussian -p
run bigaussian -p n=nan
run bigaussian --jobs 0
run your_data -p file=
run bigaussian --out bad.npy
verify --results empty
optimise nope.csv -n 3
optimise bad.npy -n 3
optimise bad.csv.xz -n 3
optimise bad.parquet -n 3
optimise empty.csv -n 3
optimise one.csv -n 3
optimise fine.csv -n 0
optimise pipe.csv -n 2
optimise fine.csv -n 2 --columns ,
optimise fine.csv -n 2 --dask 3
optimise ~nosuchuser/a.csv -n 2
optimise twice.parquet -n 2
reproduce paper nothing
reproduce
""".strip().splitlines()]  # fmt: skip
WORDS += [["run", "bigaussian", "-p", text] for text in ("n=\x01", "n=10" + "0" * 5000, "=", "n=\u202e")]
WORDS += [["", ""]]


@pytest.fixture(scope="module")
def odd_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files that are not what their names say."""
    folder = tmp_path_factory.mktemp("odd")
    rng = random.Random(SEED)
    for name in ("bad.npy", "bad.csv.xz", "bad.parquet"):
        (folder / name).write_bytes(rng.randbytes(500))
    (folder / "empty.csv").write_text("")
    (folder / "one.csv").write_text("a,b\n1,2\n")
    (folder / "fine.csv").write_text("a,b\n" + "\n".join(f"{i},{i * i % 7}" for i in range(12)) + "\n")
    pq.write_table(pa.table([[1.0, 2.0, 3.0]] * 2, names=["a", "a"]), folder / "twice.parquet")
    (folder / "empty").mkdir()
    os.mkfifo(folder / "pipe.csv")
    return folder


def test_odd_words_are_refused_in_one_sentence_and_leave_nothing(odd_files: Path) -> None:
    """Catches a traceback, an exit code of success, and files left behind."""
    before = {path: path.stat().st_size for path in odd_files.rglob("*")}
    wrong = []
    for words in WORDS:
        done = call(*words, cwd=odd_files)
        said = done.stderr.strip().splitlines() or [""]
        if not isinstance(done.exception, SystemExit) or done.exit_code not in (1, 2) or len(said[-1]) < 10:
            wrong.append(f"{' '.join(words)[:80]!r}: exit code {done.exit_code}, {said[-1][:200]}")
    assert not wrong, "\n".join(wrong)
    assert {path: path.stat().st_size for path in odd_files.rglob("*")} == before
