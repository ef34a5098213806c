"""`farfield completion`: words completed by the shell, options and the names that they take."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from farfield.cli._arguments import COMMANDS, Completion, options_of
from farfield.cli._console import write
from farfield.cli._index import fields_of, known

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
    """Words that the last one may become.

    Args:
        words: The words behind `farfield`, the last one as far as it is typed.
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
    """Words that the option before the last one takes, where they are known."""
    name = before[-1].removeprefix("--").replace("-", "_")
    hint = get_type_hints(command).get(name) if before[-1].startswith("--") else None
    return [] if hint is None else known(name) or _literals(hint)


def _literals(hint: Any) -> list[str]:
    return [*get_args(hint)] if get_origin(hint) is Literal else []


def _positional(command: type) -> list[str]:
    """Names that stand without an option."""
    fields = dataclasses.fields(command)
    return [name for one in fields if "Positional" in str(one.type) for name in known(one.name)]


def _options(before: Sequence[str], command: type) -> list[str]:
    """Options of a command, and those of the task that is named."""
    fields = [option for word in before[1:] for option in fields_of(word)]
    return [*options_of(command), "--help", *fields]
