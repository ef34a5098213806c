"""Fuzzy Boolean functions: values from truth tables, which functions, R² and the frozen version."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.metrics.internal import MEASURES, measure_of
from farfield.tasks import TASKS, TRAINING, VALIDATION, FuzzyBoolean
from farfield.tasks._boolean._fuzzy_boolean import disjunctions, minterms, multilinear, truth_tables
from farfield.tasks.internal import MultiOutput, metric_of
from farfield.training import evaluate
from farfield.training._evaluate import score_regimes
from oracles import fuzzy_boolean as oracle
from tasks.sets import drawn

CORNERS = "corners"
SMALL = FuzzyBoolean(training_points=500, validation_points=300)
LATER = dataclasses.replace(SMALL, first=20, functions=10)
ADDED = FuzzyBoolean(
    variables=3, first=1, functions=4, multilinear=True, training_points=200, validation_points=100
)
# The head of SHA-256 over all points and values of run 0; a change of it raises `version`.
CELLS = {SMALL: "c47acfc255b4615b", LATER: "b6c4e598fda614c5", ADDED: "6f38677053e968fb"}
every_cell = pytest.mark.parametrize("task", list(CELLS), ids=["pre-training", "later", "added"])


def digest(sets: dict[str, Problems]) -> str:
    total = hashlib.sha256()
    for regime, problems in sets.items():
        columns = (problems.items, problems.target, problems.latent["function"].contiguous())
        for column in (*columns, problems.index):
            total.update(f"{regime}{tuple(column.shape)}".encode())
            total.update(column.numpy().astype(column.numpy().dtype.newbyteorder("<")).tobytes())
    return total.hexdigest()[:16]


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: FuzzyBoolean) -> None:
    assert task.version == 1
    assert digest(drawn(task)) == CELLS[task]


@every_cell
def test_values_are_those_of_the_gates(task: FuzzyBoolean) -> None:
    by_gates = oracle.chance_of_truth if task.multilinear else oracle.normal_form
    for problems in drawn(task).values():
        for row in range(0, len(problems), 7):
            point = problems.sequences()[row, 0].double().tolist()
            functions = problems.latent["function"][row].tolist()
            expected = [by_gates(function, point) for function in functions]
            np.testing.assert_allclose(problems.target[row], expected, rtol=2e-7, atol=1e-8)
            assert all(0 <= value <= 1 for value in problems.target[row].tolist())


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.tuples(
            st.integers(0, 2 ** (2**n) - 1), st.lists(st.floats(0, 1), min_size=n, max_size=n)
        )
    )
)
def test_both_forms_are_right_to_the_last_digits(drawn: tuple[int, list[float]]) -> None:
    function, point = drawn
    tables = truth_tables(np.array([function]), len(point))
    x = np.array([point])
    for form, by_gates in (
        (disjunctions, oracle.normal_form),
        (multilinear, oracle.chance_of_truth),
    ):
        assert form(x, tables)[0, 0] == pytest.approx(by_gates(function, point), abs=1e-14)
    assert minterms(x).sum() == pytest.approx(1, abs=1e-14)


def test_at_the_corners_functions_are_boolean() -> None:
    for form in (disjunctions, multilinear):
        numbers = np.arange(256)
        corners = np.array([[row >> bit & 1 for bit in range(3)] for row in range(8)], float)
        values = form(corners, truth_tables(numbers, 3))
        expected = [[number >> row & 1 for number in numbers] for row in range(8)]
        assert np.array_equal(values, expected)
    for task in CELLS:
        problems = drawn(task)[CORNERS]
        assert len(problems) == 2**task.variables
        tables = truth_tables(problems.latent["function"][0].numpy(), task.variables)
        for point, values in zip(problems.items.tolist(), problems.target, strict=True):
            assert np.array_equal(values, tables[oracle.number(tuple(map(int, point)))])


def test_expressions_with_every_variable_once_are_the_multilinear_form() -> None:
    """And where a variable stands twice they are not."""
    a, b, c = (0.3, 0.8, 0.55)
    once = oracle.disjunction(a, oracle.conjunction(oracle.negation(b), c))
    function = sum(
        1 << oracle.number(row)
        for row in itertools.product((0, 1), repeat=3)
        if row[0] or (not row[1] and row[2])
    )
    table = truth_tables(np.array([function]), 3)
    assert multilinear(np.array([[a, b, c]]), table)[0, 0] == pytest.approx(once, abs=1e-15)
    assert disjunctions(np.array([[a, b, c]]), table)[0, 0] < once - 0.01
    twice = oracle.conjunction(a, a)
    table = truth_tables(np.array([0b10]), 1)
    assert multilinear(np.array([[a]]), table)[0, 0] == a != twice


def functions_of(task: FuzzyBoolean, seed: int = 0) -> list[int]:
    return drawn(task, seed)[CORNERS].latent["function"][0].tolist()


def test_adaptation_has_functions_that_pre_training_has_not() -> None:
    for seed in range(20):
        first, later = (
            task._functions(stream(seed, "problems")).tolist() for task in (SMALL, LATER)
        )
        together = dataclasses.replace(SMALL, functions=30)._functions(stream(seed, "problems"))
        assert together.tolist() == first + later
        assert len(set(first + later)) == 30
        assert all(0 < function < 2**32 - 1 for function in first + later)
    assert functions_of(SMALL) != functions_of(SMALL, 1)
    assert functions_of(dataclasses.replace(SMALL, multilinear=True)) == functions_of(SMALL)


@pytest.mark.parametrize("variables, kinds", [(1, 2), (2, 14), (3, 254)])
def test_of_few_variables_every_function_that_is_not_constant_can_come(
    variables: int, kinds: int
) -> None:
    task = FuzzyBoolean(
        variables=variables, functions=kinds, training_points=100, validation_points=100
    )
    assert sorted(functions_of(task)) == list(range(1, kinds + 1))
    assert (drawn(task)[CORNERS].latent["variance"] > 0).all()
    with pytest.raises(ValueError, match=f"functions must be an int 1…{kinds}"):
        FuzzyBoolean(variables=variables, functions=kinds + 1)


def test_truth_tables_are_balanced() -> None:
    tasks = FuzzyBoolean(functions=1_000, training_points=100, validation_points=100)
    tables = truth_tables(np.array(functions_of(tasks)), 5)
    assert abs(tables.mean(1) - 0.5).max() < 4 * math.sqrt(0.25 / 1_000)
    assert abs(tables.sum(0).mean() - 16) < 4 * math.sqrt(8 / 1_000)


@every_cell
def test_points_are_uniform_and_new_in_every_regime(task: FuzzyBoolean) -> None:
    training = FuzzyBoolean(training_points=20_000).draw(stream(4))[TRAINING].items.numpy()
    for column in training.T:
        expected = (np.arange(20_000) + 0.5) / 20_000
        assert abs(np.sort(column) - expected).max() < 1.95 / math.sqrt(20_000)
    assert abs(np.corrcoef(training.T) - np.eye(5)).max() < 4 / math.sqrt(20_000)
    sets = [drawn(task)[regime].items for regime in (TRAINING, VALIDATION)]
    sets.append(drawn(dataclasses.replace(task, first=task.first + 2, functions=1))[TRAINING].items)
    points = [tuple(point) for own in sets for point in own.tolist()]
    assert len(set(points)) == len(points)
    assert all(0 < number < 1 for point in points for number in point)
    levels = np.array(points) * 2**24
    assert np.array_equal(levels % 2, np.ones_like(levels))  # exact in float32, and so is 1 − x


@every_cell
def test_the_mean_score_is_the_coefficient_of_determination(task: FuzzyBoolean) -> None:
    assert metric_of(task) == "r2"
    for regime, problems in drawn(task).items():
        noise = torch.randn(problems.target.shape, generator=stream(1).torch())
        outputs = (problems.target + 0.05 * noise).double()
        expected = [
            oracle.determination(answers.tolist(), values.tolist())
            for answers, values in zip(outputs.T, problems.target.double().T, strict=True)
        ]
        assert float(task.score(outputs, problems).mean()) == pytest.approx(np.mean(expected), 1e-6)
        several = task.answer_scores(outputs, problems)
        assert isinstance(task, MultiOutput)
        assert list(several) == [
            f"function-{number}"
            for number in range(task.first + 1, task.first + task.functions + 1)
        ]
        found = [float(own.mean()) for own in several.values()]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        mean = problems.target.double().mean(0).expand(len(problems), -1)
        assert float(task.score(mean, problems).mean()) == pytest.approx(0, abs=1e-6)
        assert task.chance(regime) == 0
        right = task.oracle(problems)
        assert torch.equal(task.score(right, problems), torch.ones(len(problems)).double())
        assert task.loss(outputs, problems).numpy() == pytest.approx(
            (outputs.numpy() - problems.target.numpy()).__pow__(2).mean(1), rel=1e-12
        )
        # A batch in training has no latent: the loss asks for none.
        bare = dataclasses.replace(problems, latent={})
        assert torch.equal(task.loss(outputs, bare), task.loss(outputs, problems))
        with pytest.raises(ValueError, match=r"outputs must be of \(batch, outputs\)"):
            task.score(outputs[:, 1:], problems)
        with pytest.raises(ValueError, match=r"outputs must be of \(batch, outputs\)"):
            task.loss(outputs[:, :1], problems)


def test_a_linear_answer_is_worth_something_and_little_at_the_corners() -> None:
    task = FuzzyBoolean(training_points=5_000, validation_points=5_000)
    sets = drawn(task)
    shown = {
        regime: torch.cat([p.items, torch.ones(len(p), 1)], dim=1).double()
        for regime, p in sets.items()
    }
    weights = torch.linalg.lstsq(shown[TRAINING], sets[TRAINING].target.double()).solution
    near, far = (
        float(task.score(shown[regime] @ weights, sets[regime]).mean())
        for regime in (VALIDATION, CORNERS)
    )
    assert 0.3 < near < 0.7
    assert 0 < far < near / 2


@pytest.mark.parametrize("seed", range(3))
def test_new_functions_are_no_mixture_of_those_of_pre_training(seed: int) -> None:
    task = FuzzyBoolean(functions=30, training_points=5_000, validation_points=5_000)
    sets = drawn(task, seed)
    known = {
        regime: torch.cat([p.target[:, :20], torch.ones(len(p), 1)], dim=1).double()
        for regime, p in sets.items()
    }
    weights = torch.linalg.lstsq(known[TRAINING], sets[TRAINING].target.double()).solution
    scores = task.answer_scores(known[VALIDATION] @ weights, sets[VALIDATION])
    r2 = torch.stack([scores[f"function-{number}"].mean() for number in range(1, 31)])
    assert r2[:20].min() > 1 - 1e-9
    assert 0.7 < r2[20:].mean() < 0.8


class Constant(nn.Module):
    """Answers the same for all points."""

    def __init__(self, answer: torch.Tensor) -> None:
        super().__init__()
        self.answer = answer

    def forward(self, items: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return self.answer.expand(len(index), -1)


def test_every_function_has_a_record_of_its_own() -> None:
    task = dataclasses.replace(LATER, validation_points=2_000)
    sets = drawn(task)
    model = Constant(sets[VALIDATION].target.mean(0))
    scores = {
        point.metric: point
        for point in score_regimes(model, task, sets, step=3)
        if point.regime == VALIDATION
    }
    assert list(scores) == ["r2", "loss", *(f"r2/function-{n}" for n in range(21, 31))]
    assert {point.count for point in scores.values()} == {2_000}
    parts = [scores[f"r2/function-{n}"].value for n in range(21, 31)]
    assert scores["r2"].value == pytest.approx(np.mean(parts), abs=1e-9)
    assert parts == pytest.approx([0] * 10, abs=1e-4)
    assert evaluate(Constant(torch.zeros(10)), task)[VALIDATION] < -5


def test_the_measure_can_be_negative_and_is_shown_as_it_is() -> None:
    measure = measure_of("r2/function-3")
    assert measure is MEASURES["r2"]
    assert (measure.lower_is_better, measure.percent) == (False, False)
    assert (measure.lowest, measure.highest) == (-math.inf, 1)
    assert (MEASURES["accuracy"].lowest, MEASURES["accuracy"].highest) == (0, 1)
    assert measure.written(0.99832) + measure.unit == "0.9983"


@every_cell
def test_samples_are_new_points_of_the_functions_of_run_0(task: FuzzyBoolean) -> None:
    for regime in drawn(task):
        first, again, other = (task.sample(regime, 9, stream(s).numpy()) for s in (0, 0, 1))
        assert torch.equal(first.items, again.items)
        assert not torch.equal(first.items, other.items)
        for name in ("function", "variance"):
            of_run = drawn(task)[regime].latent[name][:1]
            assert torch.equal(first.latent[name], of_run.expand(9, -1))
        assert torch.equal(task.oracle(first), first.target)
        assert len(task.sample(regime, 1, stream(0).numpy())) == 1
        is_corner = ((first.items == 0) | (first.items == 1)).all()
        assert bool(is_corner) == (regime == CORNERS)
    for ask in (task.chance, lambda r: task.sample(r, 5, stream(0).numpy())):
        with pytest.raises(UnknownNameError, match="unknown regime 'nowhere'"):
            ask("nowhere")


def test_regimes_and_shapes() -> None:
    task = FuzzyBoolean()
    assert TASKS["fuzzy-boolean"] is FuzzyBoolean
    assert [(r.name, r.distance) for r in task.regimes] == [
        (TRAINING, 0),
        (VALIDATION, 0),
        ("new-points", 0),
        (CORNERS, 5),
    ]
    assert (task.item_shape, task.length, task.num_outputs) == ((5,), 1, 20)
    assert task.segments == ((0,),)
    assert LATER.num_outputs == 10
    assert task.training_points + task.validation_points == 163_840
    assert task.training_points * 5 == 163_840 * 4


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"variables": 0}, "variables must be an int 1…5, got 0"),
        ({"variables": 6}, "variables must be an int 1…5, got 6"),
        ({"first": -1}, "first must be an int 0…999, got -1"),
        ({"first": 995, "functions": 6}, "functions must be an int 1…5, got 6"),
        ({"functions": 0}, "functions must be an int 1…1000, got 0"),
        ({"training_points": 99}, "training_points must be an int 100…"),
        ({"validation_points": 0}, "validation_points must be an int 100…"),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FuzzyBoolean(**fields)
