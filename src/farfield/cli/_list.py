"""The commands that read names: list and cite. Lists of claims and of their settings load torch."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from farfield._citations import REFERENCES
from farfield.cli._arguments import Cite, List
from farfield.cli._console import write
from farfield.cli._index import NAMES

INDENT = "    "


def list_names(command: List) -> None:
    """Print what there is, with a line on each.

    On a terminal names stand above what they are, folded to its width. In a pipe every name is one
    line of four columns between tabs: kind, name, what it is, and its fields or what it holds.
    Claims that are asked for alone say what was run of them, which takes seconds to find. Settings
    are those of a table.

    Args:
        command: What to list.

    Raises:
        ValueError: If settings are asked for without a table, or a table or cell without settings.
    """
    if (command.kind == "settings") != (command.table is not None):
        raise ValueError(
            "table must be given with settings and with nothing else, "
            f"got list {command.kind} with {command.table}"
        )
    kinds = list(NAMES) if command.kind == "all" else [command.kind]
    console = Console()
    if not console.is_terminal:
        for kind in kinds:
            for name, what, fields in _rows(kind, command):
                write("\t".join((kind, name, what, ", ".join(fields))) + "\n")
        return
    for kind in kinds:
        console.print(Text(kind, style="bold underline"), "")
        for name, what, fields in _rows(kind, command):
            console.print(Text(name, style="bold"), soft_wrap=True)
            console.print(Text(folded([what], console.width)), soft_wrap=True)
            if fields:
                console.print(Text(folded(fields, console.width), style="dim"), soft_wrap=True)
        console.print()


def _rows(kind: str, command: List) -> Iterator[tuple[str, str, list[str]]]:
    """Name, line, and fields of everything of a kind."""
    if kind == "settings":
        from farfield.cli._claims import setting_rows

        return setting_rows(command)
    if command.kind == kind == "claims":
        from farfield.cli._claims import claim_rows

        return claim_rows(command.results)
    return ((name, what, fields) for name, (what, *fields) in NAMES[kind].items())


def folded(parts: Sequence[str], width: int) -> str:
    """Lines of some parts, broken between two parts or words, and within a word if it is longer.

    Args:
        parts: What stands between commas.
        width: Columns there are.
    """
    lines = textwrap.wrap(
        ", ".join(parts),
        max(width, 2 * len(INDENT)),
        initial_indent=INDENT,
        subsequent_indent=INDENT,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def cite(command: Cite) -> None:
    """Print BibTeX entries.

    Args:
        command: Of what.
    """
    keys = dict.fromkeys(name.partition("/")[0] for name in command.what or REFERENCES)
    entries = [REFERENCES[key].bibtex() for key in keys]
    write("\n\n".join(entries) + "\n")
