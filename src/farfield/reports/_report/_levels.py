"""Floors and ceilings of scores, measured once and stored beside the records."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, final

import msgspec
import numpy as np
import torch
from torch import Tensor

from farfield.core import Problems, stream
from farfield.core.internal import excerpt, expand_home, printable, read_regular
from farfield.experiments.internal import describe
from farfield.metrics.internal import measure_of
from farfield.records import StoreError
from farfield.records.internal import write_whole
from farfield.reproductions import Claim
from farfield.tasks import Environment, ProblemTask, Task, is_at_hand
from farfield.tasks.internal import FurtherScores, HasExpert, SetScores, expert_score, metric_of

ORACLE_PROBLEMS: Final = 200
"""Problems that the rule itself is scored on, and episodes of an expert, for the ceiling."""

ORACLE_PLACES: Final = 4_000_000
"""Most positions of all problems together; answers to more fill gigabytes."""

LOSS: Final = "loss"
"""Metric that training minimizes, not the score of the task."""

FILE: Final = "floors-and-ceilings.jsonl"
"""Name of the file in a folder of records, or of exports."""

LARGEST_FILE: Final = 1 << 25
"""Size in bytes."""


@final
class Level(NamedTuple):
    """Floor and ceiling of a score, as recorded.

    Attributes:
        floor: Score of answers that ignore the problem; NaN if unknown.
        ceiling: Score of the rule itself, or of an expert; NaN if unknown.
    """

    floor: float
    ceiling: float


@final
class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of the file.

    Args:
        task: The task as an experiment describes it, its version in it.
        metric: Name of the score.
        floor: The floor; `None` if unknown.
        ceiling: The ceiling; `None` if unknown.
    """

    task: dict[str, Any]
    regime: str
    metric: str
    floor: float | None
    ceiling: float | None

    @property
    def key(self) -> _Key:
        """Text that is the same for the same task, regime and metric alone."""
        return _key(self.task, self.regime, self.metric)

    @property
    def level(self) -> Level:
        """Numbers."""
        return Level(*(math.nan if one is None else one for one in (self.floor, self.ceiling)))


_Key = tuple[str, str, str]


def _key(task: dict[str, Any], regime: str, metric: str) -> _Key:
    return (json.dumps(task, sort_keys=True), regime, metric)


@final
class Levels:
    """Floors and ceilings by task, regime and metric.

    A level that no folder holds is measured, and kept in the first one from then on, so that a
    report draws no problems for cells reported before.

    Args:
        folders: Folders of records or of exports; the first is written to. None keeps nothing.
        measure: Whether a level that no folder holds is measured; else it is unknown, and nothing
            is written.

    Raises:
        ValueError: If a file is damaged, naming file and line.
    """

    def __init__(self, *folders: Path, measure: bool = True) -> None:
        places = [expand_home(folder) for folder in folders]
        self._folder = places[0] if places else None
        self._measures = measure
        self._known = {line.key: line for folder in places for line in _load(folder / FILE)}
        self._asked: dict[_Key, _Line] = {}

    def of(self, claim: Claim) -> Level:
        """Return floor and ceiling of the score of a claim.

        Args:
            claim: Whose task, regime and metric.
        """
        task: Any = claim.experiment.task
        described = _described(task)
        key = _key(described, claim.regime, claim.metric)
        if key not in self._known and not self._measures:
            return Level(math.nan, math.nan)
        if key not in self._known and not is_at_hand(task):
            is_error = measure_of(claim.metric).lower_is_better
            known = _is_of_task(task, claim.metric) and not isinstance(task, Environment)
            floor = math.nan if isinstance(task, Environment) else claim.floor
            return Level(floor, float(not is_error) if known else math.nan)
        if key not in self._known:
            floor = claim.floor
            ceiling = _ceiling(task, claim.experiment.unperturbed(claim.regime), claim.metric)
            self._known[key] = _Line(
                task=described,
                regime=claim.regime,
                metric=claim.metric,
                floor=None if math.isnan(floor) else floor,
                ceiling=None if math.isnan(ceiling) else ceiling,
            )
            if self._folder is not None:
                _write(self._folder, [self._known[key]])
        self._asked[key] = self._known[key]
        return self._known[key].level

    def keep(self, folder: Path) -> None:
        """Copy the levels requested so far to another folder.

        Args:
            folder: The folder.
        """
        _write(expand_home(folder), self._asked.values())


@cache
def _described(task: Task) -> dict[str, Any]:
    """Return a task as JSON; the cells of a table share theirs."""
    described: dict[str, Any] = describe(task)
    return described


def _load(path: Path) -> list[_Line]:
    """Return the lines of a file; none where there is no file."""
    if not path.is_file():
        return []
    try:
        content = read_regular(path, LARGEST_FILE)
    except OSError as error:
        raise ValueError(f"cannot read {printable(path)}: {error.strerror}") from error
    decoder, found = msgspec.json.Decoder(_Line), []
    for number, text in enumerate(content.splitlines(), 1):
        try:
            found.append(decoder.decode(text))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise ValueError(
                f"{printable(path)}, line {number}: no floor and ceiling: {excerpt(error)}; "
                "remove the line, and they are measured again"
            ) from error
    return found


def _write(folder: Path, lines: Iterable[_Line]) -> None:
    """Add lines to the file of a folder, if it lacks them; a folder may be read-only."""
    if not folder.is_dir():
        return
    before = {line.key: line for line in _load(folder / FILE)}
    after = before | {line.key: line for line in lines}
    if after == before:
        return
    encoder = msgspec.json.Encoder(order="sorted")
    content = b"".join(encoder.encode(after[key]) + b"\n" for key in sorted(after))
    with contextlib.suppress(StoreError):
        write_whole(folder / FILE, content)


def _is_of_task(task: ProblemTask, metric: str) -> bool:
    """Tell if a task scores answers by a metric; false for a set score of a model's own judge."""
    name = metric.partition("/")[0]
    return isinstance(task, SetScores) or name in (LOSS, metric_of(task))


@cache
def _ceiling(task: ProblemTask | Environment, regime: str, metric: str) -> float:
    """Return the score of the oracle over a few problems, or over a set for scores of sets.

    In an environment it is that of the expert. NaN where there is none, and where it is a model
    that measures it.
    """
    if isinstance(task, Environment):
        has_one = isinstance(task, HasExpert) and metric == metric_of(task)
        return expert_score(task, regime, ORACLE_PROBLEMS) if has_one else math.nan
    if not _is_of_task(task, metric):
        return math.nan
    source = stream(0, "report", "ceiling")
    places = task.sample(regime, 1, source.numpy()).index.shape[1]
    count = max(1, min(ORACLE_PROBLEMS, ORACLE_PLACES // places))
    problems = task.sample(regime, count, source.numpy())
    if isinstance(task, SetScores):
        scores = task.set_scores(task.oracle(problems), problems)
        if metric in scores:
            return float(scores[metric])
    values = [_best(task, some, metric) for _, some in problems.by_shape()]
    return float(np.mean(torch.cat(values).numpy(), dtype=np.float64))


def _best(task: ProblemTask, problems: Problems, metric: str) -> Tensor:
    """Compute scores of the oracle on each problem."""
    outputs = task.oracle(problems)
    if isinstance(task, FurtherScores):
        further = task.further_scores(outputs, problems)
        if metric in further:
            return further[metric]
    return (task.loss if metric == LOSS else task.score)(outputs, problems)
