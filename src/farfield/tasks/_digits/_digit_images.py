"""Images of digits and characters, made in the size and colors that they are shown in.

Each class stands for all images of a file and gives those that are asked for, as bytes of
`(item, 3, 32, 32)`. What is done to bytes is done in integers: the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, final

import numpy as np
import torch
from jaxtyping import Float32, Int64, UInt8
from torch import Tensor

from farfield.core import Stream
from farfield.tasks._files._photographs import Photographs
from farfield.tasks._protocol._draws import integers

SIDE: Final = 32
"""Height and width of the images that are shown, pixels."""
SMALL: Final = 28
"""The same of MNIST, K-MNIST and MNIST-M as published."""
SHOWN: Final = (3, SIDE, SIDE)


Numbers = Int64[np.ndarray, " item"]
Colors = UInt8[np.ndarray, "item 3 32 32"]
Images = Callable[[Numbers], Colors]
"""All images of a file: those with some numbers."""


@final
@dataclass(frozen=True, eq=False)
class GreyImages:
    """Grey images of 28 × 28, as red, green and blue of 32 × 32.

    Args:
        originals: All images; 0 is paper.
    """

    originals: UInt8[np.ndarray, "item 28 28"]

    def __call__(self, numbers: Numbers) -> Colors:
        """The images with some numbers."""
        return np.repeat(upsampled(self.originals[numbers])[:, None], 3, axis=1)


@final
@dataclass(frozen=True, eq=False)
class BlendedImages:
    r"""Grey images over pieces of photographs, $|p - d|$ in each color (MNIST-M).

    Args:
        originals: All images; 0 is paper, which the photograph shows through.
        photographs: Where the pieces are from.
        corners: Photograph of each image, and row and column of its upper left corner there.
    """

    originals: UInt8[np.ndarray, "item 28 28"]
    photographs: Photographs
    corners: Int64[np.ndarray, "item 3"]

    def __call__(self, numbers: Numbers) -> Colors:
        """The images with some numbers."""
        pieces = self.photographs.pieces(self.corners[numbers], SMALL).transpose(0, 3, 1, 2)
        digits = self.originals[numbers][:, None]
        # The larger less the smaller: bytes have no sign.
        return upsampled(np.maximum(pieces, digits) - np.minimum(pieces, digits))


@final
@dataclass(frozen=True, eq=False)
class ColorImages:
    """Images that are shown as they are.

    Args:
        originals: All images.
    """

    originals: Colors

    def __call__(self, numbers: Numbers) -> Colors:
        """The images with some numbers."""
        return self.originals[numbers]


@final
@dataclass(frozen=True, eq=False)
class Mixture:
    """Renderer of images of several files in one table, for `farfield.core.LazyItems`.

    Args:
        parts: The files, by their numbers.
    """

    parts: Mapping[int, Images]

    def __call__(self, latent: Int64[Tensor, "item 2"]) -> UInt8[Tensor, "item 3 32 32"]:
        """The images of rows of latent: number of the file, and number in it."""
        files, numbers = latent.numpy().T
        shown = np.empty((len(latent), *SHOWN), np.uint8)
        for place, part in self.parts.items():
            rows = files == place
            if rows.any():
                shown[rows] = part(numbers[rows])
        return torch.from_numpy(shown)


def corners(
    place: Stream, count: int, sizes: Int64[np.ndarray, "item 2"]
) -> Int64[np.ndarray, "batch 3"]:
    """A piece of 28 × 28 anywhere in any photograph, for each of so many images.

    Args:
        place: Stream of the file that the images are of.
        count: How many images.
        sizes: Height and width of each photograph, pixels.
    """
    chosen = integers(place.child("photograph").numpy(), len(sizes), count)
    columns = [chosen]
    for axis, name in enumerate(("row", "column")):
        room = sizes[chosen, axis] - SMALL + 1
        # A word of 64 bits modulo the room: short of uniform by less than one part in 2^50.
        words = np.atleast_1d(place.child(name).numpy().bit_generator.random_raw(count))
        columns.append((words % room.astype(np.uint64)).astype(np.int64))
    return np.stack(columns, axis=1)


def upsampled(
    images: UInt8[np.ndarray, "*batch 28 28"],
) -> UInt8[np.ndarray, "*batch 32 32"]:
    """Images of 28 × 28 at 32 × 32: between the middles of pixels in proportion, halves up.

    The weights are sixteenths, so that products and sums are integers that float32 holds exactly.

    Args:
        images: The originals.
    """
    weights = _weights()
    total = weights @ images.astype(np.float32) @ weights.T
    return ((total.astype(np.int32) + 128) >> 8).astype(np.uint8)


def _weights() -> Float32[np.ndarray, "32 28"]:
    """Sixteenths of each original row (or column) in each new one."""
    low, part = np.divmod(14 * np.arange(SIDE) - 1, 16)
    weights = np.zeros((SIDE, SMALL), np.float32)
    for row, share in ((low, 16 - part), (low + 1, part)):
        np.add.at(weights, (np.arange(SIDE), row.clip(0, SMALL - 1)), share)
    return weights
