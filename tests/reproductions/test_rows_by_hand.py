"""Rows by hand beside goals, and what has no such row."""

from __future__ import annotations

import pytest

from farfield.experiments import ByHand, Experiment, Recipe
from farfield.reproductions import TABLES, Unpublished
from farfield.tasks import BouncingBalls


def test_a_task_without_a_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="task must be one for a ByHand, a AnswersByHand"):
        Experiment(task=BouncingBalls(), model=ByHand(), recipe=Recipe(steps=1))


@pytest.mark.parametrize(
    "key",
    [
        key
        for key, table in TABLES.items()
        if any(isinstance(c.published, Unpublished) and c.published.goal for c in table.claims)
    ],
)
def test_every_goal_has_a_row_by_hand(key: str) -> None:
    claims = TABLES[key].claims
    bare = {
        claim.experiment.task.name
        for claim in claims
        if isinstance(claim.published, Unpublished)
        and claim.published.goal is not None
        and claim.by_hand(claims) is None
    }
    # No rule is known for stacked digits, and none for text; of neither goal has a network run.
    assert bare <= {"stacked-mnist", "word-text"}
