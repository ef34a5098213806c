"""Images of digits in loops over pixels, in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

Array = np.ndarray


def upsampled(image: Array, side: int) -> Array:
    """Grey image at another size: between the middles of pixels in proportion, halves up."""
    shown = np.zeros((side, side), np.uint8)
    for row in range(side):
        for column in range(side):
            value = Fraction(0)
            for r, by_row in neighbours(row, side, image.shape[0]):
                for c, by_column in neighbours(column, side, image.shape[1]):
                    value += by_row * by_column * int(image[r, c])
            shown[row, column] = math.floor(value + Fraction(1, 2))
    return shown


def neighbours(place: int, side: int, size: int) -> list[tuple[int, Fraction]]:
    """The two original rows around the middle of a new one, and their weights."""
    middle = Fraction(2 * place + 1, 2) * size / side - Fraction(1, 2)
    middle = min(max(middle, Fraction(0)), Fraction(size - 1))
    low = math.floor(middle)
    share = middle - low
    return [(low, 1 - share), (min(low + 1, size - 1), share)]


def blended(digit: Array, photograph: Array, row: int, column: int) -> Array:
    """The difference between a digit and a piece of a photograph, color by color."""
    height, width = digit.shape
    shown = np.zeros((3, height, width), np.uint8)
    for r in range(height):
        for c in range(width):
            for color in range(3):
                behind = int(photograph[row + r, column + c, color])
                shown[color, r, c] = abs(behind - int(digit[r, c]))
    return shown


def stacked(digits: list[tuple[Array, int, int]], side: int) -> Array:
    """Gray images at rows and columns of a larger one, the larger value where they overlap."""
    shown = np.zeros((side, side), np.uint8)
    for digit, row, column in digits:
        for r in range(digit.shape[0]):
            for c in range(digit.shape[1]):
                shown[row + r, column + c] = max(shown[row + r, column + c], digit[r, c])
    return shown
