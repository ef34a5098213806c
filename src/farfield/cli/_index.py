"""Names of the command line as literal data, so that a question about them loads no torch.

`names.json` is made from the classes and tables themselves by `make docs`; a test sees to it.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, Final

from farfield._errors import UnknownNameError

NAMES: Final[dict[str, dict[str, list[str]]]] = json.loads(
    Path(__file__).with_name("names.json").read_text("utf-8")
)
"""By kind and name: a line on what it is, then its fields with their defaults, or what it holds."""

KINDS: Final = {
    "task": ("task", ("tasks", "environments")),
    "model": ("model", ("models", "layers")),
    "encoder": ("encoder", ("encoders",)),
    "context": ("context", ("contexts",)),
    "table": ("table or figure", ("claims", "figures")),
    "data_set": ("data set", ("data-sets",)),
    "what": ("paper or table", ("papers", "claims", "figures")),
}
"""By argument of a command: what it is called in errors, and the kinds of the names it takes."""

OTHERS: Final = {"kind": ("all", "settings", *NAMES), "context": ("none",)}
"""By argument of a command: words it takes beside names."""


def known(argument: str) -> list[str]:
    """Every name that an argument takes; none where it takes something else.

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
    for field in dataclasses.fields(command):
        value, names = getattr(command, field.name), known(field.name)
        for name in value if isinstance(value, tuple) else (value,):
            if names and name is not None and name not in names:
                raise UnknownNameError(KINDS.get(field.name, ("kind",))[0], name, names)


def fields_of(task: str) -> list[str]:
    """Names of the fields of a task, as options.

    Args:
        task: Its name; one that is not known has none.
    """
    _, *fields = NAMES["tasks"].get(task, NAMES["environments"].get(task, [""]))
    return [f"--task.{field.partition('=')[0].replace('_', '-')}" for field in fields]
