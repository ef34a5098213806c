"""Signs of networks whose code nobody can look up."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from farfield.records import Record
from farfield.reports._report._report import Row

UNCOMMITTED: Final = "‡"
"""Sign of networks from an uncommitted tree."""

UNKNOWN: Final = "§"
"""Sign of networks from a commit that the repository lacks."""

MEANING: Final = (
    f"{UNCOMMITTED}: trained from an uncommitted tree. {UNKNOWN}: from a commit that the "
    "repository lacks. A number before the sign: so many of the networks."
)
"""The signs in words."""

COMMIT: Final = re.compile("[0-9a-f]{7,40}")
"""Text that names a commit."""


def is_uncommitted(record: Record) -> bool:
    """True for a run from a tree with uncommitted changes.

    Args:
        record: Record of the run.
    """
    return record.commit.endswith("+")


def is_unknown(record: Record, missing: AbstractSet[str]) -> bool:
    """True for a run from a commit that the repository lacks, or from no known one.

    Args:
        record: Record of the run.
        missing: Commits that the repository lacks.
    """
    if is_uncommitted(record) or record.commit == "release":
        return False
    return record.commit in missing or not COMMIT.fullmatch(record.commit)


def commits_of(records: Iterable[Record]) -> set[str]:
    """Commits that records name; none of uncommitted trees.

    Args:
        records: The records.
    """
    return {record.commit for record in records if COMMIT.fullmatch(record.commit)}


def signs(row: Row) -> str:
    """Signs of the networks of a row whose code nobody can look up, e.g. `‡` or `2 ‡`.

    Args:
        row: A row.
    """
    counts = {
        UNCOMMITTED: sum(map(is_uncommitted, row.records)),
        UNKNOWN: sum(is_unknown(record, row.missing) for record in row.records),
    }
    return " ".join(
        sign if count == len(row.records) else f"{count} {sign}"
        for sign, count in counts.items()
        if count
    )
