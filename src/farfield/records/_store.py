"""The folder of records, and the trials of a search in it."""

from __future__ import annotations

import contextlib
import os
import statistics
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import msgspec

from farfield.core.internal import check_arguments, expand_home
from farfield.experiments import Search, Selection
from farfield.experiments.internal import ScoredTrial
from farfield.records._database import Database, check_record
from farfield.records._files import (
    BusyError,
    DamageWarning,
    StoreError,
    from_tensors,
    lost_link,
    read_tensors,
    scraps,
    set_aside,
    stamp_of,
    to_tensors,
    write_stamped,
)
from farfield.records._locks import Lock, hold
from farfield.records._record import Record, frame, scores_frame

if TYPE_CHECKING:
    import pandas as pd


@final
class Store:
    """Records of finished runs in one folder.

    `records.sqlite` holds the numbers: a run is written whole, in one transaction, so each run is
    complete. SQL can read them: table `runs` has a row for each network (key, seed, experiment,
    steps, seconds, environment), `scores` one for each number (key, seed, step, regime, metric,
    value, count). `weights/<experiment>/<seed>.safetensors` holds the trained networks, each
    written before its record. Many processes may read and write at once; no server runs. A folder
    that is read-only can be read as long as nobody left a `records.sqlite-wal` with something in
    it.

    A run carries a digest of its numbers and one of its network's file. A run that differs from its
    digest counts as missing, with a warning that names it; running it again replaces both.

    Args:
        folder: The folder, `~` for the home folder; made if it does not exist.

    Raises:
        ValueError: If the folder is not a path, or an empty one.
        StoreError: If the folder cannot be made, or its database is not one of Farfield's.
    """

    @check_arguments
    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = expand_home(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot make the folder {self.folder}: {lost_link(self.folder) or error.strerror}"
            ) from error
        self._warn_of_empty(self.folder / "records.sqlite")
        self._database = Database(self.folder / "records.sqlite")
        self._locks: dict[tuple[str, int], list[Lock]] = {}

    def _warn_of_empty(self, path: Path) -> None:
        """Warn if a file of length 0, which SQLite takes for a new database, is beside networks."""
        if path.is_file() and not path.stat().st_size and (self.folder / "weights").is_dir():
            text = f"{path} is empty, and there are networks beside it; they count as missing"
            warnings.warn(text, DamageWarning, stacklevel=4)

    def write(self, record: Record, weights: Mapping[str, Any]) -> None:
        """Store a finished run; a run that is already there stays unchanged.

        Args:
            record: The numbers.
            weights: The trained network's state by name.

        Raises:
            ValueError: If the record could not be read again, or the state is none.
            StoreError: If the disk is full or the folder has vanished. Nothing is half-written.
        """
        self.write_all([(record, weights)])

    def write_all(self, runs: Sequence[tuple[Record, Mapping[str, Any]]]) -> None:
        """Store runs that finished together: all or none, however the process ends.

        Args:
            runs: Numbers and trained networks; a run that is already there stays unchanged, unless
                its numbers or its network are damaged or missing: then both are replaced.

        Raises:
            ValueError: If a record could not be read again, or a state is none.
            StoreError: If the disk is full, the folder has vanished, or a lock of this store was
                removed meanwhile. Nothing is half-written.
        """
        if not self._database.path.exists():
            raise StoreError(f"the folder of records {self.folder} has vanished")
        runs = [(check_record(record), weights) for record, weights in runs]
        complete = self.complete((record.key, record.seed) for record, _ in runs)
        new = [run for run in runs if (run[0].key, run[0].seed) not in complete]
        for record, _ in new:
            self._check_lock(record.key, record.seed)
            self._check_folders(record.key)
        written = []
        for record, weights in new:
            digest, stamp = write_stamped(
                self.weights_path(record.key, record.seed),
                to_tensors(weights),
                beside=self.checkpoint_path(record.key, record.seed),  # a folder of few files
            )
            written.append((msgspec.structs.replace(record, weights=digest), stamp))
        self._database.replace(written)

    def find(self, key: str, seed: int) -> Record | None:
        """Read the record of one run; `None` if it is not finished, or damaged, which warns.

        Args:
            key: `Experiment.key`.
        """
        return self.find_all([(key, seed)])[0]

    def find_all(self, runs: Iterable[tuple[str, int]]) -> list[Record | None]:
        """Read the records of many runs as `find` does, faster than one by one.

        Args:
            runs: Key and seed of each.
        """
        records = []
        for key, seed, found in self._database.read_each(runs):
            self._warn(key, found.damaged)
            records.append(found.records.get(seed))
        return records

    def records(self, key: str, seeds: int | None = None) -> list[Record]:
        """Read the finished runs of one experiment by seed, without damaged runs, which warn.

        Args:
            key: `Experiment.key`.
            seeds: Only seeds below this number; all of them if `None`.
        """
        found = self._database.read(key, None if seeds is None else range(seeds))
        self._warn(key, found.damaged)
        return [*found.records.values()]

    def contents(self) -> dict[str, tuple[list[Record], dict[Any, str]]]:
        """Read all runs by experiment, and the reasons of unreadable runs, without warnings.

        Returns:
            By key the records by seed, and by seed the reasons.
        """
        whole, damaged = self._database.keys()
        contents = {}
        for key in sorted(key for key in whole | damaged if isinstance(key, str)):
            found = self._database.read(key)
            contents[key] = [*found.records.values()], found.damaged
        return contents

    def keys(self, beginning: str = "") -> list[str]:
        """List every experiment with a finished run.

        Args:
            beginning: First digits of the keys; all of them if empty.
        """
        whole, damaged = self._database.keys(beginning)
        for key in sorted(map(str, damaged)):
            self._warn(key, {"some": "scores without a run, or a run without scores"})
        return sorted(key for key in whole if isinstance(key, str))

    def frame(self) -> pd.DataFrame:
        """Read every score as a data frame of pandas: networks × steps × regimes × metrics.

        Its columns are those of `score_rows`.

        Raises:
            ModuleNotFoundError: If pandas, an extra, is not installed.
        """
        return scores_frame(record for key in self.keys() for record in self.records(key))

    def delete(self, key: str, seeds: Iterable[int] | None = None) -> list[int]:
        """Remove runs of an experiment for good: records, trained networks and checkpoints.

        Args:
            key: `Experiment.key`.
            seeds: Numbers of the runs; all finished ones if `None`.

        Returns:
            The seeds that were there, in order.

        Raises:
            BusyError: If another process trains one of them; those before it are gone.
            StoreError: If the folder cannot be written.
        """
        there = self.seeds(key)
        gone = sorted(there if seeds is None else there & set(seeds))
        for seed in gone:
            with self.lock(key, seed):
                self._database.delete(key, seed)
                for path in (self.weights_path(key, seed), *self._paths_of_unfinished(key, seed)):
                    path.unlink(missing_ok=True)
        return gone

    def seeds(self, key: str) -> set[int]:
        """List the seeds of the finished runs of an experiment, with damaged runs.

        Args:
            key: `Experiment.key`.
        """
        return self._database.seeds(key)

    def is_recorded(self, key: str, seed: int) -> bool:
        """Tell if a run is finished, damaged or not.

        Args:
            key: `Experiment.key`.
        """
        return seed in self._database.seeds(key, range(seed, seed + 1))

    def is_complete(self, key: str, seed: int) -> bool:
        """Tell if a run is finished, and its scores and its network are undamaged.

        Args:
            key: `Experiment.key`.
        """
        return bool(self.complete([(key, seed)]))

    def complete(self, runs: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """Select the finished runs whose scores and networks are undamaged.

        The file of a network is read only if its size or the time of its last change is not that
        with which it was written, as in a copied folder; `weights` reads it in any case.

        Args:
            runs: Key and seed of each.

        Returns:
            By key and seed the digest of the network's file; empty where the record has none.
        """
        complete = {}
        for key, seed, found in self._database.read_each(runs):
            if found.damaged or seed not in found.records:
                continue
            path, digest = self.weights_path(key, seed), found.records[seed].weights
            if not found.stamps[seed] or found.stamps[seed] != stamp_of(path):
                try:
                    from_tensors(read_tensors(path, digest)[0])
                except StoreError:
                    continue
            complete[key, seed] = digest
        return complete

    def complete_seeds(self, key: str) -> set[int]:
        """List the seeds of the finished and undamaged runs of an experiment.

        Args:
            key: `Experiment.key`.
        """
        return {seed for _, seed in self.complete((key, seed) for seed in self.seeds(key))}

    def weights(self, key: str, seed: int) -> dict[str, Any]:
        """Read the state dictionary of the trained network of one run.

        Args:
            key: `Experiment.key`.

        Raises:
            StoreError: If the file is missing, damaged or that of another run, or if the record
                that would tell is damaged.
        """
        found = self._database.read(key, range(seed, seed + 1))
        for number, reason in found.damaged.items():
            raise StoreError(self._damage(key, number, reason))
        digest = found.records[seed].weights if seed in found.records else ""
        return from_tensors(read_tensors(self.weights_path(key, seed), digest)[0])

    def _damage(self, key: str, seed: Any, reason: str) -> str:
        """Write the message that a run cannot be read."""
        return f"{self._database.path} holds a damaged record of {key}, seed {seed}: {reason}"

    def _warn(self, key: str, damaged: Mapping[Any, str]) -> None:
        """Warn that some runs cannot be read."""
        for seed, reason in damaged.items():
            text = f"{self._damage(key, seed, reason)}; it counts as missing"
            warnings.warn(text, DamageWarning, stacklevel=3)

    def set_aside(self, key: str, seed: int, reason: str) -> None:
        """Rename the unusable network of a run, and warn; the run counts as missing.

        To be called by whoever holds the run.

        Args:
            key: `Experiment.key`.
            reason: Why it cannot be used.

        Raises:
            StoreError: If the file cannot be renamed.
        """
        set_aside(self.weights_path(key, seed), reason)

    def sweep(self, key: str, seed: int) -> None:
        """Remove the other files of a finished run: checkpoint, progress, locks, temporary files.

        Files that another process holds stay. The folder of checkpoints goes with the last one.

        Args:
            key: `Experiment.key`.
        """
        unfinished, held = self._paths_of_unfinished(key, seed), (key, seed) in self._locks
        left = [*scraps(unfinished[0]), *filter(os.path.lexists, unfinished)]
        locks = () if held else self._lock_paths(key, seed)
        if left or any(map(os.path.lexists, locks)):
            lock = contextlib.nullcontext() if held else self.lock(key, seed)
            with contextlib.suppress(BusyError, StoreError, OSError), lock:
                for path in left:
                    path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # none, or checkpoints of other seeds
            unfinished[0].parent.rmdir()

    def weights_path(self, key: str, seed: int) -> Path:
        """Build the path of the trained network of a run."""
        return self.folder / "weights" / key / f"{seed}.safetensors"

    def checkpoint_path(self, key: str, seed: int) -> Path:
        """Build the path of the checkpoint of an unfinished run."""
        return self.folder / "checkpoints" / key / f"{seed}.safetensors"

    def progress_path(self, key: str, seed: int) -> Path:
        """Build the path of the last report of an unfinished run."""
        return self.folder / "progress" / f"{key}-{seed}.json"

    def _paths_of_unfinished(self, key: str, seed: int) -> tuple[Path, ...]:
        """Build the paths of the checkpoint and of the progress of an unfinished run."""
        progress = self.progress_path(key, seed)
        return self.checkpoint_path(key, seed), progress, progress.with_suffix(".tmp")

    @contextlib.contextmanager
    def lock(self, key: str, seed: int) -> Iterator[None]:
        """Lock a run, so that no other process trains the same network meanwhile.

        The system lets go of it when the process ends, however it ends. There are two locks, one
        of them beside the network: who removes the folder `locks` lets no second process in.

        Args:
            key: `Experiment.key`.

        Raises:
            BusyError: If another process holds it.
            StoreError: If the folder cannot be written, or its file system has no locks.
        """
        self._check_folders(key)
        run = f"seed {seed} of experiment {key} in {self.folder}"
        paths = self._lock_paths(key, seed)
        with contextlib.ExitStack() as stack:
            self._locks[key, seed] = [stack.enter_context(hold(path, run)) for path in paths]
            try:
                yield
            finally:
                del self._locks[key, seed]

    def _lock_paths(self, key: str, seed: int) -> tuple[Path, Path]:
        """Build the paths of the two locks of a run."""
        beside = self.weights_path(key, seed).with_suffix(".lock")
        return self.folder / "locks" / f"{key}-{seed}", beside

    def _check_lock(self, key: str, seed: int) -> None:
        """Raise `StoreError` if the lock of a run was lost to another process."""
        locks = self._locks.get((key, seed), [])
        if locks and not any(lock.is_in_place() for lock in locks):
            raise StoreError(
                f"the locks of seed {seed} of experiment {key} in {self.folder} were removed: "
                "another process may be at it, so this one writes nothing"
            )

    def _check_folders(self, key: str) -> None:
        """Raise `StoreError` if a subfolder is a link that leads elsewhere."""
        own = Path(os.path.realpath(self.folder))
        parts = ("locks", "progress", "weights", "checkpoints")
        for name in (*parts, f"weights/{key}", f"checkpoints/{key}"):
            place = Path(os.path.realpath(self.folder / name))
            if not place.is_relative_to(own):
                raise StoreError(
                    f"{self.folder / name} must be in the folder of records, got a link to {place};"
                    " remove the link"
                )


if TYPE_CHECKING:
    import pandas as pd


def selection_of(search: Search, store: Store) -> Selection:
    """Choose among the trials of a search; only scores of its regime are read.

    A network has diverged if its loss or a score is not finite after the last step, in training or
    in that regime.

    Args:
        search: The search.

    Raises:
        StoreError: If a network has no record.
        ValueError: If the score was not measured, or every trial has a network that diverged.
    """
    return Selection(
        fields=search.fields,
        metric=search.chosen_by,
        regime=search.regime,
        seeds=search.seeds,
        trials=tuple(
            ScoredTrial(
                values=trial.values,
                key=trial.experiment.key,
                scores=tuple(
                    _mean_score(
                        [
                            _score(_found(store, one.key, seed), regime, search)
                            for one, regime in search.scored(trial)
                        ]
                    )
                    for seed in search.seeds
                ),
            )
            for trial in search.trials
        ),
    )


def _found(store: Store, key: str, seed: int) -> Record:
    record = store.find(key, seed)
    if record is None:
        raise StoreError(f"seed {seed} of experiment {key} is not recorded in {store.folder}")
    return record


def _mean_score(scores: Sequence[float | None]) -> float | None:
    """Compute the mean score of the networks of a trial and a seed; `None` if one diverged."""
    finite = [score for score in scores if score is not None]
    return statistics.fmean(finite) if len(finite) == len(scores) else None


def _score(record: Record, regime: str, search: Search) -> float | None:
    """Find the score of a network; `None` if it diverged."""
    if record.diverged(regime) is not None:
        return None
    try:
        return record.final(regime, search.chosen_by)
    except KeyError:
        known = sorted({s.metric for s in record.scores if s.regime == regime})
        raise ValueError(
            f"metric must be one that was measured in {regime} ({', '.join(known)}), "
            f"got {search.chosen_by!r}"
        ) from None


def trials_frame(selection: Selection) -> pd.DataFrame:
    """List all networks of a search, a row for each: the fields, then key, seed and score.

    Args:
        selection: Choice of `selection_of`.

    Raises:
        ModuleNotFoundError: If pandas, an extra, is not installed.
    """
    return frame(
        dict(zip(selection.fields, trial.values, strict=True))
        | {"key": trial.key, "seed": seed, selection.metric: score}
        for trial in selection.trials
        for seed, score in zip(selection.seeds, trial.scores, strict=True)
    )
