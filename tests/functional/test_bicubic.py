"""Bicubic resizing and colors: loops, Pillow, and what both leave as it is."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from farfield.functional.internal import bicubic_resize, rgb_to_ycbcr, ycbcr_to_rgb
from made import drawn, generator, gradcheck
from oracles import super_resolution as oracle

SIZES = [(4, 5), (3, 11), (24, 10), (12, 30), (1, 1), (25, 7)]


@pytest.mark.parametrize("mirrored", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_loops_over_pixels(size: tuple[int, int], mirrored: bool) -> None:
    image = drawn(12, 10)
    found = bicubic_resize(image, size, mirrored=mirrored)
    np.testing.assert_allclose(found, oracle.bicubic(image.numpy(), size, mirrored), atol=1e-12)


def by_pillow(levels: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """The width, then the height: some releases choose which one comes first by the sizes."""
    wide = Image.fromarray(levels).resize((size[1], len(levels)), Image.Resampling.BICUBIC)
    return np.asarray(wide.resize(size[::-1], Image.Resampling.BICUBIC))


@pytest.mark.parametrize("steep", [True, False])
def test_bytes_are_those_of_pillow(steep: bool) -> None:
    source = np.random.default_rng(0)
    for _ in range(60):
        old, new = source.integers(1, 40, (2, 2)).tolist()
        levels = source.choice([0, 255] if steep else 256, old).astype(np.uint8)
        found = bicubic_resize(torch.from_numpy(levels), tuple(new), mirrored=False)
        assert found.dtype == torch.uint8
        np.testing.assert_array_equal(found, by_pillow(levels, tuple(new)))


@pytest.mark.parametrize("dtype", [torch.uint16, torch.int32, torch.bool])
def test_other_integers_are_refused(dtype: torch.dtype) -> None:
    with pytest.raises(ValueError, match=r"images must be floating-point numbers or bytes, got"):
        bicubic_resize(torch.ones(4, 4, dtype=dtype), (8, 8))


def test_bytes_are_rounded_after_each_axis_the_smaller_one_first() -> None:
    levels = torch.randint(0, 256, (12, 10), generator=generator(3), dtype=torch.uint8)
    found = bicubic_resize(levels, (24, 5))
    first = oracle.bicubic(levels.double().numpy(), (12, 5)) + 0.5
    second = oracle.bicubic(np.floor(first).clip(0, 255), (24, 5)) + 0.5
    np.testing.assert_array_equal(found, np.floor(second).clip(0, 255))


def test_a_photograph_is_that_of_pillow(data_folder) -> None:
    with Image.open(data_folder / "sr" / "set5" / "butterfly_GT.png") as picture:
        levels = np.array(picture.convert("L"))
    for side in (85, 600):
        found = bicubic_resize(torch.from_numpy(levels), (side, side), mirrored=False)
        np.testing.assert_array_equal(found, by_pillow(levels, (side, side)))


def test_images_of_the_same_size_and_even_ones_stay_as_they_are() -> None:
    image = drawn(2, 3, 9, 8)
    torch.testing.assert_close(bicubic_resize(image, (9, 8)), image)
    even = torch.full((7, 5), 3.25, dtype=torch.float64)
    for mirrored in (True, False):
        torch.testing.assert_close(
            bicubic_resize(even, (20, 2), mirrored=mirrored),
            even.new_full((20, 2), 3.25),
        )
    assert gradcheck(lambda z: bicubic_resize(z, (3, 7)), drawn(5, 6).requires_grad_())


def test_sizes_must_be_some() -> None:
    with pytest.raises(ValueError, match=r"size.* got .*0"):
        bicubic_resize(drawn(5, 6), (0, 3))


def test_luma_and_chroma_of_every_pixel() -> None:
    levels = 255 * torch.rand(2, 3, 4, 5, dtype=torch.float64, generator=generator())
    found = rgb_to_ycbcr(levels)
    for batch, row, column in np.ndindex(2, 4, 5):
        expected = oracle.luma(*levels[batch, :, row, column].tolist())
        np.testing.assert_allclose(found[batch, :, row, column], expected, atol=2e-3)
    torch.testing.assert_close(ycbcr_to_rgb(found), levels, rtol=0, atol=1e-9)


def test_white_black_and_blue_are_those_of_matlab() -> None:
    colors = torch.tensor([[255.0, 255, 255], [0, 0, 0], [0, 0, 255]])[..., None, None]
    found = rgb_to_ycbcr(colors)[..., 0, 0].round()
    assert found.tolist() == [[235, 128, 128], [16, 128, 128], [41, 240, 110]]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("turn", [rgb_to_ycbcr, ycbcr_to_rgb])
def test_other_numbers_of_channels_are_refused(turn) -> None:
    with pytest.raises(ValueError, match=r"images must have three channels.* got .*\(4, 2, 2\)"):
        turn(torch.zeros(4, 2, 2))
