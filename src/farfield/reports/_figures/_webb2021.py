"""Figures 3–9 of webb2021: claims, exhibits and quotes from the text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final

from farfield.reports._exhibits._differences import PublishedTest, paired_tests
from farfield.reports._exhibits._exhibit import Figure, Quote
from farfield.reports._exhibits._representations import keys_by_position
from farfield.reports._exhibits._scores import generalization, skill_by_regime
from farfield.reports._exhibits._time_courses import time_courses
from farfield.reproductions import Claim, Published, Table
from farfield.reproductions.webb2021 import PAPER

LEVEL: Final = 0.95
"""Level that section 4 calls nearly perfect."""

FAST: Final = Quote(
    of="*esbn+tcn/*", words="nearly perfect “within 100 to 200 training updates” (section 4)"
)
SLOW: Final = Quote(
    of="*", words="“thousands, or even tens of thousands of training updates” (section 4)"
)
EASY: Final = Quote(
    of="table-9/*", words="“within a few hundred training updates” (appendix A.5.3)"
)


def _selected(key: str, title: str, sources: Iterable[Table], *patterns: str) -> Table:
    """Collect the published cells of several tables as the claims of a figure."""
    claims: list[Claim] = []
    for table in sources:
        claims += [claim for claim in table.claims if isinstance(claim.published, Published)]
    return Table(key=f"webb2021/{key}", title=title, claims=tuple(claims)).select(*patterns)


def _models(key: str, title: str, numbers: Iterable[int], regime: str, *more: str) -> Table:
    """Select the models of Figures 3–5, 7 and 8: with TCN.

    The PrediNet on same/different is shown without TCN (appendix A.5.1).
    """
    full = [PAPER.tables[f"table-{number}"] for number in (9, 10, 11, 12, 19)]
    rows = ("esbn", "transformer", "ntm", "mnm", "lstm", "rn")
    patterns = [f"table-{number}/{row}+tcn/{regime}" for number in numbers for row in rows]
    patterns += [
        f"table-{number}/predinet{'' if number == 9 else '+tcn'}/{regime}" for number in numbers
    ]
    return _selected(key, title, full, *patterns, *more)


FIGURE_3: Final = Figure(
    table=_models(
        "figure-3", "All models on all tasks, against withheld shapes", range(9, 13), "*"
    ),
    exhibits=(generalization(row="ESBN + TCN"),),
    says=(
        Quote(
            of="lowest",
            words="“nearly perfect generalization (≥ 95 %) … in all four tasks” (section 4)",
        ),
        Quote(
            of="others",
            words="“none … able to generalize … in the most extreme generalization regimes” "
            "(section 4)",
        ),
    ),
    quick_networks=1,
)

FIGURE_4: Final = Figure(
    table=_models(
        "figure-4", "Training time courses of all models, m = 0", range(10, 13), "withheld-0"
    ),
    exhibits=(time_courses(level=LEVEL),),
    says=(FAST, SLOW),
    quick_networks=2,
)

FIGURE_5: Final = Figure(
    table=_models("figure-5", "Training time courses on same/different, m = 0", (9,), "withheld-0"),
    exhibits=(time_courses(level=LEVEL),),
    says=(FAST, dataclasses.replace(EASY, of="*")),
    quick_networks=2,
)

FIGURE_6: Final = Figure(
    table=_selected(
        "figure-6",
        "The ESBN and the Transformer with three encoders",
        [PAPER.tables[f"table-{number}"] for number in (15, 16, 17, 18)],
    ),
    exhibits=(
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
    ),
    quick_networks=1,
)

FIGURE_7: Final = Figure(
    table=_models(
        "figure-7",
        "Training time courses of the ESBN without confidence among all models, m = 0",
        range(9, 13),
        "withheld-0",
        "table-19/*/withheld-0",
    ),
    exhibits=(time_courses(level=LEVEL),),
    says=(
        Quote(
            of="table-19/same-different/*",
            words="unable “to perform the same/different task at all” (appendix A.5.5)",
        ),
        Quote(
            of="table-19/relational-match-to-sample/*",
            words="“much slower training” (appendix A.5.5)",
        ),
        Quote(of="table-19/*", words="training time not affected (appendix A.5.5)"),
        FAST,
        EASY,
        SLOW,
    ),
    quick_networks=2,
)

FIGURE_8: Final = Figure(
    table=Table(
        key="webb2021/figure-8",
        title="Training time course of the ESBN with a learned default memory, m = 0",
        claims=(
            *_models("figure-8", "", (10,), "withheld-0", "table-19/relational*/withheld-0").claims,
            *PAPER.tables["table-20"].select("relational-match-to-sample/*/withheld-0").claims,
        ),
    ),
    exhibits=(time_courses(level=LEVEL),),
    says=(
        Quote(of="table-20/*", words="“retain the short training time of the original” (A.5.5)"),
        Quote(of="table-19/*", words="“much slower training” (appendix A.5.5)"),
        FAST,
        SLOW,
    ),
    quick_networks=2,
)

FIGURE_9: Final = Figure(
    table=_selected(
        "figure-9",
        "Keys that an ESBN writes and recalls on distribution-of-three, m = 95",
        (PAPER.tables["table-11"],),
        "esbn+tcn/withheld-95",
    ),
    exhibits=(keys_by_position(),),
    says=(
        Quote(
            of="spread",
            words="places 1–3 “tightly clustered”, places 4–9 “more diffuse” (appendix A.6)",
        ),
        Quote(of="confused", words="“not overlap with those written during the first three” (A.6)"),
        Quote(
            of="written_*",
            words="“remarkably similar”, “completely overlapping for time steps 1 and 2” (A.6)",
        ),
        Quote(
            of="recalled", words="“closely matched the distribution of keys written” there (A.6)"
        ),
        Quote(of="recalled_*", words="“highly overlapping for the training vs. test sets” (A.6)"),
    ),
)

SHOWINGS: Final = Figure(
    table=Table(
        key="webb2021/showings",
        title="Mechanisms where no image is shown twice, over all variations of showings",
        claims=PAPER.tables["variations"].claims,
    ),
    exhibits=(
        skill_by_regime(
            panels={"varied-": "trained on varied showings", "": "trained on identical showings"},
            columns={
                "withheld-*": "identical",
                "tint-reversed": "identical",
                "noise-1": "noise\n1",
                "noise-4": "noise\n4",
                "noise-16": "noise\n16",
                "noise-64": "noise\n64",
                "shift-1": "shift\n1",
                "shift-2": "shift\n2",
                "shift-4": "shift\n4",
                "size-5-turn-5": "size 5\nturn 5",
                "size-15-turn-15": "size 15\nturn 15",
                "size-30-turn-45": "size 30\nturn 45",
                "light-25": "light\n25",
                "light-50": "light\n50",
                "noise-16-shift-2": "noise,\nshift",
                "noise-16-shift-2-size-15-turn-15": "with size\nand turn",
                "font": "font",
                "noise-16-shift-2-font": "font, noise,\nshift",
            },
        ),
    ),
    quick_networks=1,
)
"""Figure without a published counterpart: mechanisms over all variations of showings."""

FIGURES: Final = (FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, SHOWINGS)
"""Figures of the paper, in order, and a further figure."""
