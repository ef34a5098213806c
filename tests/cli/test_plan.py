"""`farfield plan`: what a table would take, before anything is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from farfield.cli import _reproduce
from farfield.records import Record, Score, Store
from farfield.reproductions import Table


def test_networks_and_steps_are_those_without_a_record(
    farfield, folder: Path, tiny_table: Table
) -> None:
    ended = farfield("plan webb2021/tiny --budget paper --seeds 3 --workers 1")
    assert ended.status == 0
    assert "6 networks to train, 30 steps" in ended.out  # three of 4 steps, three of 6
    assert "GiB of memory a process" in ended.out
    assert list(folder.iterdir()) == []
    experiment = tiny_table.claims[0].experiment
    score = Score(step=4, regime="training", metric="accuracy", value=0.5, count=4)
    made = Record(
        key=experiment.key, experiment=experiment.to_json(), seed=1, steps=4, scores=(score,),
        seconds=1.0, environment={},
    )  # fmt: skip
    Store(folder / "runs").write(made, {})
    ended = farfield("plan webb2021/tiny --budget paper --seeds 3 --workers 1")
    assert "5 networks to train, 26 steps; 1 more has a record" in ended.out


def test_missing_data_is_named(
    farfield, tiny_table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_reproduce, "is_at_hand", lambda _: False)
    ended = farfield("plan webb2021/tiny --seeds 1")
    assert "0 networks to train, 0 steps" in ended.out
    assert "missing data: the files of same-different; its cells are not counted" in ended.out


def test_variations_are_asked_for_by_name() -> None:
    from farfield.cli._names import fields_of_task, options_of_task
    from farfield.core.internal import UnknownNameError
    from farfield.tasks import VARIATIONS, Copying, SameDifferent

    options = options_of_task(SameDifferent)()
    found = fields_of_task(SameDifferent, options, "glyphs", "noise-16,shift-2", "light-50")
    assert found["variations"] == (VARIATIONS["noise-16"], VARIATIONS["shift-2"])
    assert found["training_variation"] == VARIATIONS["light-50"]
    every = [fields_of_task(SameDifferent, options, i, "all") for i in ("plain-letters", "glyphs")]
    assert [len(one["variations"]) for one in every] == [len(VARIATIONS), len(VARIATIONS) - 2]
    with pytest.raises(UnknownNameError, match="unknown variation 'noise-2'"):
        fields_of_task(SameDifferent, options, "glyphs", "noise-2")
    with pytest.raises(ValueError, match="variations must be left out for copying, got all"):
        fields_of_task(Copying, options_of_task(Copying)(), "glyphs", "all")
