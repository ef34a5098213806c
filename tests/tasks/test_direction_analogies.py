"""Analogies that the direction of texture shows: what is drawn, what tells nothing, the rules."""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.experiments import ByHand
from farfield.tasks import TRAINING, DirectionAnalogies
from farfield.tasks._vaec._direction_pictures import (
    Shape,
    _apart,
    draw_directions,
    layout,
    local_direction,
    measured_by_hand,
)
from farfield.tasks._vaec._direction_search import square_by_search
from tasks.sets import digest

CELLS = {
    DirectionAnalogies(): "3cc1ea3a5e2f4e32",
    DirectionAnalogies(scaled=True, shuffled=True, problems_per_regime=90): "273ba569fc65872c",
    DirectionAnalogies(
        train_on=6, problems_per_regime=90, validation_problems=30
    ): "fba58859f9d3399c",
}
PICTURES = "61f36800348a49db"
every_cell = pytest.mark.parametrize("task", list(CELLS), ids=["regions", "scales", "back"])


@cache
def drawn(task: DirectionAnalogies) -> dict[str, Problems]:
    return task.draw(stream(0))


def rows(count: int, width: int = 300) -> torch.Tensor:
    return torch.tensor([[400, 450, width, number] for number in range(count)])


def shapes(number: int, width: int = 300) -> list[Shape]:
    return layout(400, 450, width, stream(number, "direction-picture").numpy())


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: DirectionAnalogies) -> None:
    assert task.version == 1
    assert digest(drawn(task)) == CELLS[task]


def test_pictures_are_frozen_for_this_version() -> None:
    pictures = draw_directions(rows(4)).numpy()
    assert hashlib.sha256(pictures.tobytes()).hexdigest()[:16] == PICTURES


@every_cell
def test_targets_follow_from_the_squares(task: DirectionAnalogies) -> None:
    for regime, problems in drawn(task).items():
        squares = problems.items.latent[problems.index][..., :3]
        a, b, c, *candidates = squares.unbind(dim=1)
        right = torch.stack([(one == c + b - a).all(1) for one in candidates], dim=1)
        assert right.sum(1).eq(1).all()
        assert right.int().argmax(1).equal(problems.target)
        varied = (squares != squares[:, :1]).any(1)
        assert varied.sum(1).eq(1).all()
        assert varied.int().argmax(1).equal(problems.latent["dimension"])
        assert task.score(task.oracle(problems), problems).eq(1).all()
        assert task.chance(regime) == 1 / 7


def test_levels_are_those_of_the_card() -> None:
    task, scaled = DirectionAnalogies(), DirectionAnalogies(scaled=True)
    assert task.values_of(1)[:, [0, 1, 6]].tolist() == [[250, 275, 400]] * 2 + [[200, 225, 350]]
    assert task.values_of(6)[:, [0, 6]].tolist() == [[550, 700]] * 2 + [[180, 330]]
    assert scaled.values_of(1).tolist() == task.values_of(1).tolist()
    assert scaled.values_of(6)[:, [0, 1, 6]].tolist() == [[250, 325, 700]] * 2 + [[170, 200, 350]]
    assert [regime.name for regime in scaled.regimes][-1] == "scale-6"
    assert len(drawn(task)[TRAINING]) == 1680


def test_shapes_are_apart_inside_and_mostly_touch() -> None:
    touching = 0
    for number in range(30):
        first, *others = shapes(number)
        assert (first.kind, *sorted(one.kind for one in others)) == ("square", "disk", "triangle")
        covered = [one.covers() for one in (first, *others)]
        assert sum(part.astype(int) for part in covered).max() <= 2
        assert sum((part & covered[0]).sum() for part in covered[1:]) <= 8  # corners, to a pixel
        touching += sum(not _apart(replaced(one, 15), first)[0] for one in others)
        for one, part in zip((first, *others), covered, strict=True):
            assert not (part[[0, -1]].any() and part[:, [0, -1]].any())
            assert part.sum() == pytest.approx((one.width[0] / 10) ** 2, rel=0.05)
            assert one is first or 0.55 * 300 < one.width[0] <= 300
    assert 20 < touching < 55


def replaced(shape: Shape, wider: int) -> Shape:
    """The shape, a little wider."""
    return Shape(kind=shape.kind, x=shape.x, y=shape.y, width=shape.width + wider, turn=shape.turn)


def test_pixels_and_frequencies_tell_nothing() -> None:
    pictures = draw_directions(rows(60)).numpy().astype(float)
    inside = [np.logical_or.reduce([one.covers() for one in shapes(n)]) for n in range(60)]
    of_objects = np.concatenate([p[m] for p, m in zip(pictures, inside, strict=True)])
    of_ground = np.concatenate([p[~m] for p, m in zip(pictures, inside, strict=True)])
    assert abs(of_objects.mean() - of_ground.mean()) < 0.5
    assert abs(of_objects.std() / of_ground.std() - 1) < 0.02
    # steps from pixel to pixel, the same for a texture and the texture turned by 90 degrees
    down, across = (np.diff(pictures, axis=axis, append=np.nan) ** 2 for axis in (1, 2))
    objects, ground = (
        np.nanmean(np.concatenate([p[m] for p, m in zip(down + across, masks, strict=True)]))
        for masks in (inside, [~part for part in inside])
    )
    assert abs(objects / ground - 1) < 0.1


def test_local_direction_shows_the_objects() -> None:
    for number, picture in enumerate(draw_directions(rows(5)).numpy()):
        covered = np.logical_or.reduce([one.covers() for one in shapes(number)])
        assert ((local_direction(picture) > 0) == covered).mean() > 0.97


def test_the_rule_by_hand_measures_a_square_that_stands_alone() -> None:
    offset = np.arange(96)
    stripes = np.where(offset % 4 < 2, 80, 170) + 0 * offset[:, None]
    alone = (abs(offset - 40) <= 14) & (abs(offset[:, None] - 50) <= 14)
    picture = np.where(alone, stripes.T, stripes).astype(np.uint8)
    assert abs(measured_by_hand(picture) - [40, 50, 29]).max() < 1.5


def test_the_rule_by_hand_looks_at_pictures_alone_and_mostly_fails() -> None:
    task = DirectionAnalogies(problems_per_regime=6, shuffled=True)
    problems = drawn(task)[TRAINING]
    some = problems.compact()
    blind = Problems(items=some.table(), index=some.index, target=torch.zeros_like(some.target))
    outputs = task.by_hand(blind, blind)
    assert task.score(outputs, problems).mean() < 0.9
    assert outputs.argmax(1).unique().numel() > 2


def test_the_search_finds_most_squares() -> None:
    latent = torch.tensor(
        [[250 + 30 * (n % 7), 400 - 20 * (n % 5), 200 + 40 * (n % 4), n] for n in range(12)]
    )
    found = np.stack([square_by_search(one) for one in draw_directions(latent).numpy()])
    near = np.abs(found - latent[:, :3].numpy() / 10).max(1)
    assert (near < 1.25).sum() >= 11
    assert np.median(near) < 0.5


def test_the_search_answers_problems_from_pictures_alone() -> None:
    task = DirectionAnalogies(problems_per_regime=6, shuffled=True)
    some = drawn(task)[TRAINING].compact()
    rows = torch.arange(0, len(some.index), 210)
    blind = Problems(items=some.table(), index=some.index[rows], target=torch.zeros(len(rows), 0))
    model = ByHand(rule="by_search").build(task, stream(0))
    right = some.target[rows]
    assert (model(blind.table(), blind.index).argmax(1) == right).sum() >= len(rows) - 1


@pytest.mark.parametrize("rule", ["by_luck", "oracle", ""])
def test_a_rule_that_the_task_lacks_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match="rule must be a method of DirectionAnalogies like by_h"):
        ByHand(rule=rule).build(DirectionAnalogies(), stream(0))


@pytest.mark.usefixtures("unchecked")
def test_impossible_fields_are_refused() -> None:
    with pytest.raises(ValueError, match="train_on must be an int 1…6, got 7"):
        DirectionAnalogies(train_on=7)
    with pytest.raises(ValueError, match="problems_per_regime must be an int 1…20580, got 20581"):
        DirectionAnalogies(problems_per_regime=20_581)
    with pytest.raises(ValueError, match=r"validation_problems must be .* got 18901"):
        DirectionAnalogies(validation_problems=18_901)
    with pytest.raises(ValueError, match="number must be an int 1…6, got 0"):
        DirectionAnalogies().values_of(0)
