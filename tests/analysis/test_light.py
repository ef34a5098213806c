"""Brightness and contrast of images: the formulas, the range, profiles, refusals."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from farfield.analysis import Brightness, Contrast
from farfield.core import Problems, stream
from farfield.experiments import Experiment, Perturbation
from small import small_experiment

CHANGES = (
    Brightness(shift=0.3, of="training"),
    Brightness(shift=-0.2, of="training"),
    Contrast(factor=0.5, of="training"),
    Contrast(factor=2.0, of="training"),
)


def drawn(*shape: int) -> Problems:
    source = torch.Generator().manual_seed(0)
    items = torch.rand(4, *shape, dtype=torch.float64, generator=source)
    return Problems(items=items, index=torch.tensor([[3, 0], [1, 3]]), target=torch.tensor([0, 1]))


def changed(change: Perturbation, problems: Problems) -> Problems:
    return change(None, problems, None, stream(0))


def expected(change: Brightness | Contrast, image: np.ndarray) -> np.ndarray:
    out = np.empty_like(image)
    mean = sum(image.flat) / image.size
    for place, x in np.ndenumerate(image):
        is_shift = isinstance(change, Brightness)
        y = x + change.shift if is_shift else mean + change.factor * (x - mean)
        out[place] = 0.0 if y < 0 else 1.0 if y > 1 else y
    return out


@pytest.mark.parametrize("shape", [(6, 5), (3, 6, 5), (6, 5, 3)])
@pytest.mark.parametrize("change", CHANGES)
def test_every_image_is_changed_by_the_formula(change, shape: tuple[int, ...]) -> None:
    problems = drawn(*shape)
    found = changed(change, problems)
    for before, after in zip(problems.items.numpy(), found.items, strict=True):
        np.testing.assert_allclose(after, expected(change, before), rtol=1e-12)
    assert torch.equal(found.index, problems.index)
    assert torch.equal(found.target, problems.target)


def test_bytes_become_fractions() -> None:
    levels = torch.tensor([[[0, 51], [102, 204]]], dtype=torch.uint8)
    problems = Problems(items=levels, index=torch.zeros(1, 1).long(), target=torch.zeros(1).long())
    for change, after in (
        (CHANGES[0], [0.3, 0.5, 0.7, 1.0]),
        (CHANGES[1], [0.0, 0.0, 0.2, 0.6]),
        (CHANGES[2], [0.175, 0.275, 0.375, 0.575]),
    ):
        found = changed(change, problems).items.flatten()
        torch.testing.assert_close(found, torch.tensor(after))


def test_a_family_of_changes_is_one_profile() -> None:
    regimes = [change.regime for change in CHANGES]
    assert [(regime.name, f"{regime.distance:g} {regime.unit}") for regime in regimes] == [
        ("brightness+0.3-training", "30 % of full intensity added"),
        ("brightness-0.2-training", "20 % of full intensity taken off"),
        ("contrast-0.5-training", "50 % of contrast taken off"),
        ("contrast-2-training", "100 % of contrast added"),
    ]


def test_experiments_with_changes_are_restored_from_their_description() -> None:
    experiment = dataclasses.replace(small_experiment(), perturbations=CHANGES)
    assert all(isinstance(change, Perturbation) for change in CHANGES)
    assert Experiment.from_json(experiment.to_json()) == experiment


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Brightness(shift=1.5, of="x"), "shift must be .*, got 1.5"),
        (lambda: Contrast(factor=-0.1, of="x"), "factor must be .*, got -0.1"),
        (
            lambda: changed(CHANGES[0], drawn(5)),
            r"items must be images, got shape \(5,\)",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, message: str, unchecked) -> None:
    with pytest.raises(ValueError, match=message):
        make()
