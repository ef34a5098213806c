"""Statements of chapter 10 of lamb2022 on its tables of images of several objects."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._claims import Table
from farfield.reproductions._comparisons import Cells, Gap, Single, Wins
from farfield.reproductions._statements import Statement
from farfield.reproductions.lamb2022 import _print_nfm_objects as printed
from farfield.reproductions.lamb2022._nfm_objects import (
    NFM_TABLE_5,
    NFM_TABLE_6,
    NFM_TABLE_7,
    NFM_TEXT,
    SORTS,
    digits_name,
)
from farfield.reproductions.lamb2022._nfm_objects_narrow import NFM_CLEVR_NARROW
from farfield.reproductions.lamb2022._print_nfm_objects import NON_RELATIONAL, RELATIONAL

UNSEEN: Final = {(1, 3): (2, 4, 5), (1, 5): (2, 3, 4)}
"""Numbers of digits of tests that training does not have, by those of training."""
SAME: Final = 2.0
"""Points that the last row of Table 7 may be off, as much as one of its cells."""


def _cells(table: Table, **wanted: str) -> Cells:
    """The mean of the cells of a row, group or column."""
    return Cells(
        claims=tuple(
            claim
            for claim in table.claims
            if all(getattr(claim, name) == value for name, value in wanted.items())
        )
    )


def _wins(name: str, about: str, quote: str, where: str, *contests: tuple[Cells, ...]) -> Statement:
    """A statement that every contest is won."""
    return Statement(
        paper="lamb2022",
        name=name,
        about=about,
        quote=quote,
        where=where,
        comparison=Wins(contests=contests),
        low=len(contests),
        high=len(contests),
    )


TWICE: Final = _cells(NFM_TABLE_6, row="NFM(CNN)", group=RELATIONAL)
PLAIN: Final = _cells(NFM_TABLE_6, row="CNN", group=RELATIONAL)
ONCE: Final = _cells(NFM_TEXT, row="NFM(CNN), one pass")

NFM_STATEMENTS: Final = (
    _wins(
        "nfm-other-numbers",
        "stacked MNIST: NFM above the baseline at numbers of digits that training lacks",
        "provides evidence of improved specialization over the digit",
        "section 10.4.2",
        *(
            tuple(
                _cells(
                    NFM_TABLE_5,
                    row=row,
                    group=f"trained-{'-'.join(map(str, digits))}",
                    column=digits_name(count),
                )
                for row in ("NFM", "Baseline")
            )
            for digits, counts in UNSEEN.items()
            for count in counts
        ),
    ),
    _wins(
        "nfm-passes",
        "Sort-of-CLEVR, relational: one pass above the CNN, two passes above one",
        "accuracy, but worse than the NFM with two-passes",
        "section 10.4.7",
        (ONCE, PLAIN),
        (TWICE, ONCE),
    ),
    _wins(
        "nfm-capacity",
        "Sort-of-CLEVR, relational: NFM above a CNN of twice the size, and above a DenseNet",
        "whereas NFM achieves a much higher accuracy of",
        "section 10.4.7",
        (TWICE, _cells(NFM_TEXT, row="CNN, doubled")),
        (TWICE, _cells(NFM_TEXT, row="DenseNet3 (depth 16)")),
    ),
    _wins(
        "nfm-withheld-pairs",
        "Sort-of-CLEVR without N pairs, non-relational: NFM above the CNN and relation networks",
        "Our model outperforms the simple baseline and RNs in the",
        "section 10.4.3",
        *(
            tuple(
                _cells(NFM_TABLE_7, row=row, column=f"N = {withheld}: Non-relational qst")
                for row in ("NFM(CNN)", "CNN", "Relation networks")
            )
            for withheld in (1, 2, 3)
        ),
    ),
    Statement(
        paper="lamb2022",
        name="nfm-sparsity",
        about="Sort-of-CLEVR, relational: five entries less all entries, networks of width 12",
        quote="saw an improvement thanks to introducing attention sparsity",
        where="section 10.4.7",
        comparison=Gap(
            first=_cells(
                NFM_CLEVR_NARROW, row="NFM(CNN)", group=RELATIONAL, column="Relational qst"
            ),
            second=_cells(NFM_CLEVR_NARROW, row="NFM(CNN), all entries", group=RELATIONAL),
        ),
        low=0.0,
        note="the text gives no number; any improvement is what ours is held to",
    ),
    *(
        Statement(
            paper="lamb2022",
            name=f"nfm-average-{name}",
            about=f"Sort-of-CLEVR without N pairs: mean of the column {row}, in percent",
            quote=f"Average {' '.join(printed.AVERAGES_7)}",
            where="section 10.4.3",
            comparison=Single(only=_cells(NFM_TABLE_7, row=row), digits=2),
            low=float(average),
            high=float(average),
            margin=SAME,
            note="the mean of the published column is 46.50" if row == "CNN" else "",
        )
        for name, row, average in zip(
            ("cnn", "rn", "nfm"), printed.COLUMNS_7, printed.AVERAGES_7, strict=True
        )
    ),
    *(
        Statement(
            paper="lamb2022",
            name=f"random-{sort}",
            about=f"Sort-of-CLEVR, {sort}: accuracy of random answers, in percent",
            quote={
                NON_RELATIONAL: "(random guess accuracy is 50%)",
                RELATIONAL: "baseline for relational questions has accuracy of",
            }[sort],
            where="section 10.4.3",
            missing=f"nothing is trained: {found}; the floor of the task is the best guess from "
            "the question alone, which is higher",
        )
        for sort, found in zip(
            SORTS, ("(1/2 + 1/2 + 1/6) / 3 = 38.9", "one of two answers"), strict=True
        )
    ),
)
"""Orders and means of sections 10.4.2, 10.4.3 and 10.4.7."""
