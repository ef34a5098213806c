"""Checkpoints that let a run stop and go on."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import final

import msgspec
import torch
from torch import Tensor

from farfield.core.internal import expand_home, from_line, to_line
from farfield.experiments import Experiment
from farfield.records import Score, StoreError
from farfield.records.internal import JSON, read_tensors, set_aside, write_tensors
from farfield.training._learner import Learner
from farfield.training._progress import Clock, Run
from farfield.training._repeatable import Inputs, changed_inputs
from farfield.training._state import BUFFER, PLAIN, PREFIX
from farfield.training._turns import REMEMBERED


class _Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Contents of a checkpoint beside tensors."""

    key: str
    engine: str
    seeds: tuple[int, ...]
    tensors: dict[str, str]
    step: int
    seconds: float
    scores: tuple[tuple[Score, ...], ...]
    since: tuple[int, ...]
    digest: str = ""
    files: dict[str, str] | msgspec.UnsetType = msgspec.UNSET

    def digest_with(self, tensors: Mapping[str, Tensor]) -> str:
        """Compute SHA-256 of all fields and of the tensors of a checkpoint."""
        digest = hashlib.sha256(to_line(msgspec.structs.replace(self, digest="")).encode())
        for name in sorted(tensors):
            content = tensors[name].detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(name.encode())
            digest.update(content.numpy().data)
        return digest.hexdigest()


@final
class Checkpoint:
    """File that holds the state of a run between sittings.

    Args:
        path: The file; `None` for none.
        learner: The networks.
        experiment: Their experiment.
        clock: How often to save.
        inputs: Files that the run reads.
    """

    def __init__(
        self,
        path: Path | None,
        learner: Learner,
        experiment: Experiment,
        clock: Clock,
        inputs: Inputs | None,
    ) -> None:
        self._path = None if path is None else expand_home(path)
        self._learner, self._experiment, self._inputs = learner, experiment, inputs
        self._seconds, self._saved = clock.checkpoint_seconds, time.monotonic()

    def is_due(self, run: Run) -> bool:
        """Tell if it is time to save a run, before its last step.

        Args:
            run: The run after a step.
        """
        if self._path is None or run.step == self._experiment.recipe.steps:
            return False
        return time.monotonic() - self._saved > self._seconds

    def save(self, run: Run, seconds: float) -> None:
        """Write the state of the run.

        Args:
            run: The run after a step.
            seconds: Seconds that it took so far.
        """
        if self._path is None:
            return
        self._saved = time.monotonic()
        tensors = self._learner.state()
        note = _Note(
            key=self._experiment.key,
            engine=type(self._learner).__name__,
            seeds=self._learner.seeds,
            tensors=_kinds(tensors),
            step=run.step,
            seconds=seconds,
            scores=tuple(tuple(part) for part in run.scores),
            since=tuple(run.since.tolist()),
            files=(self._inputs.files() if self._inputs else {}) or msgspec.UNSET,
        )
        signed = msgspec.structs.replace(note, digest=note.digest_with(tensors))
        write_tensors(self._path, tensors, to_line(signed))

    def resume(self) -> Run:
        """Load the checkpoint into the networks, or begin a run if there is no usable one.

        One that is damaged, or belongs elsewhere, is set aside with a warning.

        Raises:
            StoreError: If the path is that of a folder.
        """
        learner, path, count = self._learner, self._path, len(self._learner.seeds)
        fresh = Run(scores=[[] for _ in range(count)], since=torch.zeros(count).long())
        if path is None or not os.path.lexists(path):
            return fresh
        if path.is_dir():
            raise StoreError(f"checkpoint must be a file, got {path}: it is a folder; remove it")
        try:
            tensors, text = read_tensors(path)
            note = from_line(text, _Note)
            _check(note, tensors, learner, self._experiment)
        except (StoreError, ValueError) as error:
            set_aside(path, f"checkpoint {path} cannot be used: {error}")
            return fresh
        if (note.engine, note.seeds) != (type(learner).__name__, learner.seeds):
            return fresh  # of networks that were trained in another company
        learner.load_state(tensors)
        return Run(
            step=note.step,
            seconds=note.seconds,
            scores=[list(part) for part in note.scores],
            since=torch.tensor(note.since),
        )


def _check(
    note: _Note, tensors: Mapping[str, Tensor], learner: Learner, experiment: Experiment
) -> None:
    """Raise `ValueError` if a checkpoint is damaged, or not of this run."""
    if note.digest != note.digest_with(tensors) or note.tensors != _kinds(tensors):
        raise ValueError("content differs from its digest")
    if note.key != experiment.key or learner.seeds[0] not in note.seeds:
        raise ValueError(f"checkpoint belongs to experiment {note.key}, seeds {note.seeds}")
    several = {len(note.seeds), len(note.scores), len(note.since)}
    if note.files and (changed := changed_inputs(experiment, note.files)):
        raise ValueError(f"the run has read other files: {'; '.join(changed)}")
    if not 0 < note.step < experiment.recipe.steps or len(several) > 1:
        raise ValueError(
            f"checkpoint is of step {note.step}, with scores of {len(note.scores)} networks"
        )
    same_engine = (note.engine, note.seeds) == (type(learner).__name__, learner.seeds)
    if same_engine and not _fits(note.tensors, _kinds(learner.state())):
        raise ValueError("tensors differ from the state of the network")


def _kinds(tensors: Mapping[str, Tensor]) -> dict[str, str]:
    """Describe type and shape of every tensor; a text has neither."""
    return {
        name: "JSON" if name.endswith(JSON) else f"{tensor.dtype} {tuple(tensor.shape)}"
        for name, tensor in tensors.items()
    }


def _fits(found: Mapping[str, str], own: Mapping[str, str]) -> bool:
    """Tell if a state fits the learner, whose optimizer and objectives may still be empty."""
    growing = (PREFIX, BUFFER, PLAIN, REMEMBERED)
    fixed = {name: kind for name, kind in own.items() if not name.startswith(growing)}
    more = found.keys() - fixed.keys()
    return fixed.items() <= found.items() and all(name.startswith(growing) for name in more)
