"""Claims laid out as printed: rows and columns of the paper, ours below the published number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from farfield.reports._report import _text as text
from farfield.reports._report._origins import signs
from farfield.reports._report._report import Row
from farfield.reports._tables._markdown import as_words, table_line
from farfield.reports._tables._strip import GOALS, small_pictures
from farfield.reproductions import Claim, Published, Verdict

SIGNS: Final[dict[Verdict, str]] = {
    Verdict.REPRODUCED: "✓",
    Verdict.COMPATIBLE: "≈",
    Verdict.INCONCLUSIVE: "?",
    Verdict.DIRECTION_ONLY: "↗",
    Verdict.NOT_REPRODUCED: "✗",
    Verdict.REACHED: "★",
    Verdict.UNCONFIRMED: "✦",
    Verdict.BY_HAND: "✧",
    Verdict.MISSED: "☆",
    Verdict.UNDERPOWERED: "◔",
    Verdict.DIVERGED: "!",
    Verdict.NEEDS_DATA: "∅",
    Verdict.NOT_RUN: "–",
    Verdict.MEASURED: "",
}
"""Sign of each verdict in a cell; what is measured alone has none."""

LEGEND: Final = "\n".join(
    f"- {sign} {verdict.value}: {verdict.meaning}." for verdict, sign in SIGNS.items() if sign
)
"""The signs as a list."""


def grid(
    claims: Iterable[Claim], find: Callable[[Claim], Row | None], order: Sequence[str]
) -> list[str]:
    """Lines of a Markdown table with a cell for each claim.

    Args:
        claims: Claims of one subject, no two of the same row and column.
        find: What is recorded of a claim; `None` without records.
        order: Columns of the whole table.
    """
    cells = {(claim.row, claim.column): _cell(claim, find(claim)) for claim in claims}
    rows = dict.fromkeys(row for row, _ in cells)
    columns = sorted({column for _, column in cells}, key=order.index)
    return [
        table_line(["", *map(as_words, columns)]),
        table_line(["---", *("---:" for _ in columns)]),
        *(
            table_line([as_words(row), *(cells.get((row, column), "") for column in columns)])
            for row in rows
        ),
    ]


def _cell(claim: Claim, row: Row | None) -> str:
    """The published number or the goal above ours, with the sign of the verdict and a picture."""
    number = claim.published
    above = str(number) if isinstance(number, Published) else text.goal(claim)
    pictures = [] if row is None else [f"`{line}`" for line in small_pictures(row)]
    return "<br>".join([above] * (above != text.MISSING) + [_ours(claim, row), *pictures])


def _ours(claim: Claim, row: Row | None) -> str:
    """Our number with the sign; of a share of the steps the share alone."""
    if row is None:
        lacks_data = claim.data is not None and not claim.unbuilt
        return SIGNS[Verdict.NEEDS_DATA if lacks_data else Verdict.NOT_RUN]
    share = row.judgement.fraction
    number = text.ours(row) if share == 1 else text.budget(row)
    parts = (number, SIGNS[row.judgement.verdict], signs(row))
    return " ".join(filter(None, parts)) + recipe_of(row)


ORDINALS: Final = ("", "", "second", "third", "fourth", "fifth", "sixth")
"""Ordinal numbers in words."""


def recipe_of(row: Row) -> str:
    """The number of the recipe beside a goal, with a link to earlier numbers; empty for the first.

    Args:
        row: What is recorded of a claim.
    """
    number = len(row.earlier) + 1
    if number == 1 or row.judgement.verdict not in GOALS:
        return ""
    ordinal = ORDINALS[number] if number < len(ORDINALS) else f"{number}th"
    paper = row.claim.home.partition("/")[0]
    return f", [{ordinal} recipe]({paper}.md#earlier-recipes)"
