"""The SQLite file of finished runs, with a digest of each record that shows damage."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, final

import msgspec

from farfield.core.internal import excerpt, printable
from farfield.records._files import StoreError, lost_link
from farfield.records._record import Record

RUN: Final = ("experiment", "steps", "seconds", "environment", "weights")
"""Fields of a record in the table of runs, beside key, seed and digest."""

SCORE: Final = ("step", "regime", "metric", "value", "count")
"""Fields of a score in the table of scores, beside key and seed."""


def check_record(record: Record) -> Record:
    """Convert a record's numbers to Python's types, and check that it can be read again.

    Args:
        record: The record; numbers of NumPy and torch are taken.

    Raises:
        ValueError: If a field is of another type, or a database does not keep its value.
    """
    if not isinstance(record, Record):
        raise ValueError(f"record must be a Record, got {excerpt(repr(record))}")
    try:
        taken = msgspec.convert(msgspec.to_builtins(record, enc_hook=_plain), Record)
        _check_kept(taken)
        run, scores = rows_of(taken)
        digest = digest_of(taken.key, taken.seed, run, scores)
        record_of(taken.key, taken.seed, run, scores, digest)
    except (msgspec.MsgspecError, TypeError, ValueError, AttributeError, RecursionError) as error:
        named = f"of experiment {excerpt(record.key)}, seed {excerpt(record.seed)},"
        raise ValueError(
            f"record {named} must be one that can be read: {excerpt(error)}"
        ) from error
    return taken


def _plain(value: Any) -> Any:
    """Convert a number of NumPy or torch, or a kind of text, to Python's."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    if getattr(value, "ndim", None) == 0 and callable(item := getattr(value, "item", None)):
        return item()
    raise TypeError(f"it must hold plain numbers and text, got {excerpt(repr(value))}")


def _check_kept(record: Record) -> None:
    """Raise `ValueError` for a value that a row or the name of a file cannot hold."""
    if record.key in ("", ".", "..") or not re.fullmatch(r"[^/\\\0]*", record.key):
        raise ValueError(f"key must be the name of a folder, got {record.key!r}")
    if math.isnan(record.seconds):
        raise ValueError("seconds must be a number, got nan")
    numbers = [record.seed, record.steps]
    texts = [record.key, record.weights]
    for score in record.scores:
        numbers += [score.step, score.count]
        texts += [score.regime, score.metric]
    for number in numbers:
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"seeds, steps and counts must be of 64 bits, got {number}")
    for text in texts:
        text.encode()


def rows_of(record: Record) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Make the row of a run and the rows of its scores, without key and seed.

    Args:
        record: The run's record.
    """
    environment = {name: printable(text) for name, text in record.environment.items()}
    run = (
        json.dumps(record.experiment, sort_keys=True),
        record.steps,
        _stored(record.seconds),
        json.dumps(environment, sort_keys=True),
        record.weights,
    )
    scores = {
        (s.step, s.regime, s.metric): (_stored(s.value), s.count) for s in reversed(record.scores)
    }
    return run, [(*cell, *numbers) for cell, numbers in scores.items()]


def _stored(number: float) -> float | str:
    """Convert a number as SQLite does: nan becomes NULL, and zero loses its sign."""
    return "nan" if math.isnan(number) else float(number) + 0.0


def digest_of(key: str, seed: Any, run: Sequence[Any], scores: Iterable[Sequence[Any]]) -> str:
    """Compute SHA-256 of a run's rows, in hexadecimal digits.

    Args:
        key: `Experiment.key`.
        run: The values of `RUN`.
        scores: Those of `SCORE`, one sequence each, in any order.

    Raises:
        TypeError: If there are values that no run can leave.
        ValueError: Likewise.
    """
    experiment, steps, seconds, *others = run
    content = [
        [key, seed, experiment, steps, float(seconds), *others],
        sorted([*cell, float(value), count] for *cell, value, count in scores),
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def record_of(
    key: str, seed: Any, run: Sequence[Any], scores: Sequence[Sequence[Any]], digest: str | None
) -> Record:
    """Make the record that rows hold.

    Args:
        key: `Experiment.key`.
        run: The values of `RUN`.
        scores: Those of `SCORE`, one sequence each.
        digest: Digest of the rows when they were written; `None` if there was none.

    Raises:
        ValueError: If the rows differ from the written rows, or hold no record.
    """
    try:
        if not scores:
            raise ValueError("a run without scores")
        if digest is not None and digest != digest_of(key, seed, run, scores):
            raise ValueError("its numbers are not as written")
        described = dict(zip(RUN, run, strict=True))
        environment = json.loads(described["environment"])
        described["environment"] = {name: printable(text) for name, text in environment.items()}
        described["experiment"] = json.loads(described["experiment"])
        named = [dict(zip(SCORE, score, strict=True)) for score in scores]
        described["scores"] = [score | {"value": float(score["value"])} for score in named]
        return msgspec.convert({"key": key, "seed": seed, **described}, Record)
    except (msgspec.MsgspecError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from error


FORMAT: Final = 3
"""Version of the tables: 2 has a digest for each run and one of its network's file, 3 the stamp of
that file."""

PATIENCE: Final = 60.0
"""Seconds to wait for another process that writes."""

_TABLES: Final = (
    """
CREATE TABLE IF NOT EXISTS runs (
    key TEXT NOT NULL, seed INTEGER NOT NULL, experiment TEXT NOT NULL, steps INTEGER NOT NULL,
    seconds REAL NOT NULL, environment TEXT NOT NULL, weights TEXT NOT NULL DEFAULT '',
    digest TEXT NOT NULL DEFAULT '', stamp TEXT NOT NULL DEFAULT '', PRIMARY KEY (key, seed))
""",
    """
CREATE TABLE IF NOT EXISTS scores (
    key TEXT NOT NULL, seed INTEGER NOT NULL, step INTEGER NOT NULL, regime TEXT NOT NULL,
    metric TEXT NOT NULL, value REAL NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (key, seed, step, regime, metric))
""",
)

_ALL_RUNS: Final = """
SELECT rowid, key, seed, experiment, steps, seconds, environment, weights FROM runs
"""
_RUNS: Final = """
SELECT seed, experiment, steps, seconds, environment, {weights}, {digest}, {stamp}
FROM runs WHERE key = ? {within} ORDER BY seed
"""
_SCORES: Final = """
SELECT seed, step, regime, metric, value, count
FROM scores WHERE key = ? {within} ORDER BY seed, step, regime, metric
"""
_WITHIN: Final = "AND seed BETWEEN ? AND ?"
_ADDED: Final = {"weights": "''", "digest": "NULL", "stamp": "''"}
"""Columns that old databases lack, and their values there."""

_SEEDS: Final = """
SELECT seed FROM runs WHERE key = ? {within} UNION SELECT seed FROM scores WHERE key = ? {within}
"""
_KEYS: Final = """
WITH RECURSIVE found(key) AS (
    SELECT min(key) FROM {table} WHERE key >= :low AND key < :high
    UNION
    SELECT (SELECT min(key) FROM {table} WHERE key > found.key AND key < :high)
    FROM found WHERE key IS NOT NULL)
SELECT key FROM found WHERE key IS NOT NULL
"""
"""Jumps from key to key through an index: `DISTINCT` would go through every row. `UNION` ends it
even where a damaged index leads back."""

_UNWRITABLE: Final = {
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY,
}  # fmt: skip
"""Messages of SQLite where it cannot make its auxiliary files."""

_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_NOTADB}
"""Messages of SQLite about a damaged file."""


class Found(NamedTuple):
    """Runs of an experiment as they were read.

    Attributes:
        records: By seed.
        damaged: Errors of those that cannot be read, by seed.
        stamps: `stamp_of` the network's file when it was written, by seed; empty if nobody asked
            then.
    """

    records: dict[int, Record]
    damaged: dict[Any, str]
    stamps: dict[int, str]


@final
class Database:
    """Finished runs in one file, each written in one transaction.

    Args:
        path: The file; made if it does not exist.

    Raises:
        StoreError: If it cannot be made, or is not one of Farfield's.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._connect(_modes(path, create=True)) as connection:
            found = _format(connection)
            if found not in range(FORMAT + 1):
                raise StoreError(f"{path} has format {found}, this version reads {FORMAT}")
            if found == 0:
                self._check_ours(connection)
                _write_ahead(connection)
                connection.execute("BEGIN IMMEDIATE")
                for table in _TABLES:
                    connection.execute(table)
                _upgrade(connection)

    def _check_ours(self, connection: sqlite3.Connection) -> None:
        """Raise `StoreError` if the database has tables of another program."""
        columns = connection.execute(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
            "WHERE m.type = 'table'"
        )
        ours = set(re.findall(r"(\w+) (?:TEXT|INTEGER|REAL)", "".join(_TABLES)))
        for table, column in columns:
            if column not in ours:
                raise StoreError(
                    f"{self.path} must be a database of Farfield's, got one with a column "
                    f"{column} in a table {table}"
                )

    @contextlib.contextmanager
    def _connect(self, modes: Sequence[tuple[str, str]]) -> Iterator[sqlite3.Connection]:
        """Context manager: a connection for one transaction, which an error rolls back."""
        try:
            connection = _open(self.path, modes)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()
        except (sqlite3.Error, OSError, UnicodeError) as error:
            state = "" if self.path.exists() else " (the file has vanished)"
            if _is_read_only(self.path.parent):
                state = " (the folder is read-only)"
            if lost := lost_link(self.path):
                raise StoreError(f"cannot use {lost}") from error
            said = f"{_reason(error)}{_advice(error)}"
            raise StoreError(f"cannot use {self.path}{state}: {said}") from error

    def read(self, key: str, seeds: range | None = None) -> Found:
        """Read the runs of an experiment.

        Args:
            key: `Experiment.key`.
            seeds: Numbers of the runs to look at, one after the other; all of them if `None`.
        """
        with self._connect(_modes(self.path)) as connection:
            connection.execute("BEGIN")  # the runs and their scores as of one moment
            return _read(connection, key, seeds)

    def read_each(self, runs: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int, Found]]:
        """Read single runs as of one moment, through one connection.

        Args:
            runs: Key and seed of each.
        """
        with self._connect(_modes(self.path)) as connection:
            connection.execute("BEGIN")
            for key, seed in runs:
                yield key, seed, _read(connection, key, range(seed, seed + 1))

    def seeds(self, key: str, seeds: range | None = None) -> set[int]:
        """List the seeds of the runs of an experiment, with unreadable runs.

        Args:
            key: `Experiment.key`.
            seeds: Those to look at, one after the other; all of them if `None`.
        """
        within, which = _which(key, seeds)
        with self._connect(_modes(self.path)) as connection:
            found = connection.execute(_SEEDS.format(within=within), (*which, *which)).fetchall()
        return {seed for (seed,) in found if isinstance(seed, int)}

    def keys(self, beginning: str = "") -> tuple[set[Any], set[Any]]:
        """List the experiments with a run and scores, and the experiments with only one of both.

        Args:
            beginning: First digits of the keys.
        """
        bounds = {"low": beginning, "high": f"{beginning}\U0010ffff"}
        with self._connect(_modes(self.path)) as connection:
            connection.execute("BEGIN")
            runs, scores = (
                {key for (key,) in connection.execute(_KEYS.format(table=table), bounds)}
                for table in ("runs", "scores")
            )
        return runs & scores, runs ^ scores

    def replace(self, runs: Iterable[tuple[Record, str]]) -> None:
        """Replace runs in one transaction: all or none, however the process ends.

        Args:
            runs: Record of each, and `stamp_of` its network's file.
        """
        with self._connect(_modes(self.path, write=True)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            _upgrade(connection)
            for record, stamp in runs:
                _replace(connection, record, stamp)

    def delete(self, key: str, seed: int) -> None:
        """Remove a run and its scores.

        Args:
            key: `Experiment.key`.
        """
        with self._connect(_modes(self.path, write=True)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            _delete(connection, (key, seed))


def _modes(path: Path, *, write: bool = False, create: bool = False) -> list[tuple[str, str]]:
    """List the ways of opening a database, in order: SQLite's modes of access and of locking."""
    log = path.with_name(f"{path.name}-wal")
    immutable = [] if log.exists() and log.stat().st_size else [("ro&immutable=1", "NORMAL")]
    if _is_read_only(path.parent) and immutable:
        return immutable  # or SQLite makes files beside it even to read
    usual = [("rwc" if create else "rw", "NORMAL")]
    if write or not path.exists():
        return usual
    return [*usual, ("rw", "EXCLUSIVE"), *immutable]  # which take no room on a disk that is full


def _open(path: Path, modes: Sequence[tuple[str, str]]) -> sqlite3.Connection:
    """Connect in the first of several ways that works."""
    for number, (access, locking) in enumerate(modes, 1):
        address = f"{Path(os.path.realpath(path)).as_uri()}?mode={access}"
        connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
        try:
            connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
            connection.execute(f"PRAGMA locking_mode = {locking}")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA schema_version").fetchone()  # looks into the file
        except BaseException as error:
            connection.close()
            if number == len(modes) or _code(error) not in _UNWRITABLE:
                raise
        else:
            return connection
    raise ValueError("modes must name a way of opening, got none")


def _code(error: BaseException) -> int:
    """Find SQLite's number for a kind of error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _reason(error: Exception) -> str:
    """Describe an error of SQLite; its message for a full disk names only an error."""
    if _code(error) == sqlite3.SQLITE_IOERR:
        return (
            f"the disk is full or cannot be written ({getattr(error, 'sqlite_errorname', error)})"
        )
    return "the disk is full" if _code(error) == sqlite3.SQLITE_FULL else str(error)


def _advice(error: Exception) -> str:
    """Write the advice for a file that SQLite cannot read."""
    if _code(error) not in _DAMAGED and not isinstance(error, UnicodeError):
        return ""
    return (
        "; put a copy of it back if there is one, or move it away: networks without a "
        "record are trained anew"
    )


def _is_read_only(folder: Path) -> bool:
    """Tell if a folder is read-only."""
    return folder.is_dir() and not os.access(folder, os.W_OK)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Enable write-ahead logging, with retries, as SQLite's own timeout does not cover this."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def _format(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def _lacking(connection: sqlite3.Connection) -> dict[str, str]:
    """List the columns that the runs of an old database lack, and their values."""
    if _format(connection) == FORMAT:
        return {}
    columns = {row[1] for row in connection.execute("PRAGMA table_info(runs)")}
    return {name: instead for name, instead in _ADDED.items() if name not in columns}


def _upgrade(connection: sqlite3.Connection) -> None:
    """Give an old database all columns, and every run in it a digest, as part of a transaction."""
    lacking = _lacking(connection)
    for name in lacking:
        connection.execute(f"ALTER TABLE runs ADD COLUMN {name} TEXT NOT NULL DEFAULT ''")
    if "digest" in lacking:
        select = _SCORES.format(within=_WITHIN)
        for number, key, seed, *run in connection.execute(_ALL_RUNS).fetchall():
            with contextlib.suppress(TypeError, ValueError):  # damaged, and stays so
                scores = connection.execute(select, (key, seed, seed)).fetchall()
                digest = digest_of(key, seed, run, [score[1:] for score in scores])
                connection.execute("UPDATE runs SET digest = ? WHERE rowid = ?", (digest, number))
    if _format(connection) != FORMAT:
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def _which(key: str, seeds: range | None) -> tuple[str, tuple[Any, ...]]:
    """Write the condition on the seeds of an experiment's runs, and its parameters with the key."""
    return ("", (key,)) if seeds is None else (_WITHIN, (key, seeds.start, seeds.stop - 1))


def _read(connection: sqlite3.Connection, key: str, seeds: range | None = None) -> Found:
    """Read the runs of an experiment, or some of them."""
    within, which = _which(key, seeds)
    scores: dict[Any, list[tuple[Any, ...]]] = {}
    for number, *score in connection.execute(_SCORES.format(within=within), which):
        scores.setdefault(number, []).append(tuple(score))
    found = Found({}, {}, {})
    columns = {name: name for name in _ADDED} | _lacking(connection)
    select = _RUNS.format(within=within, **columns)
    for number, *run, digest, stamp in connection.execute(select, which):
        try:
            found.records[number] = record_of(key, number, run, scores.pop(number, []), digest)
            found.stamps[number] = stamp
        except ValueError as error:
            found.damaged[number] = str(error)
    found.damaged.update(dict.fromkeys(scores, "scores without a run"))
    return found


def _replace(connection: sqlite3.Connection, record: Record, stamp: str) -> None:
    """Replace a run, as part of a transaction."""
    run_id = (record.key, record.seed)
    if _read(connection, record.key, range(record.seed, record.seed + 1)).damaged:
        connection.execute("REINDEX")  # the index may name other rows than there are
    _delete(connection, run_id)
    run, scores = rows_of(record)
    digest = digest_of(*run_id, run, scores)
    connection.execute(
        "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*run_id, *run, digest, stamp)
    )
    connection.executemany(
        "INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", [(*run_id, *score) for score in scores]
    )


def _delete(connection: sqlite3.Connection, run_id: tuple[str, int]) -> None:
    """Remove a run and its scores, as part of a transaction."""
    connection.execute("DELETE FROM runs WHERE key = ? AND seed = ?", run_id)
    connection.execute("DELETE FROM scores WHERE key = ? AND seed = ?", run_id)
