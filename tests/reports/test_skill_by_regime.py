"""Skill of mechanisms in every regime: means over tasks, between floor and ceiling."""

from __future__ import annotations

import msgspec
import pytest

from farfield.records import Record, Score
from farfield.reports import FIGURES, illustrate, tabulate
from farfield.reports._exhibits._scores import COLUMNS
from farfield.reports.internal import LIGHT
from farfield.reproductions import Claim
from reproductions import made_up

FIGURE = FIGURES["webb2021/showings"]


def recorded(claim: Claim) -> list[Record]:
    """Score LSTMs on two tasks whose floors are 50 % and 25 %, trained on identical showings."""
    percents = {"same-different": 75.0, "distribution-of-three": 62.5}
    if claim.row != "LSTM + TCN" or claim.group not in percents:
        return []
    found = made_up.records(claim, [percents[claim.group]] * 2, steps=500)
    noisy = Score(step=500, regime="noise-4", metric="accuracy", value=1.0, count=10)
    return [msgspec.structs.replace(one, scores=(*one.scores, noisy)) for one in found]


def test_skill_is_the_mean_over_tasks_of_scores_between_floor_and_ceiling() -> None:
    (plate,) = illustrate(FIGURE, tabulate(FIGURE.table, recorded), None)
    (finding,) = plate.findings
    assert finding.what == "trained on identical showings: LSTM + TCN"
    # 50 % of the way from floor to ceiling on both tasks, and all of it under noise.
    assert finding.ours == "75 on average, least 50 (with size and turn)"
    assert plate.draw is not None


def test_nothing_is_drawn_before_a_network_has_run() -> None:
    assert illustrate(FIGURE, tabulate(FIGURE.table, lambda _: []), None) == ()


@pytest.mark.parametrize("claim", FIGURE.table.claims[::40], ids=lambda claim: claim.cell)
def test_every_tested_regime_has_a_column(claim: Claim) -> None:
    hidden = {"validation", "tint-kept", "tint-random"}
    for regime in {one.name for one in claim.experiment.regimes} - hidden:
        assert regime in COLUMNS or regime.startswith("withheld-")


def test_training_is_the_first_column_and_columns_that_nobody_scored_are_left_out() -> None:
    (plate,) = illustrate(FIGURE, tabulate(FIGURE.table, recorded), None)
    (panel,) = plate.draw(LIGHT).axes
    heads = [tick.get_text() for tick in panel.get_xticklabels()]
    assert heads == ["in\ntraining", "noise\n4", "with size\nand turn"]
    scored = {tuple(map(round, text.get_position())): text for text in panel.texts}
    row = [claim.row for claim in FIGURE.table.claims if claim.group == "same-different"].index(
        "LSTM + TCN"
    )
    shown = [scored[column, row].get_text() for column in range(3)]
    assert shown == ["100", "100", "50"]
    assert scored[0, 0].get_color() == LIGHT.muted
