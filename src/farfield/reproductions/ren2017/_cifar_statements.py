"""Statements of ren2017 on its CIFAR experiments."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._claims import Table
from farfield.reproductions._comparisons import Cells, Gap, Wins
from farfield.reproductions._statements import Statement
from farfield.reproductions.ren2017 import _print_cifar as printed
from farfield.reproductions.ren2017._cifar import RESNET, TABLE_3, TABLE_7_CIFAR

DATA_SETS: Final = ("cifar10", "cifar100")
GAIN: Final = 0.05
"""Half of the last digit of the gains, points."""


def _of(table: Table, row: str, data_set: str) -> Cells:
    """A cell by its row."""
    (claim,) = (claim for claim in table.claims if claim.row == row and claim.group == data_set)
    return Cells(claims=(claim,))


def _wins(
    name: str, about: str, quote: str, where: str, table: Table, pairs: tuple[tuple[str, str], ...]
) -> Statement:
    """The first row of each pair above the second, on both data sets."""
    contests = tuple(
        (_of(table, first, data_set), _of(table, second, data_set))
        for first, second in pairs
        for data_set in DATA_SETS
    )
    return Statement(
        paper="ren2017",
        name=name,
        about=about,
        quote=quote,
        where=where,
        comparison=Wins(contests=contests),
        low=len(contests),
        high=len(contests),
    )


def _gain(name: str, about: str, quote: str, number: str, rows: tuple[str, str]) -> Statement:
    """A gain of ResNet-32 on CIFAR-100, in points."""
    first, second = (_of(RESNET, row, "cifar100") for row in rows)
    return Statement(
        paper="ren2017",
        name=name,
        about=about,
        quote=quote,
        where="section 4.1",
        comparison=Gap(first=first, second=second, digits=1),
        low=float(number) - GAIN,
        high=float(number) + GAIN,
        margin=1.0,
        note="the text does not say of which networks this is the difference",
    )


CIFAR_STATEMENTS: Final = (
    _wins(
        "cifar-smoothing-and-l1",
        "accuracies on CIFAR-10 and CIFAR-100: both modifications above none",
        "Adding the smoothing constant and L1 regularization consistently improves the "
        "classification performance",
        "section 4.1",
        TABLE_3,
        (("BN*", "BN"), ("LN*", "LN")),
    ),
    _wins(
        "cifar-layer-above-batch",
        "accuracies on CIFAR-10 and CIFAR-100: LN* above BN",
        "The modification of LN makes it now better than the original BN",
        "section 4.1",
        TABLE_3,
        (("LN*", "BN"),),
    ),
    _wins(
        "cifar-ablations",
        "accuracies on CIFAR-10 and CIFAR-100: each modification alone above none, and both above "
        "smoothing alone",
        "adding the smoothing term",
        "section 4.4",
        TABLE_7_CIFAR,
        (
            ("Baseline + L1", "Baseline"),
            ("BN + L1", "BN"),
            ("BN-s", "BN"),
            ("BN*", "BN-s"),
            ("LN + L1", "LN"),
            ("LN-s", "LN"),
            ("LN*", "LN-s"),
            ("DN*", "DN"),
        ),
    ),
    Statement(
        paper="ren2017",
        name="cifar-divisive-as-batch",
        about="accuracy of BN* less that of DN*, means over CIFAR-10 and CIFAR-100, points",
        quote="achieves comparable performance to BN* on both datasets",
        where="section 4.1",
        comparison=Gap(
            first=Cells(claims=tuple(c for c in TABLE_3.claims if c.row == "BN*")),
            second=Cells(claims=tuple(c for c in TABLE_3.claims if c.row == "DN*")),
            digits=2,
        ),
        low=-1.0,
        high=1.0,
        note="comparable is read as less than a point apart; the table has 0.7 points",
    ),
    _gain(
        "resnet-smoothing",
        "accuracy of ResNet-32 with DN and a fixed σ less that with σ = 0.01, CIFAR-100, points",
        "the beneficial effects of sigma (2.5% gain on CIFAR-100)",
        printed.SIGMA_GAIN,
        ("DN, fixed", "DN, unsmoothed"),
    ),
    _gain(
        "resnet-l1",
        "accuracy of ResNet-32 with DN* less that with DN, CIFAR-100, points",
        "the L1 regularizer (0.5%)",
        printed.L1_GAIN,
        ("DN*", "DN, learned"),
    ),
    _gain(
        "resnet-learned-smoothing",
        "accuracy of ResNet-32 with DN and a learned σ less that with a fixed one, CIFAR-100, "
        "points",
        "helps the performance (1.3% gain on CIFAR-100)",
        printed.LEARNED_GAIN,
        ("DN, learned", "DN, fixed"),
    ),
)
