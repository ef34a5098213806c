"""RandAugment on a batch of images, image by image, with the operations of Pillow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import torch
from PIL import Image, ImageEnhance, ImageOps
from torch import Tensor

from farfield.core import Stream
from farfield.objectives._rand_augment import STRONGEST, Images, check_images

Operation = Callable[[Image.Image, float], Image.Image]
"""Function from an image and a signed strength in −1…1 to the changed image."""

ANGLE: Final = 30.0
SHEAR: Final = 0.3
SHIFT: Final = 150 / 331
"""Farthest translation as a fraction of the side: 150 pixels in images of 331."""
ENHANCEMENT: Final = 0.9
"""Largest distance of the factor of an enhancement from 1, which leaves the image unchanged."""


def _enhancement(kind: Callable[[Image.Image], ImageEnhance._Enhance]) -> Operation:
    return lambda image, strength: kind(image).enhance(1 + ENHANCEMENT * strength)


def _affine(image: Image.Image, *rows: float) -> Image.Image:
    return image.transform(image.size, Image.Transform.AFFINE, rows)


def _shift(side: int, strength: float) -> int:
    return round(SHIFT * side * strength)


OPERATIONS: Final[dict[str, Operation]] = {
    "identity": lambda image, _: image,
    "auto_contrast": lambda image, _: ImageOps.autocontrast(image),
    "equalize": lambda image, _: ImageOps.equalize(image),
    "rotate": lambda image, s: image.rotate(ANGLE * s),
    "posterize": lambda image, s: ImageOps.posterize(image, 8 - round(4 * abs(s))),
    "solarize": lambda image, s: ImageOps.solarize(image, 256 - round(256 * abs(s))),
    "color": _enhancement(ImageEnhance.Color),
    "contrast": _enhancement(ImageEnhance.Contrast),
    "brightness": _enhancement(ImageEnhance.Brightness),
    "sharpness": _enhancement(ImageEnhance.Sharpness),
    "shear_x": lambda image, s: _affine(image, 1, SHEAR * s, 0, 0, 1, 0),
    "shear_y": lambda image, s: _affine(image, 1, 0, 0, SHEAR * s, 1, 0),
    "translate_x": lambda image, s: _affine(image, 1, 0, _shift(image.width, s), 0, 1, 0),
    "translate_y": lambda image, s: _affine(image, 1, 0, 0, 0, 1, _shift(image.height, s)),
}
"""Fourteen operations of Cubuk et al. 2020; strength 1 is the end of the published ranges."""

DARKENING: Final = 0.5, 0.45
"""Middle and half width of the factors of enhancements in strong views: 0.05…0.95."""
FARTHEST: Final = 0.3
"""Farthest translation of strong views as a fraction of the side."""
LARGEST_CUT: Final = 0.5
"""Largest side of the square that is cut out of a strong view, as a fraction of the width."""
CUT_COLOR: Final = (125, 123, 114)
"""Color of the square that is cut out of a strong view."""


def _darkening(kind: Callable[[Image.Image], ImageEnhance._Enhance]) -> Operation:
    middle, width = DARKENING
    return lambda image, strength: kind(image).enhance(middle + width * strength)


STRONG_OPERATIONS: Final[dict[str, Operation]] = {
    **OPERATIONS,
    "posterize": lambda image, s: ImageOps.posterize(image, int(6 + 2 * s)),
    "solarize": lambda image, s: ImageOps.solarize(image, int(128 + 128 * s)),
    "color": _darkening(ImageEnhance.Color),
    "contrast": _darkening(ImageEnhance.Contrast),
    "brightness": _darkening(ImageEnhance.Brightness),
    "sharpness": _darkening(ImageEnhance.Sharpness),
    "translate_x": lambda image, s: _affine(image, 1, 0, FARTHEST * image.width * s, 0, 1, 0),
    "translate_y": lambda image, s: _affine(image, 1, 0, 0, 0, 1, FARTHEST * image.height * s),
}
"""Operations of strong views, for strengths of −1…1: the two ends of each published range."""


def change_images(images: Images, *, operations: int, magnitude: float, stream: Stream) -> Images:
    """Change every image by operations and signs drawn for it, identity included.

    Args:
        images: Bytes, or floating-point numbers of 0…1, which are rounded to bytes for it.
        operations: Number of operations, one after the other; the same can come again.
        magnitude: Strength of the operations, 0…30.
        stream: Source of the operations and of their signs.

    Raises:
        ValueError: If the images have no three colors, or other numbers than these.
    """
    check_images(images)
    generator, shape = stream.numpy(), (len(images), operations)
    kinds = generator.integers(len(OPERATIONS), size=shape)
    strengths = (2 * generator.integers(2, size=shape) - 1) * magnitude / STRONGEST
    return _changed(
        images, lambda image, row: _operate(OPERATIONS, image, kinds[row], strengths[row])
    )


def strong_views(images: Tensor, *, operations: int, stream: Stream) -> Tensor:
    """Change every image by operations and strengths drawn for it, then cut out a gray square.

    Args:
        images: Images of one color or three, `(item, color, height, width)`, or without that axis:
            bytes, or floating-point numbers of 0…1, which are rounded to bytes for it.
        operations: Number of operations, one after the other; the same can come again.
        stream: Source of operations, strengths and squares.

    Raises:
        ValueError: If the images have neither one color nor three, or other numbers than these.
    """
    if images.ndim == 3:
        return strong_views(images[:, None], operations=operations, stream=stream)[:, 0]
    check_images(images, colors=(1, 3))
    generator, shape = stream.numpy(), (len(images), operations)
    kinds = generator.integers(len(STRONG_OPERATIONS), size=shape)
    strengths = generator.uniform(-1, 1, size=shape)
    squares = generator.random((len(images), 3))  # center and side

    def change(image: Image.Image, row: int) -> Image.Image:
        shown = _operate(STRONG_OPERATIONS, image, kinds[row], strengths[row])
        return _cut(shown, *squares[row].tolist())

    return _changed(images, change)


def _operate(
    operations: Mapping[str, Operation],
    image: Image.Image,
    kinds: np.ndarray,
    strengths: np.ndarray,
) -> Image.Image:
    """Apply the operations of one image."""
    for kind, strength in zip(kinds, strengths, strict=True):
        image = tuple(operations.values())[kind](image, float(strength))
    return image


def _cut(image: Image.Image, down: float, across: float, size: float) -> Image.Image:
    """Fill a square of gray; all three numbers are of 0…1."""
    side = LARGEST_CUT * size * image.width
    left, top = (
        int(max(0.0, at * length - side / 2))
        for at, length in ((across, image.width), (down, image.height))
    )
    box = left, top, min(image.width, left + int(side)), min(image.height, top + int(side))
    gray = Image.new("RGB", (1, 1), CUT_COLOR).convert(image.mode).getpixel((0, 0))
    assert gray is not None  # noqa: S101 — for the type checker
    cut = image.copy()
    cut.paste(gray, box)
    return cut


def _changed(images: Tensor, change: Callable[[Image.Image, int], Image.Image]) -> Tensor:
    """Change images one by one, as bytes; the result is of the type of the images."""
    are_bytes = images.dtype == torch.uint8
    shown = images if are_bytes else (255 * images).round().to(torch.uint8)
    arrays = shown.movedim(1, -1).cpu().numpy()
    changed = [
        np.asarray(change(Image.fromarray(np.ascontiguousarray(_squeezed(array))), row))
        for row, array in enumerate(arrays)
    ]
    if not changed:
        return images
    result = torch.from_numpy(np.stack(changed).reshape(arrays.shape))
    result = result.movedim(-1, 1).contiguous().to(images.device)
    return result if are_bytes else (result.double() / 255).to(images.dtype)


def _squeezed(image: np.ndarray) -> np.ndarray:
    """Drop the axis of a single color, which Pillow does not know."""
    return image[..., 0] if image.shape[-1] == 1 else image
