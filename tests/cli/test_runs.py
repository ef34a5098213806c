"""`farfield runs`: what is in a folder of records, from the records alone."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import ESBN, LSTM
from farfield.records import Record, Score, Store
from farfield.tasks import SameDifferent

TASK = SameDifferent(withheld=98)


@pytest.fixture
def keys(folder: Path) -> list[str]:
    """Keys of two experiments of two networks each, in the folder `runs`."""
    store, found = Store(folder / "runs"), []
    for cls, scores in ((LSTM, (0.5, 0.75)), (ESBN, (0.75, 0.875))):
        experiment = Experiment(
            task=TASK, model=Network(reasoner=Spec(cls)), recipe=Recipe(steps=10)
        )
        found.append(experiment.key)
        for seed, score in enumerate(scores):
            made = Record(
                key=experiment.key,
                experiment=experiment.to_json(),
                seed=seed,
                steps=10,
                scores=tuple(
                    Score(step=10, regime=one.name, metric="accuracy", value=score, count=8)
                    for one in TASK.regimes
                ),
                seconds=2.0,
                environment={
                    "finished": f"2026-01-0{len(found)}T10:00",
                    "torch": "2.\x1b[1m",
                    "code": f"ab{seed}",
                    "files": json.dumps({f"{n}.txt": 64 * f"{n:x}" for n in range(12)}),
                },
            )
            store.write(made, {})
    return found


def test_experiments_are_listed_the_latest_first(farfield, keys: list[str]) -> None:
    _, newest, what, older, _ = farfield("runs list").out.splitlines()
    assert newest.split()[:3] == [keys[1][:12], "10", "2"]
    assert newest.endswith("81.3 ± 6.3 % (withheld-98)")
    assert what.strip() == "SameDifferent(withheld=98) · Network(reasoner=ESBN)"
    assert older.startswith(keys[0][:12])


def test_an_experiment_is_shown_by_the_beginning_of_its_key(farfield, keys: list[str]) -> None:
    shown = farfield(f"runs show {keys[0][:6]}").out
    assert "model=Network(reasoner=Spec(LSTM)), recipe=Recipe(steps=10))" in shown
    assert "| withheld-98 | 98 withheld shapes |             62.5 ± 12.5 % |" in shown
    assert "torch: 2.\\x1b[1m" in shown
    assert "\ncode: ab0; ab1\n" in shown  # of all seeds
    assert "\nfiles: 0.txt (000000000000), 1.txt (111111111111), " in shown
    assert ", 9.txt (999999999999) and 2 more\n" in shown


def test_experiments_are_compared_by_names(farfield, folder: Path, keys: list[str]) -> None:
    ended = farfield(f"runs compare lstm={keys[0]} esbn={keys[1]} --out out")
    assert ended.status == 0
    assert "+18.8 [−60.7, +98.2]" in ended.out  # of differences 25 and 12.5
    assert {path.suffix for path in (folder / "out").iterdir()} == {
        ".png", ".pdf", ".svg", ".csv", ".md", ".tex",
    }  # fmt: skip


def test_runs_are_removed_when_that_is_confirmed(farfield, folder: Path, keys: list[str]) -> None:
    assert "would remove" in farfield(f"runs delete {keys[0]} --seeds 1").out
    assert Store(folder / "runs").seeds(keys[0]) == {0, 1}
    assert "seeds 1" in farfield(f"runs delete {keys[0]} --seeds 1 --yes").out
    assert Store(folder / "runs").seeds(keys[0]) == {0}


def test_every_score_is_exported(farfield, folder: Path, keys: list[str]) -> None:
    assert "8 scores" in farfield("runs export --out all.csv").out
    rows = list(csv.DictReader((folder / "all.csv").read_text().splitlines()))
    assert len(rows) == 8
    assert {row["key"] for row in rows} == {*keys}
    assert rows[0]["task"] == "SameDifferent(withheld=98)"


def test_what_is_not_there_is_said(farfield, folder: Path, keys: list[str]) -> None:
    for words, said in {
        "runs show zz": "got 'zz': none begins so",
        "runs list --records nowhere": "records must name a folder of records, got nowhere",
        "runs export --out all.txt": "path must end with .csv, .md, .tex",
        "runs list --recods x": "--records",
    }.items():
        ended = farfield(words)
        assert ended.status == 2, words
        assert said in ended.err
    assert not (folder / "nowhere").exists()
