"""LikenessNet against its equations in loops, and what it takes as alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import ndimage

from farfield.models import LikenessNet
from farfield.nn import PoseEncoder
from farfield.tasks import GlyphSet
from made import drawn, generator, state_of, unsettled

SIDE, OUTPUTS = 7, 3


def small(length: int = 3, **options: float) -> LikenessNet:
    made = LikenessNet(SIDE**2, OUTPUTS, length, hidden_size=7, generator=generator(), **options)
    return unsettled(made)


def turned(image: np.ndarray, angle: float) -> np.ndarray:
    """Turn a square image about its center, point by point."""
    points = np.indices(image.shape) - (SIDE - 1) / 2
    cos, sin = math.cos(angle), math.sin(angle)
    rows, columns = sin * points[1] + cos * points[0], cos * points[1] - sin * points[0]
    where = np.stack((rows, columns)) + (SIDE - 1) / 2
    return ndimage.map_coordinates(np.pad(image, 1), where + 1, order=1, mode="constant")


def histogram(image: np.ndarray) -> np.ndarray:
    """Sum the contrast along edges by direction and cell."""
    down, across = (ndimage.sobel(image, axis, mode="constant") / 8 for axis in (0, 1))
    contrast, angle = np.hypot(down, across), 2 * np.arctan2(down, across)
    found = [
        [(contrast * np.maximum(0, np.cos(angle - direction)))[row : row + 3, column : column + 3]
         .mean() for row in (0, 3) for column in (0, 3)]
        for direction in np.deg2rad([0, 180, 90, 270])
    ]  # fmt: skip
    return np.array(found) / np.sum(found)


def likeness(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sqrt(histogram(a) * histogram(b)).sum())


@pytest.mark.parametrize("angles", [[0.0], [-15.0, -7.5, 0.0, 7.5, 15.0]])
def test_equations(angles: list[float]) -> None:
    model, z = small(turn=angles[-1], threshold=0.7, width=0.3), drawn(2, 3, SIDE**2)
    state = state_of(model)
    for problem, answer in zip(z.numpy(), model(z).detach().numpy(), strict=True):
        images = problem.reshape(3, SIDE, SIDE)
        way = [[max(likeness(a, turned(b, math.radians(angle))) for angle in angles)
                for b in images] for a in images]  # fmt: skip
        alike = (np.maximum(way, np.transpose(way)) - 0.7) / 0.3
        np.fill_diagonal(alike, 0)
        relations = np.exp(alike) / np.exp(alike).sum(1, keepdims=True)
        hidden = np.maximum(0, state["hidden.weight"] @ relations.ravel() + state["hidden.bias"])
        expected = state["output.weight"] @ hidden + state["output.bias"]
        np.testing.assert_allclose(answer, expected, rtol=1e-3, atol=1e-4)


def test_turned_letters_are_alike_and_others_are_not() -> None:
    letters = GlyphSet.letters().images[:10]
    turn = ndimage.rotate(letters, 20, axes=(1, 2), reshape=False, order=1, cval=255)
    z = PoseEncoder()(torch.from_numpy(np.concatenate((letters, turn))))
    likeness = LikenessNet(z.shape[1], OUTPUTS, 20).likeness(z[None])[0]
    assert torch.equal(likeness, likeness.mT)
    torch.testing.assert_close(likeness.diagonal(), torch.ones(20))
    pairs = likeness[:10, 10:]
    assert pairs.diagonal().min() > 0.95
    assert pairs[~torch.eye(10, dtype=torch.bool)].max() < 0.93
    upright = LikenessNet(z.shape[1], OUTPUTS, 20, turn=0.0).likeness(z[None])[0]
    assert upright[:10, 10:].diagonal().max() < pairs.diagonal().min()


def test_what_cannot_be_is_refused() -> None:
    for features in (7, 4):
        with pytest.raises(ValueError, match=rf"pixels of a square image of 3×3 .* got {features}"):
            LikenessNet(features, 2, 3)
    with pytest.raises(ValueError, match=r"length=3 steps .* made for, got 4"):
        small()(drawn(1, 4, SIDE**2))
