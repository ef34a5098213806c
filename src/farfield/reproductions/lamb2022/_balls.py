"""Roll-outs of bouncing balls: Figure 3 of lamb2022, which gives curves and no numbers.

The text gives the frames, the loss and how many frames are true. Encoder, decoder, the sizes of the
layers (but that the LSTM has 256 units, or 512), learning rate and updates it does not give. One
linear layer on either side learns in minutes on two cores what convolutions or hidden layers take
far longer for, if the decoder starts from answers that are dark. Of 1e-3 and 3e-3 the learning rate
is that with which RIMs had the lower loss on validation sequences after a minute; it is the same
for all layers.
"""

from __future__ import annotations

from typing import Final

from farfield.experiments import Experiment, Recipe, RollOutNetwork, Spec
from farfield.nn import LinearDecoder, LinearEncoder, LSTMLayer, RIMs
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022 import _print as published
from farfield.tasks import BouncingBalls

GIVEN: Final = 15
"""True frames that a roll-out starts from, as in the paper."""
STEPS: Final = 20_000
"""Updates; the text gives none."""
QUICK: Final = 1 / 25
DARK: Final = -2.3
"""Logit of the share of white pixels of four balls, 0.09."""
RULE: Final = VerdictRule(margin=0.01)

FOUR: Final = BouncingBalls(given=GIVEN)
MANY: Final = BouncingBalls(given=GIVEN, balls=(6, 8))

MEASURED: Final = Unpublished(
    runs=published.TRIALS,
    selection="weights of the last step",
    split="new sequences, frames 16 to 51 from the model's own",
    decimals=(4, 4),
    unit="fraction",
)

LAYERS: Final[dict[str, Spec]] = {
    "RIMs (6, 4, 240)": Spec(RIMs, hidden_size=240, num_mechanisms=6, num_active=4),
    "LSTM (256)": Spec(LSTMLayer, hidden_size=256),
    "LSTM (512)": Spec(LSTMLayer, hidden_size=512),
}
"""The paper's layers; the size of RIMs is not published, and is nearly that of the smaller LSTM."""

SETTINGS: Final[tuple[tuple[str, str, BouncingBalls, str, str], ...]] = (
    ("4-balls", "4 → 4 balls", FOUR, "balls-4", "Bouncing balls, trained on 4"),
    ("4-balls", "4 → 6–8 balls", FOUR, "balls-6-8", "Bouncing balls, trained on 4"),
    ("6-8-balls", "6–8 → 4 balls", MANY, "balls-4", "Bouncing balls, trained on 6–8"),
    ("4-balls", "4 balls → curtain", FOUR, "curtain", "Bouncing balls behind a curtain"),
)
"""Plots of the figure: group, column, task, regime, subject."""


def experiment(core: Spec, task: BouncingBalls) -> Experiment:
    """The experiment of a row.

    Args:
        core: The layer.
        task: Balls of the numbers of training.
    """
    return Experiment(
        task=task,
        model=RollOutNetwork(
            core=core,
            encoder=Spec(LinearEncoder, out_features=128),
            decoder=Spec(LinearDecoder, first_bias=DARK),
        ),
        recipe=Recipe(steps=STEPS, learning_rate=3e-3, batch_size=32, clip_norm=1.0),
    )


def _claim(row: str, setting: tuple[str, str, BouncingBalls, str, str]) -> Claim:
    group, column, task, regime, subject = setting
    return Claim(
        paper="lamb2022",
        table="bouncing-balls",
        row=row,
        column=column,
        published=MEASURED,
        experiment=experiment(LAYERS[row], task),
        rule=RULE,
        metric=BouncingBalls.metric,
        regime=regime,
        quick=QUICK,
        subject=subject,
        group=group,
    )


BALLS: Final = Table(
    key="lamb2022/bouncing-balls",
    title="Bouncing balls rolled out from 15 frames: cross-entropy of frames 16 to 51",
    tuned="the learning rate, of two, for every row alike, by RIMs on validation sequences",
    claims=tuple(_claim(row, setting) for setting in SETTINGS for row in LAYERS),
)
"""Every layer in every plot."""
