"""Super-resolution: how does an image look with more pixels? (ren2017)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Final, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, UInt8
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import (
    PICTURES,
    Limits,
    RaggedItems,
    check_fields,
    expand_home,
    file_stamp,
    printable,
    read_picture,
)
from farfield.functional.internal import bicubic_resize, rgb_to_ycbcr
from farfield.metrics import psnr, ssim
from farfield.tasks._files._data_sets import folders
from farfield.tasks._protocol._draws import DrawnSets, permutation
from farfield.tasks._protocol._task import (
    GRAY,
    TRAINING,
    VALIDATION,
    Form,
    Regime,
    SingleItem,
    alike_regimes,
    check_number,
    check_regime,
)

_MOST: Final = 10_000
"""Pictures of a folder."""


class Pair(NamedTuple):
    """Luma of a picture, and its enlargement from fewer pixels.

    Attributes:
        sharp: Y, 16…235, rounded; unchanged levels of a gray picture.
        blurred: Y as fractions of 255, made smaller and larger again.
    """

    sharp: UInt8[Tensor, "height width"]
    blurred: Float32[Tensor, "height width"]


def picture_files(named: str) -> tuple[Path, ...]:
    """List the pictures of a folder, in the order of their names; empty without a folder.

    Args:
        named: The folder, from a data folder on, or its whole path.
    """
    for found_at in (folder / expand_home(named) for folder in folders()):
        if found_at.is_dir():
            found = (path for path in found_at.iterdir() if path.suffix.lower() in PICTURES)
            return tuple(sorted(itertools.islice(found, _MOST + 1)))
    return ()


def luma_pairs(named: str, scale: int, smallest: int) -> list[Pair]:
    """Read all pictures of a folder, in the order of their names.

    Args:
        named: The folder, from a data folder on, or its whole path.
        scale: Factor by which they are enlarged.
        smallest: Least height and width, pixels.

    Raises:
        ValueError: If the folder has no or too many pictures, or a picture has other colors than
            gray or red, green and blue, or is smaller.
    """
    files = picture_files(named)
    if not 1 <= len(files) <= _MOST:
        searched = " nor in ".join(printable(folder / expand_home(named)) for folder in folders())
        raise ValueError(
            f"folder must hold 1 to {_MOST:,} pictures ({', '.join(PICTURES)}), got "
            f"{f'more than {_MOST:,}' if files else 'none'} in {searched}: set FARFIELD_DATA to a "
            f"folder that has {printable(named)}, or name another"
        )
    return list(_pairs(files, tuple(map(file_stamp, files)), scale, smallest))


@lru_cache(maxsize=8)
def _pairs(
    files: Sequence[Path], stamps: Sequence[tuple[int, ...]], scale: int, smallest: int
) -> tuple[Pair, ...]:
    """Read pictures of files, again when they have changed."""
    del stamps
    return tuple(_pair(path, scale, smallest) for path in files)


def _pair(path: Path, scale: int, smallest: int) -> Pair:
    """Read a picture, cut to a multiple of the factor at the right and below."""
    pixels = torch.from_numpy(read_picture(path))
    height, width = (side - side % scale for side in pixels.shape[:2])
    if min(height, width) < smallest:
        raise ValueError(
            f"{printable(path)} must be of at least {smallest} × {smallest} pixels, cut to a "
            f"multiple of {scale}, got {height} × {width}"
        )
    sharp = luma_of(pixels[:height, :width])
    # Like the paper's bicubic rows: Y is rounded, and its enlargement is not.
    few = bicubic_resize(sharp.double(), (height // scale, width // scale))
    return Pair(sharp, (bicubic_resize(few, (height, width)) / 255).float())


def luma_of(pixels: UInt8[Tensor, "height width *color"]) -> UInt8[Tensor, "height width"]:
    """Compute Y of a picture in color, rounded; a gray picture is unchanged.

    Args:
        pixels: Levels, with red, green and blue last.
    """
    if pixels.ndim == 2:
        return pixels
    return rgb_to_ycbcr(pixels.movedim(-1, 0).double())[0].round().to(torch.uint8)


def patches(maps: Tensor, side: int, stride: int) -> Tensor:
    """Square pieces of an image, row by row.

    Args:
        maps: The image, `(height, width)`.
        side: Height and width of a piece, pixels.
        stride: Pixels from one to the next.

    Returns:
        `(item, side, side)`.
    """
    return maps.unfold(0, side, stride).unfold(1, side, stride).reshape(-1, side, side)


_MOST_NAMED: Final = 20
"""Largest number of images of a test that are also scored one by one, under their names."""
_CEILING: Final = 10 * math.log10(12 * 255**2)
"""PSNR of rounding, whose squared error is a twelfth of a level's square."""
_GRAY: Final = 20 * math.log10(2)
"""Least PSNR of gray half way between the levels: no pixel is further from it than half the
range."""
_NO_TEST: Final = -1
"""Number of the set that problems for training and validation are from."""


@final
@dataclass(frozen=True, kw_only=True)
class SuperResolution(DrawnSets, SingleItem):
    r"""How does an image look with more pixels? It is given after bicubic enlargement.

    **Task.** An image was made smaller by a factor and enlarged to its size again, both by bicubic
    interpolation. The answer is the image as it was: luma only, fractions of 255.

    **Worked example.**

    ```text
      ┌──────┐  1/3  ┌──┐  ×3  ┌──────┐     ┌──────┐
      │▗▛▀▜▖ │   →   │▗▖│  →   │░▒▓▒░ │  →  │▗▛▀▜▖ │
      │▐▌ ▐▌ │       └──┘      │▒░ ░▒ │     │▐▌ ▐▌ │
      └──────┘                 └──────┘     └──────┘
    ```

    **Regimes.** `training` shows patches of `patch` × `patch` pixels, `stride` pixels apart, of the
    images of one folder; `validation`, where images are held out for it, whole images of the same
    folder. Each folder of `tests` is a regime of whole images of different sizes, under its name. A
    PNG, JPEG or BMP file is an image; one in color is turned into Y of 16…235, rounded, as by
    MATLAB's `rgb2ycbcr`, the levels of a gray one are taken as Y. An image is cut to a multiple of
    the factor, right and below. Resizing is MATLAB's, without rounding.

    **Score, floor and ceiling.** PSNR in decibels of the answer in levels, rounded, without `shave`
    pixels along each border, image by image; `ssim` is the structural similarity of the same with
    the border repeated outwards, as by MATLAB's `ssim`. Means are over images. Answers may lack as
    many pixels along each border as convolutions without padding take: loss and scores are of the
    pixels that are left. The floor is that of gray for all pixels, 6.02 dB or more; bicubic
    enlargement itself, which needs no training, is the one to beat. An error as large as that of
    rounding counts as the ceiling, 58.9 dB. The loss is half the mean squared error of fractions.
    Images of tests with 20 or fewer also have separate scores, by name.

    **Known shortcuts.** None.

    **Source and deviations.** Ren et al. 2017, section 4.3, after Dong et al. 2016. Its training
    patches are from ImageNet; here they are those of Dong et al.'s smaller set, T91, with their
    stride. Neither border nor rounding is stated; with 8 pixels and the rounding above, bicubic
    enlargement has all of the numbers of tables 5 and 8. Which 200 photographs BSD200 is, is not
    said; here it is the training images of BSDS500. The loss is that of the released code.

    Args:
        scale: Factor of the enlargement.
        training: Folder with the images for training, from FARFIELD_DATA on or as a whole path.
        tests: The same for each test.
        patch: Side of a training patch, pixels.
        stride: Pixels from one training patch to the next.
        shave: Pixels along each border that are not scored.
        validation_images: Number of training images that are held out to choose models on.

    Raises:
        ValueError: If a number is out of range, a patch has nothing to score, or two tests have the
            same name.

    Reference:
        ren2017, section 4.3.
    """

    name: ClassVar[str] = "super-resolution"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=GRAY, arrangement="single", answer="restoration")
    metric: ClassVar[str] = "psnr"
    training_scored: ClassVar[int] = 500

    scale: Annotated[int, Limits(at_least=2, at_most=16)] = 3
    training: str = "sr/t91"
    tests: tuple[str, ...] = ("sr/set5", "sr/set14", "sr/bsd200")
    patch: int = 33
    stride: Annotated[int, Limits(at_least=1, at_most=1_000)] = 14
    shave: Annotated[int, Limits(at_least=0, at_most=100)] = 8
    validation_images: Annotated[int, Limits(at_least=0, at_most=10_000)] = 0

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("patch", self.patch, 2 * self.shave + 1, 1_000)
        names = [TRAINING, VALIDATION, *map(_name, self.tests)]
        if len(set(names)) < len(names) or not all(names):
            raise ValueError(
                "tests must be folders of different names, none of them that of another regime, "
                f"got {self.tests}"
            )

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Height and width of a training patch."""
        return (self.patch, self.patch)

    @property
    def num_outputs(self) -> int:
        """Pixels of a training patch."""
        return self.patch**2

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation where images are held out for it, and the tests."""
        unit, tests = "factors of enlargement that training lacks", [*map(_name, self.tests)]
        return alike_regimes(unit, self.validation_images, tests)

    def with_validation(self) -> SuperResolution:
        """Copy the task with a tenth of its training images held out for validation."""
        return replace(self, validation_images=max(1, len(picture_files(self.training)) // 10))

    def is_at_hand(self) -> bool:
        """Check whether all folders with images are on this machine."""
        return all(picture_files(folder) for folder in (self.training, *self.tests))

    def input_files(self) -> dict[str, Path]:
        """List the paths of all pictures, by the names of their regime and file."""
        regimes = {TRAINING: self.training} | {_name(folder): folder for folder in self.tests}
        return {
            f"{name}/{path.name}": path
            for name, folder in regimes.items()
            for path in picture_files(folder)
        }

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name.

        Raises:
            ValueError: If a folder has no images, or one of them is smaller than a patch, has an
                alpha channel or is in another color space than gray or red, green and blue.
        """
        branch = stream.child(self.name, f"v{self.version}")
        images = self._pairs(self.training)
        check_number("validation_images", self.validation_images, 0, len(images) - 1)
        order = permutation(branch.child("images").numpy(), len(images))
        held_out = np.sort(order[: self.validation_images])
        kept = np.sort(order[self.validation_images :])
        sets = {TRAINING: self._patches([images[row] for row in kept], kept)}
        if self.validation_images:
            sets[VALIDATION] = _whole([images[row] for row in held_out], held_out, _NO_TEST)
        for number, folder in enumerate(self.tests):
            pairs = self._pairs(folder)
            sets[_name(folder)] = _whole(pairs, np.arange(len(pairs)), number)
        return sets

    def _pairs(self, folder: str) -> list[Pair]:
        return luma_pairs(folder, self.scale, self.patch)

    def _patches(self, pairs: Sequence[Pair], rows: np.ndarray) -> Problems:
        """Cut the patches of some images."""
        sharp, blurred = (
            [patches(maps, self.patch, self.stride) for maps in each]
            for each in zip(*pairs, strict=True)
        )
        source = np.repeat(rows, [len(own) for own in sharp])
        return _problems(torch.cat(blurred), torch.cat(sharp), source, _NO_TEST)

    def loss(
        self, outputs: Float[Tensor, "batch height width"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute half the mean squared error of the pixels that are answered.

        Args:
            outputs: Images as answered, fractions of 255.
            problems: Problems whose images are of one size.

        Raises:
            ValueError: If `outputs` are not images of the size of the problems, or smaller by as
                much on all four sides.
        """
        border = _border(outputs, problems)
        wanted = _inner(problems.target, border).to(outputs.dtype) / 255
        return (outputs - wanted).square().mean((-2, -1)) / 2

    def score(
        self, outputs: Float[Tensor, "batch height width"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the PSNR in decibels, 58.9 at most; higher is better.

        Args:
            outputs: Images as answered, fractions of 255.
            problems: Problems whose images are of one size.

        Raises:
            ValueError: As `loss`, or if pixels are missing that are scored.
        """
        return psnr(*self._levels(outputs, problems)).clamp(max=_CEILING).float()

    def further_scores(
        self, outputs: Float[Tensor, "batch height width"], problems: Problems
    ) -> dict[str, Float[Tensor, " batch"]]:
        """Compute the structural similarity, as `"ssim"`.

        Args:
            outputs: Images as answered, fractions of 255.
            problems: Problems whose images are of one size.

        Raises:
            ValueError: As `score`.
        """
        return {"ssim": ssim(*self._levels(outputs, problems), padded=True).float()}

    def _levels(self, outputs: Tensor, problems: Problems) -> tuple[Tensor, Tensor]:
        """Convert answers and images to levels, without the border that is not scored."""
        border = _border(outputs, problems)
        if border > self.shave:
            raise ValueError(
                f"outputs must lack at most the {self.shave} pixels along a border that are not "
                f"scored, got {border}"
            )
        answered = _inner(outputs.double() * 255, self.shave - border).round().clamp(0, 255)
        return answered, _inner(problems.target, self.shave).double()

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Return the mask of each image of a test that has few of them, by its name."""
        tests = problems.latent["test"]
        return {
            path.stem: chosen
            for number in set(tests.tolist()) - {_NO_TEST}
            for files in [picture_files(self.tests[number])]
            if len(files) <= _MOST_NAMED
            for row, path in enumerate(files)
            if (chosen := (tests == number) & (problems.latent["image"] == row)).any()
        }

    def chance(self, regime: str) -> float:
        """Return the least PSNR of gray as the answer to all pixels."""
        check_regime(regime, self.regimes)
        return _GRAY

    def oracle(self, problems: Problems) -> Float[Tensor, "batch height width"]:
        """Return the images themselves.

        Args:
            problems: Problems whose images are of one size.
        """
        return problems.target.float() / 255


def _name(folder: str) -> str:
    """Return the name of the regime of a folder."""
    return Path(folder).name


def _whole(pairs: Sequence[Pair], rows: np.ndarray, number: int) -> Problems:
    """Make problems of whole images of different sizes."""
    sharp, blurred = zip(*pairs, strict=True)
    return _problems(RaggedItems(blurred), RaggedItems(sharp), rows, number)


def _problems(
    items: Tensor | RaggedItems, target: Tensor | RaggedItems, rows: np.ndarray, number: int
) -> Problems:
    """Make a problem for each image.

    Args:
        items: The images as shown.
        target: The images as they were.
        rows: Position of each in its folder.
        number: Position of the folder among the tests.
    """
    return Problems(
        items=items,
        index=torch.arange(len(rows))[:, None],
        target=target,
        latent={
            "image": torch.from_numpy(rows.astype(np.int64)),
            "test": torch.full((len(rows),), number),
        },
    )


def _border(outputs: Tensor, problems: Problems) -> int:
    """Measure the pixels that outputs lack along each border."""
    wanted = tuple(problems.target.shape)
    lacking = [after - before for after, before in zip(wanted[1:], outputs.shape[1:], strict=False)]
    is_even = len(set(lacking)) == 1 and lacking[0] % 2 == 0 and lacking[0] >= 0
    if outputs.ndim != 3 or len(outputs) != wanted[0] or not is_even:
        raise ValueError(
            f"outputs must be images of shape {wanted} for these problems, or smaller by as much "
            f"on all four sides, got {tuple(outputs.shape)}"
        )
    return lacking[0] // 2


def _inner(images: Tensor, border: int) -> Tensor:
    """Cut a border off images."""
    height, width = images.shape[-2:]
    return images[..., border : height - border, border : width - border]
