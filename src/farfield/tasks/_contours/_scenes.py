"""The 23 problems of SVRT: random objects of a picture of each category."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from jaxtyping import Int64

from farfield.tasks._contours._outlines import (
    COLUMN,
    CONTOUR,
    MIRRORED,
    ROW,
    SIDE,
    TURN,
    TURNS,
    Corners,
    Family,
    Objects,
    draw_outlines,
)
from farfield.tasks._contours._proposals import (
    GAP,
    Fits,
    Proposals,
    Spots,
    are_apart,
    are_framed,
    distances,
    join,
    place,
    vectors,
)

Scene = tuple[Objects, Fits]
"""Objects of each picture, and whether they are a picture of the category."""
_PART: Final = 24
"""Side of a small object; the other sizes are given at their problems."""
_SMALL: Final = 20
_TINY: Final = 18
_BIG: Final = 60
_LARGE: Final = 76
_HUGE: Final = 88
UNEQUAL: Final = 12
"""Least difference, in pixels, between distances or positions that are not equal."""
_FEWEST: Final = 32
_MOST: Final = 256
"""Least and largest number of proposals at a time."""


def _anywhere(
    draws: Proposals, contours: Sequence[int], size: int, mirrored: Sequence[int] | int = 0
) -> Scene:
    """Put objects in random order anywhere, apart from each other."""
    size = draws.pixels(size)
    spots = draws.spots([size] * len(contours))
    objects = place(draws.shuffled(contours), spots, size, mirrored)
    return objects, are_apart(objects)


def _two(draws: Proposals, same: bool) -> Scene:
    return _anywhere(draws, (0, 0) if same else (0, 1), 40)


def _touching_inside(draws: Proposals, touching: bool) -> Scene:
    big, small = _big_and_inner(draws, _HUGE, _TINY)
    inside = draws.is_inside(small, big)
    inside = draws.is_clear(big, small, 2 if touching else draws.pixels(8), inside)
    if touching:
        small, touches = draws.slide(small, big[:, None], draws.below(4))
        inside &= touches
    return join(big, small), inside


def _big_and_inner(draws: Proposals, size: int, inner: int) -> tuple[Objects, Objects]:
    """Put a big object anywhere, and the middle of a small one in its box."""
    size, inner = draws.pixels(size), draws.pixels(inner)
    spot = draws.spots([size])[:, 0]
    offset = draws.between(-(size // 2), size // 2, 2)
    return place(0, spot, size), place(1, spot + offset, inner)


def _contacts(draws: Proposals, pairs: bool) -> Scene:
    size = draws.pixels(_PART)
    spots = draws.spots([size, size])
    first, other = place(0, spots[:, 0], size), place(3, spots[:, 1], size)
    second, touches = draws.attached(1, size, first[:, None])
    group, alone = join(first, second), other[:, None]
    third, again = draws.attached(2, size, alone if pairs else group)
    group, alone = (group, join(third, other)) if pairs else (join(group, third), alone)
    return join(group, alone), touches & again & are_apart(group, alone)


def _inside(draws: Proposals, inside: bool) -> Scene:
    if inside:
        big, small = _big_and_inner(draws, _LARGE, _TINY)
        return join(big, small), draws.is_clear(big, small, 2, draws.is_inside(small, big))
    sizes = [draws.pixels(_LARGE), draws.pixels(_TINY)]
    objects = place([0, 1], draws.spots(sizes), sizes)
    return objects, are_apart(objects)


def _pairs(draws: Proposals, pairs: bool) -> Scene:
    count = 6 if draws.more else 4
    return _anywhere(draws, [k // 2 if pairs else k for k in range(count)], _PART)


def _equal_distances(draws: Proposals, equal: bool) -> Scene:
    size = draws.pixels(_PART)
    spots = draws.spots([size, size])
    lengths = draws.between(size + GAP, 80, 2)
    lengths[:, 1] = lengths[:, 0] if equal else lengths[:, 1]
    others = spots + vectors(draws.below(TURNS, 2), lengths)
    objects = place([0, 1, 0, 1], np.concatenate([spots, others], axis=1), size)
    unequal = np.abs(lengths[:, 0] - lengths[:, 1]) >= UNEQUAL
    return objects, are_apart(objects) & (unequal | equal)


def _triples(draws: Proposals, triples: bool) -> Scene:
    return _anywhere(draws, [k // (3 if triples else 2) for k in range(6)], _SMALL)


def _half_inside(draws: Proposals, inside: bool) -> Scene:
    if not inside and draws.kind == 0:
        sizes = [draws.pixels(_BIG), draws.pixels(_BIG // 2)]
        apart = place(0, draws.spots(sizes), sizes)
        return apart, are_apart(apart)
    big, small = _big_and_inner(draws, _BIG, _BIG // 2)
    small[:, CONTOUR] = 0 if inside else 1
    return join(big, small), draws.is_clear(big, small, 1, draws.is_inside(small, big))


def _line(draws: Proposals, sizes: Int64[np.ndarray, "batch object"]) -> Spots:
    """Draw middles of objects on a line, whose boxes need not be apart."""
    steps = (sizes[:, 1:] + sizes[:, :-1] + 1) // 2 + draws.between(GAP, 24, sizes.shape[1] - 1)
    along = np.concatenate([np.zeros_like(steps[:, :1]), steps], axis=1).cumsum(1)
    along -= along[:, -1:] // 2
    middle = draws.between(SIDE // 4, 3 * SIDE // 4, 1, 2)
    return middle + vectors(draws.below(TURNS, 1).repeat(sizes.shape[1], 1), along)


def _end_of_line(draws: Proposals, end: bool) -> Scene:
    sizes = np.full((len(draws), 3), draws.pixels(_SMALL))
    largest = 2 * draws.below(2) if end else np.ones(len(draws), np.int64)
    sizes[np.arange(len(draws)), largest] = draws.pixels(2 * _SMALL)
    objects = place(0, _line(draws, sizes), sizes)
    return objects, are_apart(objects)


def _square(draws: Proposals) -> Spots:
    """Draw the corners of a square, from any side."""
    turns = draws.below(TURNS, 1) + np.arange(4) * (TURNS // 4)
    radius = draws.between(20, 56, 1).repeat(4, 1)
    return draws.between(SIDE // 4, 3 * SIDE // 4, 1, 2) + vectors(turns, radius)


def _on_a_square(draws: Proposals, square: bool) -> Scene:
    size = draws.pixels(_PART)
    objects = place(0, _square(draws) if square else draws.spots([size] * 4), size)
    far = np.sort(distances(objects)[:, *np.triu_indices(4, 1)], axis=1)
    return objects, are_apart(objects) & (square | (far[:, 3] - far[:, 0] >= UNEQUAL))


def _contact(draws: Proposals, contact: bool) -> Scene:
    big = place(0, draws.spots([draws.pixels(_BIG)])[:, 0], draws.pixels(_BIG))
    size = draws.pixels(_PART)
    if contact:
        small, touches = draws.attached(1, size, big[:, None])
        return join(big, small), touches & ~draws.is_inside(small, big)
    small = place(1, draws.spots([size])[:, 0], size)
    return join(big, small), draws.is_clear(big, small, 10, ~draws.is_inside(small, big))


def _side_by_side(draws: Proposals, side_by_side: bool) -> Scene:
    sizes = [draws.pixels(_SMALL), draws.pixels(_SMALL), draws.pixels(2 * _SMALL)]
    opposite = 2 if side_by_side else 0
    half = draws.between(22, 32)
    turns = np.stack([-half, half, np.full_like(half, TURNS // 2)], axis=1)
    middles = vectors(turns + draws.below(TURNS, 1), draws.between(30, 42, 1).repeat(3, 1))
    kinds = [k for k in range(3) if k != opposite] + [opposite]
    middles += draws.between(SIDE // 4, 3 * SIDE // 4, 1, 2)
    objects = place(kinds, middles, [sizes[kind] for kind in kinds])
    far = distances(objects)
    return objects, are_apart(objects) & (far[:, 0, 1] + UNEQUAL <= far[:, :2, 2].min(1))


def _repeated_offset(draws: Proposals, same: bool) -> Scene:
    sizes = [draws.pixels(size) for size in (36, 36, 18, 18)]
    spots = draws.spots(sizes[:2])
    offsets = draws.between(-50, 50, 2, 2)
    offsets[:, 1] = offsets[:, 0] if same else offsets[:, 1]
    objects = place([0, 0, 1, 1], np.concatenate([spots, spots + offsets], axis=1), sizes)
    # With the small objects exchanged the offsets have to differ as well.
    exchanged = (spots + offsets)[:, ::-1] - spots
    unequal = [np.abs(one[:, 0] - one[:, 1]).max(1) >= 2 * UNEQUAL for one in (offsets, exchanged)]
    return objects, are_apart(objects) & (same | (unequal[0] & unequal[1]))


def _on_a_line(draws: Proposals, line: bool) -> Scene:
    size, count = draws.pixels(_SMALL), 4 if draws.more else 3
    sizes = np.full((len(draws), count), size)
    objects = place(0, _line(draws, sizes) if line else draws.spots([size] * count), sizes)
    return objects, are_apart(objects) & (line | (_height(objects) >= UNEQUAL))


def _height(objects: Objects) -> np.ndarray:
    """Compute the least height of the triangle of the first three middles."""
    a, b, c = np.moveaxis(objects[:, :3, [COLUMN, ROW]], 1, 0)
    double_area = np.abs(np.linalg.det(np.stack([b - a, c - a], axis=1).astype(np.float64)))
    height: np.ndarray = double_area / distances(objects[:, :3]).max((1, 2))
    return height


def _equal_on_a_square(draws: Proposals, equal: bool) -> Scene:
    contours = [0] * 4 if equal else range(4)
    objects = place(draws.shuffled(contours), _square(draws), draws.pixels(_PART))
    return objects, are_apart(objects)


def _mirrored_halves(draws: Proposals, mirrored: bool) -> Scene:
    left = _left_half(draws)
    right = left.copy()
    right[..., COLUMN] = SIDE - left[..., COLUMN]
    right[..., MIRRORED] = mirrored
    objects = join(left, right)
    return objects, are_apart(objects)


def _left_half(draws: Proposals) -> Objects:
    """Draw the objects of the left half of a picture, all of one outline."""
    size = draws.pixels(_SMALL)
    return place(0, draws.spots([size] * (4 if draws.more else 3), SIDE // 2), size)


def _equally_far(draws: Proposals, equal: bool) -> Scene:
    size = draws.pixels(_PART)
    middle = draws.spots([size])
    lengths = draws.between(size + GAP, 60, 3)
    lengths = lengths[:, :1].repeat(3, 1) if equal else lengths
    others = middle + vectors(draws.below(TURNS, 3), lengths)
    objects = place([1, 0, 0, 0], np.concatenate([middle, others], axis=1), size)
    unequal = lengths.max(1) - lengths.min(1) >= UNEQUAL
    return objects, are_apart(objects) & (equal | unequal)


def _mirrored_positions(draws: Proposals, mirrored: bool) -> Scene:
    left = _left_half(draws)
    right = left if mirrored else _left_half(draws)
    far = np.abs(left[:, :, None, [COLUMN, ROW]] - right[:, None, :, [COLUMN, ROW]]).max(-1)
    right = right.copy()
    right[..., COLUMN] = SIDE - right[..., COLUMN]
    objects = join(left, right)
    return objects, are_apart(objects) & (mirrored | (far.min(2) >= UNEQUAL).any(1))


def _scaled(draws: Proposals, same: bool) -> Scene:
    return _two_sizes(draws, same, 1)


def _mirror_image(draws: Proposals, mirrored: bool) -> Scene:
    return _anywhere(draws, (0, 0) if mirrored else (0, 1), 40, mirrored=(0, 1))


def _scaled_and_turned(draws: Proposals, same: bool) -> Scene:
    return _two_sizes(draws, same, TURNS)


def _two_sizes(draws: Proposals, same: bool, turns: int) -> Scene:
    """Put an object beside another with one to three times its size, turned at random."""
    sizes = np.stack([draws.between(20, 28), draws.between(32, 60)], axis=1) * draws.percent // 100
    spots = draws.spots([draws.pixels(60)] * 2)
    objects = place([0, 0 if same else 1], spots, sizes)
    objects[:, 1, TURN] = draws.below(turns)
    return objects, are_apart(objects)


def _equal_on_a_line(draws: Proposals, equal: bool) -> Scene:
    count = 4 if draws.more else 3
    sizes = np.full((len(draws), count), draws.pixels(_SMALL))
    objects = place([0] * count if equal else range(count), _line(draws, sizes), sizes)
    return objects, are_apart(objects)


def _one_inside(draws: Proposals, one: bool) -> Scene:
    big, first = _big_and_inner(draws, _LARGE, 14)
    size = draws.pixels(14)
    spots = draws.spots([size, size])
    second = place(2, spots[:, 0], size)
    if not one and draws.kind == 0:
        first = place(1, spots[:, 1], size)
    elif not one:
        second = place(2, first[:, [COLUMN, ROW]] + draws.between(-40, 40, 2), size)
    inside = [draws.is_inside(each, big) for each in (first, second)]
    fits = are_apart(join(first, second)) & ((inside[0] != inside[1]) == one)
    fits &= one | (inside[0] == (draws.kind == 1))
    fits &= are_framed(join(big, first, second))
    for each in (first, second):
        fits = draws.is_clear(big, each, 2, fits)
    return join(big, first, second), fits


@final
@dataclass(frozen=True, kw_only=True)
class SVRTProblem:
    """One problem: the rule, and random pictures of its two categories.

    Args:
        question: Rule of category 1, then of category 0.
        draw: Function that proposes pictures of a category.
        allows_more: Whether the rule can be asked of more objects.
    """

    question: str
    draw: Callable[[Proposals, bool], Scene]
    allows_more: bool = False


def _problem(draw: Callable[[Proposals, bool], Scene], question: str) -> SVRTProblem:
    return SVRTProblem(draw=draw, question=question)


def _growing(draw: Callable[[Proposals, bool], Scene], question: str) -> SVRTProblem:
    return SVRTProblem(draw=draw, question=question, allows_more=True)


SVRT: Final = {
    1: _problem(_two, "two equal shapes; else different ones"),
    2: _problem(_touching_inside, "the inner shape touches the outer one; else it is far from it"),
    3: _problem(_contacts, "two pairs in contact; else three in contact and one alone"),
    4: _problem(_inside, "the small shape is inside the big one; else outside"),
    5: _growing(_pairs, "each shape twice; else all different"),
    6: _problem(_equal_distances, "equal shapes are equally far apart in both pairs; else not"),
    7: _problem(_triples, "two shapes three times; else three shapes twice"),
    8: _problem(_half_inside, "a half-size copy is inside; else outside, or another shape inside"),
    9: _problem(_end_of_line, "the largest is at an end of the line; else between the others"),
    10: _problem(_on_a_square, "four equal shapes are on a square; else anywhere"),
    11: _problem(_contact, "a small and a big shape are in contact; else apart"),
    12: _problem(_side_by_side, "the small shapes are side by side; else a small and the big one"),
    13: _problem(_repeated_offset, "small and big shape are repeated as a whole; else moved apart"),
    14: _growing(_on_a_line, "equal shapes are on a line; else not"),
    15: _problem(_equal_on_a_square, "the shapes on a square are equal; else different"),
    16: _growing(_mirrored_halves, "shapes in mirrored positions are mirrored; else equal"),
    17: _problem(_equally_far, "the odd shape is equally far from the three others; else not"),
    18: _growing(_mirrored_positions, "positions are mirrored; else not"),
    19: _problem(_scaled, "two shapes are equal up to size; else different"),
    20: _problem(_mirror_image, "a shape and its mirror image; else different shapes"),
    21: _problem(_scaled_and_turned, "two shapes are equal up to size and turn; else different"),
    22: _growing(_equal_on_a_line, "the shapes on a line are equal; else different"),
    23: _problem(_one_inside, "one of two small shapes is inside; else both or neither"),
}
"""Problems by their published numbers."""
_CONTOURS: Final = 6
"""Most different outlines of a picture."""


def draw_scenes(
    number: int,
    category: int,
    count: int,
    generator: np.random.Generator,
    *,
    family: Family = "curves",
    percent: int = 100,
    more: bool = False,
) -> tuple[Corners, Objects]:
    """Draw pictures of one category: their outlines, and the objects of each.

    Args:
        number: Number of the problem.
        category: 0 or 1.
        count: Number of pictures.
        generator: Source of the random numbers.
        family: Family of outlines.
        percent: Size of objects, in percent.
        more: Show more objects.
    """
    drawn = []
    for kind in (0, 1):
        lacking = (count + 1 - kind) // 2
        while lacking:
            tries = min(max(lacking, _FEWEST), _MOST)
            outlines = draw_outlines(generator, tries * _CONTOURS, family)
            outlines = outlines.reshape(tries, _CONTOURS, *outlines.shape[1:])
            draws = Proposals(generator, outlines, percent, more, kind)
            objects, fits = SVRT[number].draw(draws, category == 1)
            kept = np.flatnonzero(fits & are_framed(objects))[:lacking]
            drawn.append((outlines[kept], objects[kept]))
            lacking -= len(kept)
    corners, objects = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    objects[..., CONTOUR] += _CONTOURS * np.arange(count)[:, None]
    return corners.reshape(-1, *corners.shape[2:]), objects
