"""Loops in float64 for images: cubic convolution, luma and chroma, PSNR, SSIM, the SRCNN.

Written from Keys 1981 and MATLAB's documentation of `imresize`, from ITU-R BT.601, from Wang et al.
2004 and from ren2017. Nothing here imports the package.
"""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def cubic(t: float) -> float:
    t = abs(t)
    if t <= 1:
        return 1.5 * t**3 - 2.5 * t**2 + 1
    return -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2 if t < 2 else 0.0


def in_mirror(place: int, size: int) -> int:
    """Half-sample symmetry: … 1 0 | 0 1 … n−1 | n−1 n−2 …"""
    while not 0 <= place < size:
        place = -1 - place if place < 0 else 2 * size - 1 - place
    return place


def resize_line(line: Array, wanted: int, mirrored: bool) -> Array:
    """Pixels stand at 1, 2, …; that number i of the result at i/s + (1 − 1/s)/2, as in MATLAB."""
    size = len(line)
    scale = wanted / size
    narrow = min(scale, 1.0)
    result = np.empty(wanted)
    for i in range(1, wanted + 1):
        center = i / scale + 0.5 * (1 - 1 / scale)
        total = counted = 0.0
        for j in range(math.floor(center - 2 / narrow) - 1, math.ceil(center + 2 / narrow) + 2):
            if not mirrored and not 1 <= j <= size:
                continue
            weight = cubic(narrow * (center - j))
            total += weight * line[in_mirror(j - 1, size)]
            counted += weight
        result[i - 1] = total / counted
    return result


def bicubic(image: Array, size: tuple[int, int], mirrored: bool = True) -> Array:
    down = np.stack([resize_line(column, size[0], mirrored) for column in image.T], axis=1)
    return np.stack([resize_line(row, size[1], mirrored) for row in down])


def luma(red: float, green: float, blue: float) -> tuple[float, float, float]:
    """Y, Cb, Cr of levels 0…255 by the coefficients 0.299, 0.587, 0.114 of BT.601."""
    y = 0.299 * red + 0.587 * green + 0.114 * blue
    cb, cr = (blue - y) / 1.772, (red - y) / 1.402
    return 16 + 219 / 255 * y, 128 + 224 / 255 * cb, 128 + 224 / 255 * cr


def psnr(first: Array, second: Array, peak: float) -> float:
    total = sum((float(x) - float(y)) ** 2 for x, y in zip(first.flat, second.flat, strict=True))
    return 20 * math.log10(peak) - 10 * math.log10(total / first.size)


def ssim(first: Array, second: Array, peak: float, padded: bool) -> float:
    radius = 5
    if padded:
        first, second = (np.pad(image, radius, mode="edge") for image in (first, second))
    place = np.arange(-radius, radius + 1)
    weight = np.exp(-(place[:, None] ** 2 + place[None] ** 2) / (2 * 1.5**2))
    weight /= weight.sum()
    found = []
    for top in range(first.shape[0] - 2 * radius):
        for left in range(first.shape[1] - 2 * radius):
            x = first[top : top + 11, left : left + 11]
            y = second[top : top + 11, left : left + 11]
            mx, my = (weight * x).sum(), (weight * y).sum()
            vx, vy = (weight * (x - mx) ** 2).sum(), (weight * (y - my) ** 2).sum()
            both = (weight * (x - mx) * (y - my)).sum()
            one, two = (0.01 * peak) ** 2, (0.03 * peak) ** 2
            found.append(
                (2 * mx * my + one) * (2 * both + two) / ((mx**2 + my**2 + one) * (vx + vy + two))
            )
    return float(np.mean(found))
