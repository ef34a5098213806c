"""The encoder of moments: equal steps in the picture are equal steps in the embedding."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from farfield.nn import AnalogyEncoder, MomentEncoder
from farfield.tasks import VAECTranslation
from made import generator, unsettled


def encoder(**options: int) -> MomentEncoder:
    made = MomentEncoder(
        (128, 128, 3), out_features=6, num_maps=4, generator=generator(), **options
    )
    return unsettled(made)


def objects(dimension: int) -> Tensor:
    """Pictures of squares whose levels differ in one dimension alone, 0, 6, 12 … 36."""
    task = VAECTranslation()
    levels = torch.full((7, 4), 20)
    levels[:, dimension] = torch.arange(0, 42, 6)
    items = task.objects(1)
    return items.draw(levels)


@pytest.mark.parametrize("dimension, tolerance", [(0, 1e-6), (1, 1e-6), (2, 2e-2), (3, 0.1)])
def test_embeddings_go_on_in_equal_steps(dimension: int, tolerance: float) -> None:
    steps = encoder()(objects(dimension)).diff(dim=0)
    mean = steps.mean(0)
    # Spreads are all but linear in the width; levels of brightness are rounded to whole numbers.
    assert (steps - mean).norm(dim=1).max() < tolerance * mean.norm()


@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "kernel_size": 3}])
def test_what_is_looked_at_is_all_that_is_not_background(options) -> None:
    made, pictures = encoder(**options), objects(0)
    mapped = torch.func.vmap(lambda one: made(one[None])[0])(pictures)
    torch.testing.assert_close(made(pictures), mapped, rtol=1e-9, atol=1e-12)


def test_a_picture_alone_is_embedded_as_among_others() -> None:
    made, pictures = encoder(), objects(1)
    torch.testing.assert_close(made(pictures[:1]), made(pictures)[:1], rtol=1e-9, atol=1e-12)


def test_a_picture_of_nothing_is_embedded() -> None:
    assert encoder()(torch.full((2, 128, 128, 3), 9, dtype=torch.uint8)).isfinite().all()


def test_the_background_does_not_count() -> None:
    made, pictures = encoder(), objects(2).double() / 255
    torch.testing.assert_close(made(pictures - 0.25), made(pictures), rtol=1e-9, atol=1e-12)


def test_coordinates_say_where_a_pixel_lies_also_in_a_window() -> None:
    """Two pictures that differ in a corner: there alone each is looked at by itself."""
    pictures = torch.full((2, 64, 64, 3), 0.3, dtype=torch.float64)
    pictures[1, 50:60, 8:20] = 0.7
    made = AnalogyEncoder((64, 64, 3), coordinates=True, generator=generator()).double()
    seen = made._overlay(pictures)
    assert seen.window.shape == (2, 5, 10, 12)
    down, across = torch.linspace(0, 1, 64).double(), torch.linspace(0, 1, 64).double()
    for picture, maps in zip(pictures, seen.whole(), strict=True):
        assert torch.equal(maps[:3], picture.permute(2, 0, 1))
        torch.testing.assert_close(maps[3], down[:, None].expand(64, 64), rtol=0, atol=1e-7)
        torch.testing.assert_close(maps[4], across.expand(64, 64), rtol=0, atol=1e-7)


@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="kernel_size must be odd"):
        MomentEncoder(kernel_size=2)
    with pytest.raises(ValueError, match="num_maps must be an int 1…"):
        MomentEncoder(num_maps=0)
    with pytest.raises(ValueError, match=r"item_shape must be \(height, width, channel\)"):
        MomentEncoder((32, 32))
    with pytest.raises(ValueError, match=r"items must be \(item, "):
        encoder()(torch.zeros(1, 64, 64, 3))
