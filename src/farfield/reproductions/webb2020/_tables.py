"""Tables 1, 2 and S1 of webb2020 as claims: the scoring model on VAEC under all normalizations.

What the text leaves open is in `farfield.tasks` and `farfield.models`, which follow the text; the
tables named `…-released` are put to the test with the options by which the released code differs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from farfield.experiments import Experiment, Recipe, ScoringNetwork, Spec
from farfield.models import LayerNormLSTMScorer, LSTMScorer
from farfield.nn import (
    BatchContextNorm,
    ContextNorm,
    LayerNorm,
    MisalignedContextNorm,
    PooledBatchNorm,
    SlidingContextNorm,
    SlotBatchNorm,
    SubBatchNorm,
)
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.webb2020 import _print as printed
from farfield.reproductions.webb2020._print import Cells
from farfield.tasks import VAECScale, VAECTranslation

VAEC = VAECTranslation | VAECScale

RULE: Final = VerdictRule()
"""The rule of all these claims, with its defaults in percentage points."""

QUICK_STEPS: Final = 2_000
"""Steps of the quick budget, of 10,000 or 500,000."""


SLOTS: Final = (7, 4)
"""Candidates and places of a sequence: each has statistics of its own in batch normalization."""


@final
@dataclass(frozen=True, kw_only=True)
class Condition:
    """One of the ways in which the paper normalizes, as a network and its training.

    Args:
        context: What normalizes the embeddings; `None` for nothing.
        scorer: What reads them.
        steps: Updates.
        learning_rate: Adam's step size.
    """

    context: Spec | None
    scorer: Spec = Spec(LSTMScorer)
    steps: int = printed.STEPS
    learning_rate: float = printed.LEARNING_RATE

    @property
    def quick(self) -> float:
        """Share of the steps in the quick budget."""
        return QUICK_STEPS / self.steps

    def experiment(self, task: VAEC) -> Experiment:
        """The experiment of the condition on a task.

        Args:
            task: The task.
        """
        return Experiment(
            task=task,
            model=ScoringNetwork(scorer=self.scorer, context=self.context),
            recipe=Recipe(
                steps=self.steps,
                learning_rate=self.learning_rate,
                batch_size=printed.BATCH_SIZE,
            ),
        )

    def released(self) -> Condition:
        """The condition with the options by which the released code differs from the text."""
        scorer = Spec(
            self.scorer.cls,
            **{**dict(self.scorer.options), "position_tags": True, "forget_bias": 1.0},
        )
        context = self.context
        if context is not None and context.cls in RELEASED_CONTEXTS:
            options = {**dict(context.options), **RELEASED_CONTEXTS[context.cls]}
            context = Spec(context.cls, **options)
        return dataclasses.replace(self, scorer=scorer, context=context)


CONDITIONS: Final[dict[str, Condition]] = {
    "Context norm.": Condition(context=Spec(ContextNorm)),
    "Sub-batch norm.": Condition(context=Spec(SubBatchNorm)),
    "Sliding context norm.": Condition(context=Spec(SlidingContextNorm)),
    "Batch + context norm.": Condition(context=Spec(BatchContextNorm)),
    "Layer norm. (recurrent)": Condition(
        context=None, scorer=Spec(LayerNormLSTMScorer), steps=printed.LONG_STEPS
    ),
    "Misaligned context norm.": Condition(context=Spec(MisalignedContextNorm)),
    "Batch norm.": Condition(context=Spec(SlotBatchNorm)),
    "Batch norm. + dropout": Condition(
        context=Spec(SlotBatchNorm), scorer=Spec(LSTMScorer, dropout=printed.DROPOUT)
    ),
    "Layer norm.": Condition(
        context=Spec(LayerNorm, sigma=printed.LAYER_SIGMA), steps=printed.LONG_STEPS
    ),
    "No norm.": Condition(
        context=None, steps=printed.LONG_STEPS, learning_rate=printed.SLOWER_LEARNING_RATE
    ),
    "Batch norm. (train stats)": Condition(context=Spec(SlotBatchNorm, training_statistics=SLOTS)),
}
"""Every row of Tables 1 and 2."""

RELEASED_CONTEXTS: Final[Mapping[type, Mapping[str, Any]]] = {
    SlidingContextNorm: {"include_self": False},
}
"""Options of the normalizers by which the released code differs from the text."""

POOLED: Final[dict[str, Condition]] = {
    "Batch norm.": Condition(context=Spec(PooledBatchNorm)),
    "Batch norm. + dropout": Condition(
        context=Spec(PooledBatchNorm), scorer=Spec(LSTMScorer, dropout=printed.DROPOUT)
    ),
    "Batch norm. (train stats)": Condition(context=Spec(PooledBatchNorm, training_statistics=True)),
}
"""Batch normalization as the text can be read too: one statistic for all places of a problem."""

PARTS: Final = {
    "Size": "size",
    "Brightness": "brightness",
    "Location (X)": "location-x",
    "Location (Y)": "location-y",
}
"""Dimensions by row of Table S1."""


def _claims(
    table: str,
    row: str,
    cells: Cells,
    condition: Condition,
    task: VAEC,
    metric: str = "accuracy",
) -> list[Claim]:
    """The claims of one row, a column for each region or scale."""
    word = "Scale" if isinstance(task, VAECScale) else "Region"
    return [
        Claim(
            paper="webb2020",
            table=table,
            row=row,
            column=f"{word} {number}" + (" (training)" if number == 1 else ""),
            published=Published(
                mean=mean,
                spread=error,
                spread_kind="standard error",
                runs=printed.RUNS,
                decimals=(1, 1),
                unit="percent",
                selection=printed.SELECTION,
                split=printed.SPLIT,
            ),
            experiment=condition.experiment(task),
            rule=RULE,
            metric=metric,
            regime=regime.name,
            quick=condition.quick,
            subject=f"VAEC, {word.lower()}s",
        )
        for number, (regime, (mean, error)) in enumerate(
            zip(task.regimes, cells, strict=True), start=1
        )
    ]


def _table(
    key: str,
    title: str,
    rows: Mapping[str, Cells],
    task: VAEC,
    conditions: Mapping[str, Condition],
) -> Table:
    """One of Tables 1 and 2: those rows whose condition there is."""
    claims: list[Claim] = []
    for row, cells in rows.items():
        if row in conditions:
            claims += _claims(key, row, cells, conditions[row], task)
    return Table(key=f"webb2020/{key}", title=title, claims=tuple(claims))


def _released(key: str, title: str, rows: Mapping[str, Cells], task: VAEC) -> Table:
    """The table with the released code's options."""
    conditions = {row: condition.released() for row, condition in CONDITIONS.items()}
    return _table(
        f"{key}-released", f"{title}, with the released code's options", rows, task, conditions
    )


_TRANSLATION: Final = "Analogies of VAEC in regions away from that of training"
_SCALE: Final = "Analogies of VAEC at scales above that of training"

TABLE_1: Final = _table("table-1", _TRANSLATION, printed.TABLE_1, VAECTranslation(), CONDITIONS)
TABLE_2: Final = _table("table-2", _SCALE, printed.TABLE_2, VAECScale(), CONDITIONS)
TABLE_2_MULTIPLIED: Final = _table(
    "table-2-multiplied",
    f"{_SCALE}, levels multiplied as the text has it",
    printed.TABLE_2,
    VAECScale(levels_multiplied=True),
    CONDITIONS,
)
TABLE_1_POOLED: Final = _table(
    "table-1-pooled",
    f"{_TRANSLATION}, batch statistics of all places together",
    printed.TABLE_1,
    VAECTranslation(),
    POOLED,
)
TABLE_2_POOLED: Final = _table(
    "table-2-pooled",
    f"{_SCALE}, batch statistics of all places together",
    printed.TABLE_2,
    VAECScale(),
    POOLED,
)
TABLE_1_RELEASED: Final = _released("table-1", _TRANSLATION, printed.TABLE_1, VAECTranslation())
TABLE_2_RELEASED: Final = _released("table-2", _SCALE, printed.TABLE_2, VAECScale())
TABLE_S1: Final = Table(
    key="webb2020/table-s1",
    title="Context normalization in Table 1, by the dimension that varies",
    claims=tuple(
        claim
        for row, cells in printed.TABLE_S1.items()
        for claim in _claims(
            "table-s1",
            row,
            cells,
            CONDITIONS["Context norm."],
            VAECTranslation(),
            f"accuracy/{PARTS[row]}",
        )
    ),
)
