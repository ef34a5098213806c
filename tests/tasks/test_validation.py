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
    GlyphSet,
    ProblemTask,
    SameDifferent,
    TintedSameDifferent,
)
from farfield.tasks.internal import with_validation
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
