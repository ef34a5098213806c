"""Results reported by users of the released code of RIMs, as claims.

Two users of the released script find less on digits than is published, and not the same (its
issue 2); the author answers with another setting, trained for about twenty epochs, and with a third
one that changes the code too, with which the second user got no further. The script chooses weights
on validation images of the size of the test; here they are those of the last step.

On copying a user finds losses that are lower after 200 places than after 50 (its issue 8). Those of
an LSTM are what a network scores that remembers nothing, where the loss is over all places; those
of RIMs are not.

Layer, dropout, learning rate, batch and clipping are the scripts'. The rest is as in the other
tables: fixed sets of problems, a fresh state for every sequence, dropout throughout training.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.nn import LinearEncoder
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published, Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022 import _copying, _digits
from farfield.reproductions.lamb2022 import _print as paper
from farfield.reproductions.lamb2022._cores import AS_ANSWERED, PRINTED, RELEASED
from farfield.tasks import Copying, SequentialMNIST

DROPOUT: Final = 0.5
"""Behind the embedding and behind the layer, by default in the released scripts."""
EPOCHS: Final = 20
STEPS: Final = EPOCHS * _digits.TASK.training_images // 64
QUICK: Final = 1 / EPOCHS

DIGITS: Final = {
    "RIMs (6, 4, 600), script": (RELEASED, 7e-4),
    "RIMs (6, 4, 600), script, second user": (RELEASED, 7e-4),
    "RIMs (5, 3, 510), answer": (AS_ANSWERED, 1e-3),
    "LSTM (600), script": (PRINTED["LSTM (600)"], 7e-4),
}
"""Digit models and learning rates. Two users have the same setting, and one row each."""

COPYING: Final = {
    "LSTM (300), script": (PRINTED["LSTM (300)"], 300),
    "LSTM (600), script": (PRINTED["LSTM (600)"], 600),
    "RIMs (6, 4, 600), script": (RELEASED, 600),
}
"""Layers that copy, and the widths of their embeddings."""

EVERYWHERE: Final = Copying()
"""Copying with the loss of the released code, over all places."""
MEASURED_ACCURACY: Final = replace(_copying.MEASURED, split=paper.DIGITS_SPLIT)
MEASURED_LOSS: Final = replace(_copying.MEASURED, decimals=(4, 4), unit="fraction")
LOSS_RULE: Final = VerdictRule(margin=0.01, widest=0.01)
"""A tenth of what a network without memory loses at T = 200, where the loss is over all places."""


def _experiment(
    task: Copying | SequentialMNIST,
    core: Spec,
    *,
    steps: int,
    learning_rate: float,
    width: int = 600,
) -> Experiment:
    return Experiment(
        task=task,
        model=SequenceNetwork(
            core=core, encoder=Spec(LinearEncoder, out_features=width), dropout=DROPOUT
        ),
        recipe=Recipe(steps=steps, learning_rate=learning_rate, batch_size=64, clip_norm=1.0),
    )


def _reported(
    mean: float, measured: Unpublished, decimals: tuple[int, int], selection: str
) -> Published:
    """A reported number of one network."""
    return Published(
        mean=mean,
        spread=None,
        spread_kind="standard error",
        runs=1,
        decimals=decimals,
        unit=measured.unit,
        selection=selection,
        split=measured.split,
    )


def _digits_claim(row: str, number: int) -> Claim:
    core, learning_rate = DIGITS[row]
    regime = _digits.REGIMES[number]
    side = regime.rpartition("-")[2]
    published: Published | Unpublished = MEASURED_ACCURACY
    if row in paper.REPORTED_DIGITS:
        published = _reported(
            paper.REPORTED_DIGITS[row][number],
            MEASURED_ACCURACY,
            paper.REPORTED_ACCURACY_DECIMALS[row],
            paper.REPORTED_SELECTION,
        )
    return Claim(
        paper="lamb2022",
        table="dispute",
        row=row,
        column=f"{side} × {side}",
        published=published,
        experiment=_experiment(_digits.TASK, core, steps=STEPS, learning_rate=learning_rate),
        rule=_digits.RULE,
        metric="accuracy",
        regime=regime,
        quick=QUICK,
        subject="Sequential MNIST with the released settings",
        group="digits",
        data=_digits.DATA,
    )


def _copying_claim(row: str, number: int) -> Claim:
    core, width = COPYING[row]
    regime, column = _copying.COLUMNS[number]
    published: Published | Unpublished = MEASURED_LOSS
    if row in paper.REPORTED_COPYING:
        published = _reported(
            paper.REPORTED_COPYING[row][number],
            MEASURED_LOSS,
            paper.REPORTED_LOSS_DECIMALS,
            "weights of the last step; which were reported is not said",
        )
    return Claim(
        paper="lamb2022",
        table="dispute",
        row=row,
        column=column,
        published=published,
        experiment=_experiment(
            EVERYWHERE, core, steps=_copying.STEPS, learning_rate=1e-3, width=width
        ),
        rule=LOSS_RULE,
        metric="loss",
        regime=regime,
        quick=_copying.QUICK,
        subject="Copying, cross-entropy over all places",
        group="copying",
    )


DISPUTE: Final = Table(
    key="lamb2022/dispute",
    title="The released code of RIMs, its settings, and what is reported of it",
    steps_published=False,
    tuned=(
        "nothing; layer, dropout, learning rate, batch and clipping are those of the released "
        "scripts, or of the author's answer"
    ),
    claims=(
        *(_digits_claim(row, number) for number in range(len(_digits.REGIMES)) for row in DIGITS),
        *(
            _copying_claim(row, number)
            for number in range(len(_copying.COLUMNS))
            for row in COPYING
        ),
    ),
)
"""Issues 2 and 8 of the released code."""
