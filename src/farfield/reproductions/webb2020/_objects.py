"""Table 4 of webb2020 as claims: dynamic object prediction.

The text says that the context of a sequence is the sequence (section 3.1), and that a frame is
predicted from those before it (2.3), whose embeddings are normalized (3.3). Taken together these
leave open over which frames the statistics are: those seen so far, all that are ever read, or, as
in the released code, all. The published number is tested by each, a row for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from farfield.experiments import (
    AutoencoderNetwork,
    Experiment,
    Player,
    PredictionNetwork,
    Pretrained,
    Recipe,
    Spec,
)
from farfield.nn import PastNorm, SequenceNorm, TimeStepNorm
from farfield.objectives import PredictingEmbeddings
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.webb2020 import _print_objects as printed
from farfield.tasks import DynamicObjects, ObjectFrames

RULE: Final = VerdictRule(margin=0.001, widest=0.0012)
"""The rule of all these claims: a difference of 0.001 would not matter. The floor is 0.012, and
the smallest difference between published rows 0.004; intervals are at most a tenth of the floor."""

QUICK_BEFORE: Final = 1 / 20
"""Share of the autoencoder's steps in the quick budget; the predictor's are spent in full."""

AUTOENCODER: Final = Experiment(
    task=ObjectFrames(),
    model=AutoencoderNetwork(),
    recipe=Recipe(
        steps=printed.AUTOENCODER_STEPS,
        learning_rate=printed.LEARNING_RATE,
        batch_size=printed.BATCH_SIZE,
    ),
)
"""Autoencoder that every predictor starts from."""


@final
@dataclass(frozen=True, kw_only=True)
class Condition:
    """One of the ways in which the embeddings are normalized.

    Args:
        printed: Row of the published table that it tests.
        context: What normalizes the embeddings; `None` for nothing.
        denormalized: Whether the predictor's error is that of the embeddings, as over the past,
            where what is normalized has no scale at first.
    """

    printed: str
    context: Spec | None
    denormalized: bool = False

    def experiment(self) -> Experiment:
        """The experiment of the condition."""
        return Experiment(
            task=DynamicObjects(),
            model=PredictionNetwork(context=self.context),
            recipe=Recipe(
                steps=printed.PREDICTOR_STEPS,
                learning_rate=printed.LEARNING_RATE,
                batch_size=printed.BATCH_SIZE,
            ),
            players=(
                Player(
                    objective=PredictingEmbeddings(denormalized=self.denormalized),
                    parts=("predictor",) if self.context is None else ("context", "predictor"),
                ),
            ),
            starts_from=Pretrained(experiment=AUTOENCODER, include=("encoder", "decoder")),
        )


CONDITIONS: Final[dict[str, Condition]] = {
    "Context norm. (frames so far)": Condition(
        printed="Context norm.",
        context=Spec(PastNorm),
        denormalized=True,
    ),
    "Context norm. (frames read)": Condition(printed="Context norm.", context=Spec(SequenceNorm)),
    "Context norm. (all frames)": Condition(
        printed="Context norm.",
        context=Spec(SequenceNorm, include_last=True, correction=1, eps=1e-15),
    ),
    "Batch norm.": Condition(printed="Batch norm.", context=Spec(TimeStepNorm)),
    "Batch norm. (train stats)": Condition(
        printed="Batch norm. (train stats)", context=Spec(TimeStepNorm, sample=printed.SAMPLE)
    ),
    "No norm.": Condition(printed="No norm.", context=None),
}
"""Every row of Table 4, that of context normalization three times."""


def _claim(row: str, condition: Condition) -> Claim:
    """A row of Table 4."""
    mean, error = printed.TABLE_4[condition.printed]
    experiment = condition.experiment()
    regime = experiment.task.regimes[-1]
    return Claim(
        paper="webb2020",
        table="table-4",
        row=row,
        column="MSE",
        published=Published(
            mean=mean,
            spread=error,
            spread_kind="standard error",
            runs=printed.NETWORKS,
            decimals=printed.DECIMALS,
            unit="fraction",
            selection=printed.SELECTION,
            split=printed.SPLIT,
        ),
        experiment=experiment,
        rule=RULE,
        metric=DynamicObjects.metric,
        regime=regime.name,
        quick=1,
        quick_before=QUICK_BEFORE,
        subject="Dynamic object prediction",
    )


TABLE_4: Final = Table(
    key="webb2020/table-4",
    title="The next frame of squares larger than in training",
    claims=tuple(_claim(row, condition) for row, condition in CONDITIONS.items()),
)
