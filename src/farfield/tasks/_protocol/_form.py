"""Forms of problems, by which models are chosen for a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from farfield.core import check_fields

Axis = Literal["channel", "height", "width", "feature", "class", "word"]
"""Axis of an item."""

Arrangement = Literal["single", "group", "question", "sequence"]
"""Arrangement of the items of a problem: one alone, a few together, an image and a question about
it, or one after another."""

Answer = Literal["once", "everywhere", "candidates", "items", "restoration"]
"""Kind of answer: one a problem, one at every position, a candidate, items themselves, or a better
version of the item."""

Reading = Literal[
    "elements",
    "item",
    "maps",
    "group",
    "candidates",
    "sequence",
    "items",
    "restoration",
    "observation",
]
"""Way in which a model reads a problem; `"observation"`: what an agent sees at one step."""


@final
@dataclass(frozen=True, kw_only=True)
class Form:
    """Form of a problem: the axes of its items, their arrangement, and the kind of answer.

    Args:
        axes: The axes of `item_shape`: `("height", "width")` for a gray image,
            `("height", "width", "channel")` or `("channel", "height", "width")` for others,
            `("feature",)` for a vector, `("class",)` for a symbol as a one-hot vector,
            `("word",)` for the number of a word.
        arrangement: `"single"` for one item a problem; `"group"` for as many items in every
            problem, looked at together; `"question"` for an image and a question about it;
            `"sequence"` for items read in order, of which a test may
            show more than training.
        answer: `"once"` for one answer a problem; `"everywhere"` for one at every position;
            `"candidates"` for a score of each candidate; `"items"` for items as answers;
            `"restoration"` for the item without its faults.

    Raises:
        ValueError: If a field is none of these.
    """

    axes: tuple[Axis, ...]
    arrangement: Arrangement
    answer: Answer = "once"

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Ways in which models can read a problem.

        `"elements"`: as the set of parts of its one item. `"item"`: its one item as a whole.
        `"maps"`: maps of its image, with the question about it if there is one. `"group"`: all
        items together. `"candidates"`: the premises with each candidate. `"sequence"`: one item
        after another. `"items"`: to predict items or to give them back. `"restoration"`: to mend
        its one item.
        """
        if self.answer in ("candidates", "items", "restoration"):
            return (self.answer,)
        if self.arrangement == "single":
            return ("elements", "item", *(("maps",) if self.axes in (GRAY, CHANNELS_FIRST) else ()))
        if self.arrangement == "question":
            return ("maps", "group", "sequence")
        if self.arrangement == "group" and self.answer == "once":
            return ("group", "sequence")
        return ("sequence",)


GRAY: tuple[Axis, ...] = ("height", "width")
"""Axes of a gray image."""

COLOR: tuple[Axis, ...] = ("height", "width", "channel")
"""Axes of a color image."""

CHANNELS_FIRST: tuple[Axis, ...] = ("channel", "height", "width")
"""Axes of a color image with its channels first, as torch has them."""

VECTOR: tuple[Axis, ...] = ("feature",)
"""Axes of a vector."""

SYMBOL: tuple[Axis, ...] = ("class",)
"""Axes of a symbol."""

WORD: tuple[Axis, ...] = ("word",)
"""Axes of the number of a word."""


def axes_of(shape: tuple[int, ...]) -> tuple[Axis, ...]:
    """Axes of items of a shape: two sizes are a gray image, three an image with channels.

    The channels are last if they are 3 there, and first if not; any other number of sizes is that
    of a vector.

    Args:
        shape: Shape of an item.
    """
    color = COLOR if shape[-1:] == (3,) else CHANNELS_FIRST
    return {2: GRAY, 3: color}.get(len(shape), VECTOR * len(shape))
