"""Validation where it is asked for: new problems, and nothing else of the task is another."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from farfield.core import stream
from farfield.tasks import (
    TRAINING,
    VALIDATION,
    AllSame,
    DynamicObjects,
    GlyphSet,
    ImageClasses,
    ImageGeneration,
    ObjectPicking,
    ProblemTask,
    PublishedVisualAnalogies,
    SameDifferent,
    SortOfCLEVR,
    TintedSameDifferent,
    TwoMoons,
    VAECTranslation,
    VisualAnalogies,
)
from farfield.tasks.internal import with_validation
from tasks import image_sets
from tasks.rules import FEWEST
from tasks.sets import own_shapes, shown

RULES = pytest.mark.parametrize("cls", FEWEST, ids=lambda cls: cls.name)


def images(task: ProblemTask, regime: str, count: int = 60) -> list[bytes]:
    """Pictures of the first problems of a regime."""
    problems = task.draw(stream(0))[regime][:count]
    return [picture.numpy().tobytes() for picture in problems.table()[problems.index.flatten()]]


@RULES
def test_rules_are_validated_on_images_that_no_other_regime_shows(cls: type) -> None:
    task = cls(withheld=90, max_problems=300)
    searched = with_validation(task)
    names = [regime.name for regime in searched.regimes]
    assert names == [TRAINING, VALIDATION, *(regime.name for regime in task.regimes[1:])]
    assert list(searched.draw(stream(0))) == names
    for regime in task.regimes:
        assert images(searched, regime.name) == images(task, regime.name)
    held = searched.draw(stream(0))[VALIDATION]
    assert len(held) == 2_000
    assert (searched.score(searched.oracle(held), held) == 1).all()
    letters = GlyphSet.letters().items
    if cls is TintedSameDifferent:
        letters = torch.cat([letters / 2 + 0.5, letters / 2])
        assert torch.equal(held.latent["tint"], held.target)  # as in training
    known = {picture.numpy().tobytes() for picture in letters}
    assert set(images(searched, VALIDATION, 2_000)) <= known


@RULES
def test_some_of_the_users_images_are_held_out(cls: type) -> None:
    fewest = FEWEST[cls]
    task = cls(withheld=fewest, shapes=own_shapes(3 * fewest), validation_problems=40)
    sets = task.draw(stream(0))
    tints = 2 if cls is TintedSameDifferent else 1
    seen = {name: {row % (3 * fewest) for row in shown(one)} for name, one in sets.items()}
    assert [len(seen[name]) for name in (TRAINING, VALIDATION)] == [fewest, fewest]
    assert not seen[VALIDATION] & set().union(*(seen[name] for name in seen if name != VALIDATION))
    assert len(sets[VALIDATION].items) == 3 * fewest * tints
    with pytest.raises(
        ValueError, match=f"leave {2 * fewest} images .* {fewest} of {3 * fewest - 1}"
    ):
        dataclasses.replace(task, shapes=own_shapes(3 * fewest - 1))


def test_a_fifth_of_many_images_of_the_user_is_held_out() -> None:
    task = SameDifferent(withheld=10, shapes=own_shapes(60), validation_problems=2_000)
    found = {name: len(shown(one)) for name, one in task.draw(stream(0)).items()}
    assert found == {TRAINING: 40, VALIDATION: 10, "withheld-10": 10}


def test_letters_are_validated_on_glyphs() -> None:
    task = AllSame(shapes=GlyphSet.letters(), validation_problems=50)
    known = {image.numpy().tobytes() for image in GlyphSet.glyphs().items}
    assert set(images(task, VALIDATION)) <= known
    assert not set(images(task, TRAINING)) & known


def test_validation_has_as_many_problems_of_each_kind_as_is_asked() -> None:
    held = AllSame(withheld=90, validation_problems=60).draw(stream(0))[VALIDATION]
    assert np.bincount(held.latent["odd"]).tolist() == [30, 10, 10, 10]
    others = [SameDifferent(withheld=m, validation_problems=40).draw(stream(0)) for m in (0, 98)]
    assert [one[VALIDATION].target.sum() for one in others] == [20, 20]


def test_analogies_are_validated_with_combinations_that_training_lacks() -> None:
    task = with_validation(VAECTranslation())
    known, held = (task.draw(stream(0))[name] for name in (TRAINING, VALIDATION))
    assert len(held) == 2_000
    assert {*map(tuple, held.index.tolist())}.isdisjoint(map(tuple, known.index.tolist()))
    assert held.latent["dimension"].bincount().min() > 400
    with pytest.raises(ValueError, match=r"validation_problems must be an int 0…0, got 1"):
        VAECTranslation(problems_per_regime=140 * 4 * 343, validation_problems=1)


def test_images_that_are_held_out_leave_training(monkeypatch: pytest.MonkeyPatch) -> None:
    image_sets.add(monkeypatch)
    task = ImageGeneration(data_set="made-up", validation_images=10)
    rows = {name: one.latent["image"].tolist() for name, one in task.draw(stream(0)).items()}
    assert (len(rows[TRAINING]), len(rows[VALIDATION])) == (53, 10)
    assert sorted(rows[TRAINING] + rows[VALIDATION]) == [*range(63)]
    few = dataclasses.replace(task, training_images=20).draw(stream(0))[TRAINING]
    assert few.latent["image"].tolist() == rows[TRAINING][:20]
    assert ImageClasses(data_set="made-up").with_validation().validation_per_class == 2  # 63 / 30


def test_a_task_without_validation_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"got the environment object-picking: .* by their score"):
        with_validation(ObjectPicking())
    published = PublishedVisualAnalogies()
    with pytest.raises(ValueError, match=r"with_validation\(\) .* got published-visual-analogies"):
        with_validation(published)


def test_validation_lacks_what_training_lacks() -> None:
    scenes = SortOfCLEVR(withheld_colors=2, training_images=5, test_images=20, validation_images=20)
    held = scenes.draw(stream(0))[VALIDATION]
    assert (len(held), held.latent["color"].min()) == (400, 2)
    assert scenes.chance(VALIDATION) == scenes.chance(TRAINING)
    squares = DynamicObjects(training_sequences=3, test_sequences=3, validation_sequences=200)
    sizes = squares.draw(stream(0))[VALIDATION].latent["squares"][:, :, 2]
    assert len(sizes) == 200
    assert 3 < sizes.min() < 4
    assert 12 < sizes.max() < 13
    panels = VisualAnalogies(training_problems=5, test_problems=5, validation_problems=40)
    assert len(panels.draw(stream(0))[VALIDATION]) == 40
    assert len(TwoMoons(validation_points=70).draw(stream(0))[VALIDATION]) == 70
