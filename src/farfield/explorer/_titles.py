"""Titles of experiments as a person gives them: *ESBN on same/different, 98 withheld*."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import Final

from farfield.core.internal import excerpt
from farfield.tasks import ENVIRONMENTS, TASKS

PARTS: Final = ("reasoner", "core", "scorer", "reader", "head")
"""Fields of a network that name its mechanism; the first that a description has is its name."""

ADDED: Final = {"encoder": " with ", "context": " + "}
"""Other fields of a network that a title names, where they are not the default."""

MOST_FIELDS: Final = 3
"""Fields of a task, or options of a mechanism, that a title names."""

COUNTS: Final = ("max_problems", "_images", "_problems", "_sequences")
"""Ends of the names of fields that a title leaves out: numbers of problems."""

WORDS: Final = {
    "same different": "same/different", "mnist": "MNIST", "kmnist": "K-MNIST", "clevr": "CLEVR",
    "vaec": "VAEC", "raven": "RAVEN",
}  # fmt: skip
"""Names of tasks that are more than the words of the command line."""

NAMES: Final = {cls.__name__: name for name, cls in {**TASKS, **ENVIRONMENTS}.items()}
"""Name of each task on the command line, by its class."""


def title_of(task: str, model: str) -> str:
    """Write the title of an experiment.

    Args:
        task: The task in a few words, as `Record.task`, e.g. `"SameDifferent(withheld=98)"`.
        model: The model in a few words, as `Record.model`, e.g. `"Network(reasoner=ESBN)"`.
    """
    return f"{model_title(model)} on {task_title(task)}"


def task_title(task: str) -> str:
    """Write the title of a task, e.g. `"same/different, 98 withheld"`.

    Args:
        task: The task in a few words.
    """
    name, fields = _parsed(task)
    words = NAMES.get(name, name).replace("-", " ")
    for plain, said in WORDS.items():
        words = words.replace(plain, said)
    told = {field: value for field, value in fields.items() if not field.endswith(COUNTS)}
    return ", ".join([words, *_told(told)])


def model_title(model: str) -> str:
    """Write the title of a model, e.g. `"ESBN (hidden size 8) with RandomEncoder"`.

    Args:
        model: The model in a few words.
    """
    name, fields = _parsed(model)
    main = next((fields[part] for part in PARTS if part in fields), None)
    title = "GAN" if name == "GANNetwork" else name
    if main is not None:
        title, options = _parsed(main)
        if told := _told(options):
            title += f" ({', '.join(told)})"
    elif "generator" in fields and (told := _told(_parsed(fields["generator"])[1])):
        title += f" ({', '.join(told)})"
    for part, sign in ADDED.items():
        if (added := fields.get(part)) not in (None, "None"):
            title += sign + _parsed(added)[0]
    return title


def distinct(titles: Sequence[str], notes: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Tell equal titles apart by a note, or by the first digits of the key.

    Args:
        titles: Title of each experiment.
        notes: Note on each, e.g. its number of steps.
        keys: Key of each.
    """
    count, noted = Counter(titles), Counter(zip(titles, notes, strict=True))
    found = []
    for title, note, key in zip(titles, notes, keys, strict=True):
        end = note if noted[title, note] == 1 and note else key[:6]
        found.append(f"{title}, {end}" if count[title] > 1 else title)
    return found


def _told(fields: dict[str, str]) -> list[str]:
    """Write the first fields of a description, e.g. `"98 withheld"`."""
    told = [_field(name, value) for name, value in fields.items() if len(value) <= 24]
    return told[:MOST_FIELDS] + ["…"] * (len(told) > MOST_FIELDS)


def _field(name: str, value: str) -> str:
    """Write one field, e.g. `"98 withheld"` or `"no larger sides"`."""
    if name == "withheld":
        return f"{value} withheld"
    if name == "data_set":
        return value
    words = name.replace("_", " ")
    return f"no {words}" if value == "()" else f"{words} {value}"


def _parsed(text: str) -> tuple[str, dict[str, str]]:
    """Split a call of Python to its name and its arguments as text; nothing is run."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return excerpt(text), {}
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        fields = {
            one.arg: str(one.value.value)
            if isinstance(one.value, ast.Constant)
            else ast.unparse(one.value)
            for one in tree.keywords
            if one.arg
        }
        return tree.func.id, fields
    return excerpt(text), {}
