"""The store: atomic, shared, checked; never a silent loss."""

import os
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from companion.errors import DamagedStoreError, StoreError, UnwritableStoreError
from companion.experiments.outcome import Outcome
from companion.results.store import Store

from . import small
from .small import EXPERIMENT, SHA, made_up


def filled(folder: Path, count: int = 20) -> Path:
    with Store(folder, EXPERIMENT, SHA) as store:
        store.begin_session({"where": "test"})
        store.keep_constants({"squared_norm": 0.1})
        for j in range(count):
            store.add(j, made_up(j, path=j < 2))
    return store.path


def test_what_goes_in_comes_out_to_the_last_bit(tmp_path: Path) -> None:
    filled(tmp_path)
    with Store(tmp_path, EXPERIMENT, SHA) as store:
        assert store.finished() == set(range(20))
        assert store.constants() == {"squared_norm": 0.1}
        for j, found in store.outcomes().items():
            assert found.checksum() == made_up(j, path=j < 2).checksum()
        (session,) = store.sessions()
        assert session["repetitions"] == 20 and session["wall_seconds"] > 0 and session["where"] == "test"


# -- damage ----------------------------------------------------------------------------------------------------


def open_again(folder: Path) -> dict[int, Outcome]:
    with Store(folder, EXPERIMENT, SHA) as store:
        return store.outcomes()


@pytest.mark.parametrize("size", [0, 1, 99, 100, 4096, 5000, -4096, -1])
def test_a_truncated_store_is_named_and_left_alone(tmp_path: Path, size: int) -> None:
    path = filled(tmp_path)
    os.truncate(path, size if size >= 0 else path.stat().st_size + size)
    before = path.read_bytes()
    with pytest.raises(DamagedStoreError, match=str(path)):
        open_again(tmp_path)
    assert path.read_bytes() == before


def test_every_flipped_byte_is_noticed_or_without_effect(tmp_path: Path) -> None:
    """400 places over the whole file: never a wrong number, never a repetition fewer."""
    path = filled(tmp_path)
    good = path.read_bytes()
    expected = {j: found.checksum() for j, found in open_again(tmp_path).items()}
    noticed = 0
    for place in np.random.default_rng(0).integers(0, len(good), 400).tolist():
        path.write_bytes(good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :])
        try:
            assert {j: found.checksum() for j, found in open_again(tmp_path).items()} == expected, place
        except StoreError as error:
            assert "\n" not in str(error), "SQLite's report has many lines"
            noticed += 1
    # A byte of unused room is nobody's loss; the rest must be seen.
    assert noticed > 60


def sql(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE numbers SET value = value * 1.0000000000000003 WHERE repetition = 7", "repetition 7"),
        ("DELETE FROM repetitions WHERE repetition = 7", "rows that belong to no repetition"),
        ("UPDATE arrays SET content = zeroblob(95) WHERE repetition = 1", "path of repetition 1 is incomplete"),
        ("UPDATE description SET value = '{}' WHERE name = 'constants'", "its constants"),
        ("UPDATE description SET value = CAST(x'ff' AS TEXT) WHERE name = 'constants'", "is damaged"),
        ("UPDATE arrays SET name = x'ff' WHERE repetition = 1", "is damaged"),
        ("UPDATE arrays SET shape = '[99999999999999999999]' WHERE repetition = 1", "is damaged"),
    ],
)
def test_a_changed_row_is_named(tmp_path: Path, statement: str, named: str) -> None:
    sql(filled(tmp_path), statement)
    with pytest.raises(DamagedStoreError, match=named):
        open_again(tmp_path)


# -- room and permission ---------------------------------------------------------------------------------------


def fill(folder: Path, largest_file: int | None = None) -> tuple[str, str, int]:
    """Add repetitions in another process until it stops; give the error's name, its text and what is stored."""
    receiver, sender = small.context.Pipe(duplex=False)
    process = small.start(small.write_until_it_fails, folder, largest_file, sender)
    sender.close()
    name, text, count = receiver.recv()
    process.join()
    return name, text, count


def test_a_file_that_may_not_grow_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    name, text, count = fill(tmp_path, 200_000)
    assert name == "UnwritableStoreError" and "repetitions already stored are safe" in text
    assert count > 10
    assert len(open_again(tmp_path)) == count


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UnwritableStoreError, match="cannot be written"):
        Store(tmp_path / "file" / "runs", EXPERIMENT, SHA)


# -- many at once ----------------------------------------------------------------------------------------------


def test_many_writers_at_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Four threads, each with its own connection, all add everything."""
    failures: list[BaseException] = []

    def work() -> None:
        try:
            with Store(tmp_path, EXPERIMENT, SHA) as store:
                store.begin_session({})
                store.keep_constants({"squared_norm": 0.1})
                for j in range(25):
                    store.add(j, made_up(j))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert not caplog.records
    assert {j: found.checksum() for j, found in open_again(tmp_path).items()} == {
        j: made_up(j).checksum() for j in range(25)
    }
    with Store(tmp_path, EXPERIMENT, SHA) as store:
        assert sum(session["repetitions"] for session in store.sessions()) == 25


# -- killed in the middle of writing ---------------------------------------------------------------------------


def test_sigkill_while_writing(tmp_path: Path) -> None:
    """What a process said it had stored is stored, and the store opens."""
    said: set[int] = set()
    for _ in range(3):
        receiver, sender = small.context.Pipe(duplex=False)
        process = small.start(small.write_for_ever, tmp_path, sender)
        sender.close()
        said |= {receiver.recv() for _ in range(7)}
        process.kill()
        process.join()
        with suppress(EOFError):
            while True:
                said.add(receiver.recv())
        receiver.close()
        found = open_again(tmp_path)
        assert said <= set(found)
        assert len(set(found) - said) <= 1, "at most one was stored and not yet reported"
        said = set(found)
        assert all(found[j].checksum() == made_up(j, path=True).checksum() for j in found)
