"""What a finished run leaves."""

from __future__ import annotations

from typing import Any, final

import msgspec


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
