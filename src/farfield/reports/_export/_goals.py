"""Goals of our own on the first page of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from farfield.reports._export._recorded import Kind, Recorded
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reports._tables._grid import SIGNS, recipe_of
from farfield.reports._tables._markdown import as_words, table_line
from farfield.reports._tables._strip import GOALS
from farfield.reproductions import Claim, Unpublished, Verdict

RECIPE: Final = (
    "A *recipe* is a way of training; its number tells how many were tried with the scores on the "
    "tests in sight. The *confirmation* says what confirms a goal that no row by hand "
    "reaches, or what a star lacks."
)
"""The columns of the goals in words."""


def goal_lines(recorded: Recorded) -> list[str]:
    """Lines of the table of goals that were run: verdict, recipe and confirmation of each.

    Args:
        recorded: What was run.
    """
    signs = "; ".join(f"{SIGNS[verdict]} {verdict.value}" for verdict in GOALS)
    lines = [f"{signs}. {text.STAR} {RECIPE}", ""]
    table = [line for one in recorded.reports.items() for line in goals_of_table(*one)]
    head = ("goals of", "verdict", "row, columns", "recipe", "confirmation")
    return [*lines, *map(table_line, (head, ("---",) * len(head), *table))] if table else lines


def goals_of_table(key: str, reports: Mapping[Kind, Report]) -> list[list[str]]:
    """Lines of the goals of a table, one for each verdict, recipe and confirmation.

    Args:
        key: The table.
        reports: What was run of it.
    """
    found: dict[tuple[Verdict, str, str], dict[str, list[Claim]]] = {}
    for row in (row for report in reports.values() for row in report.rows if _has_goal(row)):
        if (verdict := row.judgement.verdict) in GOALS:
            recipe = recipe_of(row).removeprefix(", ") or "first recipe"
            alike = found.setdefault((verdict, recipe, _confirmation(row)), {})
            alike.setdefault(row.claim.row, []).append(row.claim)
    return [
        [
            table_link(key),
            SIGNS[verdict],
            as_words("; ".join(f"{name}{_columns(claims)}" for name, claims in alike.items())),
            recipe,
            as_words(confirmation),
        ]
        for (verdict, recipe, confirmation), alike in sorted(
            found.items(), key=lambda one: GOALS.index(one[0][0])
        )
    ]


def _confirmation(row: Row) -> str:
    """Text on the confirmation of a goal: what confirms it, or what is lacking."""
    if row.judgement.verdict is Verdict.UNCONFIRMED:
        return row.judgement.reason.partition("not confirmed: ")[2]
    named = row.claim.confirmation
    if row.judgement.verdict is not Verdict.REACHED or named is None:
        return text.MISSING
    return f"networks of {f'seeds from {named.by}' if isinstance(named.by, int) else named.by}"


def _has_goal(row: Row) -> bool:
    number = row.claim.published
    return isinstance(number, Unpublished) and number.goal is not None


def _columns(claims: Sequence[Claim]) -> str:
    columns = [claim.column for claim in claims]
    if len(set(columns)) == len(columns):
        return f", {' and '.join(columns)}"
    return ": " + ", ".join(f"{claim.column} ({claim.subject})" for claim in claims)


def goals_of(paper: str, recorded: Recorded) -> Counter[Verdict]:
    """Number of goals of a paper that were run, by verdict.

    Args:
        paper: Key of the paper.
        recorded: What was run.
    """
    return Counter(
        row.judgement.verdict
        for key, reports in recorded.reports.items()
        if key.startswith(f"{paper}/")
        for report in reports.values()
        for row in report.rows
        if _has_goal(row) and row.judgement.verdict in GOALS
    )


def table_link(key: str) -> str:
    """Link to a table on the page of its paper.

    Args:
        key: The table.
    """
    paper, _, table = key.partition("/")
    return f"[{key}]({paper}.md#{table})"
