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


def differences(image: Array, scale: int) -> Array:
    """First and second differences of each window, along the width and then along the height."""
    height, width = image.shape
    half = (scale + 1) // 2

    def at(i: int, j: int) -> float:
        return float(image[i, j]) if 0 <= i < height and 0 <= j < width else 0.0

    maps = np.empty((4, height, width))
    for i in range(height):
        for j in range(width):
            maps[0, i, j] = at(i, j - half) - at(i, j - half + scale)
            maps[1, i, j] = 0.5 * at(i, j - scale) - at(i, j) + 0.5 * at(i, j + scale)
            maps[2, i, j] = at(i - half, j) - at(i - half + scale, j)
            maps[3, i, j] = 0.5 * at(i - scale, j) - at(i, j) + 0.5 * at(i + scale, j)
    return np.stack(
        [maps[:, i : i + 3 * scale, j : j + 3 * scale].ravel() for i, j in corners(image, scale)]
    )


def corners(image: Array, scale: int) -> list[tuple[int, int]]:
    """Windows of 3 × 3 pixels of the small image, one pixel from its borders."""
    rows, columns = (side // scale for side in image.shape)
    return [(i * scale, j * scale) for i in range(1, rows - 3) for j in range(1, columns - 3)]


def anchored(
    image: Array, scale: int, projection: Array, anchors: Array, regressors: Array
) -> Array:
    """A+: the mean over windows of what the nearest anchor's matrix adds."""
    total, count = np.zeros_like(image), np.zeros_like(image)
    for (i, j), own in zip(corners(image, scale), differences(image, scale), strict=True):
        z = own @ projection
        nearest = max(range(len(anchors)), key=lambda k: abs(anchors[k] @ z))
        here = slice(i, i + 3 * scale), slice(j, j + 3 * scale)
        total[here] += (z @ regressors[nearest]).reshape(3 * scale, 3 * scale)
        count[here] += 1
    return image + total / np.maximum(count, 1)


def anchored_regressors(
    sharp: Array, scale: int, projection: Array, anchors: Array, neighbors: int, penalty: float
) -> Array:
    """Matrices from the nearest windows of one image at twelve sizes."""
    features, lacking = [], []
    for level in range(12):
        sides = [round(side * 0.98**level) for side in sharp.shape]
        full = bicubic(sharp, (sides[0], sides[1])) if level else sharp
        height, width = (side - side % scale for side in sides)
        full = full[:height, :width]
        enlarged = bicubic(bicubic(full, (height // scale, width // scale)), (height, width))
        missing = full - enlarged
        for (i, j), own in zip(corners(full, scale), differences(enlarged, scale), strict=True):
            z = own @ projection
            length = np.linalg.norm(z) if np.linalg.norm(z) >= 0.1 else 1.0
            features.append(z / length)
            lacking.append(missing[i : i + 3 * scale, j : j + 3 * scale].ravel() / length)
    low, high = np.stack(features), np.stack(lacking)
    found = []
    for anchor in anchors:
        near = np.argsort(((low - anchor) ** 2).sum(1), kind="stable")[:neighbors]
        left = low[near].T @ low[near] + penalty * np.eye(low.shape[1])
        found.append(np.linalg.solve(left, low[near].T @ high[near]))
    return np.stack(found)
