"""Pictures of a square, a disk and a triangle that only the direction of their texture shows.

All is computed in integers, or rounded from numbers that are integers except in the last bits, so
that pictures are the same on every machine. Lengths are in tenths of a pixel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, final

import numpy as np
import torch
from jaxtyping import Bool, Complex, Float, Int64, UInt8
from torch import Tensor

from farfield.core import stream
from farfield.tasks._protocol._draws import integers

SIDE: Final = 96
"""Side of a picture in pixels."""
TENTHS: Final = 10
"""Units of length in a pixel."""
_TURN: Final = 256
"""Directions in a turn."""
_ONE: Final = 2**14
"""Unit of cosines."""
_COSINES: Final = np.rint(_ONE * np.cos((np.arange(_TURN) + 0.5) * 2 * np.pi / _TURN)).astype(int)
_FACES: Final = {"square": 4, "triangle": 3, "disk": 24}
"""Faces of each shape; a disk touches as a regular polygon does."""
_INNER: Final = {"square": 8192, "triangle": 7188, "disk": 9244}
"""Distance of the faces from the center, of a shape with the area of a square of width `_ONE`."""
_OUTER: Final = {"square": 11585, "triangle": 14375, "disk": 9244}
"""Distance of the corners from the center."""
_TRIES: Final = 24
"""Drawn positions of a distractor, of which the first that fits is taken."""
_GAP: Final = (20, 120)
"""Smallest and largest distance of a distractor that does not touch."""
_REACH: Final = 16
"""Pixels on each side of the middle of a kernel."""
_FIELD: Final = 128
"""Side of the noise, a kernel and its margin larger than a picture."""
_PERIOD: Final = 10 / 3
"""Pixels between two stripes of a texture."""
_ACROSS: Final = 1.2
"""Standard deviation of a kernel across its stripes, pixels."""
_ALONG: Final = 7.0
"""Standard deviation of a kernel along its stripes, pixels."""
_SPREAD: Final = 45.0
"""Standard deviation of a texture, of 255."""
_KEPT: Final = 2**12
"""Number of drawn pictures that are kept, 38 megabytes."""


@final
@dataclass(frozen=True, kw_only=True)
class Shape:
    """A shape, or several of one kind: center, width of the square of equal area, turn."""

    kind: str
    x: Int64[np.ndarray, "*item"]
    y: Int64[np.ndarray, "*item"]
    width: Int64[np.ndarray, "*item"]
    turn: Int64[np.ndarray, "*item"]

    def __getitem__(self, row: int) -> Shape:
        """Select one shape."""
        columns = (self.x[row], self.y[row], self.width[row], self.turn[row])
        x, y, width, turn = (column[None] for column in columns)
        return Shape(kind=self.kind, x=x, y=y, width=width, turn=turn)

    def normals(self) -> Int64[np.ndarray, "*item face 2"]:
        """Return the normals of the faces."""
        faces = _FACES[self.kind]
        return _unit(self.turn[..., None] + np.arange(faces) * _TURN // faces)

    def support(
        self, normals: Int64[np.ndarray, "*item direction 2"]
    ) -> Int64[np.ndarray, "*item direction"]:
        """Return how far the shape reaches from its center in each direction."""
        if self.kind == "disk":
            reach = np.full(normals.shape[:-1], _INNER["disk"] * _ONE)
        else:
            faces = _FACES[self.kind]
            between = np.arange(faces) * _TURN // faces + _TURN // (2 * faces)
            corners = _unit(self.turn[..., None] + between) * _OUTER[self.kind]
            reach = (normals[..., :, None, :] * corners[..., None, :, :]).sum(-1).max(-1) // _ONE
        return self.width[..., None] * reach

    def covers(self) -> Bool[np.ndarray, "height width"]:
        """Return the pixels that a single shape covers."""
        pixel = np.arange(SIDE) * TENTHS
        x, y = pixel - self.x, (pixel - self.y)[:, None]
        if self.kind == "disk":
            return (x * x + y * y) * _ONE**2 <= (self.width * _INNER["disk"]) ** 2
        reach = _INNER[self.kind] * self.width
        inside = [x * across + y * down <= reach for across, down in self.normals()[0]]
        return np.logical_and.reduce(inside)


def _unit(turn: Int64[np.ndarray, "*item"]) -> Int64[np.ndarray, "*item 2"]:
    """Return the unit vectors of directions."""
    return np.stack([_COSINES[turn % _TURN], _COSINES[(turn - _TURN // 4) % _TURN]], axis=-1)


def _reach(
    first: Shape, second: Shape
) -> tuple[Int64[np.ndarray, "*item face 2"], Int64[np.ndarray, "*item face"]]:
    """Return directions, and how far apart in each the centers of two shapes must be."""
    normals = np.concatenate(
        [first.normals() + 0 * second.turn[:, None, None], -second.normals()], 1
    )
    return normals, first.support(normals) + second.support(-normals)


def _apart(first: Shape, second: Shape) -> Bool[np.ndarray, " item"]:
    """Tell which pairs of shapes have no point in common."""
    normals, reach = _reach(first, second)
    offset = np.stack([second.x - first.x, second.y - first.y], axis=-1)
    return ((normals * offset[:, None]).sum(-1) * _ONE >= reach).any(-1)


def layout(x: int, y: int, width: int, generator: np.random.Generator) -> list[Shape]:
    """Draw a square, and beside it a disk and a triangle at random positions.

    A distractor touches a shape that is there before it four times in five, or is 2…12 pixels
    off. Its width is 0.7…1 times that of the square; if it fits nowhere, the range of widths
    becomes smaller by a tenth.

    Args:
        x: Center of the square from the left.
        y: Center of the square from the top.
        width: Width of the square.
        generator: Source of the positions.
    """
    turn, order, *bases = (int(integers(generator, high, 1)[0]) for high in (_TURN, 2, 1, 2))
    square = Shape(
        kind="square",
        **{
            name: np.array([value])
            for name, value in zip(("x", "y", "width", "turn"), (x, y, width, turn), strict=True)
        },
    )
    shapes = [square]
    for kind, base in zip(("disk", "triangle")[:: 1 - 2 * order], bases, strict=True):
        widest = width
        while (placed := _beside(shapes, base, kind, widest, generator)) is None:
            widest = widest * 9 // 10
        shapes.append(placed)
    return shapes


def _beside(
    shapes: list[Shape], base: int, kind: str, widest: int, generator: np.random.Generator
) -> Shape | None:
    """Draw a shape beside shape number `base` and apart from all others; `None` if none fits."""
    width, turn, direction, far, gap = (
        integers(generator, high, _TRIES)
        for high in (widest * 3 // 10 + 1, _TURN, _TURN, 5, _GAP[1] - _GAP[0] + 1)
    )
    toward, at = _unit(direction), shapes[base]
    nowhere = np.zeros_like(width)
    shape = Shape(kind=kind, x=nowhere, y=nowhere, width=widest - width, turn=turn)
    normals, reach = _reach(at, shape)
    ahead = (normals * toward[:, None]).sum(-1)
    distance = np.where(ahead > 0, reach / np.maximum(ahead, 1), np.inf).min(-1)
    distance += np.where(far == 0, _GAP[0] + gap, 0)
    offset = np.rint(distance * toward.T / _ONE).astype(np.int64)
    x, y = at.x + offset[0], at.y + offset[1]
    shape = replace(shape, x=x, y=y)
    radius = shape.width * _OUTER[kind] // _ONE
    fits = (np.minimum(x, y) >= radius) & (np.maximum(x, y) + radius <= (SIDE - 1) * TENTHS)
    for other in shapes:
        fits &= _apart(other, shape) | (other is at)
    return shape[int(fits.argmax())] if fits.any() else None


@lru_cache(maxsize=_TURN)
def _spectrum(direction: int) -> tuple[Complex[np.ndarray, "height width"], float]:
    """Return the spectrum of the kernel of stripes in a direction, and the norm of the kernel."""
    offset = np.arange(-_REACH, _REACH + 1)
    toward_x, toward_y = _unit(np.array(direction)) / _ONE
    along = offset * toward_x + offset[:, None] * toward_y
    across = offset[:, None] * toward_x - offset * toward_y
    fall = np.exp(-((along / _ALONG) ** 2 + (across / _ACROSS) ** 2) / 2)
    kernel = np.rint(1024 * fall * np.cos(2 * np.pi * across / _PERIOD))
    return np.fft.rfft2(kernel, (_FIELD, _FIELD)), float(np.sqrt((kernel**2).sum()))


def _texture(direction: int, generator: np.random.Generator) -> Float[np.ndarray, "height width"]:
    """Draw a texture with stripes in a direction, of spread 1."""
    noise = generator.bit_generator.random_raw(_FIELD**2 // 8).astype("<u8").view(np.uint8)
    spectrum, norm = _spectrum(direction)
    field = np.fft.rfft2(2.0 * noise.reshape(_FIELD, _FIELD) - 255) * spectrum
    sums = np.rint(np.fft.irfft2(field)[-SIDE:, -SIDE:])  # whole numbers except in the last bits
    return sums / (norm * 147.8)  # the spread of odd numbers −255…255


def draw_directions(latent: Int64[Tensor, "item feature"]) -> UInt8[Tensor, "item height width"]:
    """Draw a picture for every row.

    Args:
        latent: Center of the square from the left and from the top, its width, all in tenths of a
            pixel, and the number of the picture, which everything else is drawn from.
    """
    pictures = [_picture(*row) for row in latent.tolist()]
    return torch.from_numpy(np.array(pictures, np.uint8).reshape(-1, SIDE, SIDE))


@lru_cache(maxsize=_KEPT)
def _picture(x: int, y: int, width: int, number: int) -> UInt8[np.ndarray, "height width"]:
    """Draw one picture; training asks for each many times."""
    generator = stream(number, "direction-picture").numpy()
    covered = np.logical_or.reduce([one.covers() for one in layout(x, y, width, generator)])
    direction = int(integers(generator, _TURN // 2, 1)[0])
    texture = np.where(
        covered,
        _texture(direction, generator),
        _texture(direction + _TURN // 4, generator),
    )
    return np.clip(np.rint(128 + _SPREAD * texture), 0, 255).astype(np.uint8)


_SMOOTHING: Final = 1.6
"""Standard deviation of the smoothing of local direction, pixels."""
_THRESHOLD: Final = 0.0
"""Cosine of twice the angle, as the mean in a neighborhood, from which a pixel is of an object."""
_OPENING: Final = 7
"""Radius of the opening that separates objects, pixels."""
_FLAT: Final = 30.0
"""Squared gradient below which direction counts for less."""
_SMALLEST: Final = 60
"""Smallest object, pixels."""


def measured_by_hand(
    picture: UInt8[np.ndarray, "height width"],
) -> Float[np.ndarray, " feature"]:
    """Measure the square of a picture, center and width in pixels, by local direction.

    Args:
        picture: The picture.
    """
    from scipy.ndimage import distance_transform_edt, label  # noqa: PLC0415 — a quarter of a second

    seen = local_direction(picture) > _THRESHOLD
    core = distance_transform_edt(np.pad(seen, 1))[1:-1, 1:-1] > _OPENING
    opened = distance_transform_edt(~core) <= _OPENING if core.any() else seen
    labels, count = label(opened)
    parts = [labels == number for number in range(1, count + 1)]
    parts = [part for part in parts if part.sum() >= _SMALLEST] or [np.ones((SIDE, SIDE), bool)]
    return max((_squareness(part) for part in parts), key=lambda found: found[0])[1]


def local_direction(
    picture: UInt8[np.ndarray, "height width"], smoothing: float = _SMOOTHING
) -> Float[np.ndarray, "height width"]:
    """Compare the direction of texture at each pixel with the picture's: 1 across, −1 along.

    Args:
        picture: The picture.
        smoothing: Standard deviation of the smoothing, pixels.
    """
    from scipy.ndimage import gaussian_filter  # noqa: PLC0415 — a quarter of a second to import

    values = picture.astype(np.float64)
    down, across = (gaussian_filter(values, 0.5, order=order) for order in ((1, 0), (0, 1)))
    doubled = (across + 1j * down) ** 2
    whole = doubled.sum()
    relative = -(doubled * whole.conj()).real / max(abs(whole), 1e-9)
    found: Float[np.ndarray, "height width"]
    found = gaussian_filter(relative / (abs(doubled) + _FLAT), smoothing)
    return found


def _squareness(
    part: Bool[np.ndarray, "height width"],
) -> tuple[float, Float[np.ndarray, " feature"]]:
    """Return the overlap of pixels with the best square of their center and area; and this."""
    down, across = np.nonzero(part)
    x, y, width = across.mean(), down.mean(), len(down) ** 0.5
    column, row = np.arange(SIDE) - x, (np.arange(SIDE) - y)[:, None]
    overlaps = []
    for angle in np.arange(12) * np.pi / 24:
        first = column * np.cos(angle) + row * np.sin(angle)
        second = row * np.cos(angle) - column * np.sin(angle)
        square = np.maximum(abs(first), abs(second)) <= width / 2
        overlaps.append((square & part).sum() / (square | part).sum())
    return max(overlaps), np.array([x, y, width])
