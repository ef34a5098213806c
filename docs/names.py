"""Names of the command line, with a line on each, made from the named objects.

    make docs                       # or:
    python docs/names.py

`farfield list` and whatever checks a name read that file, so that neither loads torch. The test
command fails when it is not up to date.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from farfield.cli._names import MODELS
from farfield.core.internal import REFERENCES
from farfield.experiments.internal import TASK_ARGUMENTS
from farfield.models import REASONERS
from farfield.models.internal import CLASSIFIERS, MAP_READERS, RESTORERS, SCORERS
from farfield.nn import CONTEXTS, ENCODERS, SEQUENCE_LAYERS
from farfield.nn.internal import SET_LAYERS, VALUE_HEADS
from farfield.objectives import OBJECTIVES
from farfield.objectives.internal import AGENT_OBJECTIVES
from farfield.reports import FIGURES
from farfield.reproductions import TABLES
from farfield.reproductions.internal import STATEMENTS
from farfield.tasks import DATA_SETS, ENVIRONMENTS, TASKS
from farfield.tasks.internal import form_of

Entries = dict[str, list[str]]
GENERATORS = MODELS["generation"]
FILE = Path(__file__).parents[1] / "src" / "farfield" / "cli" / "names.json"
PAGE = Path(__file__).parent / "tasks.md"


def entries() -> dict[str, Entries]:
    """Collect every name by its kind: a description, then its fields or contents."""
    references = {key: reference.unescaped() for key, reference in REFERENCES.items()}
    return {
        "tasks": classes(TASKS, read_as),
        "environments": classes(ENVIRONMENTS),
        "models": classes(
            {**REASONERS, **SCORERS, **CLASSIFIERS, **MAP_READERS, **RESTORERS, **GENERATORS}, reads
        ),
        "layers": classes({**SEQUENCE_LAYERS, **SET_LAYERS, **VALUE_HEADS}, reads),
        "encoders": classes(ENCODERS),
        "contexts": classes(CONTEXTS),
        "objectives": classes({**OBJECTIVES, **AGENT_OBJECTIVES}),
        "papers": {
            key: [f"{paper.title} ({paper.venue}, {paper.year})"]
            for key, paper in references.items()
        },
        "claims": {
            key: [
                table.title,
                counted(len(table.claims), "cell"),
                f"e.g. {next(iter(table.cells))}",
            ]
            for key, table in TABLES.items()
        },
        "statements": {
            key: [one.about, f"“{one.quote}” ({one.where})"] for key, one in STATEMENTS.items()
        },
        "figures": {
            key: [
                figure.table.title,
                counted(len(figure.table.claims), "cell"),
                f"quick: {counted(figure.quick_networks, 'network')} each",
            ]
            for key, figure in FIGURES.items()
        },
        "data-sets": {
            name: [f"licence: {found.licence}", counted(len(found.published), "file")]
            for name, found in DATA_SETS.items()
        },
    }


def counted(number: int, word: str) -> str:
    """Number and noun, e.g. `1 cell` or `3 cells`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def classes(names: Mapping[str, Any], note: Callable[[Any], str] = lambda _: "") -> Entries:
    """Take the first line and the fields of each class, with a note behind the line."""
    return {
        name: [(inspect.getdoc(cls) or "").partition("\n")[0] + note(cls), *fields(cls)]
        for name, cls in names.items()
    }


def read_as(task: Any) -> str:
    """Describe the ways in which a task can be read."""
    return f" Read as: {', '.join(form_of(task()).readings)}."


def reads(model: type) -> str:
    """Describe the ways in which a model can read problems."""
    return (
        f" Reads: {', '.join(way for way, models in MODELS.items() if model in models.values())}."
    )


def fields(cls: type) -> list[str]:
    """List the fields of a class with their defaults; a required field by its name alone."""
    if dataclasses.is_dataclass(cls):
        return [field(one) for one in dataclasses.fields(cls)]
    return [
        f"{p.name}={p.default!r}"
        for p in inspect.signature(cls).parameters.values()
        if p.default is not p.empty and p.name not in (*TASK_ARGUMENTS, "generator")
    ]


def field(one: dataclasses.Field[Any]) -> str:
    """Format a field with its default."""
    if one.default_factory is not dataclasses.MISSING:
        return f"{one.name}={one.default_factory()!r}"
    return one.name if one.default is dataclasses.MISSING else f"{one.name}={one.default!r}"


def text() -> str:
    """Write the text of the file: a line for each name."""
    kinds = [
        f"{json.dumps(kind)}: {{\n"
        + ",\n".join(
            f"{json.dumps(name)}: {json.dumps(said, ensure_ascii=False)}"
            for name, said in names.items()
        )
        + "\n}"
        for kind, names in entries().items()
    ]
    return "{\n" + ",\n".join(kinds) + "\n}\n"


def with_tasks(page: str) -> str:
    """Fill the table of tasks in a page: the name and the question of each.

    Args:
        page: The page, as Markdown.
    """
    rows = "".join(f"| `{name}` | {lines[0]} |\n" for name, lines in classes(TASKS).items())
    head = r"(\| task \| question \|\n\|---\|---\|\n)"
    return re.sub(rf"{head}(?:\|.*\n)*", lambda found: found[1] + rows, page)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    PAGE.write_text(with_tasks(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
