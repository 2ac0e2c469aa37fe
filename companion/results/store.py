"""The live store of a run: one SQLite file, to which every finished repetition is committed at once.

What it promises, and by what means:

* a process killed at any moment leaves a store that opens: a repetition is one transaction;
* several processes may work on one run: a repetition is inserted once, and a second copy of it is dropped;
* nothing is lost by a full disk: the transaction fails as a whole, and the error says so;
* damage is noticed: SQLite's own check, a checksum for each row, and a store is only ever created complete (under
  another name, then linked into place), so that an empty file cannot be taken for a new run;
* reading it executes nothing: numbers, texts and float64 bytes.

SQLite's rollback journal is used rather than its write-ahead log, although the log is a little quicker: with it,
what was committed last lies in a second file, and a damaged or forgotten second file loses those rows *without a
word*. With the rollback journal whatever was committed is in the one file that is checked.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..errors import DamagedStoreError, StoreError, UnwritableStoreError
from ..experiments.config import Experiment
from ..experiments.outcome import Outcome
from ..settings import canonical_json

logger = logging.getLogger(__name__)

APPLICATION = 0x4E797374  # "Nyst", in the file's header
VERSION = 1
BUSY_SECONDS = 60.0
ABANDONED_SECONDS = 3600.0

_SCHEMA = """
CREATE TABLE description (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (session INTEGER PRIMARY KEY, provenance TEXT NOT NULL, checksum TEXT NOT NULL,
    seconds REAL NOT NULL DEFAULT 0);
CREATE TABLE repetitions (repetition INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions,
    checksum TEXT NOT NULL);
CREATE TABLE numbers (repetition INTEGER NOT NULL REFERENCES repetitions, name TEXT NOT NULL, value REAL NOT NULL,
    PRIMARY KEY (repetition, name)) WITHOUT ROWID;
CREATE TABLE arrays (repetition INTEGER NOT NULL REFERENCES repetitions, name TEXT NOT NULL, shape TEXT NOT NULL,
    content BLOB NOT NULL, PRIMARY KEY (repetition, name)) WITHOUT ROWID;
"""

_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH}
_NO_ROOM = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_NO_ACCESS = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}


def store_path(folder: str | Path, experiment: Experiment, data_sha256: str) -> Path:
    """Where repetitions of ``experiment`` on these data are kept; m plays no part, so a run can be extended."""
    return Path(folder) / f"{experiment.data.kind}-{experiment.series[:16]}-{data_sha256[:8]}.sqlite"


class Store:
    """The finished repetitions of one run.

    Parameters
    ----------
    folder : path
        Where stores are kept; made if need be.
    experiment : Experiment
        Whose repetitions.
    data_sha256 : str
        The hash of the data they are computed from; other data have another store.
    """

    def __init__(self, folder: str | Path, experiment: Experiment, data_sha256: str) -> None:
        self.path = store_path(folder, experiment, data_sha256)
        self.session: int | None = None
        self._began = time.monotonic()
        plain = canonical_json(experiment.to_plain())
        description = {"series": experiment.series, "experiment": plain, "data_sha256": data_sha256}
        with _named_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self.path.exists():
                _create(self.path, description)
            if self.path.stat().st_size == 0:
                raise DamagedStoreError(f"The store {self.path} is empty; {_LEFT_ALONE}")
            self._connection = _connect(self.path)
        try:
            with _named_errors(self.path):
                self.check()
                self._match(description)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # -- what the run is ---------------------------------------------------------------------------------------

    def check(self) -> None:
        """Read everything and compare it with its checksums; raise DamagedStoreError at the first difference."""
        with _named_errors(self.path):
            (application,) = self._one("PRAGMA application_id")
            (version,) = self._one("PRAGMA user_version")
            if application != APPLICATION:
                raise DamagedStoreError(f"The file {self.path} is not a store of repetitions; {_LEFT_ALONE}")
            if version != VERSION:
                raise StoreError(f"The store {self.path} has format {version}; this version reads format {VERSION}.")
            (verdict,) = self._one("PRAGMA integrity_check(1)")
            if verdict != "ok":
                raise DamagedStoreError(f"The store {self.path} is damaged ({_in_a_line(verdict)}); {_LEFT_ALONE}")
            for name, value, checksum in self._all("SELECT name, value, checksum FROM description"):
                self._compare(checksum, _text_checksum(value), f"its {name}")
            for session, text, checksum in self._all("SELECT session, provenance, checksum FROM sessions"):
                self._compare(checksum, _text_checksum(text), f"session {session}")
            self.outcomes()

    def _match(self, description: Mapping[str, str]) -> None:
        stored = {name: value for name, value in self._all("SELECT name, value FROM description")}
        if any(stored.get(name) != description[name] for name in ("series", "data_sha256")):
            raise StoreError(f"The store {self.path} belongs to another experiment or to other data; was it renamed?")

    def constants(self) -> dict[str, float] | None:
        """What all repetitions share (‖K‖_F², best rank-n errors), once somebody has computed it."""
        with _named_errors(self.path):
            row = self._one("SELECT value FROM description WHERE name = 'constants'")
        return None if row is None else {name: float(value) for name, value in json.loads(row[0]).items()}

    def keep_constants(self, constants: Mapping[str, float]) -> dict[str, float]:
        """Store them, unless another process was quicker; give what is stored."""
        with self._transaction():
            _describe(self._connection, "constants", canonical_json(dict(constants)))
        stored = self.constants()
        assert stored is not None
        return stored

    def begin_session(self, provenance: Mapping[str, Any]) -> int:
        """Note who computes from now on; give the session's number, from 1."""
        text = canonical_json(dict(provenance))
        with self._transaction():
            cursor = self._connection.execute(
                "INSERT INTO sessions (provenance, checksum) VALUES (?, ?)", (text, _text_checksum(text))
            )
        assert cursor.lastrowid is not None
        self.session, self._began = cursor.lastrowid, time.monotonic()
        return self.session

    def sessions(self) -> list[dict[str, Any]]:
        """The provenance of each session that stored something, with its share of the work."""
        query = """SELECT provenance, seconds, (SELECT count(*) FROM repetitions AS r WHERE r.session = s.session)
                   FROM sessions AS s ORDER BY s.session"""
        with _named_errors(self.path):
            rows = self._all(query)
        return [
            {**json.loads(text), "repetitions": count, "wall_seconds": seconds}
            for text, seconds, count in rows
            if count
        ]

    # -- repetitions -------------------------------------------------------------------------------------------

    def finished(self) -> set[int]:
        """The repetitions that need not be done again."""
        with _named_errors(self.path):
            return {repetition for (repetition,) in self._all("SELECT repetition FROM repetitions")}

    def add(self, repetition: int, outcome: Outcome) -> bool:
        """Commit one repetition; False if it was there already."""
        assert self.session is not None, "begin_session comes first"
        with self._transaction():
            new = self._connection.execute(
                "INSERT OR IGNORE INTO repetitions VALUES (?, ?, ?)", (repetition, self.session, outcome.checksum())
            ).rowcount
            if new:
                self._insert(repetition, outcome)
        if not new:
            self._same(repetition, outcome)
        return bool(new)

    def _insert(self, repetition: int, outcome: Outcome) -> None:
        self._connection.executemany(
            "INSERT INTO numbers VALUES (?, ?, ?)",
            ((repetition, name, value) for name, value in outcome.numbers.items()),
        )
        self._connection.executemany(
            "INSERT INTO arrays VALUES (?, ?, ?, ?)",
            (
                (repetition, name, ",".join(map(str, array.shape)), array.tobytes())
                for name, array in outcome.arrays.items()
            ),
        )
        self._connection.execute(
            "UPDATE sessions SET seconds = ? WHERE session = ?", (time.monotonic() - self._began, self.session)
        )

    def _same(self, repetition: int, outcome: Outcome) -> None:
        stored = self.outcomes(repetition)[repetition]
        if stored.checksum(timings=False) != outcome.checksum(timings=False):
            logger.warning(
                "Repetition %d was computed by two processes with different results; the first is kept.", repetition
            )

    def outcomes(self, repetition: int | None = None) -> dict[int, Outcome]:
        """Every finished repetition (or one of them), each checked against its checksum."""
        where = "" if repetition is None else f" WHERE repetition = {int(repetition)}"
        with _named_errors(self.path), self._transaction("DEFERRED"):  # one transaction: the tables fit together
            checksums = dict(self._all(f"SELECT repetition, checksum FROM repetitions{where}"))
            numbers: dict[int, dict[str, float]] = {j: {} for j in checksums}
            arrays: dict[int, dict[str, Any]] = {j: {} for j in checksums}
            for j, name, value in self._all(f"SELECT repetition, name, value FROM numbers{where}"):
                numbers.setdefault(j, {})[name] = value
            for j, name, shape, content in self._all(f"SELECT repetition, name, shape, content FROM arrays{where}"):
                arrays.setdefault(j, {})[name] = self._array(j, name, shape, content)
        if numbers.keys() != checksums.keys() or arrays.keys() != checksums.keys():
            raise DamagedStoreError(f"The store {self.path} has rows that belong to no repetition; {_LEFT_ALONE}")
        outcomes = {j: Outcome(numbers[j], arrays[j]) for j in sorted(checksums)}
        for j, outcome in outcomes.items():
            self._compare(checksums[j], outcome.checksum(), f"repetition {j}")
        return outcomes

    def _array(self, repetition: int, name: str, shape: str, content: bytes) -> Any:
        try:
            return np.frombuffer(content, dtype="<f8").reshape([int(size) for size in shape.split(",")])
        except (ValueError, TypeError, AttributeError):
            what = f"{_in_a_line(name)} of repetition {repetition} is incomplete"
            raise DamagedStoreError(f"The store {self.path} is damaged ({what}); {_LEFT_ALONE}") from None

    def _compare(self, stored: str, computed: str, what: str) -> None:
        if stored != computed:
            what = f"{_in_a_line(what)} fails its checksum"
            raise DamagedStoreError(f"The store {self.path} is damaged ({what}); {_LEFT_ALONE}")

    # -- SQLite ------------------------------------------------------------------------------------------------

    def _all(self, query: str) -> list[Any]:
        return self._connection.execute(query).fetchall()

    def _one(self, query: str) -> Any:
        return self._connection.execute(query).fetchone()

    @contextmanager
    def _transaction(self, kind: str = "IMMEDIATE") -> Iterator[None]:
        with _named_errors(self.path), _transaction(self._connection, kind):
            yield


_LEFT_ALONE = "it is left as it is. Move it away to compute everything anew, or restore a copy."


def _text_checksum(text: Any) -> str:
    return hashlib.sha256(str(text).encode("utf-8", "replace")).hexdigest()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = EXTRA")  # on the disk, the folder's entry too, before we go on
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def _describe(connection: sqlite3.Connection, name: str, value: str) -> None:
    connection.execute("INSERT OR IGNORE INTO description VALUES (?, ?, ?)", (name, value, _text_checksum(value)))


def _create(path: Path, description: Mapping[str, str]) -> None:
    """Make a complete store under another name, then link it into place: first come, first served."""
    _sweep(path)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.draft")
    try:
        connection = _connect(draft)
        try:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            with _transaction(connection, "IMMEDIATE"):
                for statement in _SCHEMA.strip().rstrip(";").split(";"):
                    connection.execute(statement)
                for name, value in description.items():
                    _describe(connection, name, value)
        finally:
            connection.close()
        with suppress(FileExistsError):
            os.link(draft, path)
        _flush_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove drafts that a killed process left behind."""
    for draft in path.parent.glob(f".{path.name}.*"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > ABANDONED_SECONDS:
                draft.unlink()


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system report into a sentence."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise  # a mistake of ours, not of the file
    except (sqlite3.Error, OSError) as error:
        raise _named(error, path) from error
    except (ValueError, TypeError, OverflowError) as error:  # what should be text is not, or a number no number
        raise DamagedStoreError(f"The store {path} is damaged ({_in_a_line(error)}); {_LEFT_ALONE}") from error


def _in_a_line(what: object) -> str:
    """SQLite reports in many lines, and quotes what it cannot read."""
    return " ".join(str(what).split())


def _named(error: Exception, path: Path) -> StoreError:
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return UnwritableStoreError(f"The store {path} cannot be written ({reason}); {_SAFE}")
    why = _in_a_line(error)
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _NO_ROOM:
        return UnwritableStoreError(f"The disk that holds {path} takes no more ({why}); {_SAFE}")
    if code in _NO_ACCESS:
        return UnwritableStoreError(f"The store {path} cannot be written ({why}); {_SAFE}")
    if code in _DAMAGE:
        return DamagedStoreError(f"The store {path} is damaged ({why}); {_LEFT_ALONE}")
    return StoreError(f"The store {path} cannot be used ({why}); {_SAFE}")


_SAFE = "repetitions already stored are safe, and the same call goes on from there."
