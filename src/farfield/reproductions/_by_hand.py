"""Rows by hand: rules without training, which a goal for networks must be out of reach of."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Final

from farfield.experiments import ByHand, Experiment, Recipe
from farfield.reproductions._claims import Claim
from farfield.reproductions._published import Unpublished
from farfield.tasks import ProblemTask
from farfield.tasks.internal import AnswersByHand

BY_HAND: Final = "By hand"
"""Name of a row by hand."""
RUNS: Final = 2
"""Number of runs whose problems a rule answers; the rule itself draws nothing."""


def by_hand(task: ProblemTask | AnswersByHand, rule: str = ByHand().rule) -> Experiment:
    """Build the experiment of a rule by hand of a task."""
    return Experiment(task=task, model=ByHand(rule=rule), recipe=Recipe(steps=1, batch_size=1))


def with_rows_by_hand(
    claims: Iterable[Claim], name: str | Mapping[str, str] = BY_HAND
) -> tuple[Claim, ...]:
    """Yield claims, followed by the rows by hand for each column with a goal.

    A column whose task has no rule by hand gets none.

    Args:
        claims: Claims of one table.
        name: Name of the row; of several, each with the method of the task that answers.
    """
    every = tuple(claims)
    rules = {name: ByHand().rule} if isinstance(name, str) else name
    rows: list[Claim] = []
    for one, rule in rules.items():
        columns = {
            (claim.group, claim.regime, claim.metric): row
            for claim in reversed(every)
            if (row := _row_by_hand(claim, one, rule)) is not None
        }
        rows.extend(reversed(columns.values()))
    return (*every, *rows)


def _row_by_hand(claim: Claim, name: str, rule: str) -> Claim | None:
    """Find the row by hand beside a claim with a goal; `None` without goal or rule."""
    number, task = claim.published, claim.experiment.task
    if not isinstance(number, Unpublished) or number.goal is None:
        return None
    if not isinstance(task, AnswersByHand):
        return None
    return dataclasses.replace(
        claim,
        row=name,
        published=dataclasses.replace(
            number, runs=RUNS, goal=None, confirmation=None, selection="nothing is trained"
        ),
        experiment=by_hand(task, rule),
        quick=1.0,
        quick_before=None,
        selection=None,
    )
