"""Tables 9–20 of webb2021 as claims: each cell one experiment, made from what the paper says of it.

What the text leaves open is in `farfield.tasks` and `farfield.models`, which follow the text; the
tables named `…-released` are put to the test with the options by which the released code differs.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any, Final

from torch import nn

from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import ESBN, LSTM, MNM, NTM, RN, TRN, CoRelNet, PrediNet, Transformer
from farfield.nn import ContextNorm, ConvEncoder, MLPEncoder, RandomEncoder
from farfield.objectives import Reconstructing, Supervised
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published, Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.webb2021 import _print as printed
from farfield.reproductions.webb2021._print import (
    DISTRIBUTION_OF_THREE,
    IDENTITY_RULES,
    RELATIONAL_MATCH_TO_SAMPLE,
    SAME_DIFFERENT,
    SUBJECTS,
    TERNARY,
    WITHHELD,
    Cells,
    Subject,
)
from farfield.tasks import IdentityRules, RelationalMatchToSample, SameDifferent

RULE: Final = VerdictRule()
"""The rule of all these claims, with its defaults in percentage points."""

MODELS: Final[dict[str, type[nn.Module]]] = {
    "ESBN": ESBN,
    "Transformer": Transformer,
    "NTM": NTM,
    "MNM": MNM,
    "LSTM": LSTM,
    "PrediNet": PrediNet,
    "RN": RN,
    "CoRelNet": CoRelNet,
}
"""Reasoners by row of Tables 9–12. The last one is not the paper's: nothing is published of it."""

ENCODERS: Final = {"conv": ConvEncoder, "MLP": MLPEncoder, "rand": RandomEncoder}
"""Encoders as Tables 15–18 name them."""

UNPUBLISHED: Final = Unpublished(
    runs=printed.RUNS, selection=printed.SELECTION, split=printed.SPLIT
)

MORE: Final = 100_000
"""Training problems of Table 13."""


def experiment(
    subject: Subject,
    column: int,
    reasoner: Spec,
    *,
    normalized: bool = True,
    encoder: str = "conv",
    problems: int | None = None,
) -> Experiment:
    """The experiment of one cell: the paper's task, network and training.

    Args:
        subject: The task, and what the paper says of it.
        column: Which of `WITHHELD`.
        reasoner: The reasoner.
        normalized: Whether with temporal context normalization.
        encoder: Which of `ENCODERS`.
        problems: Number of training problems, where it is not that of Tables 1–4.
    """
    name = reasoner.cls.__name__
    epochs = subject.longer.get(name, subject.epochs)[column]
    drawn = subject.training[column] if problems is None else problems
    slow = not normalized and name in subject.slower
    options: dict[str, Any] = {} if problems is None else {"training_problems": problems}
    return Experiment(
        task=subject.task(withheld=WITHHELD[column], **options),
        model=Network(
            reasoner=reasoner,
            encoder=Spec(ENCODERS[encoder]),
            context=Spec(ContextNorm) if normalized else None,
        ),
        objective=Reconstructing() if reasoner.cls is MNM else Supervised(),
        recipe=Recipe(
            steps=epochs * math.ceil(drawn / printed.BATCH_SIZE),
            learning_rate=printed.SLOWER_LEARNING_RATE if slow else printed.LEARNING_RATE,
            batch_size=printed.BATCH_SIZE,
        ),
    )


def claims_of_row(
    number: int,
    subject: Subject,
    row: str,
    cells: Cells | None,
    make: Callable[[int], Experiment],
    group: str = "",
) -> list[Claim]:
    """The claims of one row.

    Args:
        number: Number of the table.
        subject: What the row is about.
        row: The row as published.
        cells: Its published numbers; `None` for none, in all of the subject's columns.
        make: The experiment of a column.
        group: Set before the cells' names where a table is about several tasks.
    """
    numbers: list[Published | Unpublished] = (
        [UNPUBLISHED for _ in subject.epochs]
        if cells is None
        else [_published(cell) for cell in cells]
    )
    return [
        Claim(
            paper="webb2021",
            table=f"table-{number}",
            row=row,
            column=f"m = {WITHHELD[column]}",
            published=published,
            experiment=make(column),
            rule=RULE,
            metric="accuracy",
            regime=f"withheld-{WITHHELD[column]}",
            quick=subject.quick[column],
            subject=subject.title,
            group=group,
            free=("shapes",),
        )
        for column, published in enumerate(numbers)
    ]


def _published(cell: tuple[float, float]) -> Published:
    mean, error = cell
    return Published(
        mean=mean,
        spread=error,
        spread_kind="standard error",
        runs=printed.RUNS,
        decimals=(_decimals(mean), _decimals(error)),
        unit="percent",
        selection=printed.SELECTION,
        split=printed.SPLIT,
    )


def _decimals(value: float) -> int:
    """Published digits after the point: at least one, and no zero after it."""
    return len(repr(value).partition(".")[2])


def _with_and_without(subject: Subject) -> Table:
    """One of Tables 9–12, and the rows of CoRelNet, which the paper has not."""

    def row(label: str, cells: Cells | None) -> list[Claim]:
        name, _, normalized = label.partition(" + ")

        def make(column: int) -> Experiment:
            return experiment(subject, column, Spec(MODELS[name]), normalized=bool(normalized))

        return claims_of_row(subject.table, subject, label, cells, make)

    rows = [*subject.cells.items(), ("CoRelNet + TCN", None), ("CoRelNet", None)]
    return Table(
        key=f"webb2021/table-{subject.table}",
        title=f"{subject.title}, with and without temporal context normalization (TCN)",
        claims=tuple(claim for label, cells in rows for claim in row(label, cells)),
    )


def _encoders(subject: Subject) -> Table:
    """One of Tables 15–18; its row of the convolutional encoder is the row with TCN."""
    claims: list[Claim] = []
    for name in ("ESBN", "Transformer"):
        for encoder in ENCODERS:
            row = f"{name} ({encoder})"
            conv = encoder == "conv"
            cells = subject.cells[f"{name} + TCN"] if conv else subject.encoders[row]

            def make(column: int, name: str = name, encoder: str = encoder) -> Experiment:
                return experiment(subject, column, Spec(MODELS[name]), encoder=encoder)

            claims += claims_of_row(subject.encoders_table, subject, row, cells, make)
    return Table(
        key=f"webb2021/table-{subject.encoders_table}",
        title=f"{subject.title} with other encoders, with TCN",
        claims=tuple(claims),
    )


def _one_model(
    number: int,
    title: str,
    row: str,
    reasoner: Spec,
    cells: Iterable[tuple[Subject, Cells | None]],
    problems: int | None = None,
) -> Table:
    """A table of one model, with TCN, on several tasks."""
    claims: list[Claim] = []
    for subject, scores in cells:

        def make(column: int, subject: Subject = subject) -> Experiment:
            return experiment(subject, column, reasoner, problems=problems)

        claims += claims_of_row(number, subject, row, scores, make, subject.task.name)
    return Table(key=f"webb2021/table-{number}", title=title, claims=tuple(claims))


TABLE_9: Final = _with_and_without(SAME_DIFFERENT)
TABLE_10: Final = _with_and_without(RELATIONAL_MATCH_TO_SAMPLE)
TABLE_11: Final = _with_and_without(DISTRIBUTION_OF_THREE)
TABLE_12: Final = _with_and_without(IDENTITY_RULES)
TABLE_13: Final = _one_model(
    13,
    "The relation network on ternary relations, trained on ten times as many problems",
    "RN + TCN",
    Spec(RN),
    zip(TERNARY, printed.MORE_PROBLEMS, strict=True),
    MORE,
)
TABLE_14: Final = _one_model(
    14,
    "The temporal relation network on ternary relations",
    "TRN + TCN",
    Spec(TRN),
    zip(TERNARY, printed.TRIPLES, strict=True),
)
TABLE_15: Final = _encoders(SAME_DIFFERENT)
TABLE_16: Final = _encoders(RELATIONAL_MATCH_TO_SAMPLE)
TABLE_17: Final = _encoders(DISTRIBUTION_OF_THREE)
TABLE_18: Final = _encoders(IDENTITY_RULES)
TABLE_19: Final = _one_model(
    19,
    "The ESBN without confidence",
    "ESBN without confidence + TCN",
    Spec(ESBN, confidence=False),
    ((subject, subject.unconfident) for subject in SUBJECTS),
)
TABLE_20: Final = _one_model(
    20,
    "The ESBN with a learned default memory instead of confidence",
    "ESBN with default memory + TCN",
    Spec(ESBN, default_memory=True),
    # Of the second task only the time course is published, in Figure 8.
    [(SAME_DIFFERENT, printed.DEFAULT_MEMORY), (RELATIONAL_MATCH_TO_SAMPLE, None)],
)

RELEASED_TASKS: Final[dict[type, dict[str, bool]]] = {
    SameDifferent: {"softmax": True},
    RelationalMatchToSample: {"softmax": True},
    IdentityRules: {"thirds": True},
}
"""Options of the tasks by which the released code differs from the text."""

RELEASED_REASONERS: Final[dict[type, dict[str, bool]]] = {
    Transformer: {"final_norm": True},
    NTM: {"first_read": False},
    MNM: {"memory_trained": False},
    TRN: {"order_layers": False},
}
"""Options of the reasoners by which the released code differs from the text."""


def _released_options(claim: Claim) -> Claim:
    """The claim put to the test as the released code does it, where that differs from the text."""
    tested = claim.experiment
    task: Any = tested.task
    model: Any = tested.model
    reasoner = model.reasoner
    options = {**dict(reasoner.options), **RELEASED_REASONERS.get(reasoner.cls, {})}
    return dataclasses.replace(
        claim,
        table=f"{claim.table}-released",
        experiment=dataclasses.replace(
            tested,
            task=dataclasses.replace(task, **RELEASED_TASKS.get(type(task), {})),
            model=dataclasses.replace(
                model,
                reasoner=Spec(reasoner.cls, **options),
                context=Spec(ContextNorm, correction=1),
            ),
        ),
    )


def _released(table: Table, title: str) -> Table:
    """The cells with TCN of a table that the released code can run, with its options."""
    return Table(
        key=f"{table.key}-released",
        title=f"{title} with TCN and the released code's options",
        claims=tuple(
            _released_options(claim)
            for claim in table.claims
            if claim.row.endswith("+ TCN") and isinstance(claim.published, Published)
        ),
    )


TABLE_9_RELEASED: Final = _released(TABLE_9, SAME_DIFFERENT.title)
TABLE_10_RELEASED: Final = _released(TABLE_10, RELATIONAL_MATCH_TO_SAMPLE.title)
TABLE_11_RELEASED: Final = _released(TABLE_11, DISTRIBUTION_OF_THREE.title)
TABLE_12_RELEASED: Final = _released(TABLE_12, IDENTITY_RULES.title)
TABLE_14_RELEASED: Final = _released(TABLE_14, "The temporal relation network")

_FULL: Final = (TABLE_9, TABLE_10, TABLE_11, TABLE_12)
_HARDEST: Final = {9: 98, 10: 95, 11: 95, 12: 95}


def _hardest(key: str, title: str, rows: str) -> Table:
    """Rows of the hardest regime of each task."""
    return Table(
        key=key, title=title, claims=tuple(claim for table in _FULL for claim in table.claims)
    ).select(*(f"table-{number}/{rows}/withheld-{m}" for number, m in _HARDEST.items()))


HARDEST: Final = _hardest(
    "webb2021/hardest", "The hardest regime of each task of Tables 9–12, all models", "*"
)
"""All that Tables 9–12 say of the least training."""

DEMO: Final = _hardest(
    "webb2021/demo",
    "The hardest regime of each task of Tables 9–12, three models with TCN",
    "*+tcn",
).select(*(f"*/{name}+tcn/*" for name in ("esbn", "transformer", "lstm")))
"""The table of `make demo`."""
