"""The clutter of VAEC: a second square, which tells nothing, and a textured background."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from farfield.core import Stream, stream
from farfield.tasks._protocol._draws import integers
from farfield.tasks._vaec._vaec_objects import (
    BRIGHTEST,
    CANVAS,
    DIMMEST,
    GREY,
    NARROWEST,
    level_values,
)

DRAWS: Final = 8
"""Pictures of every object, each with clutter of its own."""
CLUTTER: Final[dict[str, int]] = {
    "x": CANVAS,
    "y": CANVAS,
    "width": 11,
    "brightness": BRIGHTEST - DIMMEST + 1,
    "hue": 5,
    "before": 2,
    "texture": 2**62,
}
"""Description of the clutter of a picture: how many values each number has, all equally likely."""
_HUES: Final = np.array([(1, 0, 0), (0, 0, 1), (1, 0, 1), (1, 1, 0), (0, 1, 1)])
"""Red, blue, magenta, yellow and cyan: the channels that are lit."""
_TILE: Final = 16
"""Side of the square of colors that a texture repeats, pixels."""
_CONTRAST: Final = 40
"""Largest difference of a texture from grey, in every channel."""


def drawn_clutter(place: Stream, count: int) -> Int64[Tensor, "item feature"]:
    """The clutter of pictures, a column for each of `CLUTTER`, each from a stream of its own.

    Args:
        place: Stream of the region.
        count: Number of pictures.
    """
    columns = [integers(place.child(name).numpy(), high, count) for name, high in CLUTTER.items()]
    return torch.from_numpy(np.stack(columns, axis=1))


def draw_cluttered(
    latent: Int64[Tensor, "item feature"],
    *,
    num_levels: int,
    image_size: int,
    exact_width: bool,
    second_object: bool,
    textured: bool,
) -> UInt8[Tensor, "item height width channel"]:
    """A picture for every row of levels and clutter.

    Args:
        latent: Levels of X, Y, size and brightness, then the columns of `drawn_clutter`.
        num_levels: Levels of every dimension.
        image_size: Side of the pictures in pixels, a multiple of 128.
        exact_width: Whether a square of width s covers s pixels rather than s + 1.
        second_object: Whether the second square is shown.
        textured: Whether the background is textured.
    """
    pictures = np.full((len(latent), CANVAS, CANVAS, 3), GREY, np.uint8)
    x, y, width, green = level_values(num_levels)[latent[:, :4].numpy(), np.arange(4)].T
    squares = np.column_stack([x, y, width, 0 * green, green, 0 * green])[:, None]
    x, y, width, above, hue, before, texture = latent[:, 4:].numpy().T
    if second_object:
        colors = _HUES[hue] * (DIMMEST + above)[:, None]
        second = np.column_stack([x, y, NARROWEST + 2 * width, colors])[:, None]
        squares = np.concatenate([squares, second], axis=1)
        squares[before == 0] = squares[before == 0, ::-1]
    for picture, seed, drawn in zip(pictures, texture.tolist(), squares, strict=True):
        if textured:
            picture.reshape(CANVAS // _TILE, _TILE, -1, _TILE, 3)[:] = _tile(seed)[:, None]
        for center_x, center_y, side, *color in drawn.tolist():
            half = (side + 1) // 2
            down, across = (
                slice(max(0, center - half + exact_width), center + half)
                for center in (center_y, center_x)
            )
            picture[down, across] = color
    for axis in (1, 2) if image_size > CANVAS else ():
        pictures = pictures.repeat(image_size // CANVAS, axis=axis)
    return torch.from_numpy(pictures)


def _tile(seed: int) -> UInt8[np.ndarray, "height width channel"]:
    """Colors around grey, channel by channel, from bytes of words of a stream."""
    words = stream(seed, "vaec", "texture").numpy().bit_generator.random_raw(_TILE**2 * 3 // 8)
    drawn = words.astype("<u8").view(np.uint8).astype(np.int64)
    values = GREY - _CONTRAST + drawn * (2 * _CONTRAST + 1) // 256
    return values.astype(np.uint8).reshape(_TILE, _TILE, 3)


def visible_levels(
    pictures: UInt8[Tensor, "item height width channel"], num_levels: int
) -> Float[Tensor, "item feature"]:
    """The levels of objects among clutter, read off their pictures: the same up to a constant.

    Green alone has neither red nor blue. What is hidden is missed: an edge behind the second
    square is taken where it is seen last, and the larger extent is the width.

    Args:
        pictures: What `draw_cluttered` drew.
        num_levels: Levels of every dimension.
    """
    seen = (pictures[..., 0] == 0) & (pictures[..., 2] == 0)
    (x, across), (y, down) = (_extent(seen.any(dim=axis)) for axis in (1, 2))
    green = (pictures[..., 1] * seen).flatten(1).amax(1).to(torch.float32)
    pixel = CANVAS / pictures.shape[1]
    step = (BRIGHTEST - DIMMEST) / (num_levels - 1)
    width = torch.maximum(across, down)
    return torch.stack([x * pixel, y * pixel, width * pixel / 2, green / step], dim=1)


def _extent(
    seen: Bool[Tensor, "item width"],
) -> tuple[Float[Tensor, " item"], Float[Tensor, " item"]]:
    """Center and width of what is seen of a line."""
    first = seen.to(torch.int64).argmax(dim=1)
    last = seen.shape[1] - 1 - seen.flip(1).to(torch.int64).argmax(dim=1)
    return (first + last).to(torch.float32) / 2, (last - first).to(torch.float32)
