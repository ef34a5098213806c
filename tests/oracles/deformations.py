"""Deformed images, pixel by pixel in float64."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def pixel(image: Array, row: int, column: int) -> float:
    """A number of an image of (height, width), 0 outside it."""
    height, width = image.shape
    return float(image[row, column]) if 0 <= row < height and 0 <= column < width else 0.0


def between(image: Array, row: float, column: float) -> float:
    """Bilinear interpolation; centers of pixels are at whole numbers."""
    top, left = math.floor(row), math.floor(column)
    down, right = row - top, column - left
    return (
        (1 - down) * (1 - right) * pixel(image, top, left)
        + (1 - down) * right * pixel(image, top, left + 1)
        + down * (1 - right) * pixel(image, top + 1, left)
        + down * right * pixel(image, top + 1, left + 1)
    )


def taken_from(image: Array, source) -> Array:
    """Each pixel from where `source(x, y)` says, to the right of the center and below it."""
    height, width = image.shape
    found = np.zeros((height, width))
    for row in range(height):
        for column in range(width):
            x, y = source(column - (width - 1) / 2, row - (height - 1) / 2)
            found[row, column] = between(image, y + (height - 1) / 2, x + (width - 1) / 2)
    return found


def rotated(image: Array, angle: float) -> Array:
    """Counterclockwise on the screen, whose rows go down."""

    def source(x: float, y: float) -> tuple[float, float]:
        return (
            math.cos(angle) * x - math.sin(angle) * y,
            math.sin(angle) * x + math.cos(angle) * y,
        )

    return taken_from(image, source)


def sheared(image: Array, angle: float) -> Array:
    """Each row moved by its height over the center times the tangent."""
    return taken_from(image, lambda x, y: (x + math.tan(angle) * y, y))


def zoomed(image: Array, scale: float) -> Array:
    """The middle `scale` of both sides over the whole image."""
    return taken_from(image, lambda x, y: (scale * x, scale * y))
