"""Two moons and spirals: where points lie, which have labels, and the frozen versions."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import TASKS, TRAINING, ProblemTask, Spirals, TwoMoons
from farfield.tasks._points._points import ANGLES, nearly_normal, unit_vectors
from farfield.tasks.internal import UNLABELLED, form_of, metric_of
from tasks.sets import digest, shown

TASKS_HERE = [TwoMoons(), Spirals(), Spirals(arms=3, points=100)]
every_task = pytest.mark.parametrize("task", TASKS_HERE, ids=repr)
# The head of SHA-256 over all sets of run 0 and the bytes of their points; a change of one raises
# `version`.
FROZEN = {"two-moons": "d0423072631a8cf4", "spirals": "33b89dff19f68cce"}


def point_bytes(sets: dict[str, Problems]) -> str:
    total = hashlib.sha256(digest(sets).encode())
    for problems in sets.values():
        total.update(problems.table().numpy().astype("<f4").tobytes())
    return total.hexdigest()[:16]


def test_drawn_sets_are_frozen_for_this_version() -> None:
    for task in (TwoMoons(), Spirals()):
        assert task.version == 1
        assert point_bytes(task.draw(stream(0))) == FROZEN[task.name]


def test_unit_vectors_are_those_of_their_angles() -> None:
    drawn = np.random.default_rng(0).integers(0, ANGLES, 2_000)
    angles = np.concatenate([drawn, [0, 1, ANGLES // 4, ANGLES // 2, 3 * ANGLES // 4, ANGLES - 1]])
    found = unit_vectors(angles)
    for angle, (across, up) in zip(angles, found, strict=True):
        turn = 2 * math.pi * int(angle) / ANGLES
        assert (across, up) == pytest.approx((math.cos(turn), math.sin(turn)), abs=1e-14)
    quarters = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    assert unit_vectors(np.arange(4) * (ANGLES // 4)).tolist() == quarters


def test_noise_is_nearly_normal() -> None:
    found = nearly_normal(stream(0).numpy(), 50_000).ravel()
    assert found.mean() == pytest.approx(0, abs=4 / math.sqrt(1e5))
    assert found.std() == pytest.approx(1, abs=4 / math.sqrt(2e5))
    for reach, share in ((1, 0.6827), (2, 0.9545)):
        assert (abs(found) < reach).mean() == pytest.approx(share, abs=0.01)
    assert abs(found).max() < 6
    pairs = found.reshape(-1, 2)
    assert np.corrcoef(pairs.T)[0, 1] == pytest.approx(0, abs=4 / math.sqrt(5e4))


def test_moons_without_noise_are_half_circles() -> None:
    sets = TwoMoons(noise=0.0).draw(stream(3))
    for name in (TRAINING, "test"):
        points, classes = sets[name].sequences()[:, 0].double(), sets[name].target
        across, up = points.T
        first, second = classes == 0, classes == 1
        assert torch.allclose(across[first] ** 2 + up[first] ** 2, torch.ones(()).double())
        assert (up[first] >= 0).all()
        down = (across[second] - 1) ** 2 + (up[second] - 0.5) ** 2
        assert torch.allclose(down, torch.ones(()).double())
        assert (up[second] <= 0.5).all()
    spread = sets["test"].sequences()[:, 0][sets["test"].target == 0, 0]
    # Uniform along a half circle: cosines of mean 0 and variance ½.
    assert float(spread.mean()) == pytest.approx(0, abs=4 * math.sqrt(0.5 / 500))
    assert float(spread.var()) == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize("arms", [2, 3, 7])
def test_arms_without_noise_wind_once(arms: int) -> None:
    problems = Spirals(arms=arms, noise=0.0).draw(stream(3))["test"]
    across, up = problems.sequences()[:, 0].double().T
    radius = torch.hypot(across, up)
    turn = torch.atan2(up, across) / (2 * math.pi) - radius - problems.target / arms
    # At the middle a direction means little.
    assert ((turn - turn.round()).abs() * radius).max() < 1e-6
    assert radius.max() < 1
    assert float(radius.mean()) == pytest.approx(0.5, abs=4 * math.sqrt(1 / 12 / 1_000))


def test_noise_is_about_the_curve() -> None:
    for task, still in ((TwoMoons(noise=0.2), TwoMoons(noise=0.0)), (Spirals(), Spirals(noise=0))):
        moved = task.draw(stream(0))["test"].sequences() - still.draw(stream(0))["test"].sequences()
        assert float(moved.std()) == pytest.approx(task.noise, rel=0.1)


def test_three_points_of_each_moon_have_labels() -> None:
    task = TwoMoons(labels_per_class=3, unlabelled=200)
    sets = task.draw(stream(0))
    assert [regime.name for regime in task.regimes] == [TRAINING, "test"]
    assert list(sets) == [TRAINING, UNLABELLED, "test"]
    assert np.bincount(sets[TRAINING].target).tolist() == [3, 3]
    assert sets[UNLABELLED].target.tolist() == [-1] * 200
    assert sorted(sets[UNLABELLED].index[:, 0].tolist()) == list(range(200))
    assert torch.equal(sets[UNLABELLED].items, sets[TRAINING].items)
    more = TwoMoons(labels_per_class=9, unlabelled=200).draw(stream(0))
    assert shown(sets[TRAINING]) < shown(more[TRAINING])
    for name in (UNLABELLED, "test"):
        assert torch.equal(sets[name].items, more[name].items)


@every_task
def test_classes_are_equally_frequent_and_the_test_is_new(task: ProblemTask) -> None:
    sets = task.draw(stream(0))
    counts = np.bincount(sets["test"].target, minlength=task.num_outputs)
    assert counts.max() - counts.min() <= 1
    seen = {tuple(point) for point in sets[TRAINING].table().tolist()}
    assert not seen & {tuple(point) for point in sets["test"].table().tolist()}
    assert len(seen) == len(sets[TRAINING].table())


@every_task
def test_ceiling_floor_and_shapes(task: ProblemTask) -> None:
    sets = task.draw(stream(0))
    for regime in task.regimes:
        problems = sets[regime.name]
        assert task.score(task.oracle(problems), problems).all()
        assert problems.sequences().shape == (len(problems), 1, 2)
        assert problems.items.dtype == torch.float32
        assert task.chance(regime.name) == 1 / task.num_outputs
        outputs = torch.zeros(len(problems), task.num_outputs, dtype=torch.float64)
        expected = pytest.approx(math.log(task.num_outputs), rel=1e-12)
        assert task.loss(outputs, problems).numpy() == expected
    assert (task.item_shape, task.length, task.segments) == ((2,), 1, ((0,),))
    assert (metric_of(task), form_of(task).readings) == ("accuracy", ("elements", "item"))
    assert TASKS[task.name] is type(task)
    with pytest.raises(UnknownNameError, match="unknown regime 'nowhere'"):
        task.chance("nowhere")


@every_task
def test_samples_come_from_the_set_of_their_regime(task: ProblemTask) -> None:
    sets = task.draw(stream(0))
    for regime in task.regimes:
        first = task.sample(regime.name, 9, stream(1).numpy())
        known = {tuple(point) for point in sets[regime.name].sequences()[:, 0].tolist()}
        assert {tuple(point) for point in first.sequences()[:, 0].tolist()} <= known


def test_the_middle_of_two_moons_is_not_on_the_line_between_their_means() -> None:
    """A straight boundary errs, as Figure 1 needs."""
    problems = TwoMoons(noise=0.0).draw(stream(0))["test"]
    points = torch.nn.functional.pad(problems.sequences()[:, 0].double(), (0, 1), value=1.0)
    wanted = problems.target.double() * 2 - 1
    fitted = points @ torch.linalg.lstsq(points, wanted[:, None]).solution
    right = (fitted[:, 0].sign() == wanted).double().mean()
    assert 0.8 < float(right) < 0.95


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("cls", "fields", "message"),
    [
        (TwoMoons, {"labels_per_class": 0}, "labels_per_class must be an int 1…10000000, got 0"),
        (TwoMoons, {"labels_per_class": 501}, "labels_per_class must be an int 1…500, got 501"),
        (TwoMoons, {"unlabelled": 5}, "labels_per_class must be an int 1…2, got 3"),
        (TwoMoons, {"unlabelled": 0}, "unlabelled must be an int 1…10000000, got 0"),
        (TwoMoons, {"noise": -0.1}, "noise must be a finite number of at least 0"),
        (Spirals, {"arms": 1}, "arms must be an int 2…100, got 1"),
        (Spirals, {"arms": 9, "points": 8}, "arms must be an int 2…8, got 9"),
        (Spirals, {"test_points": 0}, "test_points must be an int 1…10000000"),
    ],
)
def test_bad_fields_are_named(cls: type, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cls(**fields)
