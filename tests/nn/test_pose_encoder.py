"""PoseEncoder against its equations in loops, and the changes that it undoes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import ndimage

from farfield.nn import PoseEncoder
from farfield.tasks import GlyphSet
from made import drawn, gradcheck

SIDE = 6


def posed(image: np.ndarray, radius: float, floor: float, blur: float) -> np.ndarray:
    """Return the embedding of one image, point by point."""
    height, width = image.shape
    border = [image[0], image[-1], image[:, 0], image[:, -1]]
    contrast = image - np.sort(np.concatenate(border))[(2 * (height + width) - 1) // 2]
    kernel = np.exp(-(np.arange(-2, 3) ** 2) / (2 * blur**2))
    for axis in (0, 1):
        contrast = ndimage.correlate1d(contrast, kernel / kernel.sum(), axis, mode="constant")
    figure = np.maximum(0, abs(contrast) - floor * abs(contrast).max())
    rows, columns = np.indices(image.shape)
    share = figure / figure.sum()
    y, x = (share * rows).sum(), (share * columns).sum()
    spread = np.sqrt((share * ((rows - y) ** 2 + (columns - x) ** 2)).sum())
    steps = (np.arange(SIDE) + 0.5) / SIDE * 2 - 1
    points = np.meshgrid(y + spread / radius * steps, x + spread / radius * steps, indexing="ij")
    found = ndimage.map_coordinates(np.pad(figure, 1), np.stack(points) + 1, order=1).ravel()
    return found / np.linalg.norm(found)


@pytest.mark.parametrize("shape", [(9, 9), (12, 8)])
def test_equations(shape: tuple[int, int]) -> None:
    images = drawn(3, *shape).square()
    encoder = PoseEncoder(shape, side=SIDE, radius=0.4, floor=0.2, blur=0.8, dtype=torch.float64)
    expected = [posed(image, 0.4, 0.2, 0.8) for image in images.numpy()]
    np.testing.assert_allclose(encoder(images), expected, rtol=1e-5, atol=1e-6)


def test_gradient() -> None:
    encoder = PoseEncoder((7, 6), side=4, dtype=torch.float64)
    assert gradcheck(encoder, drawn(2, 7, 6).requires_grad_())


def test_position_size_and_contrast_are_undone() -> None:
    letters = torch.from_numpy(GlyphSet.letters().images[:9].copy())
    encoder = PoseEncoder()
    z = encoder(letters)
    moved = torch.roll(letters, (2, -3), (1, 2))
    larger = ndimage.zoom(letters.numpy()[:, 2:30, 2:30], (1, 32 / 28, 32 / 28), order=1)
    others = {
        "moved": (moved, 0.9999),
        "negative": (255 - letters, 0.9999),
        "faint": (100 + letters // 4, 0.999),
        "larger": (torch.from_numpy(larger), 0.97),
    }
    for name, (showing, least) in others.items():
        alike = (z * encoder(showing)).sum(1)
        assert alike.min() > least, (name, alike)
    products = z @ z.mT
    assert products[~torch.eye(9, dtype=torch.bool)].max() < 0.95


def test_image_without_a_figure_has_no_pose() -> None:
    image = torch.full((1, 8, 8), 0.3, requires_grad=True)
    z = PoseEncoder((8, 8), side=SIDE)(image)
    assert not z.any()
    z.sum().backward()
    assert image.grad is not None
    assert image.grad.isfinite().all()


def test_what_cannot_be_is_refused() -> None:
    for wrong in (0.0, 1.5):
        with pytest.raises(
            ValueError, match=rf"radius must be .* above 0 .* at most 1, got {wrong}"
        ):
            PoseEncoder(radius=wrong)
    with pytest.raises(ValueError, match=r"floor must be .* below 1, got 1\.0"):
        PoseEncoder(floor=1.0)
    with pytest.raises(ValueError, match=r"items must be \(item, 32, 32\), got shape \(2, 8, 8\)"):
        PoseEncoder()(torch.zeros(2, 8, 8))
