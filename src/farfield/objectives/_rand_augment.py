"""RandAugment on a batch of images with the operations of kornia, for recorded networks."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from farfield.core import Stream

OPERATIONS: Final[tuple[tuple[str, float, float], ...]] = (
    ("auto_contrast", 0.0, 1.0),
    ("equalize", 0.0, 1.0),
    ("rotate", -30.0, 30.0),
    ("posterize", 4.0, 8.0),
    ("solarize", 0.0, 1.0),
    ("color", 0.1, 1.9),
    ("contrast", 0.1, 1.9),
    ("brightness", 0.1, 1.9),
    ("sharpness", 0.1, 1.9),
    ("shear_x", -0.3, 0.3),
    ("shear_y", -0.3, 0.3),
    ("translate_x", -0.1, 0.1),
    ("translate_y", -0.1, 0.1),
)
"""Operations of Cubuk et al. 2020 but the identity, with kornia's ranges."""
STRONGEST: Final = 30.0
"""Magnitude at the end of the ranges."""

Images = Float[Tensor, "item 3 height width"] | UInt8[Tensor, "item 3 height width"]


def rand_augmented(images: Images, *, operations: int, magnitude: float, stream: Stream) -> Images:
    """Augment images by operations drawn for each image, the identity among them.

    Args:
        images: Floating-point numbers of 0…1, or bytes, in which case the result is bytes.
        operations: How many, one after the other; the same can come again.
        magnitude: Position in the ranges of kornia, above 0 and below 30.
        stream: Source of the draws.

    Raises:
        ValueError: If there are not three colors, or other numbers than these.
        ModuleNotFoundError: If kornia is not installed.
    """
    check_images(images)
    are_bytes = images.dtype == torch.uint8
    shown = images.float() / 255 if are_bytes else images.float().clone()
    choices = len(OPERATIONS) + 1
    drawn = torch.randint(choices, (operations, len(images)), generator=stream.torch())
    with torch.no_grad(), drawing_from(stream.child("kornia")):
        for chosen in drawn:
            for operation in range(len(OPERATIONS)):
                rows = torch.nonzero(chosen == operation)[:, 0].to(images.device)
                if len(rows):
                    shown[rows] = _operation(operation, magnitude)(shown[rows]).clamp(0, 1)
    return (255 * shown).round().to(torch.uint8) if are_bytes else shown.to(images.dtype)


def check_images(images: Tensor, *, colors: tuple[int, ...] = (3,)) -> None:
    """Raise `ValueError` unless these are images of bytes, or of numbers of 0…1.

    Args:
        images: Images to augment.
        colors: Numbers of colors that an image may have.
    """
    if images.ndim != 4 or images.shape[1] not in colors:
        kinds = "in color" if colors == (3,) else "in gray or color"
        raise ValueError(
            f"items must be images {kinds}, (item, {' or '.join(map(str, colors))}, height, "
            f"width), got shape {tuple(images.shape)}"
        )
    if images.dtype == torch.uint8:
        return
    low, high = (float(end) for end in torch.aminmax(images)) if len(images) else (0.0, 1.0)
    if not images.is_floating_point() or not 0 <= low <= high <= 1:
        raise ValueError(
            f"items must be bytes or numbers of 0…1, got {images.dtype} of {low:g}…{high:g}"
        )


@contextlib.contextmanager
def drawing_from(stream: Stream) -> Iterator[None]:
    """Seed torch's global generator from a stream, and restore it afterwards.

    For code of others that draws from nothing else: kornia draws its parameters on the CPU, and
    from there alone, wherever the images are.

    Args:
        stream: Where the numbers come from.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(stream.torch().initial_seed())
        yield


@lru_cache(maxsize=256)
def _operation(operation: int, magnitude: float) -> nn.Module:
    """Apply one operation of kornia at one strength."""
    made: nn.Module = _kornia().RandAugment(n=1, m=magnitude, policy=[[OPERATIONS[operation]]])
    return made


def _kornia() -> Any:
    """Import `kornia.augmentation`, an optional dependency.

    Raises:
        ModuleNotFoundError: If it is not installed.
    """
    try:
        return importlib.import_module("kornia.augmentation.auto")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "augmenting needs kornia, which is not installed: pip install 'farfield[vision]'"
        ) from error
