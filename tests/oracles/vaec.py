"""VAEC pixel by pixel and problem by problem, after the description of the generator alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def values(level: tuple[int, ...], levels: int) -> tuple[int, int, int, int]:
    """Center X, center Y, width and green of an object."""
    x, y, size, brightness = level
    first = int(128 / 2 - levels / 2)
    green = math.floor(102 + Fraction(brightness * (255 - 102), levels - 1))
    return first + x, first + y, 3 + 2 * size, green


def picture(level: tuple[int, ...], levels: int = 42, exact: bool = False) -> np.ndarray:
    """The picture of 128×128; corners x ± width/2, cut off to whole pixels, both included."""
    x, y, width, green = values(level, levels)
    image = np.full((128, 128, 3), 128, np.uint8)
    for row in range(128):
        for column in range(128):
            low = int(y - width / 2), int(x - width / 2)
            high = int(y + width / 2), int(x + width / 2)
            if exact:
                low = low[0] + 1, low[1] + 1
            if low[0] <= row <= high[0] and low[1] <= column <= high[1]:
                image[row, column] = 0, green, 0
    return image


HUES = ((1, 0, 0), (0, 0, 1), (1, 0, 1), (1, 1, 0), (0, 1, 1))


def cluttered(
    latent: list[int], words: list[int], second: bool, textured: bool, exact: bool
) -> np.ndarray:
    """The picture of levels and clutter; the bytes of 96 words make a texture."""
    other_x, other_y, wider, above, hue, before, _ = latent[4:]
    x, y, width, green = values(tuple(latent[:4]), 42)
    squares = [(x, y, width, (0, green, 0))]
    if second:
        lit = tuple(channel * (102 + above) for channel in HUES[hue])
        squares.insert(before, (other_x, other_y, 3 + 2 * wider, lit))
    data = [word >> 8 * place & 255 for word in words for place in range(8)]
    image = np.full((128, 128, 3), 128, np.uint8)
    for row in range(128):
        for column in range(128):
            if textured:
                first = 3 * (16 * (row % 16) + column % 16)
                image[row, column] = [88 + byte * 81 // 256 for byte in data[first : first + 3]]
            for center_x, center_y, side, color in squares:
                low, high = (side + 1) // 2 - exact, (side + 1) // 2
                if -low <= row - center_y < high and -low <= column - center_x < high:
                    image[row, column] = color
    return image


def resized(image: np.ndarray, size: int) -> np.ndarray:
    """Every pixel the mean of what it covers of a picture, rounded, halves up."""
    side = math.lcm(len(image), size)
    fine = np.repeat(np.repeat(image, side // len(image), axis=0), side // len(image), axis=1)
    block = side // size
    out = np.zeros((size, size, 3), np.uint8)
    for row in range(size):
        for column in range(size):
            part = fine[row * block : (row + 1) * block, column * block : (column + 1) * block]
            total = part.astype(np.int64).sum(axis=(0, 1))
            out[row, column] = [(2 * int(t) + block**2) // (2 * block**2) for t in total]
    return out


def analogies(levels: int) -> set[tuple[int, int, int, int]]:
    """A : B :: C : D of two different pairs, both as far apart and in the same direction."""
    found = set()
    for a in range(levels):
        for b in range(levels):
            for c in range(levels):
                for d in range(levels):
                    if a != b and b - a == d - c and (a, b) != (c, d):
                        found.add((a, b, c, d))
    return found
