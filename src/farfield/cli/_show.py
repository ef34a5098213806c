"""Commands that show problems as a picture, or claims and networks as pages in the browser."""

from __future__ import annotations

import dataclasses
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tyro
from rich.text import Text

from farfield.cli._arguments import Explore, Show
from farfield.cli._console import make_console, say
from farfield.cli._names import fields_of_task, find_task_or_environment, options_of_task
from farfield.core.internal import printable
from farfield.reports import problem_sheet
from farfield.tasks import Environment, ProblemTask


def show(command: Show, rest: Sequence[str]) -> None:
    """Draw sample problems of every regime of a task, or beginnings of episodes.

    Args:
        command: Which task, and where to.
        rest: Words with the fields of the task.
    """
    task = task_of(command, rest)
    path = command.out or Path(f"problems-{command.task}.png")
    problem_sheet(task, path, seed=command.seed)
    said = Text.assemble(f"{command.task}: problems of every regime in ", (printable(path), "bold"))
    make_console().print(said, soft_wrap=True)


def task_of(command: Show, rest: Sequence[str]) -> ProblemTask | Environment:
    """Build the task that the words describe.

    Args:
        command: The words with fixed names.
        rest: The fields of the task.
    """
    task = find_task_or_environment(command.task)
    words = list(rest)
    if command.withheld is not None:
        if any(word.partition("=")[0] == "--task.withheld" for word in rest):
            raise ValueError("withheld is given twice, as --withheld and --task.withheld: drop one")
        words += ["--task.withheld", str(command.withheld)]
    group = options_of_task(task)
    fields: list[Any] = [("task", group, dataclasses.field(default=group()))]
    options: Any = tyro.cli(
        dataclasses.make_dataclass("Options", fields, frozen=True),
        prog=f"farfield show {command.task}",
        args=words,
    )
    shown: ProblemTask | Environment = task(**fields_of_task(task, options.task, command.images))
    return shown


def explore(command: Explore) -> None:
    """Serve the pages to this machine until the command is interrupted.

    Args:
        command: Folders and port.

    Raises:
        ModuleNotFoundError: If the packages of the extra are not installed.
        ValueError: If the port is impossible or taken.
    """
    from farfield.cli._report import results_folder
    from farfield.explorer import serve

    if not 1 <= command.port <= 65535:
        raise ValueError(f"port must be a number from 1 to 65535, got {command.port}")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", command.port)) == 0:
            raise ValueError(f"port must be free, got {command.port}, which something listens on")
    records, results = results_folder(command.records), results_folder(command.results)
    say(make_console(), f"http://127.0.0.1:{command.port} (Ctrl-C ends it)")
    serve(records, results, command.port)
