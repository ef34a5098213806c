"""Goals beyond chapter 10 of lamb2022 on images of several objects, and what brings them.

Stacked MNIST: a network that answers from all positions together learns how many digits are usual,
one or three, and fails at two. `PresenceReader` asks every position for itself, and its answer to
one digit does not depend on how many others there are.

Sort-of-CLEVR: `ObjectReader` reads the object that a question names, and then, from all others,
what the question asks about them. What is learned of shapes cannot depend on colors if the outline
of an object alone is read (`OutlineMaps`), and if the name in a question does nothing but choose:
then pairs of color and shape that training lacks are as good as those that it has. Each control
leaves out one of these parts.

The readers were chosen on training images of other runs, and none on a test with other numbers of
digits or with withheld pairs. That the numbers of a question that name an object are known, and
that objects stand out from a plain background, is given to the network and not learned.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.experiments import Cosine, Experiment, MapNetwork, Recipe, Spec, Warmup
from farfield.models import ConvMaps, MLPReader, ObjectReader, OutlineMaps, PresenceReader
from farfield.reproductions._by_hand import with_rows_by_hand
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022._nfm_objects import MNIST, SORTS, digits_name
from farfield.reproductions.lamb2022._print_nfm_objects import RELATIONAL
from farfield.tasks import SortOfCLEVR, StackedMNIST

RULE: Final = VerdictRule()
MEASURED: Final = Unpublished(runs=3, selection="weights of the last step", split="new images")
WARM: Final = Warmup(fraction=0.05, then=Cosine())
DIGITS: Final = Recipe(steps=20_000, learning_rate=3e-3, batch_size=64, schedule=WARM)
QUESTIONS: Final = Recipe(steps=2_500, learning_rate=3e-3, batch_size=64, schedule=WARM)

STACKED: Final = StackedMNIST(digits=(1, 3), training_images=240_000, test_images=2_000)
"""More stacks of the same digits."""
FINE: Final = Spec(ConvMaps, width=24, scales=3, convolutions=2)
OUTLINES: Final = Spec(OutlineMaps)

READERS: Final[dict[str, MapNetwork]] = {
    "Presence at each position": MapNetwork(maps=FINE, reader=Spec(PresenceReader)),
    "All positions together": MapNetwork(maps=FINE),
}
"""Networks for stacked MNIST: one and its control."""

OBJECTS: Final[dict[str, MapNetwork]] = {
    "Named object": MapNetwork(maps=OUTLINES, reader=Spec(ObjectReader)),
    "Named object, shapes in color": MapNetwork(
        maps=Spec(OutlineMaps, colors=True), reader=Spec(ObjectReader)
    ),
    "Named object, name given": MapNetwork(
        maps=OUTLINES, reader=Spec(ObjectReader, whole_question=True)
    ),
    "Named object, no relations": MapNetwork(
        maps=OUTLINES, reader=Spec(ObjectReader, relations=False)
    ),
    "Outlines, all positions together": MapNetwork(maps=OUTLINES, reader=Spec(MLPReader)),
}
"""Networks for Sort-of-CLEVR: one, and controls that each lack a part."""
FIRST: Final = ("Presence at each position", "Named object")
"""Rows with goals."""


def _goal(row: str, goal: float | None) -> Unpublished:
    return dataclasses.replace(MEASURED, goal=goal if row in FIRST else None)


def _digits(row: str, count: int) -> Claim:
    return Claim(
        paper="lamb2022",
        table="nfm-beyond",
        row=row,
        column=digits_name(count),
        published=_goal(row, 95.0 if count == 2 else None),
        experiment=Experiment(task=STACKED, model=READERS[row], recipe=DIGITS),
        rule=RULE,
        metric="accuracy",
        regime=f"digits-{count}",
        quick=1,
        subject="Stacked MNIST, trained on (1, 3)",
        group="digits",
        data=MNIST,
    )


def _clevr(row: str, sort: str, withheld: int) -> Claim:
    regime = f"withheld-pairs-{withheld}" if withheld else "new-images"
    goal = 60.0 if withheld else {RELATIONAL: 90.0}.get(sort)
    return Claim(
        paper="lamb2022",
        table="nfm-beyond",
        row=row,
        column=f"N = {withheld}: {sort}" if withheld else sort,
        published=_goal(row, goal),
        experiment=Experiment(
            task=SortOfCLEVR(withheld_pairs=withheld), model=OBJECTS[row], recipe=QUESTIONS
        ),
        rule=RULE,
        metric=f"accuracy/{sort}",
        regime=regime,
        quick=1,
        subject="Sort-of-CLEVR",
        group=sort,
    )


NFM_BEYOND: Final = Table(
    key="lamb2022/nfm-beyond",
    title="Beyond the paper: two digits after one and three, and objects in colors never met",
    tuned="the pooling of positions on training stacks of another run, which have one and three "
    "digits; the reads of objects on new images of another run, without withheld pairs",
    claims=with_rows_by_hand(
        (
            *(_digits(row, count) for row in READERS for count in STACKED.test_digits),
            *(
                _clevr(row, sort, withheld)
                for withheld in (0, 3)
                for sort in SORTS
                for row in OBJECTS
            ),
        )
    ),
)
"""The goals, and what brings them."""
