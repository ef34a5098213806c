"""Names as literal data, and the commands that read them without torch: list, cite, completion.

`make pages` makes `names.json` from the classes and tables; a test compares them.
"""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from rich.console import Console
from rich.text import Text

from farfield._citations import REFERENCES
from farfield._errors import UnknownNameError
from farfield._kept import PACKAGE, kept, stamps_digest
from farfield.cli._arguments import (
    COMMANDS,
    Cite,
    Completion,
    List,
    Profile,
    Show,
    is_key,
    options_of,
)
from farfield.cli._console import write

NAMES: Final[dict[str, dict[str, list[str]]]] = json.loads(
    Path(__file__).with_name("names.json").read_text("utf-8")
)
"""Entries by kind and name: a description, then its fields with their defaults, or its contents."""

KINDS: Final = {
    "task": ("task", ("tasks", "environments")),
    "model": ("model", ("models", "layers")),
    "encoder": ("encoder", ("encoders",)),
    "context": ("context", ("contexts",)),
    "table": ("table or figure", ("claims", "figures")),
    "data_set": ("data set", ("data-sets",)),
    "what": ("paper or table", ("papers", "claims", "figures")),
}
"""Name in errors of each argument of a command, and the kinds of names that it takes."""

OTHERS: Final = {"kind": ("all", "settings", *NAMES), "context": ("none",)}
"""Words that an argument of a command takes beside names."""


def known(argument: str) -> list[str]:
    """List the names that an argument takes; none where it takes something else.

    Args:
        argument: The argument's field, e.g. `"task"`.
    """
    _, kinds = KINDS.get(argument, ("", ()))
    return [*OTHERS.get(argument, ()), *(name for kind in kinds for name in NAMES[kind])]


def check_names(command: Any) -> None:
    """Raise the error of a name that is not known.

    Args:
        command: A command as `farfield.cli._arguments` has it, made.

    Raises:
        UnknownNameError: If an argument is a name, and there is none such.
    """
    if isinstance(command, Profile):
        return  # its model and its kind of items are the user's
    if isinstance(command, Show) and is_key(command.task):
        return
    for field in dataclasses.fields(command):
        value, names = getattr(command, field.name), known(field.name)
        for name in value if isinstance(value, tuple) else (value,):
            if names and name is not None and name not in names:
                raise UnknownNameError(KINDS.get(field.name, ("kind",))[0], name, names)


def fields_of(task: str) -> list[str]:
    """List the names of the fields of a task, as options.

    Args:
        task: Its name; one that is not known has none.
    """
    _, *fields = NAMES["tasks"].get(task, NAMES["environments"].get(task, [""]))
    return [f"--task.{field.partition('=')[0].replace('_', '-')}" for field in fields]


INDENT = "    "


def list_names(command: List) -> None:
    """Print the names of a kind, with a line on each.

    On a terminal each name is above its description, folded to the width of the terminal. In a
    pipe every name is one line of four columns between tabs: kind, name, description, and its
    fields or contents. Claims that are listed alone also show their runs: counting them takes
    seconds after a change of results or code, and is kept in the cache folder. Settings belong to
    one table.

    Args:
        command: The arguments.

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


Row = tuple[str, str, list[str]]


def _claim_rows(command: List) -> list[Row]:
    """List the claims with their runs, from records; this loads torch and takes seconds."""
    from farfield.cli._report import claim_rows

    return [*claim_rows(command.results)]


def _rows(kind: str, command: List) -> Iterator[Row]:
    """Name, line, and fields of everything of a kind."""
    if kind == "settings":
        from farfield.cli._report import setting_rows

        return setting_rows(command)
    if command.kind == kind == "claims":
        homes = (command.results.absolute(), PACKAGE / "recorded", PACKAGE.parents[1] / "results")
        inputs = stamps_digest(homes, ("*.jsonl", "*.toml", "*/*.jsonl", "*/*.json"))
        rows = kept("claims.json", inputs, list[Row], lambda: _claim_rows(command))
        return iter(rows)
    return ((name, what, fields) for name, (what, *fields) in NAMES[kind].items())


def folded(parts: Sequence[str], width: int) -> str:
    """Fold parts to lines, broken between two parts or words, and within a longer word.

    Args:
        parts: Texts between commas.
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
        command: The arguments.
    """
    keys = dict.fromkeys(name.partition("/")[0] for name in command.what or REFERENCES)
    entries = [REFERENCES[key].bibtex() for key in keys]
    write("\n\n".join(entries) + "\n")


SCRIPT: Final = """\
_farfield() {
    local IFS=$'\\n'
    COMPREPLY=($(farfield completion -- "${COMP_WORDS[@]:1:COMP_CWORD}"))
}
complete -o default -F _farfield farfield
"""
"""Script that makes bash, and zsh after `bashcompinit`, ask at every TAB."""


def print_script(command: Completion) -> None:
    """Print the script for the shell.

    Args:
        command: The command, which has no options.
    """
    del command
    write(SCRIPT)


def candidates(words: Sequence[str]) -> list[str]:
    """List the words that the last word may become.

    Args:
        words: The words behind `farfield`, the last word as far as typed.
    """
    *before, last = words
    if not before:
        found: Iterable[str] = (*COMMANDS, "--help", "--version")
    elif (command := COMMANDS.get(before[0])) is None:
        found = ()
    elif not (found := _values(before, command)):
        found = _options(before, command) if last.startswith("-") else _positional(command)
    return [word for word in found if word.startswith(last)]


def _values(before: Sequence[str], command: type) -> list[str]:
    """List the words that the option before the last word takes, where they are known."""
    name = before[-1].removeprefix("--").replace("-", "_")
    hint = get_type_hints(command).get(name) if before[-1].startswith("--") else None
    return [] if hint is None else known(name) or _literals(hint)


def _literals(hint: Any) -> list[str]:
    return [*get_args(hint)] if get_origin(hint) is Literal else []


def _positional(command: type) -> list[str]:
    """List the names of the positional argument."""
    fields = dataclasses.fields(command)
    return [name for one in fields if "Positional" in str(one.type) for name in known(one.name)]


def _options(before: Sequence[str], command: type) -> list[str]:
    """List the options of a command, and the options of the named task."""
    fields = [option for word in before[1:] for option in fields_of(word)]
    return [*options_of(command), "--help", *fields]
