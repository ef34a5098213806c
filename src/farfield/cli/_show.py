"""`farfield show`: sample problems of a task as a picture."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tyro
from rich.text import Text

from farfield.cli._arguments import Show
from farfield.cli._console import make_console
from farfield.cli._names import fields_of_task, find_task_or_environment, options_of_task
from farfield.core import printable
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
    """The task that the words describe.

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
