"""The encoder of silhouettes: its maps by loops, and squares through clutter."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.core import stream
from farfield.nn import SilhouetteEncoder
from farfield.tasks import VAECTranslation
from made import drawn, generator, gradcheck, unsettled
from oracles import webb2020 as oracle


def test_moments_are_those_of_maps_that_compete() -> None:
    made = unsettled(
        SilhouetteEncoder((6, 5, 3), num_maps=4, map_features=7, generator=generator())
    )
    pictures = drawn(40, 6, 5, 3).abs()
    colors, weight, bias = (
        tensor.detach().numpy() for tensor in (made.colors, made.output.weight, made.output.bias)
    )
    for found, picture in zip(made(pictures), pictures.numpy(), strict=True):
        for number, slot in enumerate(found.reshape(4, 7)):
            map_ = oracle.won(picture, colors, number)
            assert map_.max() > 0 or number
            lines = [[place / 6 for place in range(side)] for side in (6, 5)]
            moments = oracle.silhouette_moments(map_, *lines, 1e-8)
            np.testing.assert_allclose(slot.detach(), weight @ moments + bias, rtol=1e-7, atol=1e-9)


def test_gradients_are_those_of_all_pixels() -> None:
    made = SilhouetteEncoder((4, 3, 3), num_maps=3, map_features=2, generator=generator()).double()
    pictures = drawn(2, 4, 3, 3).abs()

    def embedded(colors: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(made, {"colors": colors}, (pictures,))

    assert gradcheck(embedded, made.colors.detach().clone().requires_grad_())


def test_clutter_leaves_the_map_of_the_object_as_it_is() -> None:
    task = VAECTranslation(second_object=True, textured=True)
    made = SilhouetteEncoder(num_maps=4, generator=generator()).double()
    colors = [[0.0, 1.0, 0.0], [0.8, 0.8, 0.0], [0.8, 0.1, 0.8], [0.0, 0.8, 0.8]]
    with torch.no_grad():
        made.colors.copy_(torch.tensor(colors))
    levels = torch.full((40, 4), 20)
    clutter = task.draw(stream(0))["training"].items
    rows = torch.cat([levels, clutter.latent[:40, 4:]], dim=1)
    slots = made(clutter.draw(rows)).reshape(40, 4, -1)
    assert (slots[:, 0] - slots[0, 0]).abs().max() < 1e-12
    assert (slots[:, 1:] - slots[0, 1:]).abs().flatten(1).amax(1)[1:].min() > 1e-3


@pytest.mark.usefixtures("unchecked")
def test_one_map_has_none_to_compete_with() -> None:
    with pytest.raises(ValueError, match="num_maps must be 2 or more"):
        SilhouetteEncoder(num_maps=1)
    with pytest.raises(ValueError, match=r"item_shape must be \(height, width, channel\)"):
        SilhouetteEncoder((32, 32))
    with pytest.raises(ValueError, match=r"items must be \(item, "):
        SilhouetteEncoder((8, 8, 3))(torch.zeros(1, 8, 9, 3))


def test_a_broken_pixel_is_seen() -> None:
    images = torch.rand(2, 16, 16, 3, generator=generator())
    images[1, 3, 7] = torch.nan
    encoder = SilhouetteEncoder((16, 16, 3), generator=generator())
    assert encoder(images).isnan().any(1).tolist() == [False, True]
