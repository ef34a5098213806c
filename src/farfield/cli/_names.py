"""From names on the command line to what they name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from farfield.core import UnknownNameError
from farfield.tasks import TASKS, Shapes

Named = TypeVar("Named")


def find(kind: str, name: str, names: Mapping[str, Named]) -> Named:
    """What bears a name.

    Args:
        kind: What is looked up, for the error.
        name: The name received.
        names: What there is.

    Raises:
        UnknownNameError: If nothing bears the name; it suggests the nearest that something does.
    """
    if name not in names:
        raise UnknownNameError(kind, name, names)
    return names[name]


def find_task(name: str) -> Any:
    """The class of a task.

    Args:
        name: Its name on the command line.

    Raises:
        UnknownNameError: If no task bears the name.
    """
    return find("task", name, TASKS)


def shapes_of(name: str) -> Shapes | None:
    """The images of a name: `None` for the built-in glyphs, else the letters or the paper's.

    Args:
        name: `"glyphs"`, `"letters"` or `"paper"`.
    """
    if name == "glyphs":
        return None
    return Shapes.letters() if name == "letters" else Shapes.paper()
