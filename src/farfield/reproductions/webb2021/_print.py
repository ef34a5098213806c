"""Published numbers of webb2021, as data: sizes and epochs of Tables 1–8, scores of Tables 9–20."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from farfield.tasks import (
    DistributionOfThree,
    IdentityRules,
    RelationalMatchToSample,
    SameDifferent,
)

TaskClass = (
    type[SameDifferent]
    | type[RelationalMatchToSample]
    | type[DistributionOfThree]
    | type[IdentityRules]
)

Cells = tuple[tuple[float, float], ...]
"""Mean and standard error as published, in percent, column by column."""

WITHHELD: Final = (0, 50, 85, 95, 98)
"""The columns; m = 98 exists for same/different only."""

ALWAYS: Final[Cells] = ((100.0, 0.0),) * 5
"""A row of `100.0 ± 0.0`, which is often published."""


@final
@dataclass(frozen=True, kw_only=True)
class Subject:
    """Published sizes and scores of one task.

    Args:
        table: Number of its table of results with and without TCN.
        encoders_table: Number of its table of results with other encoders.
        title: Its name in the tables.
        task: Its class.
        training: Training problems by column (Tables 1–4).
        epochs: Epochs by column (Table 6).
        longer: Epochs by column of models that have their own (Tables 7 and 8).
        slower: Models that learn at 5e-5 without TCN, not at 5e-4 (Table 5).
        quick: Share of the steps in the quick budget, by column: all networks of the hardest
            regimes of three models together take less than ten minutes on two cores.
        cells: Scores with and without TCN, by row (Tables 9–12).
        encoders: Scores with the other encoders, by row (Tables 15–18); those with the
            convolutional one are the scores with TCN.
        unconfident: Scores of the ESBN without confidence (Table 19).
    """

    table: int
    encoders_table: int
    title: str
    task: TaskClass
    training: tuple[int, ...]
    epochs: tuple[int, ...]
    longer: dict[str, tuple[int, ...]]
    slower: tuple[str, ...]
    quick: tuple[float, ...]
    cells: dict[str, Cells]
    encoders: dict[str, Cells]
    unconfident: Cells


SAME_DIFFERENT: Final = Subject(
    table=9,
    encoders_table=15,
    title="Same/different",
    task=SameDifferent,
    training=(18_810, 4_900, 420, 40, 4),
    epochs=(50, 50, 50, 100, 100),
    longer={},
    slower=("ESBN",),
    quick=(1 / 80, 1 / 20, 1, 1, 1),
    cells={
        "ESBN + TCN": ALWAYS,
        "ESBN": ((50.0, 0.02), (50.0, 0.0), (50.1, 0.1), (49.8, 0.2), (50.1, 0.1)),
        "Transformer + TCN": ((100.0, 0.0), (100.0, 0.0), (100.0, 0.0), (100.0, 0.0), (72.3, 5.2)),
        "Transformer": ((100.0, 0.0), (99.9, 0.02), (95.4, 0.6), (73.7, 1.8), (56.1, 1.3)),
        "NTM + TCN": ((100.0, 0.0), (99.99, 0.0), (94.9, 0.6), (66.7, 2.5), (53.3, 1.4)),
        "NTM": ((99.0, 0.9), (98.6, 0.3), (84.9, 2.4), (57.0, 2.2), (52.5, 0.9)),
        "MNM + TCN": ((100.0, 0.0), (99.95, 0.03), (97.8, 0.4), (72.0, 2.4), (52.3, 0.5)),
        "MNM": ((98.9, 0.1), (95.1, 1.8), (88.6, 1.1), (59.1, 1.6), (51.7, 0.7)),
        "LSTM + TCN": ((100.0, 0.0), (99.97, 0.01), (96.9, 0.3), (69.4, 1.5), (54.8, 1.1)),
        "LSTM": ((88.2, 3.2), (97.0, 0.5), (85.5, 2.4), (61.8, 1.7), (56.5, 1.6)),
        "PrediNet + TCN": ((100.0, 0.0), (99.7, 0.1), (96.0, 1.3), (67.2, 2.9), (61.6, 2.3)),
        "PrediNet": ((100.0, 0.0), (99.9, 0.03), (97.0, 0.4), (90.0, 1.6), (68.5, 2.8)),
        "RN + TCN": ((100.0, 0.0), (100.0, 0.0), (100.0, 0.0), (99.9, 0.04), (66.8, 6.6)),
        "RN": ((99.98, 0.02), (98.5, 0.4), (53.2, 1.4), (50.5, 0.2), (52.3, 0.7)),
    },
    encoders={
        "ESBN (MLP)": ALWAYS,
        "ESBN (rand)": ALWAYS,
        "Transformer (MLP)": (*ALWAYS[:4], (77.6, 4.6)),
        "Transformer (rand)": (*ALWAYS[:4], (50.6, 0.3)),
    },
    unconfident=((50.0, 0.02), (50.0, 0.0), (50.0, 0.05), (49.8, 0.1), (50.0, 0.1)),
)

# The paper has "Transformer" twice in Table 10; the first, better row is the one with TCN, as
# its numbers in Table 16 show.
RELATIONAL_MATCH_TO_SAMPLE: Final = Subject(
    table=10,
    encoders_table=16,
    title="Relational match-to-sample",
    task=RelationalMatchToSample,
    training=(10_000, 10_000, 10_000, 480),
    epochs=(50, 50, 50, 200),
    longer={},
    slower=("ESBN", "RN"),
    quick=(1 / 40, 1 / 40, 1 / 40, 1 / 20),
    cells={
        "ESBN + TCN": ((100.0, 0.0), (100.0, 0.0), (100.0, 0.0), (95.0, 0.7)),
        "ESBN": ((86.4, 6.1), (69.4, 6.5), (50.0, 0.1), (51.0, 0.5)),
        "Transformer + TCN": ((100.0, 0.0), (99.98, 0.01), (99.1, 0.4), (79.8, 2.5)),
        "Transformer": ((99.4, 0.1), (96.8, 0.7), (86.4, 1.9), (49.9, 0.2)),
        "NTM + TCN": ((100.0, 0.0), (99.97, 0.01), (96.8, 0.5), (80.1, 2.3)),
        "NTM": ((99.5, 0.1), (92.5, 4.7), (81.2, 1.5), (50.1, 0.2)),
        "MNM + TCN": ((99.99, 0.0), (99.9, 0.03), (98.7, 0.3), (50.0, 0.2)),
        "MNM": ((74.6, 7.6), (63.6, 5.7), (78.3, 3.7), (50.0, 0.2)),
        "LSTM + TCN": ((99.99, 0.0), (99.8, 0.03), (94.9, 1.3), (60.7, 3.7)),
        "LSTM": ((99.1, 0.3), (90.2, 2.0), (80.9, 1.1), (50.2, 0.1)),
        "PrediNet + TCN": ((99.7, 0.1), (99.6, 0.1), (94.6, 2.2), (68.4, 2.7)),
        "PrediNet": ((54.9, 4.7), (50.1, 0.2), (65.9, 3.7), (49.7, 0.2)),
        "RN + TCN": ((100.0, 0.0), (99.99, 0.0), (99.5, 0.3), (79.6, 2.1)),
        "RN": ((50.1, 0.2), (49.9, 0.2), (50.2, 0.2), (50.0, 0.1)),
    },
    encoders={
        "ESBN (MLP)": ((100.0, 0.0), (100.0, 0.0), (100.0, 0.0), (97.2, 0.2)),
        "ESBN (rand)": ((100.0, 0.0), (100.0, 0.0), (100.0, 0.0), (93.8, 0.4)),
        "Transformer (MLP)": ((100.0, 0.0), (100.0, 0.0), (99.9, 0.1), (73.6, 5.3)),
        "Transformer (rand)": ((99.99, 0.01), (99.9, 0.04), (95.4, 3.2), (46.8, 1.7)),
    },
    unconfident=((99.95, 0.01), (99.9, 0.02), (99.9, 0.02), (96.0, 0.6)),
)

DISTRIBUTION_OF_THREE: Final = Subject(
    table=11,
    encoders_table=17,
    title="Distribution-of-three",
    task=DistributionOfThree,
    training=(10_000, 10_000, 10_000, 360),
    epochs=(50, 50, 50, 150),
    longer={"PrediNet": (100, 100, 100, 150), "RN": (150, 150, 150, 800)},
    slower=("ESBN", "PrediNet"),
    quick=(1 / 40, 1 / 40, 1 / 40, 1 / 20),
    cells={
        "ESBN + TCN": ((98.7, 0.4), (99.0, 0.3), (99.5, 0.2), (99.7, 0.1)),
        "ESBN": ((99.98, 0.0), (97.4, 0.2), (92.4, 1.1), (62.0, 4.0)),
        "Transformer + TCN": ((88.7, 2.6), (95.0, 1.2), (92.7, 1.5), (32.1, 1.0)),
        "Transformer": ((62.1, 3.3), (68.6, 3.6), (72.6, 4.4), (28.0, 0.8)),
        "NTM + TCN": ((95.5, 0.4), (95.2, 0.4), (94.3, 0.8), (34.0, 0.5)),
        "NTM": ((92.9, 0.5), (87.1, 1.4), (78.2, 1.4), (26.7, 0.3)),
        "MNM + TCN": ((94.7, 0.3), (93.6, 0.4), (90.6, 0.7), (32.2, 0.6)),
        "MNM": ((58.5, 8.9), (68.7, 6.2), (48.4, 5.5), (25.6, 0.3)),
        "LSTM + TCN": ((96.0, 0.6), (94.8, 0.5), (92.9, 0.8), (34.8, 0.8)),
        "LSTM": ((91.3, 0.6), (85.3, 1.5), (71.6, 4.3), (27.5, 0.3)),
        "PrediNet + TCN": ((95.2, 0.3), (94.6, 0.4), (93.3, 0.9), (27.8, 0.5)),
        "PrediNet": ((75.1, 3.0), (65.7, 7.4), (78.0, 6.0), (25.7, 0.1)),
        "RN + TCN": ((35.6, 3.0), (50.6, 7.6), (72.2, 6.8), (26.5, 0.3)),
        "RN": ((25.1, 0.1), (24.9, 0.1), (25.7, 0.3), (25.2, 0.1)),
    },
    encoders={
        "ESBN (MLP)": ((99.0, 0.1), (98.4, 0.3), (98.0, 0.3), (95.9, 0.5)),
        "ESBN (rand)": ALWAYS[:4],
        "Transformer (MLP)": ((92.7, 2.1), (93.3, 1.5), (92.1, 0.8), (35.3, 1.2)),
        "Transformer (rand)": ((66.0, 6.2), (80.8, 2.5), (60.9, 2.4), (26.9, 0.4)),
    },
    unconfident=((99.2, 0.2), (99.0, 0.3), (99.5, 0.3), (99.8, 0.1)),
)

IDENTITY_RULES: Final = Subject(
    table=12,
    encoders_table=18,
    title="Identity rules",
    task=IdentityRules,
    training=(10_000, 10_000, 10_000, 8_640),
    epochs=(50, 50, 50, 50),
    longer=dict.fromkeys(("PrediNet", "RN", "Transformer"), (100, 100, 100, 150)),
    slower=("ESBN", "PrediNet"),
    quick=(1 / 80, 1 / 80, 1 / 80, 1 / 80),
    cells={
        "ESBN + TCN": ((99.6, 0.2), (99.6, 0.1), (99.9, 0.04), (99.2, 0.4)),
        "ESBN": ((100.0, 0.0), (99.4, 0.1), (97.8, 0.2), (95.2, 0.4)),
        "Transformer + TCN": ((98.3, 0.7), (97.1, 1.0), (92.0, 1.7), (67.1, 2.4)),
        "Transformer": ((75.5, 4.1), (71.6, 5.1), (85.4, 4.6), (38.6, 2.2)),
        "NTM + TCN": ((98.2, 0.6), (97.8, 0.5), (93.9, 0.6), (64.9, 1.2)),
        "NTM": ((94.6, 0.3), (90.1, 0.8), (82.2, 1.2), (25.0, 0.1)),
        "MNM + TCN": ((95.2, 0.4), (93.8, 0.4), (90.8, 0.5), (61.5, 1.5)),
        "MNM": ((70.9, 10.2), (69.5, 9.7), (49.8, 8.4), (24.9, 0.2)),
        "LSTM + TCN": ((98.9, 0.1), (97.7, 0.3), (92.1, 0.7), (62.5, 1.1)),
        "LSTM": ((93.8, 0.5), (89.3, 0.6), (73.7, 5.7), (24.8, 0.1)),
        "PrediNet + TCN": ((93.0, 0.8), (92.8, 0.7), (89.8, 0.8), (59.9, 2.6)),
        "PrediNet": ((40.8, 0.4), (40.5, 1.9), (40.3, 2.2), (32.2, 0.6)),
        "RN + TCN": ((41.5, 6.7), (40.2, 1.0), (48.7, 2.0), (41.4, 2.0)),
        "RN": ((41.1, 7.2), (37.3, 3.4), (31.6, 2.8), (25.4, 0.4)),
    },
    encoders={
        "ESBN (MLP)": ((99.3, 0.2), (98.6, 0.3), (97.7, 0.4), (95.5, 1.0)),
        "ESBN (rand)": ALWAYS[:4],
        "Transformer (MLP)": ((85.5, 4.0), (84.8, 3.8), (86.4, 2.3), (59.8, 1.5)),
        "Transformer (rand)": ((47.8, 1.1), (51.4, 1.9), (48.6, 1.1), (27.5, 0.6)),
    },
    unconfident=((99.6, 0.1), (99.6, 0.2), (99.8, 0.1), (99.2, 0.2)),
)

SUBJECTS: Final = (
    SAME_DIFFERENT,
    RELATIONAL_MATCH_TO_SAMPLE,
    DISTRIBUTION_OF_THREE,
    IDENTITY_RULES,
)

TERNARY: Final = (DISTRIBUTION_OF_THREE, IDENTITY_RULES)
"""The tasks of Tables 13 and 14."""

MORE_PROBLEMS: Final[tuple[Cells, ...]] = (
    ((84.5, 10.0), (84.6, 9.9), (72.4, 9.7)),
    ((89.2, 5.0), (99.7, 0.1), (86.6, 4.1)),
)
"""Table 13: the RN trained on ten times as many problems, by task of `TERNARY`."""

TRIPLES: Final[tuple[Cells, ...]] = (
    ((60.2, 5.4), (77.5, 5.7), (88.7, 0.8), (27.8, 0.5)),
    ((40.3, 2.0), (43.6, 2.0), (52.8, 2.7), (44.9, 1.0)),
)
"""Table 14: the TRN, by task of `TERNARY`."""

DEFAULT_MEMORY: Final[Cells] = ALWAYS
"""Table 20: the ESBN with a learned default memory, on same/different."""

LEARNING_RATE: Final = 5e-4
"""Everywhere with TCN, and for most models without (appendix A.4)."""
SLOWER_LEARNING_RATE: Final = 5e-5
"""For some models without TCN (Table 5)."""
BATCH_SIZE: Final = 32
RUNS: Final = 10
SELECTION: Final = "weights of the last epoch, no validation"
SPLIT: Final = "test problems, whose shapes no training problem shows (m > 0)"
