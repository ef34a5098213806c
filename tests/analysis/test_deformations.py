"""Rotated, sheared and zoomed images against loops over pixels."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.analysis import Rotation, Shear, Zoom
from farfield.core import Problems, stream
from farfield.experiments import Experiment, Perturbation
from oracles.deformations import rotated, sheared, zoomed
from small import cross_entropy, small_experiment

SOURCE = torch.Generator().manual_seed(0)


def drawn(*shape: int) -> Problems:
    """Three problems of two images, some of them in several."""
    items = torch.rand(4, *shape, dtype=torch.float64, generator=SOURCE)
    index = torch.tensor([[0, 1], [1, 1], [3, 2]])
    return Problems(items=items, index=index, target=torch.tensor([0, 1, 1]))


def deformed(change: Perturbation, problems: Problems, seed: int = 0) -> Problems:
    def unseen(items: Tensor, index: Tensor) -> Tensor:
        raise AssertionError("a deformation does not look at the network")

    return change(unseen, problems, cross_entropy, stream(seed))


def expected(change: Perturbation, images: np.ndarray, seed: int = 0) -> np.ndarray:
    """Each of the images deformed by the angle that the stream gives for it."""
    if isinstance(change, Zoom):
        return np.stack([zoomed(image, change.scale) for image in images])
    largest = math.radians(change.degrees)
    angles = stream(seed).numpy().uniform(-largest, largest, len(images))
    by = rotated if isinstance(change, Rotation) else sheared
    return np.stack([by(image, angle) for image, angle in zip(images, angles, strict=True)])


CHANGES = [
    Rotation(degrees=20, of="test"),
    Rotation(degrees=180, of="test"),
    Shear(degrees=57.3, of="test"),
    Zoom(scale=0.6, of="test"),
    Zoom(scale=1.4, of="test"),
]
named = pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.regime.name)


@named
@pytest.mark.parametrize("shape", [(7, 7), (6, 9), (8, 5)])
def test_pixels_are_taken_from_where_the_equation_says(change, shape) -> None:
    problems = drawn(*shape)
    found = deformed(change, problems)
    images = problems.sequences().flatten(0, 1).numpy()
    np.testing.assert_allclose(
        found.sequences().flatten(0, 1), expected(change, images), atol=1e-12
    )
    assert torch.equal(found.target, problems.target)
    assert len(found) == len(problems)


@named
@pytest.mark.parametrize("shape, channel", [((2, 6, 5), 0), ((6, 5, 3), 2), ((3, 6, 5), 0)])
def test_all_channels_of_an_image_are_deformed_alike(change, shape, channel) -> None:
    problems = drawn(*shape)
    found = deformed(change, problems).sequences().flatten(0, 1).movedim(channel + 1, 0)
    images = problems.sequences().flatten(0, 1).movedim(channel + 1, 0)
    for after, before in zip(found, images, strict=True):
        np.testing.assert_allclose(after, expected(change, before.numpy()), atol=1e-12)


@named
def test_bytes_become_fractions_and_what_is_outside_is_black(change) -> None:
    white = torch.full((50, 9, 9), 255, dtype=torch.uint8)
    rows = torch.arange(50)
    problems = Problems(items=white, index=rows[:, None], target=rows % 2)
    images = deformed(change, problems).items
    assert images.dtype == torch.float32
    torch.testing.assert_close(images[:, 4, 4], torch.ones(50))
    assert 0 <= float(images.min()) <= float(images.max()) <= 1 + 1e-6
    if change == Zoom(scale=0.6, of="test"):
        assert images[:, 1:-1, 1:-1].min() > 1 - 1e-6
    else:
        assert images[:, 0, 0].min() < 0.6


def test_halves_are_seen_double_and_doubles_half() -> None:
    problems = drawn(8, 8)
    seen, whole = deformed(Zoom(scale=1.0, of="x"), problems).sequences(), problems.sequences()
    torch.testing.assert_close(seen, whole, rtol=0, atol=1e-12)
    shrunk = deformed(Zoom(scale=2.0, of="x"), problems).sequences()
    pooled = whole.unflatten(-1, (4, 2)).mean(-1).unflatten(-2, (4, 2)).mean(-2)
    torch.testing.assert_close(shrunk[..., 2:6, 2:6], pooled)
    assert not shrunk[..., :2, :].any()
    grown = deformed(Zoom(scale=0.5, of="x"), problems).sequences()
    middle = whole[..., 2:6, 2:6]
    torch.testing.assert_close(
        grown[..., 1:-1, 1:-1].unflatten(-1, (3, 2)).mean(-1).unflatten(-2, (3, 2)).mean(-2),
        torch.nn.functional.avg_pool2d(middle, 2, stride=1),
    )


def test_each_image_has_an_angle_of_its_own_from_the_stream() -> None:
    image = torch.rand(1, 9, 9, generator=SOURCE).expand(6, 9, 9)
    rows = torch.arange(6)
    problems = Problems(items=image, index=rows[:, None], target=rows % 2)
    shared = dataclasses.replace(problems, items=image[:1], index=torch.zeros_like(rows)[:, None])
    for change in CHANGES[:3]:
        one, again, other = (deformed(change, problems, seed).items for seed in (0, 0, 1))
        assert torch.equal(one, again)
        assert torch.equal(one, deformed(change, shared).items)
        assert (one != other).flatten(1).any(1).all()
        assert (torch.cdist(one.flatten(1), one.flatten(1)) > 0).sum() == 30


def test_a_family_of_deformations_is_one_profile() -> None:
    regimes = [
        change.regime
        for change in (
            *(Rotation(degrees=degrees, of="test") for degrees in (20, 40)),
            *(Shear(degrees=degrees, of="test") for degrees in (28.6, 57.3)),
            *(Zoom(scale=scale, of="test") for scale in (0.8, 0.6)),
            *(Zoom(scale=scale, of="test") for scale in (1.2, 1.4)),
        )
    ]
    assert [(regime.name, f"{regime.distance:g} {regime.unit}") for regime in regimes] == [
        ("rotation-20-test", "20 degrees of rotation"),
        ("rotation-40-test", "40 degrees of rotation"),
        ("shear-28.6-test", "28.6 degrees of shear"),
        ("shear-57.3-test", "57.3 degrees of shear"),
        ("zoom-0.8-test", "20 % of the side cut off"),
        ("zoom-0.6-test", "40 % of the side cut off"),
        ("zoom-1.2-test", "20 % of the side added"),
        ("zoom-1.4-test", "40 % of the side added"),
    ]


def test_experiments_with_deformations_are_restored_from_their_description() -> None:
    changes = tuple(dataclasses.replace(change, of="training") for change in CHANGES)
    experiment = dataclasses.replace(small_experiment(), perturbations=changes)
    assert all(isinstance(change, Perturbation) for change in changes)
    assert Experiment.from_json(experiment.to_json()) == experiment


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Rotation(degrees=181, of="x"), "degrees must be .*, got 181"),
        (lambda: Rotation(degrees=0, of="x"), "degrees must be .*, got 0"),
        (lambda: Shear(degrees=90, of="x"), "degrees must be .*, got 90"),
        (lambda: Zoom(scale=-1, of="x"), "scale must be .*, got -1"),
    ],
)
def test_wrong_fields_are_refused(make, message: str, unchecked) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@named
def test_vectors_are_refused(change, unchecked) -> None:
    with pytest.raises(ValueError, match=r"items must be images to be deformed, got shape \(5,\)"):
        deformed(change, drawn(5))
