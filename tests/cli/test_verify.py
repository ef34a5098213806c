"""`farfield verify`: recorded networks trained anew."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from farfield.execution import Here, jobs_of, results, run
from farfield.experiments import Experiment
from farfield.records import Store
from farfield.reproductions import Budget, Table
from small import small_experiment, tiny_experiment


def test_a_share_of_a_folder_is_trained_anew(farfield, folder: Path) -> None:
    jobs = jobs_of([tiny_experiment()], range(3))
    run(jobs, Store(folder / "runs"), Here())
    ended = farfield("verify --share 0.5 --workers 1")
    assert ended.status == 0
    assert "2 of 3 networks\n" in ended.out
    assert "2 networks to train, 8 steps" in ended.out
    assert ended.out.count("same bytes    SameDifferent(") == 2
    assert ended.out.endswith("2 same bytes\n")
    assert sorted(path.name for path in folder.iterdir()) == ["runs"]


def test_a_network_that_differs_ends_with_status_1(farfield, folder: Path) -> None:
    jobs, made = jobs_of([tiny_experiment()], [0]), Store(folder / "made")
    run(jobs, made, Here())
    [record] = results(jobs, made)
    scores = tuple(msgspec.structs.replace(s, value=s.value + 0.5) for s in record.scores)
    Store(folder / "runs").write(msgspec.structs.replace(record, scores=scores), {})
    ended = farfield("verify")
    assert ended.status == 1
    assert "\ndiffers       SameDifferent(" in ended.out
    assert ended.err == "farfield: different: 1 of 1 network\n"


def test_the_cells_of_a_table_go_by_their_names(farfield, folder: Path, tiny_table: Table) -> None:
    experiments: list[Experiment] = [claim.at(Budget.PAPER) for claim in tiny_table.claims]
    run(jobs_of(experiments, [0]), Store(folder / "runs"), Here())
    cell = next(iter(tiny_table.cells))
    ended = farfield(f"verify webb2021/tiny --cell {cell}")
    assert ended.status == 0
    assert f"same bytes    webb2021/tiny/{cell} seed 0\n" in ended.out
    ended = farfield("verify webb2021/tiny --budget quick")
    assert ended.status == 2
    assert "records must hold runs that can be trained anew" in ended.err


def test_what_is_not_farfields_is_left_out(
    farfield, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(
        jobs_of([tiny_experiment(), small_experiment(steps=3)], [0]), Store(folder / "runs"), Here()
    )
    restore = Experiment.from_json

    def unknown(described):
        if described["task"]["class"] == tiny_experiment().to_json()["task"]["class"]:
            raise ValueError("a class that is not Farfield's")
        return restore(described)

    monkeypatch.setattr("farfield.cli._verify.Experiment", SimpleNamespace(from_json=unknown))
    ended = farfield("verify")
    assert "left out: 1 network of classes" in ended.out
    assert "1 of 1 network\n" in ended.out


@pytest.mark.parametrize(("words", "said"), [("--share 0", "share must be"), ("", "records must")])
def test_nothing_to_draw_is_refused(farfield, folder: Path, words: str, said: str) -> None:
    if words:
        run(jobs_of([tiny_experiment()], [0]), Store(folder / "runs"), Here())
    ended = farfield(f"verify {words}")
    assert ended.status == 2
    assert said in ended.err
