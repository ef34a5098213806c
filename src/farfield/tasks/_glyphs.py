"""Characters of a font, drawn by exact integer arithmetic: the same bytes on every machine."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Final

import einops
import numpy as np
from fontTools.ttLib import TTFont
from jaxtyping import Bool, Int64, UInt8

CHARACTERS: Final = (
    "%&KMZk¶ΛΦΩβζφДЦЩЪЮЯԳԽԾՃխփ"
    "ևجطقຂງຊຜຝມຫლრტფᐅᑯ₩⇄⇅∀∏∑∮⋈"
    "⌘⌥⏏▣▩▶▼◀◁●◓◘◢◥◨◩◫☍☔☘☯☳☺☻♂"
    "♃♈♏♑♞♬♽⚅⚑⚒⚓⚖⚗✆✘✜✮✾✿❂❡❣ⵀⵞⵣ"
)
"""Letters of ten alphabets, arrows, mathematics, shapes, symbols; no two look alike."""

LETTERS: Final = (
    "ABCDEFGHIJLNOPQRSTUVWXYabcdefghijmnpqrstuvwxyz0123"
    "456789ΓΔΘΞΠΣΨαγδεηθλμξπρστψωБИЛФЧШЫЭбгджилпфцчшыэю"
)
"""Letters and digits, none of them among `CHARACTERS`, no two drawn alike."""

SIDE: Final = 32
"""Width and height of a drawn character, pixels."""
_SAMPLES: Final = 8
"""Sampling points along each side of a pixel."""
_PIECES: Final = 8
"""Straight pieces that stand for one curve."""
_UNIT: Final = 4 * _PIECES**2
"""Steps of the integer grid in a unit of the font: halves of points, curves and centres all fit."""
_STEP: Final = 8 * _UNIT
"""Grid steps between two sampling points: an em (2048 units) is as wide as the picture."""


def draw_characters(characters: str) -> UInt8[np.ndarray, "item height width"]:
    """Draw each character black on white, centred, all at one scale.

    The outlines are read in the font's own units, curves become a fixed number of straight pieces,
    and a sampling point is ink where the outline winds round it (the non-zero rule of TrueType).

    Args:
        characters: The characters, one picture each.

    Raises:
        ValueError: If the font lacks a character, or one is larger than the picture.
    """
    with _font() as font:
        names = font.getBestCmap()
        missing = "".join(character for character in characters if ord(character) not in names)
        if missing:
            raise ValueError(
                f"characters must all stand in DejaVu Sans, got {missing!r}: leave it out"
            )
        table = font["glyf"]
        outlines = [table[names[ord(character)]].getCoordinates(table) for character in characters]
    images = np.empty((len(characters), SIDE, SIDE), np.uint8)
    for place, (points, ends, flags) in enumerate(outlines):
        on_curve = (np.asarray(flags, np.int64) & 1).astype(bool)
        ink = _ink(_outline(np.asarray(points, np.int64), np.asarray(ends, np.int64), on_curve))
        images[place] = 255 - (255 * _share(ink) + _SAMPLES**2 // 2) // _SAMPLES**2
    return images


def _font() -> TTFont:
    """DejaVu Sans as Matplotlib carries it, found without importing Matplotlib."""
    package = importlib.util.find_spec("matplotlib")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("the font of the glyphs comes with matplotlib: install it")
    return TTFont(Path(package.origin).parent / "mpl-data/fonts/ttf/DejaVuSans.ttf", lazy=True)


def _outline(
    points: Int64[np.ndarray, "item 2"],
    ends: Int64[np.ndarray, " channel"],
    on_curve: Bool[np.ndarray, " item"],
) -> Int64[np.ndarray, "time 2 2"]:
    """The outline as straight pieces (start and end; x and y) on the grid, its box centred."""
    starts = [0, *(ends[:-1] + 1)]
    pieces = np.concatenate(
        [
            _contour(2 * points[start : end + 1], on_curve[start : end + 1])
            for start, end in zip(starts, ends, strict=True)
        ]
    )
    low, high = pieces.min(axis=(0, 1)), pieces.max(axis=(0, 1))
    if (high - low).max() * 2 > SIDE * _SAMPLES * _STEP:
        raise ValueError("characters must fit an em of the font, got a larger one: leave it out")
    centred: Int64[np.ndarray, "time 2 2"] = 2 * pieces - (low + high)
    return centred


def _contour(
    points: Int64[np.ndarray, "item 2"], on_curve: Bool[np.ndarray, " item"]
) -> Int64[np.ndarray, "time 2 2"]:
    """One closed contour of quadratic curves, each as `_PIECES` straight pieces.

    Between two neighbours of one kind TrueType leaves out the point half way: an end of two
    curves between control points. A straight line gets a control point half way in the same manner,
    so that ends and control points then alternate.
    """
    following = np.roll(points, -1, axis=0)
    alike = on_curve == np.roll(on_curve, -1)
    between = np.stack([points, (points + following) // 2], axis=1).reshape(-1, 2)
    kept = np.stack([np.ones_like(alike), alike], axis=1).reshape(-1)
    first = 0 if on_curve[0] else 1
    ring = np.roll(between[kept], -first, axis=0)
    start, control, end = ring[0::2], ring[1::2], np.roll(ring[0::2], -1, axis=0)
    step = np.arange(_PIECES + 1)[:, None, None]
    rest = _PIECES - step
    curve = rest**2 * start + 2 * step * rest * control + step**2 * end
    pieces: Int64[np.ndarray, "time 2 2"] = np.stack([curve[:-1], curve[1:]], axis=2)
    return pieces.reshape(-1, 2, 2)


def _ink(pieces: Int64[np.ndarray, "time 2 2"]) -> Bool[np.ndarray, "height width"]:
    """Which sampling points the outline winds round, top row first."""
    size = SIDE * _SAMPLES
    (x0, y0), (x1, y1) = pieces[:, 0].T, pieces[:, 1].T
    rows = (np.arange(size) - size // 2) * _STEP + _STEP // 2
    rises = (y0 <= rows[:, None]) & (rows[:, None] < y1)
    falls = (y1 <= rows[:, None]) & (rows[:, None] < y0)
    row, piece = np.nonzero(rises | falls)
    run, climb = (x1 - x0)[piece], (y1 - y0)[piece]
    crossing = x0[piece] * climb + (rows[row] - y0[piece]) * run
    first = -_STEP * (size // 2) + _STEP // 2
    column = -((first * climb - crossing) // (_STEP * climb))
    turns = np.zeros((size, size + 1), np.int64)
    np.add.at(turns, (row, np.clip(column, 0, size)), np.where(rises[row, piece], 1, -1))
    ink: Bool[np.ndarray, "height width"] = np.cumsum(turns, axis=1)[::-1, :size] != 0
    return ink


def _share(ink: Bool[np.ndarray, ...]) -> Int64[np.ndarray, "height width"]:
    """How many sampling points of each pixel are ink."""
    pattern = "(height row) (width column) -> height width"
    return einops.reduce(ink.astype(np.int64), pattern, "sum", row=_SAMPLES, column=_SAMPLES)
