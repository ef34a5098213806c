"""Variation of showings: noise, shift, size, turn, light and font, drawn anew at each showing.

All arithmetic is in integers or in single operations of float64, rounded once to gray levels, so
that a showing has the same pixels on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, final

import numpy as np
import torch
from jaxtyping import Float, Int64, Shaped, UInt64
from torch import Tensor

from farfield.core import Problems, Stream, stream
from farfield.core.internal import Checked, LazyItems, Limits

_Levels = Annotated[float, Limits(at_least=0, at_most=255)]
_Pixels = Annotated[int, Limits(at_least=0, at_most=64)]
_Percent = Annotated[float, Limits(at_least=0, at_most=90)]
_Degrees = Annotated[float, Limits(at_least=0, at_most=180)]


@final
@dataclass(frozen=True, kw_only=True)
class Variation(Checked):
    """Description of how a showing of an image differs from the image.

    Every value is drawn anew for each showing, from a separate random stream, so that no two
    showings of an image are equal. The order is font, then size, turn and shift about the center,
    then light, then noise.

    Args:
        noise: Standard deviation of the noise of each pixel, in gray levels of 255; sums stay
            within black and white.
        shift: Largest shift along each axis, in pixels; uniform over whole pixels.
        size: Largest change of the size in percent; the factor is uniform in 1 ± size / 100.
        turn: Largest turn in degrees, uniform in both directions.
        light: Largest loss of contrast in percent: the gain is uniform in 1 − light / 100 … 1, the
            gray level of black uniform in the range that the gain leaves free.
        font: Whether a symbol is shown in any of its hands: a letter in ten fonts
            (`GlyphSet.plain_letters()`), a character as many people wrote it (`Handwriting`), or an
            image of yours in its `hands`.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> Variation(noise=16, shift=2).name
        'noise-16-shift-2'
    """

    noise: _Levels = 0.0
    shift: _Pixels = 0
    size: _Percent = 0.0
    turn: _Degrees = 0.0
    light: _Percent = 0.0
    font: bool = False

    @property
    def name(self) -> str:
        """Name of a regime with this variation, e.g. `noise-16-shift-2`; `identical` for none."""
        strengths = {
            "noise": self.noise,
            "shift": self.shift,
            "size": self.size,
            "turn": self.turn,
            "light": self.light,
        }
        parts = [f"{word}-{value:g}" for word, value in strengths.items() if value]
        return "-".join([*parts, *(["font"] if self.font else [])]) or "identical"


_COMBINED: Final = Variation(noise=16, shift=2, size=15, turn=15)
VARIATIONS: Final[dict[str, Variation]] = {
    one.name: one
    for one in (
        *(Variation(noise=levels) for levels in (1, 4, 16, 64)),
        *(Variation(shift=pixels) for pixels in (1, 2, 4)),
        *(Variation(size=size, turn=turn) for size, turn in ((5, 5), (15, 15), (30, 45))),
        *(Variation(light=percent) for percent in (25, 50)),
        Variation(noise=16, shift=2),
        _COMBINED,
        Variation(font=True),
        Variation(noise=16, shift=2, font=True),
    )
}
"""Standard variations by name; the last two are for images in several hands."""

Images = Int64[np.ndarray, "candidate item height width"]
"""Images in half gray levels, 0…510, in one or more fonts."""

_HEAD: Final = 8
"""Random words of a showing before the words of its noise."""
_FINE: Final = 2**16
"""Steps of a pixel in the position of a sampling point."""
_COARSE: Final = 2**8
"""Steps of a pixel in the weights of the four pixels around a sampling point."""
_GRID: Final = 2**10
"""Steps of a gain."""
_SPREAD: Final = 209.02153
"""Standard deviation of the sum of eight bytes, √(8 · (256² − 1) / 12)."""
_MIDDLE: Final = 1020
"""Mean of the sum of eight bytes."""


def repeated_problems(problems: Problems, most: int) -> Problems:
    """Repeat problems in their order as often as there is room for all of them.

    Args:
        most: Most problems of the result, if there are not more at first.
    """
    return problems[torch.arange(len(problems)).repeat(max(1, most // len(problems)))]


def show_varied(
    problems: Problems, variation: Variation, branch: Stream, fonts: Sequence[Tensor]
) -> Problems:
    """Give every position of problems a showing of its item, drawn when it is looked up.

    Args:
        problems: Problems over a table of images.
        variation: Variation of the showings.
        branch: Stream of the showings.
        fonts: Tables of the same images in other fonts; of some first images, if not of all.
    """
    images = _levels(problems.table(), fonts if variation.font else ())
    rows = problems.index.reshape(-1)
    latent = torch.stack([rows, torch.arange(len(rows))], dim=1)
    return problems.with_items(
        LazyItems(latent=latent, draw=_Showings(images, variation, branch.key))
    )


@final
@dataclass(frozen=True, eq=False)
class _Showings:
    """Draws showings of images from rows of image and number of the showing."""

    images: Images
    variation: Variation
    key: int

    def __call__(self, latent: Int64[Tensor, "batch 2"]) -> Float[Tensor, "batch height width"]:
        """Draw showings.

        Args:
            latent: Row of the image and number of the showing.
        """
        rows, numbers = latent.numpy().T
        levels = showings(self.images, rows, self.variation, self.key, numbers)
        return torch.from_numpy(levels.astype(np.float32) / np.float32(255))


def showings(
    images: Images,
    rows: Int64[np.ndarray, " batch"],
    variation: Variation,
    key: int,
    numbers: Int64[np.ndarray, " batch"],
) -> Float[np.ndarray, "batch height width"]:
    """Draw showings of images, in whole gray levels, 0…255.

    Args:
        images: The images.
        rows: Image of each showing.
        variation: Variation of the showings.
        key: Key of the random words.
        numbers: Number of each showing, which decides its words.
    """
    height, width = images.shape[2:]
    pixels = height * width if variation.noise else 0
    words = np.zeros((len(rows), _HEAD + pixels), np.uint64)
    for row, number in zip(words, numbers.tolist(), strict=True):
        row[:] = np.random.Philox(key=key, counter=[0, 0, 0, number]).random_raw(len(row))
    head = words[:, :_HEAD]
    shown = images[(head[:, 0] % np.uint64(len(images))).astype(np.int64), rows]
    if variation.shift or variation.size or variation.turn:
        shown = _moved(shown, *_placement(head, variation))
    else:
        shown = shown * _COARSE**2
    shown = _lit(shown, head[:, 5:7], variation.light) if variation.light else shown * _GRID
    levels = shown / (2 * _COARSE**2 * _GRID)
    if variation.noise:
        sums = _sums_of_bytes(words[:, _HEAD:]).reshape(levels.shape)
        levels = levels + sums * (variation.noise / _SPREAD)
    return np.clip(np.floor(levels + 0.5), 0, 255)


def two_showings_differ(images: Tensor, fonts: Sequence[Tensor], variation: Variation) -> float:
    """Measure the root mean square difference of two showings of an image, in gray levels.

    Args:
        images: Table of images; the first hundred count.
        fonts: Tables of the same images in other fonts.
        variation: Variation of the showings.

    Returns:
        The difference, rounded to a tenth.
    """
    some = images[:_MEASURED]
    levels = _levels(some, [table[:_MEASURED] for table in fonts] if variation.font else ())
    rows = np.tile(np.arange(len(some)), 2)
    drawn = showings(levels, rows, variation, stream(0, "showings").key, np.arange(len(rows)))
    first, second = drawn.reshape(2, -1)
    return round(float(np.sqrt(np.mean((first - second) ** 2))), 1)


_MEASURED: Final = 100
"""Images of which showings are compared."""


def _levels(images: Float[Tensor, "item height width"], fonts: Sequence[Tensor]) -> Images:
    """Convert images to half gray levels; images that a font lacks are taken from the first."""
    tables = []
    for table in (images, *fonts):
        whole = torch.cat([table, images[len(table) :]])
        tables.append(np.rint(whole.numpy().astype(np.float64) * 510).astype(np.int64))
    return np.stack(tables)


def _uniform(word: UInt64[np.ndarray, " batch"], steps: int) -> Int64[np.ndarray, " batch"]:
    """Draw uniform integers from −steps to steps."""
    return (word % np.uint64(2 * steps + 1)).astype(np.int64) - steps


def _placement(
    head: UInt64[np.ndarray, "batch feature"], variation: Variation
) -> tuple[Int64[np.ndarray, "batch 2"], Int64[np.ndarray, "batch 2"]]:
    """Draw the shift of each showing, and cosine and sine of its turn over its size."""
    shifts = np.stack([_uniform(head[:, axis], variation.shift) for axis in (1, 2)], axis=1)
    sizes = 1 + _uniform(head[:, 3], _GRID) / _GRID * (variation.size / 100)
    turns = _uniform(head[:, 4], _GRID) / _GRID * math.radians(variation.turn)
    waves = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return shifts, np.rint(waves / sizes[:, None] * _FINE).astype(np.int64)


def _moved(
    images: Int64[np.ndarray, "batch height width"],
    shifts: Int64[np.ndarray, "batch 2"],
    waves: Int64[np.ndarray, "batch 2"],
) -> Int64[np.ndarray, "batch height width"]:
    """Shift, turn and resize images about their center, by interpolation between four pixels.

    Args:
        images: The images.
        shifts: Pixels down and to the right.
        waves: Cosine and sine of the turn over the factor of the size, in parts of `_FINE`.

    Returns:
        The images, times `_COARSE` squared.
    """
    height, width = images.shape[1:]
    ground = background(torch.from_numpy(images)).numpy()
    framed = np.empty((len(images), height + 2, width + 2), np.int64)
    framed[:] = ground[:, None, None]
    framed[:, 1:-1, 1:-1] = images
    # Twice the distance of each pixel from the center, before the shift.
    down = 2 * (np.arange(height) - shifts[:, 0, None]) - (height - 1)
    right = 2 * (np.arange(width) - shifts[:, 1, None]) - (width - 1)
    cosine, sine = waves.T[:, :, None, None]
    from_top = cosine * down[:, :, None] - sine * right[:, None, :] + (height - 1) * _FINE
    from_left = sine * down[:, :, None] + cosine * right[:, None, :] + (width - 1) * _FINE
    # In parts of a pixel of the frame, whose own pixels begin at 1.
    step = 2 * _FINE // _COARSE
    top, top_weight = _parts(from_top // step + _COARSE, height)
    left, left_weight = _parts(from_left // step + _COARSE, width)
    item = np.arange(len(images))[:, None, None]
    upper = framed[item, top, left] * (_COARSE - left_weight) + (
        framed[item, top, left + 1] * left_weight
    )
    lower = framed[item, top + 1, left] * (_COARSE - left_weight) + (
        framed[item, top + 1, left + 1] * left_weight
    )
    found: Int64[np.ndarray, "batch height width"]
    found = upper * (_COARSE - top_weight) + lower * top_weight
    return found


def _parts(
    position: Int64[np.ndarray, "batch height width"], size: int
) -> tuple[Int64[np.ndarray, "batch height width"], Int64[np.ndarray, "batch height width"]]:
    """Split positions in a frame into the pixel before them and the weight of the pixel after."""
    inside = np.clip(position, 0, (size + 1) * _COARSE - 1)
    return inside // _COARSE, inside % _COARSE


def background(images: Shaped[Tensor, "item height width"]) -> Shaped[Tensor, " item"]:
    """Find the gray level around each image: the lower median of its border.

    Args:
        images: The images.
    """
    inner = images[:, 1:-1]
    border = torch.cat([images[:, 0], images[:, -1], inner[:, :, 0], inner[:, :, -1]], dim=1)
    return border.median(dim=1).values


def _lit(
    images: Int64[np.ndarray, "batch height width"],
    words: UInt64[np.ndarray, "batch 2"],
    light: float,
) -> Int64[np.ndarray, "batch height width"]:
    """Draw gain and offset of each image; returns the images, times `_GRID`."""
    most = round(light / 100 * _GRID)
    lost = (words[:, 0] % np.uint64(most + 1)).astype(np.int64)
    black = (words[:, 1] % (lost + 1).astype(np.uint64)).astype(np.int64)
    white = 510 * _COARSE**2
    found: Int64[np.ndarray, "batch height width"]
    found = images * (_GRID - lost)[:, None, None] + (black * white)[:, None, None]
    return found


_LANES: Final = np.uint64(0x00FF00FF00FF00FF)
_ONES: Final = np.uint64(0x0001000100010001)


def _sums_of_bytes(words: UInt64[np.ndarray, "batch value"]) -> Float[np.ndarray, "batch value"]:
    """Sum the eight bytes of each word, less the mean: nearly normal, and exact."""
    pairs = (words & _LANES) + ((words >> np.uint64(8)) & _LANES)
    return ((pairs * _ONES) >> np.uint64(48)).astype(np.float64) - _MIDDLE
