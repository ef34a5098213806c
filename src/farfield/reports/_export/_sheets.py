"""Pages of settings: claims beside the text and the released code of their paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from farfield.core import REFERENCES
from farfield.reports._tables._markdown import as_words, table_line
from farfield.reproductions import (
    TABLES,
    Claim,
    Setting,
    SheetLine,
    Source,
    Table,
    settings_of,
    sheet,
)

SOURCES: Final = {
    Source.BOTH: "text and code",
    Source.TEXT: "text",
    Source.CODE: "code",
    Source.OWN: "own choice",
    Source.NEITHER: "**neither**",
}
"""Words of a sheet for the source of a value."""

MOST: Final = 4
"""Maximum number of rows or columns that are named; more are counted."""

INTRODUCTION: Final = """\
This page compares the settings of the claims of `{paper}` with its text and with its released code.
The first table says what the text says and where, and what the released code does. Each sheet after
it says what the claims of one table do, read from their descriptions: the value of the field, or
what a class without such a field does. *Own choice*: the text leaves the setting open, and the code
has another value or no such setting. Numbers that differ from the published ones are in
[the deviations](../deviations.md). This command prints the sheet of single cells, with text and
code:

```console
$ farfield list settings --table {example} --cell "{cell}"
```
"""


def settings_pages() -> dict[str, str]:
    """Pages of the settings of every paper, by file name."""
    papers = dict.fromkeys(key.partition("/")[0] for key in TABLES)
    return {f"{paper}.md": _page(paper) for paper in papers}


def _page(paper: str) -> str:
    """Settings of a paper, and a sheet for each of its tables."""
    tables = [table for key, table in TABLES.items() if _is_own(key, table)
              and key.startswith(f"{paper}/")]  # fmt: skip
    first = tables[0]
    introduction = INTRODUCTION.format(paper=paper, example=first.key, cell=next(iter(first.cells)))
    lines = [f"# Claims against text: {REFERENCES[paper].title}", "", introduction]
    head = ("setting", "the text", "the released code", "field")
    lines += [table_line(head), table_line(["---"] * len(head))]
    lines += [_setting(setting) for setting in settings_of(paper)]
    for table in tables:
        lines += ["", f"## {table.key.partition('/')[2]}", "", f"{as_words(table.title)}.", ""]
        lines += _sheet(table)
    return "\n".join(lines) + "\n"


def _is_own(key: str, table: Table) -> bool:
    """True for a table whose claims are its own, not a selection from other tables."""
    return {claim.home for claim in table.claims} == {key}


def _setting(setting: Setting) -> str:
    """Text, code and field of a setting as a line of a table."""
    text = f"{setting.text} ({setting.place})" if setting.place else setting.text
    return table_line((setting.name, text, setting.code or "–", f"`{setting.path}`"))


def _sheet(table: Table) -> list[str]:
    """Settings of a table's claims, a line for each value."""
    lines = sheet(table.claims)
    head = ("setting", "these claims", "from")
    shown = [table_line(head), table_line(["---"] * len(head))] if lines else []
    shown += [_line(line, lines, table) for line in lines]
    unbuilt = dict.fromkeys(claim.row for claim in table.claims if claim.unbuilt)
    words = f"Not built here: {as_words('; '.join(unbuilt))}."
    return [*shown, *["", words][: 2 * bool(unbuilt)]]


def _line(line: SheetLine, lines: Iterable[SheetLine], table: Table) -> str:
    """A setting with its value, the cells that have it if others have another, and why."""
    setting = line.setting
    others = [claim for one in lines if one.setting is setting for claim in one.claims]
    place = where(line.claims, others)
    value = setting.does or f"`{line.value}`"
    why = setting.why if line.source is Source.NEITHER or _is_by_code(line, table) else ""
    return table_line(
        (
            setting.name,
            f"{value}: {as_words(place)}" if place else value,
            f"{SOURCES[line.source]}: {as_words(why)}" if why else SOURCES[line.source],
        )
    )


def _is_by_code(line: SheetLine, table: Table) -> bool:
    """True where claims part from the text for the code's sake, outside tables made for that."""
    return line.source is Source.CODE and not table.key.endswith("-released")


def where(claims: Sequence[Claim], others: Sequence[Claim]) -> str:
    """Rows or columns of some claims among others, in words; empty for all of them.

    Args:
        claims: The claims.
        others: All that the words are to tell them from, themselves included.
    """
    if len(claims) == len(others):
        return ""
    for name in ("row", "column", "subject"):
        rest = {getattr(claim, name) for claim in others if claim not in claims}
        having = dict.fromkeys(getattr(claim, name) for claim in claims)
        if not rest & having.keys():
            return "; ".join(having) if len(having) <= MOST else f"{len(having)} {name}s"
    return f"{len(claims)} of {len(others)} cells"
