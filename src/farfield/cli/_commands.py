"""The short commands: list, show, fetch, cite."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from farfield.cli._arguments import Cite, Fetch, List, Show
from farfield.cli._claims import claim_rows
from farfield.cli._names import MODELS, fields_of_task, find_task_or_environment, options_of_task
from farfield.core import REFERENCES, UnknownNameError, printable
from farfield.experiments import TASK_ARGUMENTS
from farfield.models import CLASSIFIERS, MAP_READERS, REASONERS, RESTORERS, SCORERS
from farfield.nn import CONTEXTS, ENCODERS, SEQUENCE_LAYERS, SET_LAYERS, VALUE_HEADS
from farfield.objectives import AGENT_OBJECTIVES, OBJECTIVES
from farfield.reports import FIGURES, problem_sheet
from farfield.reproductions import STATEMENTS, TABLES
from farfield.tasks import (
    DATA_SETS,
    ENVIRONMENTS,
    TASKS,
    Environment,
    ProblemTask,
    fetch,
    form_of,
)

LAST_COLUMN = {"claims": "run, and the rest", "figures": "cells", "statements": "the paper"}
"""Its heading by kind, where it is not that of fields."""

FIELD_WIDTH = 24
"""Of the column of fields, so that a name and its value stand in one line on 80 columns."""


def list_names(command: List) -> None:
    """Print what there is, with a line on each.

    Args:
        command: What to list.
    """
    kinds: dict[str, Iterable[tuple[str, str, str]]] = {
        "tasks": _classes(TASKS, _read_as),
        "environments": _classes(ENVIRONMENTS),
        "models": _classes(
            {**REASONERS, **SCORERS, **CLASSIFIERS, **MAP_READERS, **RESTORERS}, _reads
        ),
        "layers": _classes({**SEQUENCE_LAYERS, **SET_LAYERS, **VALUE_HEADS}, _reads),
        "encoders": _classes(ENCODERS),
        "contexts": _classes(CONTEXTS),
        "objectives": _classes({**OBJECTIVES, **AGENT_OBJECTIVES}),
        "papers": [
            (key, f"{paper.title} ({paper.venue}, {paper.year})", "")
            for key, paper in REFERENCES.items()
        ],
        "claims": claim_rows(command.results),
        "statements": [
            (key, one.about, f"“{one.quote}” ({one.where})") for key, one in STATEMENTS.items()
        ],
        "figures": [
            (
                key,
                figure.table.title,
                _counted(len(figure.table.claims), "cell")
                + f", quick: {_counted(figure.quick_networks, 'network')} each",
            )
            for key, figure in FIGURES.items()
        ],
    }
    if command.kind not in ("all", *kinds):
        raise UnknownNameError("kind", command.kind, ("all", *kinds))
    console = Console()
    for kind, rows in kinds.items():
        if command.kind not in ("all", kind):
            continue
        grid = Grid(title=kind, title_justify="left", title_style="bold", box=None, padding=(0, 2))
        last = LAST_COLUMN.get(kind, "fields")
        for heading in ("name", "what it is", last):
            grid.add_column(
                heading,
                header_style="dim",
                no_wrap=heading == "name",
                overflow="fold",
                min_width=FIELD_WIDTH if heading == "fields" else None,
            )
        for row in rows:
            grid.add_row(*row)
        console.print(grid)
        console.print()


def _counted(number: int, word: str) -> str:
    """Number and noun, e.g. `1 cell` or `3 cells`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def _classes(
    names: Mapping[str, Any], note: Callable[[Any], str] = lambda _: ""
) -> list[tuple[str, str, str]]:
    """Name, first line and fields of each class, with a note behind the line."""
    return [
        (name, (inspect.getdoc(cls) or "").partition("\n")[0] + note(cls), _fields(cls))
        for name, cls in names.items()
    ]


def _read_as(task: Any) -> str:
    """Text of the ways in which a task can be read."""
    return f" Read as: {', '.join(form_of(task()).readings)}."


def _reads(model: type) -> str:
    """Text of the ways in which a model can read problems."""
    return (
        f" Reads: {', '.join(way for way, models in MODELS.items() if model in models.values())}."
    )


def _fields(cls: type) -> str:
    if dataclasses.is_dataclass(cls):
        return ", ".join(map(_field, dataclasses.fields(cls)))
    parameters = inspect.signature(cls).parameters.values()
    return ", ".join(
        f"{p.name}={p.default!r}"
        for p in parameters
        if p.default is not p.empty and p.name not in (*TASK_ARGUMENTS, "generator")
    )


def _field(field: dataclasses.Field[Any]) -> str:
    """A field with its default; one that must be given by its name alone."""
    if field.default_factory is not dataclasses.MISSING:
        return f"{field.name}={field.default_factory()!r}"
    if field.default is not dataclasses.MISSING:
        return f"{field.name}={field.default!r}"
    return field.name


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
    Console().print(said, soft_wrap=True)


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


def fetch_data(command: Fetch) -> None:
    """Bring a data set into the cache.

    Args:
        command: Which one, and from where.
    """
    mirrors = () if command.mirror is None else (command.mirror,)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    for path, source in fetch(command.data_set, mirrors=mirrors).items():
        found = f"from {printable(source)}" if source else "was there"
        console.print(f"{printable(path)}: {found}")
    console.print(f"licence: {DATA_SETS[command.data_set].licence}")


def cite(command: Cite) -> None:
    """Print BibTeX entries.

    Args:
        command: Of what.
    """
    keys = []
    for name in command.what or tuple(REFERENCES):
        key = name.partition("/")[0] if name in TABLES or name in FIGURES else name
        if key not in REFERENCES:
            raise UnknownNameError("paper or table", name, (*REFERENCES, *TABLES, *FIGURES))
        keys.append(key)
    entries = [REFERENCES[key].bibtex() for key in dict.fromkeys(keys)]
    Console(soft_wrap=True, highlight=False, markup=False).print("\n\n".join(entries))
