"""Records of finished runs."""

from __future__ import annotations

import math
from typing import Any, Final, final

import msgspec

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

    def final(self, regime: str, metric: str = "accuracy") -> float:
        """The number after the last step.

        Args:
            regime: Name of the regime.
            metric: Name of the metric.

        Raises:
            KeyError: If it was not measured.
        """
        for score in self.scores:
            if (score.step, score.regime, score.metric) == (self.steps, regime, metric):
                return score.value
        raise KeyError(f"no {metric} of regime {regime!r} at step {self.steps} in {self.key}")

    def diverged(self, *regimes: str) -> int | None:
        """First step without finite numbers; `None` where the network did not diverge.

        A network has diverged if after its last step a loss or a score is not finite, in training
        or in one of the regimes. One whose loss was infinite once, and is not at the end, has not.

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
        """First point of the training curves after which nothing is finite."""
        step = self.steps
        for score in sorted(self.scores, key=lambda score: -score.step):
            if score.regime == TRAINING and score.metric == "loss":
                if math.isfinite(score.value):
                    break
                step = score.step
        return step
