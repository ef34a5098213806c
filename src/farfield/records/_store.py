"""One folder that holds every finished run."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, final

import msgspec
from torch import Tensor

from farfield.records._errors import BusyError, StoreError
from farfield.records._files import read_tensors, write_tensors
from farfield.records._record import Record

try:
    import fcntl
except ImportError:  # Windows: no advisory locks of this kind; runs are then not guarded
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
"""Raised when the tables change."""

PATIENCE = 60.0
"""Seconds to wait for another process that writes."""

_TABLES = """
CREATE TABLE IF NOT EXISTS runs (
    key TEXT NOT NULL, seed INTEGER NOT NULL, experiment TEXT NOT NULL, steps INTEGER NOT NULL,
    seconds REAL NOT NULL, environment TEXT NOT NULL, PRIMARY KEY (key, seed));
CREATE TABLE IF NOT EXISTS scores (
    key TEXT NOT NULL, seed INTEGER NOT NULL, step INTEGER NOT NULL, regime TEXT NOT NULL,
    metric TEXT NOT NULL, value REAL NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (key, seed, step, regime, metric));
"""


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at once; SQLite's own patience does not hold for this."""
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


def _insert(connection: sqlite3.Connection, record: Record) -> None:
    """Add the rows of a run, as part of a transaction."""
    place = (record.key, record.seed)
    experiment = json.dumps(record.experiment, sort_keys=True)
    environment = json.dumps(record.environment, sort_keys=True)
    run = (*place, experiment, record.steps, record.seconds, environment)
    # SQLite takes nan for NULL, which the table refuses; as text it stays what it is.
    rows = [
        (*place, s.step, s.regime, s.metric, "nan" if math.isnan(s.value) else s.value, s.count)
        for s in record.scores
    ]
    connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", run)
    connection.executemany(
        "INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", rows
    )


@final
class Store:
    """Records of finished runs in one folder.

    `records.sqlite` holds the numbers: a run is written whole, in one transaction, so what is there
    is complete. `weights/<experiment>/<seed>.safetensors` holds the trained networks, each written
    before its record. Many processes may read and write at once; no server runs. A folder that is
    read-only can be read as long as nobody left `records.sqlite-wal` in it.

    Args:
        folder: The folder; made if it does not exist.

    Raises:
        StoreError: If the folder cannot be made, or its database is not one of Farfield's.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._database = self.folder / "records.sqlite"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make the folder {self.folder}: {error.strerror}") from error
        with self._connect(create=True) as connection:
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, FORMAT):
                raise StoreError(
                    f"{self._database} has format {found}, this version reads {FORMAT}"
                )
            if found != FORMAT:
                self._check_ours(connection)
                _write_ahead(connection)
                connection.executescript(_TABLES)
                connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _check_ours(self, connection: sqlite3.Connection) -> None:
        """Refuse to make tables in a database that has others."""
        columns = connection.execute(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
            "WHERE m.type = 'table'"
        )
        ours = set(re.findall(r"(\w+) (?:TEXT|INTEGER|REAL)", _TABLES))
        for table, column in columns:
            if column not in ours:
                raise StoreError(
                    f"{self._database} must be a database of Farfield's, got one with a column "
                    f"{column} in a table {table}"
                )

    @contextlib.contextmanager
    def _connect(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection for one transaction: committed at the end, rolled back on an error."""
        mode = "rwc" if create else "rw"
        if self._is_read_only() and not self._database.with_name("records.sqlite-wal").exists():
            mode = "ro&immutable=1"  # or SQLite makes files beside it even to read
        try:
            connection = sqlite3.connect(
                f"{self._database.resolve().as_uri()}?mode={mode}", uri=True, timeout=PATIENCE
            )
            try:
                connection.execute("PRAGMA synchronous = FULL")
                with connection:
                    yield connection
            finally:
                connection.close()
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            state = "" if self._database.exists() else " (the file has vanished)"
            if self._is_read_only():
                state = " (the folder is read-only)"
            raise StoreError(f"cannot use {self._database}{state}: {error}") from error

    def _is_read_only(self) -> bool:
        """Whether nothing can be written to the folder."""
        return self.folder.is_dir() and not os.access(self.folder, os.W_OK)

    def write(self, record: Record, weights: Mapping[str, Tensor]) -> None:
        """Keep a finished run; one that is already there stays as it is.

        Args:
            record: The numbers.
            weights: The trained network's state by name.

        Raises:
            StoreError: If the disk is full or the folder has vanished. Nothing is half-written.
        """
        self.write_all([(record, weights)])

    def write_all(self, runs: Sequence[tuple[Record, Mapping[str, Tensor]]]) -> None:
        """Keep runs that finished together: all of them or none, however the process ends.

        Args:
            runs: Numbers and trained networks; what is already there stays as it is, but for a
                network whose file is missing or damaged: it is written again.

        Raises:
            StoreError: If the disk is full or the folder has vanished. Nothing is half-written.
        """
        if not self._database.exists():
            raise StoreError(f"the folder of records {self.folder} has vanished")
        new = [run for run in runs if not self.is_whole(run[0].key, run[0].seed)]
        for record, weights in new:
            write_tensors(self.weights_path(record.key, record.seed), weights)
        with self._connect() as connection:
            for record, _ in new:
                _insert(connection, record)

    def find(self, key: str, seed: int) -> Record | None:
        """The record of one run, or `None` if it is not finished.

        Args:
            key: `Experiment.key`.
            seed: Number of the run.
        """
        found = [record for record in self.records(key) if record.seed == seed]
        return found[0] if found else None

    def is_whole(self, key: str, seed: int) -> bool:
        """Whether a run is finished and its trained network can be read.

        Args:
            key: `Experiment.key`.
            seed: Number of the run.
        """
        return self.find(key, seed) is not None and self._is_readable(key, seed)

    def whole_seeds(self, key: str) -> set[int]:
        """Numbers of the finished runs of an experiment whose trained networks can be read.

        Args:
            key: `Experiment.key`.
        """
        return {run.seed for run in self.records(key) if self._is_readable(key, run.seed)}

    def _is_readable(self, key: str, seed: int) -> bool:
        """Whether the trained network of a run can be read; its numbers are not looked at."""
        try:
            self.weights(key, seed)
        except StoreError:
            return False
        return True

    def records(self, key: str) -> list[Record]:
        """Every finished run of one experiment, by seed.

        Args:
            key: `Experiment.key`.
        """
        with self._connect() as connection:
            runs = connection.execute(
                "SELECT seed, experiment, steps, seconds, environment FROM runs "
                "WHERE key = ? ORDER BY seed",
                (key,),
            ).fetchall()
            scores = connection.execute(
                "SELECT seed, step, regime, metric, value, count FROM scores "
                "WHERE key = ? ORDER BY seed, step, regime, metric",
                (key,),
            ).fetchall()
        by_seed: dict[int, list[dict[str, Any]]] = {}
        try:
            for seed, *cells, value, count in scores:
                score = dict(zip(("step", "regime", "metric"), cells, strict=True))
                score |= {"value": float(value), "count": count}  # nan is kept as text
                by_seed.setdefault(seed, []).append(score)
            found = [
                {
                    "key": key,
                    "experiment": msgspec.json.decode(experiment),
                    "seed": seed,
                    "steps": steps,
                    "scores": by_seed.get(seed, []),
                    "seconds": seconds,
                    "environment": msgspec.json.decode(environment),
                }
                for seed, experiment, steps, seconds, environment in runs
            ]
            if any(not run["scores"] for run in found):
                raise ValueError("a run without scores")
            return msgspec.convert(found, list[Record])
        except (msgspec.MsgspecError, TypeError, ValueError) as error:
            raise StoreError(
                f"{self._database} holds a damaged record of {key}: {error}"
            ) from error

    def keys(self) -> list[str]:
        """Every experiment with a finished run."""
        with self._connect() as connection:
            rows = connection.execute("SELECT DISTINCT key FROM runs ORDER BY key").fetchall()
        return [key for (key,) in rows]

    def weights(self, key: str, seed: int) -> dict[str, Tensor]:
        """The trained network of one run, by the names of its state.

        Args:
            key: `Experiment.key`.
            seed: Number of the run.

        Raises:
            StoreError: If the file is missing or damaged.
        """
        return read_tensors(self.weights_path(key, seed))[0]

    def weights_path(self, key: str, seed: int) -> Path:
        """Where the trained network of a run lies."""
        return self.folder / "weights" / key / f"{seed}.safetensors"

    def checkpoint_path(self, key: str, seed: int) -> Path:
        """Where the state of an unfinished run lies."""
        return self.folder / "checkpoints" / key / f"{seed}.safetensors"

    @contextlib.contextmanager
    def claim(self, key: str, seed: int) -> Iterator[None]:
        """Hold a run, so that no second process trains the same network meanwhile.

        The system lets go of it when the process ends, however it ends.

        Args:
            key: `Experiment.key`.
            seed: Number of the run.

        Raises:
            BusyError: If another process holds it.
            StoreError: If the folder cannot be written.
        """
        path = self.folder / "locks" / f"{key}-{seed}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("a+", encoding="ascii")
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}") from error
        with file:
            if fcntl is not None:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError as error:
                    file.seek(0)
                    holder = file.read().strip() or "unknown"
                    raise BusyError(
                        f"process {holder} is at seed {seed} of experiment {key} in {self.folder}; "
                        "wait for it, or name another folder"
                    ) from error
                _sign(file, path)
            yield


def _sign(file: TextIO, path: Path) -> None:
    """Write into a lock who holds it, for the message that others get."""
    try:
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
    except OSError as error:
        with contextlib.suppress(OSError):
            file.close()  # tries to write what is left
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
