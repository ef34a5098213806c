"""Moving squares and still ones: how they are drawn, what they show, floors, frozen versions."""

from __future__ import annotations

import dataclasses
import hashlib
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.core import Problems, stream
from farfield.core.internal import LazyItems
from farfield.tasks import TASKS, TRAINING, DynamicObjects, ObjectFrames, ProblemTask
from farfield.tasks._squares._squares import frames
from farfield.tasks.internal import metric_of
from oracles import webb2020_objects as oracle
from tasks.sets import drawn

MOVING = DynamicObjects(training_sequences=400, test_sequences=300)
RELEASED = DynamicObjects(
    training_sizes=(2.0, 8.0),
    test_sizes=(8.0, 21.0),
    circumradius=True,
    training_sequences=400,
    test_sequences=300,
)
STILL = ObjectFrames(training_frames=2000, test_frames=900)
# The head of SHA-256 over all squares of run 0; a change of it raises `version`.
CELLS = {
    MOVING: "22dc02dc1b6d8212",
    RELEASED: "df4897332b891e94",
    dataclasses.replace(
        MOVING, test_sizes=(13.0, 19.0, 25.0, 31.0), num_frames=5
    ): "3a380f278c405f38",
    STILL: "5f624f454990b5ab",
}
every_cell = pytest.mark.parametrize("task", list(CELLS), ids=lambda task: repr(task)[:60])


def squares(task: ProblemTask, regime: str) -> np.ndarray:
    """Center along X and Y and width, (batch, time, 3)."""
    return drawn(task)[regime].latent["squares"].numpy()


def digest(sets: dict[str, Problems]) -> str:
    total = hashlib.sha256()
    for regime, problems in sets.items():
        for column in (problems.index, problems.latent["squares"]):
            total.update(f"{regime}{tuple(column.shape)}".encode())
            total.update(column.numpy().tobytes())
    return total.hexdigest()[:16]


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: ProblemTask) -> None:
    assert task.version == 1
    assert digest(drawn(task)) == CELLS[task]


@given(st.tuples(st.floats(16, 48), st.floats(16, 48), st.floats(3, 31)))
def test_a_pixel_is_white_where_its_middle_is_inside(square: tuple[float, float, float]) -> None:
    [shown] = frames(torch.tensor([square], dtype=torch.float64))
    assert np.array_equal(shown.numpy(), oracle.frame(*square))


def test_the_edge_belongs_to_the_square_and_rows_go_along_y() -> None:
    [shown] = frames(torch.tensor([[20.0, 40.5, 3.0]], dtype=torch.float64))
    rows, columns = np.nonzero(shown.numpy())
    assert sorted(set(rows)) == [39, 40, 41]
    assert sorted(set(columns)) == [18, 19, 20, 21]  # 18.5 and 21.5 lie on the edge


@every_cell
def test_items_are_the_frames_of_the_squares(task: ProblemTask) -> None:
    for regime, problems in drawn(task).items():
        assert isinstance(problems.items, LazyItems)
        shown = problems[:2].sequences()
        for row, place in np.ndindex(shown.shape[:2]):
            x, y, width = squares(task, regime)[row, place]
            assert np.array_equal(shown[row, place].numpy(), oracle.frame(x, y, width))


@pytest.mark.parametrize(
    ("task", "regime", "low", "high"),
    [
        (MOVING, TRAINING, 3, 13),
        (MOVING, "width-13-31", 13, 31),
        (RELEASED, TRAINING, 2 * math.sqrt(2), 8 * math.sqrt(2)),
        (RELEASED, "radius-8-21", 8 * math.sqrt(2), 21 * math.sqrt(2)),
        (STILL, TRAINING, 3, 43),
        (STILL, "width-3-13", 3, 13),
        (STILL, "width-13-31", 13, 31),
    ],
)
def test_ends_are_uniform_in_the_ranges_of_print(
    task: ProblemTask, regime: str, low: float, high: float
) -> None:
    found = squares(task, regime)
    for ends in (found[:, 0], found[:, -1]):
        for values, (least, most) in zip(ends.T, ((16, 48), (16, 48), (low, high)), strict=True):
            shares = np.sort((values - least) / (most - least))
            assert 0 <= shares[0] <= shares[-1] < 1
            expected = (np.arange(len(shares)) + 0.5) / len(shares)
            assert abs(shares - expected).max() < 1.95 / math.sqrt(len(shares))  # Kolmogorov, 0.1 %
        assert abs(np.corrcoef(ends.T)[np.triu_indices(3, 1)]).max() < 4 / math.sqrt(len(ends))
    if found.shape[1] > 1:
        across = [np.corrcoef(found[:, 0, k], found[:, -1, k])[0, 1] for k in range(3)]
        assert max(map(abs, across)) < 4 / math.sqrt(len(found))


def test_squares_go_in_equal_steps() -> None:
    for regime in drawn(MOVING):
        steps = np.diff(squares(MOVING, regime), axis=1)
        assert steps.shape[1] == 19
        assert np.allclose(steps, steps[:, :1], rtol=0, atol=1e-12)


def test_regimes_say_how_much_larger_the_squares_are() -> None:
    graded = DynamicObjects(test_sizes=(13.0, 19.0, 31.0))
    assert [(r.name, r.distance) for r in graded.regimes] == [
        (TRAINING, 0),
        ("width-13-19", 6),
        ("width-19-31", 18),
    ]
    assert [(r.name, r.distance) for r in STILL.regimes] == [
        (TRAINING, 0),
        ("width-3-13", 0),
        ("width-13-31", 0),
    ]
    assert {r.unit for r in RELEASED.regimes} == {"pixels of radius beyond training"}


@pytest.mark.parametrize("task", [MOVING, RELEASED], ids=["text", "released"])
def test_the_floor_is_the_error_of_the_frame_before(task: DynamicObjects) -> None:
    for regime, whole in drawn(task).items():
        problems = whole[:60]
        shown = problems.sequences()
        errors = [oracle.copy_error(sequence.numpy()) for sequence in shown[:4]]
        copied = task.score(shown[:, :-1], problems)
        assert copied[:4].numpy() == pytest.approx(errors, rel=1e-4)
        spread = float(copied.std()) / math.sqrt(len(copied))
        assert task.chance(regime) == pytest.approx(float(copied.mean()), abs=4 * spread)


def test_the_floor_of_the_released_distribution_is_the_one_known() -> None:
    assert RELEASED.chance(TRAINING) == pytest.approx(0.0038, abs=0.00015)
    assert RELEASED.chance("radius-8-21") == pytest.approx(0.0113, abs=0.0004)


def test_scoring_against_the_frames_before_shifts_floor_and_ceiling() -> None:
    shifted = dataclasses.replace(MOVING, previous_frames=True)
    problems = drawn(MOVING)["width-13-31"][:150]
    sequences = problems.sequences()
    assert float(MOVING.score(sequences[:, 1:], problems).max()) == 0
    assert float(shifted.score(sequences[:, :-1], problems).max()) == 0
    assert shifted.chance("width-13-31") == 0
    right = float(shifted.score(shifted.oracle(problems), problems).mean())
    assert right == pytest.approx(MOVING.chance("width-13-31"), rel=0.2)


def test_the_floor_of_single_frames_is_the_mean_frame() -> None:
    for regime, problems in drawn(STILL).items():
        shown = problems.sequences()[:, 0]
        mean = shown.double().mean(0, keepdim=True).float().expand_as(shown)
        error = float(STILL.score(mean.contiguous(), problems).double().mean())
        assert STILL.chance(regime) == pytest.approx(error, rel=0.03)


@pytest.mark.parametrize("task", [MOVING, STILL], ids=["moving", "still"])
def test_scores_are_mean_squared_errors_and_the_oracle_makes_none(task: ProblemTask) -> None:
    assert metric_of(task) == "mse"
    assert TASKS[task.name] is type(task)
    for problems in drawn(task).values():
        some = problems[:3]
        right = task.oracle(some)
        assert torch.equal(task.score(right, some), torch.zeros(3))
        torch.testing.assert_close(task.score(right + 0.5, some), torch.full((3,), 0.25))
        assert torch.equal(task.loss(right + 0.5, some), task.score(right + 0.5, some))
        with pytest.raises(ValueError, match="outputs must be frames of shape"):
            task.score(right[:, 1:], some)


@pytest.mark.parametrize("task", [MOVING, STILL], ids=["moving", "still"])
def test_samples_are_new_and_of_the_regime(task: ProblemTask) -> None:
    for regime in task.regimes:
        first = task.sample(regime.name, 5, stream(0).numpy()).latent["squares"]
        widths = squares(task, regime.name)[..., 2]
        assert widths.min() - 1 <= float(first[..., 2].min())
        assert float(first[..., 2].max()) <= widths.max() + 1


@pytest.mark.parametrize(
    ("cls", "fields", "message"),
    [
        (DynamicObjects, {"training_sizes": (13.0, 3.0)}, "training_sizes must be two or more"),
        (DynamicObjects, {"test_sizes": (13.0,)}, "test_sizes must be two or more"),
        (DynamicObjects, {"test_sizes": (0.0, 3.0)}, "test_sizes must be two or more"),
        (DynamicObjects, {"test_sizes": (3.0, math.inf)}, "test_sizes.1. must be a finite number"),
        (DynamicObjects, {"test_sizes": (3.0, math.nan)}, "test_sizes.1. must be a finite number"),
        (DynamicObjects, {"num_frames": 1}, "num_frames must be an int 2…1000, got 1"),
        (DynamicObjects, {"training_sequences": 0}, "training_sequences must be an int"),
        (DynamicObjects, {"test_sequences": 0}, "test_sequences must be an int"),
        (ObjectFrames, {"training_sizes": (3.0, 3.0)}, "training_sizes must be two or more"),
        (ObjectFrames, {"training_frames": 0}, "training_frames must be an int"),
        (ObjectFrames, {"test_frames": 0}, "test_frames must be an int"),
    ],
)
def test_bad_fields_are_named(cls: type, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cls(**fields)
