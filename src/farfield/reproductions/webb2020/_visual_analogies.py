"""Table 3 of webb2020 as claims: the visual analogies of Hill et al. 2019.

The published cells need the published files. Beside them stands a table of the same networks on
problems of our own, whose numbers are never set beside the published ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

from farfield.experiments import Experiment, Recipe, ScoringNetwork, Spec
from farfield.models import RNNScorer
from farfield.nn import ContextNorm, PanelEncoder, SlotBatchNorm
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published, Unpublished
from farfield.reproductions.webb2020._tables import RULE
from farfield.tasks import PublishedVisualAnalogies, VisualAnalogies

LEARNING_RATE: Final = 1e-4
BATCH_SIZE: Final = 32
STEPS: Final = 3 * 600_000 // BATCH_SIZE
"""Three epochs over the published training problems (supplement 2)."""

OWN_STEPS: Final = 30 * 10_000 // BATCH_SIZE
"""Thirty epochs over the problems of our own."""
OWN_QUICK: Final = 1 / 10
OWN_RUNS: Final = 5

SELECTION: Final = "weights of the last step, no validation"
SOURCE_AND_TARGET: Final = ((0, 1, 2), (3, 4, 5))
WHOLE: Final = ((0, 1, 2, 3, 4, 5),)


@final
@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of Table 3.

    Args:
        mean: Test accuracy, in percent.
        error: Its standard error.
        runs: Networks behind it.
        decimals: Published digits after the point, of both.
        context: What normalizes the embeddings; `None` for nothing.
    """

    mean: float
    error: float
    runs: int
    decimals: tuple[int, int]
    context: Spec | None


ROWS: Final[Mapping[str, Row]] = {
    "Context norm. (source/target)": Row(
        mean=74.2,
        error=0.81,
        runs=5,
        decimals=(1, 2),
        context=Spec(ContextNorm, segments=SOURCE_AND_TARGET),
    ),
    "Context norm. (entire analogy)": Row(
        mean=67.6,
        error=0.49,
        runs=5,
        decimals=(1, 2),
        context=Spec(ContextNorm, segments=WHOLE),
    ),
    "Batch norm.": Row(mean=66.1, error=0.53, runs=5, decimals=(1, 2), context=Spec(SlotBatchNorm)),
    "Baseline (Hill et al., 2019)": Row(
        mean=62.0, error=0.02, runs=10, decimals=(0, 2), context=None
    ),
}
"""Table 3 as published; the last row is not the paper's own run."""


def _experiment(
    task: PublishedVisualAnalogies | VisualAnalogies, row: Row, steps: int
) -> Experiment:
    return Experiment(
        task=task,
        model=ScoringNetwork(
            scorer=Spec(RNNScorer), encoder=Spec(PanelEncoder), context=row.context
        ),
        recipe=Recipe(steps=steps, learning_rate=LEARNING_RATE, batch_size=BATCH_SIZE),
    )


TABLE_3: Final = Table(
    key="webb2020/table-3",
    title="The extrapolation regime of the published visual analogies",
    claims=tuple(
        Claim(
            paper="webb2020",
            table="table-3",
            row=name,
            column="Test",
            published=Published(
                mean=row.mean,
                spread=row.error,
                spread_kind="standard error",
                runs=row.runs,
                decimals=row.decimals,
                unit="percent",
                selection=SELECTION,
                split="the published test problems with contrasting foils",
            ),
            experiment=_experiment(PublishedVisualAnalogies(), row, STEPS),
            rule=RULE,
            metric="accuracy",
            regime="extrapolation",
            quick=1 / 50,
            subject="Visual analogies",
            free=("folder",),
            data="the extrapolation files of Hill et al. 2019 in FARFIELD_DATA/analogies",
        )
        for name, row in ROWS.items()
    ),
)

TABLE_3_GENERATED: Final = Table(
    key="webb2020/table-3-generated",
    title="Visual analogies of our own, from familiar values to novel ones in the target row",
    claims=tuple(
        Claim(
            paper="webb2020",
            table="table-3-generated",
            row="No norm." if row.context is None else name,
            column="Target, upper half",
            published=Unpublished(
                runs=OWN_RUNS, selection=SELECTION, split="test problems with contrasting foils"
            ),
            experiment=_experiment(VisualAnalogies(), row, OWN_STEPS),
            rule=RULE,
            metric="accuracy",
            regime="target-upper-half",
            quick=OWN_QUICK,
            subject="Visual analogies of our own",
        )
        for name, row in ROWS.items()
    ),
)
