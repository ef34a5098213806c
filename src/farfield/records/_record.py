"""Records of finished runs, and their rows as data frames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, final

import msgspec

from farfield.core.internal import excerpt
from farfield.tasks import TRAINING

DIVERGED: Final = "diverged"
"""Metric that marks a diverged network; its step is the first diverged one."""


@final
class Score(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One number: a metric of one regime after one step.

    Args:
        step: Updates done when it was measured.
        regime: Name of the regime, `"training"` for the training problems.
        metric: `"accuracy"`, `"loss"`, …
        value: The number.
        count: Problems it is the mean over.
    """

    step: int
    regime: str
    metric: str
    value: float
    count: int


def in_words(described: Any) -> str:
    """Describe a part of an experiment as JSON in a few words, as Python would make it.

    Args:
        described: JSON of the part, as of `Experiment.to_json`; anything else is shown unchanged.
    """
    try:
        return _in_words(described)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return excerpt(described)


def _in_words(described: Any) -> str:
    if isinstance(described, dict) and "cls" in described:  # a Spec
        options = ", ".join(f"{name}={_in_words(one)}" for name, one in described["options"])
        return (
            f"{_in_words(described['cls'])}({options})" if options else _in_words(described["cls"])
        )
    if isinstance(described, dict) and "class" in described:
        fields = [
            f"{name}={_in_words(one)}"
            for name, one in described.items()
            if name not in ("class", "version", "source")
        ]
        return f"{_in_words({'name': described['class']})}({', '.join(fields)})"
    if isinstance(described, dict):  # a class or function, or an array
        return str(described.get("name", "array")).rpartition(".")[2]
    if isinstance(described, list):
        return f"({', '.join(map(_in_words, described))})"
    return repr(described)


@final
class Record(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One network, trained and scored.

    Args:
        key: `Experiment.key`.
        experiment: `Experiment.to_json()`.
        seed: Number of the run.
        steps: Updates done.
        scores: Every regime at every evaluation point.
        seconds: Wall-clock seconds of training and scoring, over all sittings.
        environment: Versions, commit, machine, device and engine.
        weights: SHA-256 of the file of the trained network, which the store puts there; empty in
            records from before it did.
    """

    key: str
    experiment: dict[str, Any]
    seed: int
    steps: int
    scores: tuple[Score, ...]
    seconds: float
    environment: dict[str, str]
    weights: str = ""

    @property
    def task(self) -> str:
        """Task in a few words, e.g. `SameDifferent(withheld=98)`, without its defaults."""
        return in_words(self.experiment.get("task"))

    @property
    def model(self) -> str:
        """Model in a few words, e.g. `Network(reasoner=ESBN)`."""
        return in_words(self.experiment.get("model"))

    @property
    def commit(self) -> str:
        """Commit of the code that trained it, with `+` for an uncommitted tree.

        It is `release` for an installed package, and empty in records that lack it.
        """
        return self.environment.get("commit", "")

    @property
    def files(self) -> dict[str, str]:
        """SHA-256 of the files that the run has read, by name; empty in records that lack them.

        Files that the task does not name have their path for a name, absolute or from `~` on.
        """
        try:
            return msgspec.json.decode(self.environment.get("files", "{}"), type=dict[str, str])
        except msgspec.MsgspecError:
            return {}

    def final(self, regime: str, metric: str = "accuracy") -> float:
        """Look up the number after the last step.

        Args:
            metric: Name of the metric.

        Raises:
            KeyError: If it was not measured.
        """
        for score in self.scores:
            if (score.step, score.regime, score.metric) == (self.steps, regime, metric):
                return score.value
        raise KeyError(f"no {metric} of regime {regime!r} at step {self.steps} in {self.key}")

    def diverged(self, *regimes: str) -> int | None:
        """Find the first step without finite numbers; `None` if the network did not diverge.

        A network has diverged if after its last step a loss or a score is not finite, in training
        or in one of the regimes. A loss that was infinite once, and is finite at the end, is none.

        Args:
            regimes: Names of regimes beside training.
        """
        where = {TRAINING, *regimes}
        broken = [s.step for s in self.scores if s.regime in where and not math.isfinite(s.value)]
        if self.steps not in broken:
            return None
        marks = [score.step for score in self.scores if score.metric == DIVERGED]
        return marks[0] if marks else self._first_broken()

    def _first_broken(self) -> int:
        """Find the first point of the training curves after which nothing is finite."""
        step = self.steps
        for score in sorted(self.scores, key=lambda score: -score.step):
            if score.regime == TRAINING and score.metric == "loss":
                if math.isfinite(score.value):
                    break
                step = score.step
        return step


if TYPE_CHECKING:
    import pandas as pd


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Make a data frame of rows.

    Args:
        rows: Content of each row by the name of its column.

    Raises:
        ModuleNotFoundError: If pandas, an extra, is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 — an extra, and half a second to import
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a data frame needs pandas: pip install 'farfield[frames]'"
        ) from error
    return pd.DataFrame.from_records([dict(row) for row in rows])


def score_rows(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """List all scores of some networks as plain values, a row for each.

    Its columns are key, task, model, seed, step, regime, metric, value and count.

    Args:
        records: The records, e.g. `Store("runs").records(experiment.key)`.
    """
    for record in records:
        network = {"key": record.key, "task": record.task, "model": record.model}
        for score in record.scores:
            yield network | {"seed": record.seed} | msgspec.structs.asdict(score)


def scores_frame(records: Iterable[Record]) -> pd.DataFrame:
    """List all scores of some networks as a data frame, with the columns of `score_rows`.

    Args:
        records: The records, e.g. `Store("runs").records(experiment.key)`.

    Raises:
        ModuleNotFoundError: If pandas, an extra, is not installed.
    """
    return frame(score_rows(records))
