"""Objects and analogies of VAEC: a green square or shape of four levels, clutter, and sampling."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from farfield.core import Stream, stream
from farfield.tasks._analogies._analogy_panels import SHAPES
from farfield.tasks._protocol._draws import integers, permutation
from farfield.tasks._rules._abstract_rules import Columns

DIMENSIONS: Final = ("location-x", "location-y", "size", "brightness")
"""Dimensions of objects, in the order of their levels."""
MOST_LEVELS: Final = 42
"""Levels of a dimension in the paper; more would not stay within the picture."""
GREY: Final = 128
"""Background in every channel."""
CANVAS: Final = 128
"""Side of the published picture: the unit of positions is a pixel of it."""
_WHOLE: Final = CANVAS**2
"""Area of a pixel, in 128ths of its height times 128ths of its width."""
DIMMEST: Final = 102
"""Green of the lowest level."""
BRIGHTEST: Final = 255
"""Green of the highest level."""
NARROWEST: Final = 3
"""Width of the lowest level; each one wider by two."""


def level_values(num_levels: int = MOST_LEVELS) -> Int64[np.ndarray, "value feature"]:
    """Return the values of the levels of each dimension: center X, center Y, width, green.

    Args:
        num_levels: Levels of every dimension; the published data have 42.
    """
    level = np.arange(num_levels)
    center = int(CANVAS / 2 - num_levels / 2) + level
    green = DIMMEST + (BRIGHTEST - DIMMEST) * level // (num_levels - 1)
    return np.stack([center, center, NARROWEST + 2 * level, green], axis=1)


def draw_objects(
    levels: Int64[Tensor, "item feature"], *, num_levels: int, image_size: int, exact_width: bool
) -> UInt8[Tensor, "item height width channel"]:
    """Draw a picture for every row of levels.

    The square of width s covers s + 1 pixels, as the released code draws it. At another size than
    128 a picture is the published one with every pixel the mean of the pixels it covers, so that
    objects that differ stay different.

    Args:
        levels: Levels of X, Y, size and brightness, counted from 0.
        num_levels: Levels of every dimension.
        image_size: Side of the pictures in pixels.
        exact_width: Whether a square of width s covers s pixels instead.
    """
    x, y, width, green = level_values(num_levels)[levels.numpy(), np.arange(4)].T
    pictures = np.full((len(levels), image_size, image_size, 3), GREY, np.uint8)
    rows = _covered(y, width, image_size, exact_width=exact_width)
    columns = _covered(x, width, image_size, exact_width=exact_width)
    above_grey = np.stack([0 * green, green, 0 * green], axis=1) - GREY
    for picture, row, column, color in zip(pictures, rows, columns, above_grey, strict=True):
        down, across = np.flatnonzero(row), np.flatnonzero(column)
        share = row[down, None, None] * column[across, None]
        blended = GREY + (share * color + _WHOLE // 2) // _WHOLE
        picture[down[0] : down[-1] + 1, across[0] : across[-1] + 1] = blended
    return torch.from_numpy(pictures)


def _covered(
    center: Int64[np.ndarray, " item"],
    width: Int64[np.ndarray, " item"],
    image_size: int,
    *,
    exact_width: bool,
) -> Int64[np.ndarray, "item height"]:
    """Compute the covered part of each row of pixels of a square, in 128ths: exact integers."""
    first = (center - (width + 1) // 2 + exact_width) * image_size
    last = (center + (width + 1) // 2) * image_size
    pixel = np.arange(image_size) * CANVAS
    upper = np.minimum(last[:, None], pixel + CANVAS)
    return np.clip(upper - np.maximum(first[:, None], pixel), 0, None)


def measured_levels(
    pictures: UInt8[Tensor, "item height width channel"], num_levels: int
) -> Float[Tensor, "item feature"]:
    """Measure the levels of objects in their pictures, up to a constant.

    Red is lacking as far as a pixel is covered, which shows width and edges; the green of the pixel
    that is covered most shows the brightness.

    Args:
        pictures: Pictures of `draw_objects`.
        num_levels: Levels of every dimension.
    """
    covered = (GREY - pictures[..., 0].to(torch.float32)) / GREY
    width = covered.sum(dim=(1, 2)).sqrt()
    x, y = (_first_edge(covered.sum(dim=axis) / width[:, None]) + width / 2 for axis in (1, 2))
    most, where = covered.flatten(1).max(dim=1, keepdim=True)
    green = (pictures[..., 1].flatten(1).gather(1, where) - float(GREY)) / most
    pixel = CANVAS / pictures.shape[1]
    step = (BRIGHTEST - DIMMEST) / (num_levels - 1)
    return torch.stack([x * pixel, y * pixel, width * pixel / 2, green[:, 0] / step], dim=1)


def _first_edge(covered: Float[Tensor, "item width"]) -> Float[Tensor, " item"]:
    """Find the first edge of a square, from the covered part of each pixel of a line."""
    first = (covered > 0).to(torch.int64).argmax(dim=1, keepdim=True)
    return (first + 1 - covered.gather(1, first))[:, 0]


DRAWS: Final = 8
"""Number of pictures of every object, each with different clutter."""
CLUTTER: Final[dict[str, int]] = {
    "x": CANVAS,
    "y": CANVAS,
    "width": 11,
    "brightness": BRIGHTEST - DIMMEST + 1,
    "hue": 5,
    "before": 2,
    "texture": 2**62,
}
"""Numbers of values of the description of clutter, all values equally likely."""
_HUES: Final = np.array([(1, 0, 0), (0, 0, 1), (1, 0, 1), (1, 1, 0), (0, 1, 1)])
"""Red, blue, magenta, yellow and cyan: the channels that are lit."""
_TILE: Final = 16
"""Side of the square of colors that a texture repeats, pixels."""
_CONTRAST: Final = 40
"""Largest difference of a texture from gray, in every channel."""


def drawn_clutter(branch: Stream, count: int) -> Int64[Tensor, "item feature"]:
    """Draw the clutter of pictures, a column for each entry of `CLUTTER`, from separate streams.

    Args:
        branch: Stream of the region.
        count: Number of pictures.
    """
    columns = [integers(branch.child(name).numpy(), high, count) for name, high in CLUTTER.items()]
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
    """Draw a picture for every row of levels and clutter.

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
            down, across = (
                _within(center, side, exact_width=exact_width) for center in (center_y, center_x)
            )
            picture[down, across] = color
    return torch.from_numpy(_enlarged(pictures, image_size))


def _tile(seed: int) -> UInt8[np.ndarray, "height width channel"]:
    """Draw colors around gray, channel by channel, from bytes of words of a stream."""
    words = stream(seed, "vaec", "texture").numpy().bit_generator.random_raw(_TILE**2 * 3 // 8)
    drawn = words.astype("<u8").view(np.uint8).astype(np.int64)
    values = GREY - _CONTRAST + drawn * (2 * _CONTRAST + 1) // 256
    return values.astype(np.uint8).reshape(_TILE, _TILE, 3)


NEW_SHAPES: Final = tuple(inside for name, inside in SHAPES.items() if name != "square")
"""Tests of points in the shapes that training never shows, without their names."""


def draw_new_shapes(
    latent: Int64[Tensor, "item feature"], *, num_levels: int, image_size: int, exact_width: bool
) -> UInt8[Tensor, "item height width channel"]:
    """Draw a picture for every row of levels and shape, within the square of these levels.

    Args:
        latent: Levels of X, Y, size and brightness, then the index into `NEW_SHAPES`.
        num_levels: Levels of every dimension.
        image_size: Side of the pictures in pixels, a multiple of 128.
        exact_width: Whether a shape of width s covers s pixels rather than s + 1.
    """
    pictures = np.full((len(latent), CANVAS, CANVAS, 3), GREY, np.uint8)
    values = level_values(num_levels)[latent[:, :4].numpy(), np.arange(4)]
    shapes = latent[:, 4].tolist()
    for picture, (x, y, width, green), shape in zip(pictures, values.tolist(), shapes, strict=True):
        down, across = (_within(center, width, exact_width=exact_width) for center in (y, x))
        picture[down, across][_shape_mask(shape, width + (not exact_width))] = 0, green, 0
    return torch.from_numpy(_enlarged(pictures, image_size))


@cache
def _shape_mask(shape: int, side: int) -> Bool[np.ndarray, "height width"]:
    """Return the mask of a shape in a square of `side` pixels."""
    y, x = 2 * np.mgrid[0:side, 0:side] + 1 - side
    return NEW_SHAPES[shape](x, y, side)


def _within(center: int, width: int, *, exact_width: bool) -> slice:
    """Return the pixels of a line within a square."""
    half = (width + 1) // 2
    return slice(max(0, center - half + exact_width), center + half)


def _enlarged(
    pictures: UInt8[np.ndarray, "item height width channel"], image_size: int
) -> UInt8[np.ndarray, "item _ _ channel"]:
    """Repeat the pixels of pictures until these have `image_size` of them in each direction."""
    for axis in (1, 2) if image_size > CANVAS else ():
        pictures = pictures.repeat(image_size // CANVAS, axis=axis)
    return pictures


def visible_levels(
    pictures: UInt8[Tensor, "item height width channel"], num_levels: int
) -> Float[Tensor, "item feature"]:
    """Measure the levels of objects of any shape, or among clutter, up to a constant.

    Green alone has neither red nor blue. Hidden parts are missed: an edge behind the second square
    is taken where it is seen last, and the larger extent is the width.

    Args:
        pictures: Pictures of `draw_cluttered` or `draw_new_shapes`.
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
    """Return center and width of the visible part of a line."""
    first = seen.to(torch.int64).argmax(dim=1)
    last = seen.shape[1] - 1 - seen.flip(1).to(torch.int64).argmax(dim=1)
    return (first + last).to(torch.float32) / 2, (last - first).to(torch.float32)


NUM_DIMENSIONS: Final = 4
_SHARE: Final = 10
"""Number of combinations of irrelevant levels of which one is shown with each analogy."""


def analogies(num_levels: int) -> Int64[np.ndarray, "batch 4"]:
    """List all analogies along one dimension, levels of A, B, C and D, by signed distance.

    C : D differs from A : B, as far and in the same direction. The pair of the two outermost levels
    has no such companion.

    Args:
        num_levels: Levels of the dimension within a region.
    """
    level = range(num_levels)
    return np.array(
        [
            (a, a + distance, c, c + distance)
            for distance in range(-num_levels, num_levels + 1)
            for a in level
            for c in level
            if distance and a != c and a + distance in level and c + distance in level
        ]
    )


def drawn_problems(
    branch: Stream,
    num_levels: int,
    problems: int | None,
    *,
    shuffled: bool,
    beside: Stream | None = None,
    skip: int = 0,
    dimensions: int = NUM_DIMENSIONS,
) -> Columns:
    """Draw the problems of one region in random order, over all combinations of its levels.

    With every analogy along every dimension comes a tenth of the combinations of the other
    dimensions' levels, drawn anew for each, none twice; more where more problems are asked for.

    Args:
        branch: Stream of the region.
        num_levels: Levels of every dimension within a region.
        problems: Number of problems; `None` for all that a tenth gives.
        shuffled: Whether the candidates are in random order rather than the right one first.
        beside: Stream of a set that shares no problem with these; `None` for a set on its own.
        skip: Number of combinations with every analogy that this other set has.
        dimensions: Number of dimensions.
    """
    rows = analogies(num_levels)
    kinds, combinations = dimensions * len(rows), num_levels ** (dimensions - 1)
    shown = combinations_shown(num_levels, problems, dimensions)
    orders = _orders((beside or branch).child("irrelevant"), kinds, combinations)
    drawn = orders[:, skip : skip + shown]
    order = permutation(branch.child("order").numpy(), drawn.size)[:problems]
    kind = order // shown
    dimension, analogy = kind // len(rows), rows[kind % len(rows)]
    irrelevant = np.unravel_index(drawn.ravel()[order], (num_levels,) * (dimensions - 1))
    candidates = candidates_of(analogy[:, 3], num_levels)
    if shuffled:
        turns = _orders(branch.child("candidates"), len(order), num_levels)
        candidates = np.take_along_axis(candidates, turns, axis=1)
    terms = np.concatenate([analogy[:, :3], candidates], axis=1)
    levels = _levels(terms, dimension, np.stack(irrelevant, axis=1))
    return {
        "index": np.ravel_multi_index(tuple(np.moveaxis(levels, 2, 0)), (num_levels,) * dimensions),
        "target": (candidates == analogy[:, 3:]).argmax(axis=1),
        "dimension": dimension,
        "analogy": analogy,
        "distance": analogy[:, 1] - analogy[:, 0],
        "object": levels[:, 0],
    }


def combinations_shown(
    num_levels: int, problems: int | None, dimensions: int = NUM_DIMENSIONS
) -> int:
    """Count the combinations of other dimensions' levels that come with every analogy.

    Args:
        num_levels: Levels of every dimension within a region.
        problems: Number of problems; `None` for all that a tenth gives.
        dimensions: Number of dimensions.
    """
    kinds = dimensions * len(analogies(num_levels))
    tenth: int = num_levels ** (dimensions - 1) // _SHARE
    return tenth if problems is None else max(tenth, -(-problems // kinds))


def _orders(branch: Stream, count: int, size: int) -> Int64[np.ndarray, "batch item"]:
    """Draw `count` random orders of 0 … `size` − 1."""
    words = branch.numpy().bit_generator.random_raw(count * size).reshape(count, size)
    return np.argsort(words, axis=1, kind="stable").astype(np.int64)


def candidates_of(
    right: Int64[np.ndarray, " batch"], num_levels: int
) -> Int64[np.ndarray, "batch candidate"]:
    """List D, then the foils: all other levels, ascending.

    Args:
        right: Level of D.
        num_levels: Levels of the dimension within a region.
    """
    slot = np.arange(num_levels - 1)
    foils = slot + (slot >= right[:, None])
    return np.concatenate([right[:, None], foils], axis=1)


def _levels(
    terms: Int64[np.ndarray, "batch time"],
    dimension: Int64[np.ndarray, " batch"],
    irrelevant: Int64[np.ndarray, "batch value"],
) -> Int64[np.ndarray, "batch time feature"]:
    """Return levels of all positions: `terms` along the varied dimension, the same along others."""
    dimensions = irrelevant.shape[1] + 1
    levels = np.empty((*terms.shape, dimensions), np.int64)
    for varied in range(dimensions):
        rows = dimension == varied
        levels[rows, :, varied] = terms[rows]
        others = [other for other in range(dimensions) if other != varied]
        for column, other in enumerate(others):
            levels[rows, :, other] = irrelevant[rows, column, None]
    return levels
