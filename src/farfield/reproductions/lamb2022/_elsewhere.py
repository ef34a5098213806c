"""Manifold Mixup on tasks of the other papers, where nobody has tried it: does it reach further?

Networks and recipes are those of the papers' tables at fewer steps, the same for both rules. Mixed
are the embeddings of the items, place by place, and the answers with them. Alpha is that of chapter
4, and nothing was tuned.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.objectives import ManifoldMixup, Objective, Supervised
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022._copying import COPYING
from farfield.reproductions.webb2020 import PAPER as WEBB2020
from farfield.reproductions.webb2021 import PAPER as WEBB2021

MEASURED: Final = Unpublished(runs=3, selection="weights of the last step", split="new problems")
RULES: Final[dict[str, Objective]] = {
    "No Mixup": Supervised(),
    "Manifold Mixup": ManifoldMixup(layers=("encoder",)),
}
SOURCES: Final = {
    "identity-rules": (
        WEBB2021.tables["table-12"].select("lstm+tcn/withheld-95", "esbn+tcn/withheld-95"),
        1_000,
    ),
    "vaec": (
        WEBB2020.tables["table-1"].select("context-norm/training", "context-norm/region-*"),
        500,
    ),
    "copying": (COPYING.select("holding-rnn/*"), 1_000),
}
"""Cells of the papers, and the steps that their networks have here."""


def _claim(group: str, source: Claim, row: str, objective: Objective, steps: int) -> Claim:
    """A cell of another table, at fewer steps and under a learning rule."""
    recipe = dataclasses.replace(source.experiment.recipe, steps=steps, evaluations=1)
    return Claim(
        paper="lamb2022",
        table="mixup-elsewhere",
        row=f"{source.row}, {row}",
        column=source.column,
        published=MEASURED,
        experiment=dataclasses.replace(source.experiment, recipe=recipe, objective=objective),
        rule=VerdictRule(),
        metric="accuracy",
        regime=source.regime,
        quick=1,
        subject=source.subject,
        group=group,
    )


MIXUP_ELSEWHERE: Final = Table(
    key="lamb2022/mixup-elsewhere",
    title="Manifold Mixup on rules, analogies and copying, at fewer steps",
    claims=tuple(
        _claim(group, source, row, objective, steps)
        for group, (table, steps) in SOURCES.items()
        for source in table.claims
        for row, objective in RULES.items()
    ),
)
