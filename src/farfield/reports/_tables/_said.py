"""Statements of papers on several cells, beside our numbers, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from farfield.reports._report._report import Finder
from farfield.reports._tables._markdown import as_words, table_line
from farfield.reproductions import Statement, judge_statement

INTRODUCTION: Final = (
    "Numbers and orders from the paper's text, of several cells at once, each with the most steps. "
    "Interval: 95 % of what the number would be with means that our networks let be. Published "
    "cells: the number that follows from the published tables."
)
HEAD: Final = ("statement", "the paper", "published cells", "ours [95 %]", "verdict", "why")


def statement_lines(statements: Iterable[Statement], find: Finder) -> list[str]:
    """A line of a table for each statement, under its head; depends on the records alone.

    Args:
        statements: What is judged.
        find: The records of a claim.
    """
    table = [HEAD, ("---",) * len(HEAD)]
    for one in statements:
        judged = judge_statement(one, find, has_data=lambda _: False)
        paper = f"“{one.quote}” ({one.where})"
        about = f"{one.about}; {one.note}" if one.note else one.about
        cells = (about, paper, judged.published, judged.ours, judged.verdict.value, judged.reason)
        table.append(tuple(as_words(cell) or "–" for cell in cells))
    return [table_line(line) for line in table]
