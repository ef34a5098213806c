"""Abstract rules over objects in one picture: there is no cell for each object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, final

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import LazyItems, check_fields
from farfield.tasks._protocol._answers import ChoiceTask, OracleByHand
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._task import (
    GRAY,
    VALIDATION_PROBLEMS,
    CountOrNone,
    Form,
    OneContext,
    Regime,
)
from farfield.tasks._rules._abstract_rules import RuleTask, SetSize
from farfield.tasks._rules._distributions import DistributionOfThree
from farfield.tasks._rules._glyph_set import GlyphSet
from farfield.tasks._rules._identity_rules import IdentityRules
from farfield.tasks._rules._match_to_sample import RelationalMatchToSample
from farfield.tasks._rules._same_different import SameDifferent

Rule = Literal[
    "same-different", "relational-match-to-sample", "distribution-of-three", "identity-rules"
]
SIDE: Final = 128
_GLYPH: Final = 32
_ONE_PICTURE: Final = Form(axes=GRAY, arrangement="single", answer="candidates")
_SEVERAL_PICTURES: Final = Form(axes=GRAY, arrangement="group", answer="candidates")
_MOVES: Final = 10
"""Number of positions of an object along an axis: −5 … 4 pixels off the middle of its cell."""
_SIZES: Final = (75, 50)
"""Sizes of objects in the furthest tests, in percent."""
_PAIR: Final = ((32, 64), (96, 64))
_TWO_PAIRS: Final = ((32, 32), (96, 32), (32, 96), (96, 96))
_TWO_ROWS: Final = tuple((x, y) for y in (42, 86) for x in (21, 64, 107))


@final
@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Layout of the images of a problem in pictures.

    Args:
        task: Function that makes the task of the images.
        shown: Positions of the problem that each picture shows; the last ones are its candidate.
        middles: Column and row of the middle of the cell of each object, in pixels.
    """

    task: Callable[..., RuleTask]
    shown: tuple[tuple[int, ...], ...]
    middles: tuple[tuple[int, int], ...]


_ROWS = tuple((0, 1, 2, 3, 4, candidate) for candidate in (5, 6, 7, 8))
_LAYOUTS: Final[Mapping[str, _Layout]] = {
    "same-different": _Layout(task=SameDifferent, shown=((0, 1),), middles=_PAIR),
    "relational-match-to-sample": _Layout(
        task=RelationalMatchToSample, shown=((0, 1, 2, 3), (0, 1, 4, 5)), middles=_TWO_PAIRS
    ),
    "distribution-of-three": _Layout(task=DistributionOfThree, shown=_ROWS, middles=_TWO_ROWS),
    "identity-rules": _Layout(task=IdentityRules, shown=_ROWS, middles=_TWO_ROWS),
}


@final
@dataclass(frozen=True, kw_only=True)
class CanvasRules(OneContext, ChoiceTask, OracleByHand):
    r"""Which picture follows the rule, where one picture shows all objects of a problem?

    **Task.** The problems of `SameDifferent`, `RelationalMatchToSample`, `DistributionOfThree` or
    `IdentityRules`, drawn into pictures of 128×128 pixels: one picture for each candidate, which
    shows the images before it and the candidate. The picture that follows the rule scores highest.
    With `same-different` there is one picture, and its score says yes where the images differ.

    **Worked example** (distribution-of-three, one of four pictures).

    ```text
      ┌────────────┐
      │ ♞    &   Ω │
      │   Ω  ♞   ? │   → the score of & is the highest
      └────────────┘
    ```

    **Pictures.** Images of 32×32 pixels are on white ground, in two cells side by side, in 2 × 2 or
    in 3 × 2; each is moved by −5 … 4 pixels along both axes, anew in each picture.

    **Regimes.** `training` shows N − m of the N images; `withheld-m` only the m others, as in the
    tasks named above, and with their problems. `size-75` and `size-50` show the problems of
    `withheld-m` again with objects of 75 and 50 percent of their size in the same positions.

    **Score, floor and ceiling.** Share of right answers; 1/2, 1/2, 1/4 and 1/4 by guessing; 1 by
    hand.

    **Known shortcuts.** Those of the tasks named above. The rule by hand cuts the object out of
    each cell and compares pixels; no step of it is learned.

    **Source and deviations.** Webb, Mondal, Cohen 2023 (ART) name the rules, and objects
    move by −5 … 4 pixels there. Where the cells are is not said in the text. The problems are
    those of webb2021.

    Args:
        rule: The rule, by the name of its task.
        withheld: Number of images that training never shows, m.
        max_problems: Largest number of problems of a set.
        shapes: The images, of 32×32 pixels; `None` for the built-in 100 glyphs.
        validation_problems: Number of validation problems, on images that no other regime shows; 0
            for no such regime.

    Raises:
        ValueError: If a number is out of its range, or images have another size.

    Reference:
        webb2023, section 4.1.
    """

    name: ClassVar[str] = "canvas-rules"
    version: ClassVar[int] = 1
    item_shape: ClassVar[tuple[int, ...]] = (SIDE, SIDE)

    rule: Rule = "same-different"
    withheld: int = 0
    max_problems: SetSize = 10_000
    shapes: GlyphSet | None = None
    validation_problems: CountOrNone = 0

    def __post_init__(self) -> None:
        check_fields(self)
        size = tuple(self._images.item_shape)
        if size != (_GLYPH, _GLYPH):
            raise ValueError(f"shapes must be of {_GLYPH}×{_GLYPH} pixels, got {size}")

    @property
    def form(self) -> Form:
        """Form of a problem: one picture, or a picture for each candidate."""
        return _ONE_PICTURE if self.num_candidates == 1 else _SEVERAL_PICTURES

    @property
    def _layout(self) -> _Layout:
        return _LAYOUTS[self.rule]

    @property
    def _images(self) -> RuleTask:
        """Task of the same problems with an image at each position."""
        return self._layout.task(
            withheld=self.withheld,
            max_problems=self.max_problems,
            shapes=self.shapes,
            validation_problems=self.validation_problems,
        )

    @property
    def num_candidates(self) -> int:
        """Number of pictures of a problem."""
        return len(self._layout.shown)

    @property
    def length(self) -> int:
        """Number of pictures of a problem."""
        return self.num_candidates

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """Context of one picture: each is scored alone."""
        return ((0,),)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation where it is asked for, the test, and the test in other sizes."""
        return (
            *self._images.regimes,
            *(
                Regime(name=f"size-{size}", distance=100 - size, unit="percent of the size")
                for size in _SIZES
            ),
        )

    def with_validation(self) -> CanvasRules:
        """Copy the task with validation problems on images that no other regime shows."""
        return replace(self, validation_problems=VALIDATION_PROBLEMS)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name."""
        branch = stream.child(self.name, f"v{self.version}", self.rule)
        shown = self._images.draw(stream)
        sets = {
            name: self._pictures(problems, branch.child(name), _GLYPH)
            for name, problems in shown.items()
        }
        test = self._images.regimes[-1].name
        for size in _SIZES:
            side = _GLYPH * size // 100
            sets[f"size-{size}"] = self._pictures(shown[test], branch.child(test), side)
        return sets

    def _pictures(self, problems: Problems, branch: Stream, side: int) -> Problems:
        """Lay the images of problems out in pictures."""
        layout = self._layout
        rows = problems.index[:, torch.tensor(layout.shown)].flatten(0, 1)
        moves = integers(branch.child("moves").numpy(), _MOVES, 2 * rows.numel()) - _MOVES // 2
        described = [rows[..., None], torch.from_numpy(moves).reshape(*rows.shape, 2)]
        latent = torch.cat([*described, torch.full_like(rows[..., None], side)], dim=-1)
        return Problems(
            items=LazyItems(latent=latent, draw=_Pictures(problems.table(), layout.middles)),
            index=torch.arange(len(rows)).reshape(len(problems), self.num_candidates),
            target=problems.target,
        )

    def oracle(self, problems: Problems) -> Float[Tensor, "batch candidate"]:
        """Return the outputs of the rule over the objects that the pictures show."""
        layout = self._layout
        found: dict[int, Tensor] = {}
        for picture, positions in enumerate(layout.shown):
            pictures = problems.items.index_select(0, problems.index[:, picture])
            for position, middle in zip(positions, layout.middles, strict=True):
                if position not in found:
                    found[position] = _cut_out(pictures, middle)
        objects = torch.stack([found[position] for position in sorted(found)], dim=1)
        equal = (objects[:, :, None] == objects[:, None, :]).flatten(3).all(-1)
        outputs = self._images._answers(equal.to(pictures.dtype))  # noqa: SLF001
        if outputs.shape[1] == self.num_candidates:
            return outputs
        return torch.cat([-outputs, outputs], dim=1)


@final
@dataclass(frozen=True, eq=False)
class _Pictures:
    """Draws pictures from the image, the move and the size of each object.

    Args:
        images: The images.
        middles: Column and row of the middle of the cell of each object.
    """

    images: Float[Tensor, "item height width"]
    middles: tuple[tuple[int, int], ...]

    def __call__(
        self, latent: Int64[Tensor, "picture object 4"]
    ) -> Float[Tensor, "picture height width"]:
        """Draw pictures.

        Args:
            latent: Of each object, the row of the image, its move to the right and down, and its
                side in pixels, which is the same for all objects of a picture.
        """
        images = self.images.numpy()
        drawn = np.ones((len(latent), SIDE, SIDE), images.dtype)
        described = latent.numpy()
        sides = described[:, 0, 3]
        for side in np.unique(sides):
            pixels = np.arange(side)
            nearest = (2 * pixels + 1) * _GLYPH // (2 * side)
            pictures = np.flatnonzero(sides == side)
            for column, (x, y) in enumerate(self.middles):
                image, right, down, _ = described[pictures, column].T
                across = x - side // 2 + right[:, None] + pixels
                along = y - side // 2 + down[:, None] + pixels
                shown = images[image][:, nearest][:, :, nearest]
                drawn[pictures[:, None, None], along[:, :, None], across[:, None, :]] = shown
        return torch.from_numpy(drawn)


def _cut_out(
    pictures: Float[Tensor, "picture height width"], middle: tuple[int, int]
) -> Float[Tensor, "picture row column"]:
    """Cut the object out of a cell, and shift it to the top left corner of the cell."""
    reach = _GLYPH // 2 + _MOVES // 2
    x, y = (value - reach for value in middle)
    ink = 1 - pictures[:, y : y + 2 * reach, x : x + 2 * reach]
    for dim in (1, 2):
        first = (ink.amax(3 - dim) > 0).to(torch.int64).argmax(1)
        order = (first[:, None] + torch.arange(2 * reach, device=ink.device)) % (2 * reach)
        ink = ink.gather(dim, order.unsqueeze(3 - dim).expand_as(ink))
    return ink
