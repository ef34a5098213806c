"""Figures 3–9 of webb2021: claims, exhibits and quotes from the text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from farfield.reports._exhibits._differences import PublishedTest, paired_tests
from farfield.reports._exhibits._exhibit import figure
from farfield.reports._exhibits._representations import keys_by_position
from farfield.reports._exhibits._scores import generalization, skill_by_regime
from farfield.reports._exhibits._time_courses import time_courses
from farfield.reproductions import Claim, Published, Table
from farfield.reproductions.webb2021 import PAPER

LEVEL: Final = 0.95
"""Level that section 4 calls nearly perfect."""

FAST: Final = {"*esbn+tcn/*": "nearly perfect “within 100 to 200 training updates” (section 4)"}
SLOW: Final = {"*": "“thousands, or even tens of thousands of training updates” (section 4)"}
EASY: Final = "“within a few hundred training updates” (appendix A.5.3)"


def _selected(sources: Iterable[Table], *patterns: str) -> Table:
    """Select among the published cells of several tables."""
    claims: list[Claim] = []
    for table in sources:
        claims += [claim for claim in table.claims if isinstance(claim.published, Published)]
    return Table(key="webb2021", title="", claims=tuple(claims)).select(*patterns)


def _models(numbers: Iterable[int], regime: str, *more: str) -> Table:
    """Select the models of Figures 3–5, 7 and 8: with TCN.

    The PrediNet on same/different is shown without TCN (appendix A.5.1).
    """
    full = [PAPER.tables[f"table-{number}"] for number in (9, 10, 11, 12, 19)]
    rows = ("esbn", "transformer", "ntm", "mnm", "lstm", "rn")
    patterns = [f"table-{number}/{row}+tcn/{regime}" for number in numbers for row in rows]
    patterns += [
        f"table-{number}/predinet{'' if number == 9 else '+tcn'}/{regime}" for number in numbers
    ]
    return _selected(full, *patterns, *more)


FIGURE_3: Final = figure(
    "webb2021/figure-3",
    "All models on all tasks, against withheld shapes",
    _models(range(9, 13), "*"),
    generalization(row="ESBN + TCN"),
    says={
        "lowest": "“nearly perfect generalization (≥ 95 %) … in all four tasks” (section 4)",
        "others": "“none … able to generalize … in the most extreme generalization regimes” "
        "(section 4)",
    },
    quick_networks=1,
)

FIGURE_4: Final = figure(
    "webb2021/figure-4",
    "Training time courses of all models, m = 0",
    _models(range(10, 13), "withheld-0"),
    time_courses(level=LEVEL),
    says=FAST | SLOW,
    quick_networks=2,
)

FIGURE_5: Final = figure(
    "webb2021/figure-5",
    "Training time courses on same/different, m = 0",
    _models((9,), "withheld-0"),
    time_courses(level=LEVEL),
    says=FAST | {"*": EASY},
    quick_networks=2,
)

FIGURE_6: Final = figure(
    "webb2021/figure-6",
    "The ESBN and the Transformer with three encoders",
    _selected([PAPER.tables[f"table-{number}"] for number in (15, 16, 17, 18)]),
    paired_tests(
        tests=(
            PublishedTest(first="ESBN (MLP)", second="ESBN (conv)", t="−1.7", p="0.1"),
            PublishedTest(first="ESBN (rand)", second="ESBN (conv)", t="1.6", p="0.13"),
            PublishedTest(
                first="Transformer (MLP)", second="Transformer (conv)", t="−1.6", p="0.14"
            ),
            PublishedTest(
                first="Transformer (rand)", second="Transformer (conv)", t="−4.0", p="0.001"
            ),
        )
    ),
    quick_networks=1,
)

FIGURE_7: Final = figure(
    "webb2021/figure-7",
    "Training time courses of the ESBN without confidence among all models, m = 0",
    _models(range(9, 13), "withheld-0", "table-19/*/withheld-0"),
    time_courses(level=LEVEL),
    says={
        "table-19/same-different/*": "unable “to perform the same/different task at all” "
        "(appendix A.5.5)",
        "table-19/relational-match-to-sample/*": "“much slower training” (appendix A.5.5)",
        "table-19/*": "training time not affected (appendix A.5.5)",
        **FAST,
        "table-9/*": EASY,
        **SLOW,
    },
    quick_networks=2,
)

FIGURE_8: Final = figure(
    "webb2021/figure-8",
    "Training time course of the ESBN with a learned default memory, m = 0",
    (
        *_models((10,), "withheld-0", "table-19/relational*/withheld-0").claims,
        *PAPER.tables["table-20"].select("relational-match-to-sample/*/withheld-0").claims,
    ),
    time_courses(level=LEVEL),
    says={
        "table-20/*": "“retain the short training time of the original” (A.5.5)",
        "table-19/*": "“much slower training” (appendix A.5.5)",
        **FAST,
        **SLOW,
    },
    quick_networks=2,
)

FIGURE_9: Final = figure(
    "webb2021/figure-9",
    "Keys that an ESBN writes and recalls on distribution-of-three, m = 95",
    _selected((PAPER.tables["table-11"],), "esbn+tcn/withheld-95"),
    keys_by_position(),
    says={
        "spread": "positions 1–3 “tightly clustered”, positions 4–9 “more diffuse” (appendix A.6)",
        "confused": "“not overlap with those written during the first three” (A.6)",
        "written_*": "“remarkably similar”, “completely overlapping for time steps 1 and 2” (A.6)",
        "recalled": "“closely matched the distribution of keys written” there (A.6)",
        "recalled_*": "“highly overlapping for the training vs. test sets” (A.6)",
    },
)

SHOWINGS: Final = figure(
    "webb2021/showings",
    "Mechanisms where no image is shown twice, over all variations of showings",
    PAPER.tables["variations"].claims,
    skill_by_regime(
        panels={"varied-": "trained on varied showings", "": "trained on identical showings"},
    ),
    quick_networks=1,
)
"""Figure without a published counterpart: mechanisms over all variations of showings."""

FIGURES: Final = (FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, SHOWINGS)
"""Figures of the paper, in order, and a further figure."""
