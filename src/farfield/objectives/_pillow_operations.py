"""RandAugment on a batch of images, image by image, with the operations of Pillow."""

from __future__ import annotations

from collections.abc import Callable
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
    are_bytes = images.dtype == torch.uint8
    shown = images if are_bytes else (255 * images).round().to(torch.uint8)
    generator, shape = stream.numpy(), (len(images), operations)
    kinds = generator.integers(len(OPERATIONS), size=shape)
    strengths = (2 * generator.integers(2, size=shape) - 1) * magnitude / STRONGEST
    changed = [
        _change(image, kinds_of, strengths_of)
        for image, kinds_of, strengths_of in zip(
            shown.movedim(1, -1).cpu().numpy(), kinds, strengths, strict=True
        )
    ]
    result = _stacked(changed, shown).to(images.device)
    return result if are_bytes else (result.double() / 255).to(images.dtype)


def _change(image: np.ndarray, kinds: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """Apply the operations of one image."""
    shown = Image.fromarray(np.ascontiguousarray(image))
    for kind, strength in zip(kinds, strengths, strict=True):
        shown = tuple(OPERATIONS.values())[kind](shown, float(strength))
    return np.asarray(shown)


def _stacked(changed: list[np.ndarray], shown: Tensor) -> Tensor:
    """Change the images, as a batch of the given shape."""
    if not changed:
        return shown.cpu()
    return torch.from_numpy(np.stack(changed)).movedim(-1, 1).contiguous()
