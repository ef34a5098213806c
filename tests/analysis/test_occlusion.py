"""Images behind a square, against loops over pixels."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.analysis import Occlusion
from farfield.core import Problems, stream
from small import cross_entropy


def occluded(problems: Problems, size: int, seed: int = 0, **options: float) -> Tensor:
    change = Occlusion(size=size, of="test", **options)
    found = change(lambda items, index: items, problems, cross_entropy, stream(seed))
    assert torch.equal(found.target, problems.target)
    return found.sequences().flatten(0, 1)


def drawn(*shape: int) -> Problems:
    """Three problems of two images, some of them in several."""
    items = torch.rand(4, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    index = torch.tensor([[0, 1], [1, 1], [3, 2]])
    return Problems(items=items, index=index, target=torch.tensor([0, 1, 1]))


@pytest.mark.parametrize("size", [1, 4, 5, 20])
@pytest.mark.parametrize(
    "shape, channel", [((7, 7), None), ((6, 9), None), ((3, 6, 5), 0), ((6, 5, 3), 2)], ids=str
)
def test_a_square_hides_the_pixels_around_its_center(size: int, shape, channel) -> None:
    problems = drawn(*shape)
    found, images = occluded(problems, size), problems.sequences().flatten(0, 1)
    if channel is not None:
        found, images = (each.movedim(channel + 1, 1) for each in (found, images))
    else:
        found, images = found.unsqueeze(1), images.unsqueeze(1)
    height, width = images.shape[-2:]
    centers = stream(0).numpy().integers((height, width), size=(6, 2))
    means = images.mean((0, 2, 3))
    for image, channel_, row, column in np.ndindex(*images.shape):
        up, left = row - centers[image, 0] + size // 2, column - centers[image, 1] + size // 2
        inside = 0 <= up < size and 0 <= left < size
        expected = means[channel_] if inside else images[image, channel_, row, column]
        torch.testing.assert_close(found[image, channel_, row, column], expected)


def test_bytes_become_fractions_and_a_square_may_be_black() -> None:
    white = torch.full((40, 9, 9), 255, dtype=torch.uint8)
    rows = torch.arange(40)
    problems = Problems(items=white, index=rows[:, None], target=rows % 2)
    black = occluded(problems, 4, fill=0.0)
    assert black.dtype == torch.float32
    assert set(black.unique().tolist()) == {0.0, 1.0}
    assert (black == 0).flatten(1).sum(1).max() == 16
    assert torch.equal(occluded(problems, 4), torch.ones_like(black))


def test_each_image_has_a_center_of_its_own_from_the_stream() -> None:
    rows = torch.arange(30)
    problems = Problems(
        items=torch.ones(1, 9, 9), index=torch.zeros_like(rows)[:, None], target=rows % 2
    )
    one, again, other = (occluded(problems, 1, seed, fill=0.0) for seed in (0, 0, 1))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert len({image.flatten().argmin().item() for image in one}) > 10


def test_sizes_are_one_profile() -> None:
    regimes = [Occlusion(size=size, of="test").regime for size in (4, 8, 20)]
    assert [regime.name for regime in regimes] == [
        "occlusion-4-test",
        "occlusion-8-test",
        "occlusion-20-test",
    ]
    assert {regime.unit for regime in regimes} == {"pixels of a side occluded"}
    assert [regime.distance for regime in regimes] == [4, 8, 20]


def test_errors(unchecked: None) -> None:
    with pytest.raises(ValueError, match="size must be"):
        Occlusion(size=0, of="test")
    vectors = Problems(
        items=torch.ones(2, 5), index=torch.tensor([[0], [1]]), target=torch.tensor([0, 1])
    )
    with pytest.raises(ValueError, match=r"items must be images to be occluded, got shape \(5,\)"):
        occluded(vectors, 2)
