"""Algorithms on sets: answers by exhaustive search, order of elements, draws, floors, bytes."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.tasks import TRAINING, SetAlgorithms
from tasks.sets import digest

# The head of SHA-256 over all sets of run 0; a change of it raises `version`.
CELLS = {
    "minimum": "f802416fa6b57493",
    "search": "2648feb720181b92",
    "median": "f9994004098c0496",
    "sorting": "14f33ea0adaf945a",
    "shortest-path": "365dc515e7120a08",
}
every_algorithm = pytest.mark.parametrize("algorithm", CELLS)


def task_of(algorithm: str, **fields: object) -> SetAlgorithms:
    small = {"training_strings": 200, "validation_strings": 60, "test_strings": (40, 20)}
    return SetAlgorithms(algorithm=algorithm, **small | fields)


@cache
def drawn(algorithm: str) -> dict[str, Problems]:
    return task_of(algorithm).draw(stream(0))


def elements_of(problems: Problems, row: int, sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Parts of each element, read off the features."""
    found = []
    for item in problems.items[problems.index[row]]:
        if item.any() and not item[-1]:
            parts = torch.split(item[:-1], sizes)
            assert [int(part.sum()) for part in parts] == [1] * len(sizes)
            found.append(tuple(int(part.argmax()) for part in parts))
    return found


def shortest(edges: list[tuple[int, ...]]) -> int:
    """All pairs of nodes through all nodes (Floyd–Warshall)."""
    nodes = sorted({node for u, v, _ in edges for node in (u, v)})
    far = {(u, v): 0 if u == v else 10**6 for u, v in itertools.product(nodes, nodes)}
    for u, v, weight in edges:
        if weight:
            far[u, v] = far[v, u] = min(far[u, v], weight)
    for k, u, v in itertools.product(nodes, nodes, nodes):
        far[u, v] = min(far[u, v], far[u, k] + far[k, v])
    [(start, goal)] = [(u, v) for u, v, weight in edges if weight == 0]
    return min(far[start, goal], 31)


def answered(algorithm: str, elements: list[tuple[int, ...]]) -> list[int]:
    if algorithm == "shortest-path":
        return [shortest(elements)]
    if algorithm == "search":
        [query] = [value for marked, value in elements if marked]
        below = [value for marked, value in elements if not marked and value <= query]
        return [max(below, default=query)]
    values = [value for (value,) in elements]
    ranked = [value for wanted in range(32) for value in values if value == wanted]
    places = {"minimum": [0], "median": [(len(values) - 1) // 2]}
    return [ranked[place] for place in places.get(algorithm, range(len(values)))]


SIZES = {"search": (2, 32), "shortest-path": (64, 64, 5)}


@every_algorithm
def test_drawn_sets_are_frozen_for_this_version(algorithm: str) -> None:
    assert task_of(algorithm).version == 1
    assert digest(drawn(algorithm)) == CELLS[algorithm]


@every_algorithm
def test_answers_are_those_of_a_search_through_everything(algorithm: str) -> None:
    task = task_of(algorithm)
    for regime, problems in drawn(algorithm).items():
        some = problems[: 5 if regime == "length-100" and algorithm == "shortest-path" else 20]
        some = some.compact()
        for row, target in enumerate(some.target):
            elements = elements_of(some, row, SIZES.get(algorithm, (32,)))
            assert len(elements) == some.latent["lengths"][row]
            assert target[target >= 0].tolist() == answered(algorithm, elements)
            marks = some.items[some.index[row], -1] > 0
            assert torch.equal(marks, target >= 0)
        assert (task.score(task.oracle(some), some) == 1).all()


@every_algorithm
def test_the_order_of_elements_changes_nothing(algorithm: str) -> None:
    task = task_of(algorithm, training_lengths=(9, 9))
    problems = task.sample(TRAINING, 50, stream(2).numpy())
    turned = problems.index.clone()
    turned[:, :9] = turned[:, :9].flip(1)
    outputs = task.oracle(problems)
    moved = Problems(items=problems.items, index=turned, target=problems.target)
    assert torch.equal(task.oracle(moved), outputs)


@every_algorithm
def test_the_floor_is_the_share_of_the_most_frequent_answers(algorithm: str) -> None:
    task = task_of(algorithm, training_lengths=(6, 6), test_lengths=((9, 9), (10, 10)))
    target = task.sample(TRAINING, 4_000, stream(3).numpy()).target[:, 6:]
    best = (target[..., None] == torch.arange(32)).sum(0).amax(1) / len(target)
    assert task.chance(TRAINING) == pytest.approx(float(best.mean()), abs=0.04)


def test_graphs_are_connected_and_nodes_have_any_name() -> None:
    task = task_of("shortest-path", training_lengths=(20, 20), test_lengths=(), test_strings=())
    problems = task.sample(TRAINING, 200, stream(4).numpy())
    names = set()
    for row in range(200):
        edges = elements_of(problems, row, (64, 64, 5))
        names |= {node for u, v, _ in edges for node in (u, v)}
        reached = {edges[0][0]}
        for _ in range(20):
            reached |= {b for u, v, w in edges if w for a, b in ((u, v), (v, u)) if a in reached}
        assert len(reached) == 11
    assert names == {*range(64)}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"algorithm": "heapsort"}, "algorithm must be .*, got 'heapsort'"),
        ({"training_lengths": (5, 4)}, "training_lengths must be an int 5…"),
        (
            {"algorithm": "shortest-path", "test_lengths": ((128, 128),), "test_strings": (9,)},
            "test_lengths must end at 127 or less for shortest-path, got 128",
        ),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SetAlgorithms(**fields)


def test_sets_without_one_question_are_refused() -> None:
    for algorithm, message in (("search", "one query"), ("shortest-path", "one question")):
        task = task_of(algorithm, training_lengths=(4, 4))
        problems = task.sample(TRAINING, 9, stream(0).numpy())
        kept = problems.index.clone()
        kept[:, :4] = 1
        wrong = Problems(items=problems.items, index=kept, target=problems.target)
        with pytest.raises(ValueError, match=message):
            task.oracle(wrong)


def test_values_lie_between_bounds_of_each_set() -> None:
    task = task_of("sorting", training_lengths=(16, 16), test_lengths=(), test_strings=())
    target = task.sample(TRAINING, 2_000, stream(5).numpy()).target[:, 16:].numpy()
    assert (np.diff(target, axis=1) >= 0).all()
    assert {*target[:, 0].tolist()} >= {*range(16)}
    assert {*target[:, -1].tolist()} >= {*range(16, 32)}
    assert target.std() > 5
