"""The store: atomic, shared, checked; never a silent loss."""

import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.errors import DamagedStoreError, StoreError, UnwritableStoreError
from companion.experiments.outcome import Outcome
from companion.results.store import Store, store_path
from tests.disks import disk

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


@settings(max_examples=30)
@given(st.dictionaries(st.text("abcR.", min_size=1), st.floats(), max_size=4))
def test_any_numbers_survive(tmp_path_factory: pytest.TempPathFactory, numbers: dict[str, float]) -> None:
    with Store(tmp_path_factory.mktemp("any"), EXPERIMENT, SHA) as store:
        store.begin_session({})
        store.add(0, Outcome(numbers))
        assert store.outcomes()[0].checksum() == Outcome(numbers).checksum()


def test_a_repetition_is_stored_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Store(tmp_path, EXPERIMENT, SHA) as store:
        store.begin_session({})
        assert store.add(3, made_up(3))
        slower = Outcome({**made_up(3).numbers, "seconds.optimised": 9.0})
        assert not store.add(3, slower)
        assert not caplog.records, "another time is no disagreement"
        assert not store.add(3, made_up(4))
        assert "different results" in caplog.text
        assert store.outcomes()[3].checksum() == made_up(3).checksum()


def test_the_name_of_the_file(tmp_path: Path) -> None:
    """m plays no part, everything else does."""
    base = store_path(tmp_path, EXPERIMENT, SHA)
    assert store_path(tmp_path, EXPERIMENT.replace(m=7), SHA) == base
    assert store_path(tmp_path, EXPERIMENT.replace(n=7), SHA) != base
    assert store_path(tmp_path, EXPERIMENT, "cd" * 32) != base
    filled(tmp_path)
    other = store_path(tmp_path, EXPERIMENT.replace(n=7), SHA)
    shutil.copy(base, other)
    with pytest.raises(StoreError, match="belongs to another experiment or to other data"):
        Store(tmp_path, EXPERIMENT.replace(n=7), SHA)


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


def test_a_file_that_is_something_else_is_named(tmp_path: Path) -> None:
    path = store_path(tmp_path, EXPERIMENT, SHA)
    path.write_text("a poem\n" * 1000)
    with pytest.raises(DamagedStoreError, match="left as it is"):
        open_again(tmp_path)
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(DamagedStoreError, match="not a store of repetitions"):
        open_again(tmp_path)


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
        ("DELETE FROM numbers WHERE repetition = 7 AND name = 'R.initial'", "repetition 7"),
        ("DELETE FROM repetitions WHERE repetition = 7", "rows that belong to no repetition"),
        ("UPDATE arrays SET content = zeroblob(96) WHERE repetition = 1", "repetition 1 fails"),
        ("UPDATE arrays SET content = zeroblob(95) WHERE repetition = 1", "path of repetition 1 is incomplete"),
        ("UPDATE sessions SET provenance = '{}'", "session 1"),
        ("UPDATE description SET value = '{}' WHERE name = 'constants'", "its constants"),
        ("DROP TABLE arrays", "no such table"),
        ("UPDATE description SET value = CAST(x'ff' AS TEXT) WHERE name = 'constants'", "is damaged"),
        ("UPDATE sessions SET provenance = x'fe'", "is damaged"),
        ("UPDATE arrays SET name = x'ff' WHERE repetition = 1", "is damaged"),
        ("UPDATE arrays SET shape = 'x' WHERE repetition = 1", "is damaged"),
        ("UPDATE arrays SET shape = '[99999999999999999999]' WHERE repetition = 1", "is damaged"),
    ],
)
def test_a_changed_row_is_named(tmp_path: Path, statement: str, named: str) -> None:
    sql(filled(tmp_path), statement)
    with pytest.raises(DamagedStoreError, match=named):
        open_again(tmp_path)


@pytest.mark.parametrize("letters", [b"CREATE TABLE arrays", b"tablearraysarrays"])
def test_a_description_of_tables_that_is_no_text_is_named(tmp_path: Path, letters: bytes) -> None:
    """Catches a UnicodeDecodeError: SQLite quotes what it cannot read, and Python cannot read the quotation."""
    path = filled(tmp_path)
    good = path.read_bytes()
    assert good.count(letters) == 1
    path.write_bytes(good.replace(letters, letters[:-6] + b"\xff" * 6))
    with pytest.raises(DamagedStoreError, match="is damaged"):
        open_again(tmp_path)


def test_a_store_of_a_later_version_is_refused(tmp_path: Path) -> None:
    sql(filled(tmp_path), "PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="has format 99"):
        open_again(tmp_path)


def test_a_draft_left_by_a_killed_process_goes_after_a_while(tmp_path: Path) -> None:
    name = store_path(tmp_path, EXPERIMENT, SHA).name
    old, young = tmp_path / f".{name}.1.draft", tmp_path / f".{name}.2.draft"
    for draft in (old, young):
        draft.write_bytes(b"half a store")
    os.utime(old, (0, 0))
    filled(tmp_path)
    assert not old.exists() and young.exists()
    assert len(open_again(tmp_path)) == 20


# -- room and permission ---------------------------------------------------------------------------------------


def fill(folder: Path, largest_file: int | None = None) -> tuple[str, str, int]:
    """Add repetitions in another process until it stops; give the error's name, its text and what is stored."""
    receiver, sender = small.context.Pipe(duplex=False)
    process = small.start(small.write_until_it_fails, folder, largest_file, sender)
    sender.close()
    name, text, count = receiver.recv()
    process.join()
    return name, text, count


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 300 kB, where this user may mount it; another test limits the size of a file instead."""
    with disk(tmp_path / "disk", "size=300k") as mounted:
        yield mounted


def test_a_full_disk_is_an_error_and_loses_nothing(small_disk: Path) -> None:
    name, text, count = fill(small_disk)
    assert name == "UnwritableStoreError"
    assert "takes no more (database or disk is full); repetitions already stored are safe" in text
    assert count > 10
    # Still full: the same error, and still nothing lost.
    assert fill(small_disk) == (name, text, count)
    subprocess.run(["mount", "-o", "remount,size=600k", str(small_disk)], check=True)
    name, text, more = fill(small_disk)
    assert name == "UnwritableStoreError" and more > count + 10


def test_a_disk_that_is_full_from_the_start(small_disk: Path) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(bytes(290_000))
    name, text, count = fill(small_disk)
    assert (name, count) == ("UnwritableStoreError", 0)
    assert "database or disk is full" in text
    # Not even half a store is left behind, and with room the run begins.
    assert [file.name for file in small_disk.iterdir()] == ["filler"]
    filler.unlink()
    assert fill(small_disk)[2] > 10


def test_a_file_that_may_not_grow_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    name, text, count = fill(tmp_path, 200_000)
    assert name == "UnwritableStoreError" and "repetitions already stored are safe" in text
    assert count > 10
    assert len(open_again(tmp_path)) == count


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UnwritableStoreError, match="cannot be written"):
        Store(tmp_path / "file" / "runs", EXPERIMENT, SHA)


@pytest.mark.skipif(os.getuid() == 0 and shutil.which("mount") is None, reason="root may write anywhere")
@pytest.mark.parametrize("there", [True, False])
def test_a_folder_without_permission(tmp_path: Path, there: bool) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    if there:
        filled(folder)
    before = sorted(file.name for file in folder.iterdir())
    if os.getuid() == 0:  # permissions do not bind root, a read-only mount does
        subprocess.run(["mount", "--bind", "-o", "ro", str(folder), str(folder)], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
    else:
        folder.chmod(0o500)
    try:
        with pytest.raises(UnwritableStoreError, match="cannot be written"), Store(folder, EXPERIMENT, SHA) as store:
            store.begin_session({})
        assert sorted(file.name for file in folder.iterdir()) == before
    finally:
        if os.getuid() == 0:
            subprocess.run(["umount", str(folder)], check=True)
        else:
            folder.chmod(0o700)
    assert len(open_again(folder)) == (20 if there else 0)


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
    """Twenty times: what a process said it had stored is stored, and the store opens."""
    rng = np.random.default_rng(5)
    said: set[int] = set()
    for _ in range(20):
        receiver, sender = small.context.Pipe(duplex=False)
        process = small.start(small.write_for_ever, tmp_path, sender)
        sender.close()
        assert small.kill_after(process, rng.uniform(0.0, 0.3))
        with suppress(EOFError):
            while True:
                said.add(receiver.recv())
        receiver.close()
        found = open_again(tmp_path)
        assert said <= set(found)
        assert len(set(found) - said) <= 1, "at most one was stored and not yet reported"
        said = set(found)
        assert all(found[j].checksum() == made_up(j, path=True).checksum() for j in found)
    assert len(said) > 20
