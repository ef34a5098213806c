"""Where the images of a problem stand on paper; tasks know nothing of this."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from farfield.tasks import (
    DistributionOfThree,
    IdentityRules,
    RelationalMatchToSample,
    SameDifferent,
    Task,
)

Corner = tuple[float, float]
"""Lower left corner of an image: right and up, in widths of an image."""


@final
@dataclass(frozen=True, kw_only=True)
class Layout:
    """How one problem of a task is laid out.

    Args:
        title: Name of the task in words.
        places: Corner of the image at each place of the problem.
        framed: Places framed as right, for each answer; empty where a word says it.
        labels: Text centred below a point, e.g. the number of a choice; the label of the right
            answer is the one with its number.
        blank: Corner of the empty field, if there is one.
        words: The answer in words, for each answer.
        kind: Latent column by which problems differ in kind, so that a sheet shows all of them.
        kinds: The kinds in words, written beside the problem; empty for none.
        name_of_kind: Where that is, the middle of its left edge.
    """

    title: str
    places: tuple[Corner, ...]
    framed: tuple[tuple[int, ...], ...] = ()
    labels: tuple[Corner, ...] = ()
    blank: Corner | None = None
    words: tuple[str, ...] = ()
    kind: str | None = None
    kinds: tuple[str, ...] = ()
    name_of_kind: Corner = (0.0, 0.0)


GAP: Final = 16 / 96
"""Room between neighbouring images, in widths of an image."""
_STEP: Final = 1 + GAP


def _pair(right: float, up: float) -> tuple[Corner, Corner]:
    return (right, up), (right + _STEP, up)


def _same_different() -> Layout:
    return Layout(
        title="Same/different",
        places=_pair(0.0, 0.0),
        words=("same", "different"),
        kind="relation",
    )


def _match_to_sample() -> Layout:
    between = 0.625
    left, right = 0.0, 1 + _STEP + between
    return Layout(
        title="Relational match-to-sample",
        places=(*_pair((right - left) / 2, 1.6875), *_pair(left, 0.0), *_pair(right, 0.0)),
        framed=((2, 3), (4, 5)),
        labels=((left + (1 + _STEP) / 2, 0.0), (right + (1 + _STEP) / 2, 0.0)),
        kind="relation",
    )


def _array(title: str, kind: str | None = None, kinds: tuple[str, ...] = ()) -> Layout:
    indent = _STEP / 2
    first = tuple((indent + _STEP * column, 1.8125 + _STEP) for column in range(3))
    second = tuple((indent + _STEP * column, 1.8125) for column in range(3))
    choices = tuple((_STEP * column, 0.0) for column in range(4))
    return Layout(
        title=title,
        places=(*first, *second[:2], *choices),
        framed=((5,), (6,), (7,), (8,)),
        labels=tuple((right + 0.5, up) for right, up in choices),
        blank=second[2],
        kind=kind,
        kinds=kinds,
        name_of_kind=(indent + 3 * _STEP, 1.8125 + _STEP + 0.5),
    )


def _distribution_of_three() -> Layout:
    return _array("Distribution of three")


def _identity_rules() -> Layout:
    return _array("Identity rules", kind="rule", kinds=("ABA", "ABB", "AAA"))


_LAYOUTS: Final[dict[type, Callable[[], Layout]]] = {
    SameDifferent: _same_different,
    RelationalMatchToSample: _match_to_sample,
    DistributionOfThree: _distribution_of_three,
    IdentityRules: _identity_rules,
}


def layout_of(task: Task) -> Layout:
    """The layout of a task's problems; of a task of one's own, all images in one row.

    Args:
        task: Any task whose items are images.
    """
    if type(task) in _LAYOUTS:
        return _LAYOUTS[type(task)]()
    return Layout(
        title=task.name,
        places=tuple((_STEP * place, 0.0) for place in range(task.length)),
    )
