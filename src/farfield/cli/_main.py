"""From words on the command line to a command, and from errors to an exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

import tyro

from farfield.cli._arguments import Cite, Command, List, Report, Reproduce, Show, Train

DESCRIPTION = "Farfield: learning that holds far from its training data."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; the process ends with status 0, 1 (a run failed) or 2 (a wrong argument).

    Args:
        arguments: Words after `farfield`; those of the process if `None`.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    command, rest = tyro.cli(
        Command,
        prog="farfield",
        description=DESCRIPTION,
        args=words,
        return_unknown_args=True,
    )
    if rest and not isinstance(command, Train):
        _stop(f"unrecognized: {' '.join(rest)}; `farfield --help` shows what there is", 2)
    sys.exit(_run(command, rest))


def _run(command: object, rest: Sequence[str]) -> int:
    """Do a command; returns the exit status."""
    from farfield.core import UnknownNameError  # torch is loaded from here on
    from farfield.execution import ExecutionError
    from farfield.records import BusyError, StoreError

    try:
        _dispatch(command, rest)
    except (UnknownNameError, ValueError, TypeError) as error:
        return _say(str(error), 2)
    except (ExecutionError, BusyError, StoreError, OSError) as error:
        return _say(str(error), 1)
    except KeyboardInterrupt:
        return _say("stopped; what finished is kept, the same command goes on with the rest", 130)
    return 0


def _dispatch(command: object, rest: Sequence[str]) -> None:
    from farfield.cli import _commands, _reproduce, _train

    match command:
        case List():
            _commands.list_names(command)
        case Show():
            _commands.show(command)
        case Train():
            _train.train(command, rest)
        case Reproduce():
            _reproduce.reproduce(command)
        case Report():
            _reproduce.report(command)
        case Cite():
            _commands.cite(command)
        case _:
            raise TypeError(f"unknown command {command!r}")


def _say(message: str, status: int, stream: TextIO | None = None) -> int:
    (stream or sys.stderr).write(f"farfield: {message}\n")
    return status


def _stop(message: str, status: int) -> None:
    sys.exit(_say(message, status))
