"""Tables 5 to 7 of chapter 10 of lamb2022, and its numbers on images of several objects.

The text says that 24 channels are the first ones of both networks (section 10.4.7), two passes, the
sizes of reads and their sparsity, and that a module is used eight times: four layers, which read in
both passes. What it leaves open is taken from the released code for Sort-of-CLEVR: convolutions of
3×3 that halve the image and double the channels, two hidden layers of 256 units and dropout, Adam
at 1e-4, batches of 64, 150 epochs. That code pools all positions of the last maps into one before
the question is read, drops units in tests too, and trains on scenes of circles; none of this is in
the text, and none is here. There is no code for stacked MNIST: the same, for 50 epochs. Twice the
layers are two convolutions at each scale; DenseNet3 is taken to have bottlenecks and a growth of
12, and the mean of each channel is read, as that network has it.
"""

from __future__ import annotations

import math
from typing import Final

from farfield.experiments import Experiment, MapNetwork, Passes, Recipe, Spec
from farfield.models import ConvMaps, DenseMaps, MLPReader, RNReader
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022 import _print_nfm_objects as printed
from farfield.reproductions.lamb2022._mixup import number_of
from farfield.reproductions.lamb2022._print_nfm_objects import NON_RELATIONAL, RELATIONAL, Number
from farfield.tasks import SortOfCLEVR, StackedMNIST

RULE: Final = VerdictRule()
BATCH_SIZE: Final = 64
LEARNING_RATE: Final = 1e-4
EPOCHS_DIGITS: Final = 50
EPOCHS_CLEVR: Final = 150
QUICK: Final = 1 / 10_000
SELECTION: Final = "weights of the last step; which were published is not said"
MNIST: Final = "MNIST: in FARFIELD_DATA/mnist, or by `farfield fetch mnist`"

ONCE: Final = Passes(number=1)
TWICE: Final = Passes(first_reads=True)
WIDE_AND_DEEP: Final = Spec(ConvMaps, width=48, convolutions=2)
NETWORKS: Final[dict[str, MapNetwork]] = {
    "Baseline": MapNetwork(),
    "NFM": MapNetwork(passes=TWICE),
    "CNN": MapNetwork(),
    "NFM(CNN)": MapNetwork(passes=TWICE),
    "NFM(CNN), one pass": MapNetwork(passes=ONCE),
    "Relation networks": MapNetwork(reader=Spec(RNReader)),
    "DenseNet3 (depth 16)": MapNetwork(maps=Spec(DenseMaps), reader=Spec(MLPReader, pooled=True)),
    "CNN, doubled": MapNetwork(maps=WIDE_AND_DEEP),
    "NFM(CNN), doubled": MapNetwork(maps=WIDE_AND_DEEP, passes=TWICE),
}
"""Networks by their rows."""


def recipe(problems: int, epochs: int) -> Recipe:
    """The recipe of the released code.

    Args:
        problems: Number of training problems.
        epochs: Passes over them.
    """
    return Recipe(
        steps=epochs * math.ceil(problems / BATCH_SIZE),
        learning_rate=LEARNING_RATE,
        batch_size=BATCH_SIZE,
    )


def digits_name(count: int) -> str:
    """A number of digits as the rows of Table 5 have it.

    Args:
        count: The number.
    """
    return ("One Digit", "Two Digits", "Three Digits", "Four Digits", "Five Digits")[count - 1]


def _published(number: Number, split: str, *, said: bool) -> Published:
    """A number; whether the text says of what its spread is, and over how many trials."""
    return number_of(
        number, printed.RUNS, SELECTION, split, "percent", kind_said=said, runs_said=said
    )


def _digits(digits: tuple[int, int], network: str, count: int, number: Number) -> Claim:
    """A cell of Table 5."""
    task = StackedMNIST(digits=digits)
    trained = ", ".join(map(str, digits))
    return Claim(
        paper="lamb2022",
        table="nfm-table-5",
        row=network,
        column=digits_name(count),
        published=_published(number, "new images of other digits", said=False),
        experiment=Experiment(
            task=task,
            model=NETWORKS[network],
            recipe=recipe(task.training_images, EPOCHS_DIGITS),
        ),
        rule=RULE,
        metric="accuracy",
        regime=f"digits-{count}",
        quick=QUICK,
        subject=f"Stacked MNIST, trained on ({trained})",
        group=f"trained-{'-'.join(map(str, digits))}",
        data=MNIST,
    )


NFM_TABLE_5: Final = Table(
    key="lamb2022/nfm-table-5",
    title="Stacked MNIST with more and fewer digits, with and without function modules",
    steps_published=False,
    claims=tuple(
        _digits(digits, network, count, number)
        for digits, rows in printed.TABLE_5.items()
        for count, numbers in rows.items()
        for network, number in zip(("Baseline", "NFM"), numbers, strict=True)
    ),
)


def _clevr(table: str, network: str, sort: str, number: Number, withheld: int = 0) -> Claim:
    """A cell on Sort-of-CLEVR."""
    task = SortOfCLEVR(withheld_pairs=withheld)
    regime = f"withheld-pairs-{withheld}" if withheld else "new-images"
    questions = f"{sort.capitalize()} qst"
    return Claim(
        paper="lamb2022",
        table=f"nfm-{table}",
        row=network,
        column=f"N = {withheld}: {questions}" if withheld else questions,
        published=_published(number, "new images", said=table in printed.WITH_KIND),
        experiment=Experiment(
            task=task,
            model=NETWORKS[network],
            recipe=recipe(20 * task.training_images, EPOCHS_CLEVR),
        ),
        rule=RULE,
        metric=f"accuracy/{sort}",
        regime=regime,
        quick=QUICK,
        subject="Sort-of-CLEVR",
        group=sort,
    )


NFM_TABLE_6: Final = Table(
    key="lamb2022/nfm-table-6",
    title="Sort-of-CLEVR with and without function modules",
    steps_published=False,
    claims=tuple(
        _clevr("table-6", network, sort, number)
        for sort, numbers in printed.TABLE_6.items()
        for network, number in zip(("CNN", "NFM(CNN)"), numbers, strict=True)
    ),
)

NFM_TABLE_7: Final = Table(
    key="lamb2022/nfm-table-7",
    title="Sort-of-CLEVR with pairs of color and shape that training lacks",
    steps_published=False,
    claims=tuple(
        _clevr("table-7", network, sort, number, withheld)
        for (withheld, sort), numbers in printed.TABLE_7.items()
        for network, number in zip(printed.COLUMNS_7, numbers, strict=True)
    ),
)

NFM_TEXT: Final = Table(
    key="lamb2022/nfm-objects-text",
    title="Relational questions on Sort-of-CLEVR: one pass, DenseNet, twice the size",
    steps_published=False,
    claims=tuple(
        _clevr("objects-text", network, RELATIONAL, number)
        for network, number in (
            ("NFM(CNN), one pass", printed.ONE_PASS),
            ("DenseNet3 (depth 16)", printed.DENSE_NET),
            *((f"{network}, doubled", number) for network, number in printed.DOUBLED.items()),
        )
    ),
)
"""Numbers of section 10.4.7."""

SORTS: Final = (RELATIONAL, NON_RELATIONAL)
"""Sorts of questions, each with an accuracy of its own."""
