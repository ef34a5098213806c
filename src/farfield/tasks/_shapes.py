"""The distinct images that problems are made of."""

from __future__ import annotations

import hashlib
import io
import os
import struct
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Final, final

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor

GLYPHS_DIGEST: Final = "1535dcc4cc513a59c5a7e3302c226209d53358239f202bd94236b73009497202"
"""Digest of the built-in images."""
LETTERS_DIGEST: Final = "1fbc23d4657a8d15fb842b80598fa91089ea710a17fe43e87cad600820b4cf06"
"""Digest of the letters."""
PAPER_DIGEST: Final = "e72b6623cc5efacd0e3df8c5b91775db11c760b38ad6cc5d40685de19cfdaf8c"
"""Digest of the 100 images of webb2021."""
_LARGEST_FILE: Final = 65_536
"""A picture of 32×32 grey pixels is far smaller; nothing larger is opened, bytes."""


@final
@dataclass(frozen=True, eq=False)
class Shapes:
    """A table of distinct grey images of one size.

    Two tables are equal when their pixels are. The images are copied and cannot be changed.

    Args:
        images: Grey levels 0 (black) to 255 (white), one image per row.

    Shape:
        images: `(item, height, width)`, at least one image.

    Raises:
        ValueError: If `images` is no uint8 array of that shape, or holds an image twice.
    """

    images: UInt8[np.ndarray, "item height width"]

    def __post_init__(self) -> None:
        images = self.images
        if not isinstance(images, np.ndarray):
            raise ValueError(f"images must be a NumPy array, got {type(images).__name__}")
        if images.dtype != np.uint8:
            raise ValueError(
                f"images must hold uint8 grey levels 0…255, got {images.dtype}: "
                "scale, round and convert with .astype(numpy.uint8)"
            )
        if images.ndim != 3 or 0 in images.shape:
            raise ValueError(
                f"images must be of (item, height, width), got shape {images.shape}: "
                "one grey image per row, without a channel axis"
            )
        held = np.array(images, order="C")
        _refuse_duplicates(held)
        held.setflags(write=False)
        object.__setattr__(self, "images", held)

    def __len__(self) -> int:
        return len(self.images)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shapes) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        count, height, width = self.images.shape
        return f"Shapes({self.name}: {count} of {height}×{width})"

    @cached_property
    def digest(self) -> str:
        """SHA-256 over shape and pixels: the same on every machine."""
        return _digest(self.images)

    @property
    def name(self) -> str:
        """`"glyphs"`, `"letters"`, `"webb2021"`, or `"own-"` and the head of the digest."""
        known = {GLYPHS_DIGEST: "glyphs", LETTERS_DIGEST: "letters", PAPER_DIGEST: "webb2021"}
        return known.get(self.digest, f"own-{self.digest[:8]}")

    @cached_property
    def items(self) -> Float[Tensor, "item height width"]:
        """The images as float32 in 0 (black) to 1 (white), as models read them."""
        return torch.from_numpy(self.images.astype(np.float32) / np.float32(255))

    @staticmethod
    @cache
    def glyphs() -> Shapes:
        """The built-in table: 100 Unicode characters of DejaVu Sans, black on white, 32×32.

        Letters of ten alphabets, arrows, mathematics, shapes, symbols; no two look alike.
        """
        return _built_in("glyphs")

    @staticmethod
    @cache
    def letters() -> Shapes:
        """A second table, to choose models on: 100 letters and digits, none of them a glyph."""
        return _built_in("letters")

    @staticmethod
    def paper(folder: str | Path | None = None) -> Shapes:
        """The 100 images of webb2021, from `esbn_unicode/0.png` … `99.png` in a data folder.

        Args:
            folder: The data folder; without one, that of the environment variable FARFIELD_DATA.

        Raises:
            ValueError: If no folder is named, a file is missing, or one is no grey 32×32 PNG.
        """
        named = folder if folder is not None else os.environ.get("FARFIELD_DATA")
        if not named:
            raise ValueError(
                "folder must name the data folder, got none: pass it, or set FARFIELD_DATA"
            )
        place = Path(named) / "esbn_unicode"
        return Shapes(np.stack([_read_png(place / f"{number}.png") for number in range(100)]))


def _built_in(name: str) -> Shapes:
    """A table that comes with the package: characters of DejaVu Sans 2.37, drawn once."""
    file = resources.files("farfield.tasks") / "glyphs.npz"
    with file.open("rb") as content, np.load(content, allow_pickle=False) as archive:
        return Shapes(archive[name])


def _digest(images: UInt8[np.ndarray, "item height width"]) -> str:
    head = "x".join(str(size) for size in images.shape)
    return hashlib.sha256(head.encode() + b":" + images.tobytes()).hexdigest()


def _refuse_duplicates(images: UInt8[np.ndarray, "item height width"]) -> None:
    first: dict[bytes, int] = {}
    for place, image in enumerate(images):
        earlier = first.setdefault(image.tobytes(), place)
        if earlier != place:
            raise ValueError(
                f"images must all differ, got image {place} equal to image {earlier}: "
                "drop the copies (numpy.unique with axis=0)"
            )


def _read_png(path: Path) -> UInt8[np.ndarray, "height width"]:
    """One grey 32×32 picture; its header is judged before anything is unpacked."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise ValueError(f"folder must hold {path}, which cannot be read: {error}") from error
    if len(content) > _LARGEST_FILE:
        raise ValueError(f"{path} must be a picture of 32×32, got a file of over {_LARGEST_FILE} B")
    if content[:8] != b"\x89PNG\r\n\x1a\n" or content[12:16] != b"IHDR" or len(content) < 33:
        raise ValueError(f"{path} must be a PNG file, got one that does not start as such")
    width, height, depth, colour = struct.unpack(">IIBB", content[16:26])
    if (width, height, depth, colour) != (32, 32, 8, 0):
        raise ValueError(
            f"{path} must be 32×32 in 8-bit grey (type 0), "
            f"got {width}×{height} in {depth}-bit of colour type {colour}"
        )
    try:
        with Image.open(io.BytesIO(content), formats=["PNG"]) as picture:
            return np.array(picture.convert("L"))
    except (OSError, SyntaxError, ValueError, struct.error) as error:
        raise ValueError(f"{path} must be a whole PNG file, got a broken one: {error}") from error
