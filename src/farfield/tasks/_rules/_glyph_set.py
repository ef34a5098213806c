"""The distinct images that problems are made of."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated, Final, Literal, final

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from farfield.core.internal import Checked, Limits, check_fields, printable
from farfield.tasks._files._data_sets import data_folder
from farfield.tasks._files._known_data_sets import DATA_SETS, KMNIST_TEST, MNIST_TEST
from farfield.tasks._files._labelled_images import idx_images
from farfield.tasks._files._photographs import read_grey_png

GLYPHS_DIGEST: Final = "1535dcc4cc513a59c5a7e3302c226209d53358239f202bd94236b73009497202"
"""Digest of the built-in images."""
LETTERS_DIGEST: Final = "1fbc23d4657a8d15fb842b80598fa91089ea710a17fe43e87cad600820b4cf06"
"""Digest of the letters."""
PLAIN_DIGEST: Final = "a349efe5fc65405ba0905b181f67efa9ae095f0a6472565bcd89937ce8297248"
"""Digest of the letters that come in ten fonts."""
GLYPH_SIDE: Final = 32
"""Height and width of the images that are built in."""
PAPER_DIGEST: Final = "e72b6623cc5efacd0e3df8c5b91775db11c760b38ad6cc5d40685de19cfdaf8c"
"""Digest of the 100 images of webb2021."""


@final
@dataclass(frozen=True, eq=False)
class GlyphSet:
    """A table of distinct gray images of one size.

    Two tables are equal when their pixels are. The images are copied and cannot be changed.

    Args:
        images: Gray levels 0 (black) to 255 (white), one image per row.
        hands: Images of the same symbols in other hands, e.g. written by other people, which a
            `Variation` of the font shows too; `None` for none.

    Shape:
        images: `(item, height, width)`, at least one image.
        hands: `(candidate, item, height, width)`.

    Raises:
        ValueError: If `images` or `hands` is not a uint8 array of that shape, or has an image twice
            in one hand.
    """

    images: UInt8[np.ndarray, "item height width"]
    hands: UInt8[np.ndarray, "candidate item height width"] | None = None

    def __post_init__(self) -> None:
        images, hands = self.images, self.hands
        object.__setattr__(self, "images", _held(images))
        if hands is None:
            return
        if not isinstance(hands, np.ndarray) or hands.shape[1:] != images.shape or not len(hands):
            raise ValueError(
                f"hands must be an array of (candidate, *{images.shape}), got "
                f"{getattr(hands, 'shape', type(hands).__name__)}: every image in every hand"
            )
        object.__setattr__(self, "hands", np.stack([_held(hand, "hands") for hand in hands]))
        self.hands.setflags(write=False)  # type: ignore[union-attr]

    def __len__(self) -> int:
        return len(self.images)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlyphSet) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        count, height, width = self.images.shape
        return f"Shapes({self.name}: {count} of {height}×{width})"

    @cached_property
    def digest(self) -> str:
        """SHA-256 over shape and pixels: the same on every machine."""
        digest = _digest(self.images)
        return digest if self.hands is None else _digest(self.hands, digest)

    @property
    def name(self) -> str:
        """Name of a known table, such as `"letters"`, else `"own-"` and the head of the digest."""
        known = {
            GLYPHS_DIGEST: "glyphs",
            LETTERS_DIGEST: "letters",
            PLAIN_DIGEST: "plain-letters",
            PAPER_DIGEST: "webb2021",
        }
        return known.get(self.digest, f"own-{self.digest[:8]}")

    @cached_property
    def items(self) -> Float[Tensor, "item height width"]:
        """Images as float32 in 0 (black) to 1 (white), as models read them."""
        return torch.from_numpy(self.images.astype(np.float32) / np.float32(255))

    @staticmethod
    @cache
    def glyphs() -> GlyphSet:
        """Load the built-in table: 100 Unicode characters of DejaVu Sans, black on white, 32×32.

        Letters of ten alphabets, arrows, mathematics, shapes, symbols; no two look alike.
        """
        return _built_in("glyphs")

    @staticmethod
    @cache
    def letters() -> GlyphSet:
        """Load a second table, to choose models on: 100 letters and digits, no built-in glyph."""
        return _built_in("letters")

    @staticmethod
    @cache
    def plain_letters() -> GlyphSet:
        """Load 45 of the letters, which come in ten fonts; no two differ in size alone.

        The tasks show them in DejaVu Sans; a `Variation` of the font also in bold and mono, in
        DejaVu Serif and STIX (roman and italic), and in three faces of Computer Modern.
        """
        return GlyphSet(_fonts()[0])

    @staticmethod
    def paper(folder: str | Path | None = None) -> GlyphSet:
        """Read the 100 images of webb2021, from `esbn_unicode/0.png` … `99.png` in a data folder.

        Args:
            folder: The data folder; without one, that of the environment variable FARFIELD_DATA.

        Raises:
            ValueError: If no folder is named, a file is missing or not a gray 32×32 PNG, or the
                images are others.
        """
        found = data_folder(folder) / "esbn_unicode"
        images = np.empty((100, 32, 32), np.uint8)
        for number in range(100):
            images[number] = read_grey_png(found / f"{number}.png", 32)
        shapes = GlyphSet(images)
        if shapes.digest != PAPER_DIGEST:
            raise ValueError(
                f"{printable(found)} must hold the images of webb2021, digest {PAPER_DIGEST}, got "
                f"others with {shapes.digest}: pass those as Shapes(images)"
            )
        return shapes


def _built_in(name: str) -> GlyphSet:
    """Load a table of the package: characters of DejaVu Sans 2.37."""
    return GlyphSet(_array("glyphs.npz", name))


def _array(file: str, name: str) -> np.ndarray:
    """Load an array of an archive of the package."""
    path = resources.files("farfield.tasks") / file
    with path.open("rb") as content, np.load(content, allow_pickle=False) as archive:
        found: np.ndarray = archive[name]
        return found


@cache
def _fonts() -> UInt8[np.ndarray, "candidate item height width"]:
    """Load the letters in ten fonts, which `tools/fonts.py` renders."""
    return _array("fonts.npz", "fonts")


@cache
def other_fonts(shapes: GlyphSet) -> tuple[GlyphSet, ...]:
    """Find the images in their other hands: letters in nine other fonts.

    Args:
        shapes: Images with other hands, or some or all of the plain letters.

    Raises:
        ValueError: If there are no other hands, and an image is none of the plain letters.
    """
    if shapes.hands is not None:
        return tuple(map(GlyphSet, shapes.hands))
    first, *others = _fonts()
    rows = {image.tobytes(): row for row, image in enumerate(first)}
    found = [rows.get(image.tobytes()) for image in shapes.images]
    if None in found:
        raise ValueError(
            f"shapes must be letters that come in ten fonts, or have hands, for a variation of the "
            f"font, got {shapes!r}: use GlyphSet.plain_letters() or Handwriting()"
        )
    return tuple(GlyphSet(other[found]) for other in others)


@final
@dataclass(frozen=True, kw_only=True)
class Handwriting(Checked):
    """Characters by hand: ten digits of MNIST and ten characters of K-MNIST, each written often.

    In place of a `GlyphSet`, for a `Variation` of the font: each showing is then of any example of
    the character, and two showings of one character are two people's writing. The examples are the
    first of each class among the test images of the data sets, black on white, with two pixels of
    background around them. A task shows the first of them where the font does not vary.

    Args:
        data_sets: The data sets, whose files a task reads when it is drawn.
        examples: Number of examples of each character.

    Raises:
        ValueError: If there is no data set, one comes twice, or `examples` is out of 2…800.

    Example:
        >>> len(Handwriting())
        20
    """

    data_sets: tuple[Literal["mnist", "kmnist"], ...] = ("mnist", "kmnist")
    examples: Annotated[int, Limits(at_least=2, at_most=800)] = 100

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.data_sets or len({*self.data_sets}) < len(self.data_sets):
            raise ValueError(f"data_sets must be one or more, each once, got {self.data_sets}")

    def __len__(self) -> int:
        return _CLASSES * len(self.data_sets)

    @property
    def name(self) -> str:
        """Name of the images: `"handwriting"`."""
        return "handwriting"

    def is_at_hand(self) -> bool:
        """Check whether the test images are on this machine."""
        files = {"mnist": MNIST_TEST, "kmnist": KMNIST_TEST}
        return all(DATA_SETS[name].is_at_hand(*files[name]) for name in self.data_sets)

    def read(self) -> GlyphSet:
        """Read the images.

        Raises:
            ValueError: If a file is missing, or differs from the published one.
        """
        return _written(self)


_CLASSES: Final = 10
"""Characters of a data set."""
_MARGIN: Final = (GLYPH_SIDE - 28) // 2


@cache
def _written(shapes: Handwriting) -> GlyphSet:
    """Read the first examples of each character, black on white."""
    characters = []
    for name in shapes.data_sets:
        images, labels = idx_images(DATA_SETS[name], "t10k")
        characters += [images[labels == kind][: shapes.examples] for kind in range(_CLASSES)]
    sides = ((0, 0), (0, 0), (_MARGIN, _MARGIN), (_MARGIN, _MARGIN))
    first, *others = 255 - np.pad(np.stack(characters, axis=1), sides)
    return GlyphSet(first, np.stack(others))


_SIZE_TWINS: Final = (25, 35, 38, 40, 41, 42, 43, 73, 87, 90, 91, 92, 95, 96, 97, 98)
"""Rows of the letters that a larger letter resembles: c p s u v w x ρ г и л п ч ш ы э."""


@cache
def table(shapes: GlyphSet | None) -> Float[Tensor, "item height width"]:
    """Return all images of a task."""
    return (GlyphSet.glyphs() if shapes is None else shapes).items


def other_images(shapes: GlyphSet | Handwriting | None) -> GlyphSet | None:
    """Find images to validate a task on, beside its own: letters, or glyphs beside letters.

    Args:
        shapes: Images of the task; `None` for the built-in ones.

    Returns:
        `None` beside images of the user's, of which some are held out.
    """
    name = "glyphs" if shapes is None else shapes.name
    others = {
        "glyphs": GlyphSet.letters,
        "webb2021": GlyphSet.letters,
        "letters": GlyphSet.glyphs,
        "plain-letters": GlyphSet.glyphs,
        "handwriting": GlyphSet.glyphs,
    }
    return others[name]() if name in others else None


@cache
def without_size_twins(shapes: GlyphSet) -> GlyphSet:
    """Leave out letters that differ from another letter of the built-in table in size alone.

    Args:
        shapes: Any images; only built-in letters are left out.
    """
    twins = {GlyphSet.letters().images[row].tobytes() for row in _SIZE_TWINS}
    kept = [image.tobytes() not in twins for image in shapes.images]
    if all(kept):
        return shapes
    return GlyphSet(shapes.images[kept], None if shapes.hands is None else shapes.hands[:, kept])


def _digest(images: UInt8[np.ndarray, "*batch height width"], head: str = "") -> str:
    head += "x".join(str(size) for size in images.shape)
    return hashlib.sha256(head.encode() + b":" + images.tobytes()).hexdigest()


def _held(
    images: UInt8[np.ndarray, "item height width"], name: str = "images"
) -> UInt8[np.ndarray, "item height width"]:
    """Copy images that must be distinct and gray, of one size."""
    if not isinstance(images, np.ndarray):
        raise ValueError(f"{name} must be a NumPy array, got {type(images).__name__}")
    if images.dtype != np.uint8:
        raise ValueError(
            f"{name} must hold uint8 gray levels 0…255, got {images.dtype}: "
            "scale, round and convert with .astype(numpy.uint8)"
        )
    if images.ndim != 3 or 0 in images.shape:
        raise ValueError(
            f"{name} must be of (item, height, width), got shape {images.shape}: "
            "one gray image per row, without a channel axis"
        )
    held = np.array(images, order="C")
    first: dict[bytes, int] = {}
    for row, image in enumerate(held):
        earlier = first.setdefault(image.tobytes(), row)
        if earlier != row:
            raise ValueError(
                f"{name} must all differ, got image {row} equal to image {earlier}: "
                "drop the copies (numpy.unique with axis=0)"
            )
    held.setflags(write=False)
    return held
