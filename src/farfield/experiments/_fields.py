"""Fields of experiments and of their parts, by dotted path."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, TypeVar

from farfield.core import ArgumentError, UnknownNameError
from farfield.experiments._spec import Spec

Owner = TypeVar("Owner")


def field_of(owner: object, path: str) -> Any:
    """The content of a field.

    Args:
        owner: An experiment, or a part of one.
        path: Names of fields, and of options of a `Spec`, with dots between them, e.g.
            `"recipe.learning_rate"` or `"model.reasoner.hidden_size"`.

    Raises:
        ValueError: If there is no such field.
    """
    content: Any = owner
    for name, before in _steps(path):
        content = _contents(content, name, before)[name]
    return content


def with_field(owner: Owner, path: str, content: Any) -> Owner:
    """A copy with another content of a field.

    Args:
        owner: An experiment, or a part of one.
        path: Names of fields, and of options of a `Spec`, with dots between them.
        content: The content, in a type that the field takes.

    Raises:
        ValueError: If there is no such field, or it takes no such content.

    Example:
        >>> from farfield.experiments import SGD, Recipe
        >>> recipe = Recipe(steps=100, optimizer=SGD())
        >>> with_field(recipe, "optimizer.momentum", 0.9).optimizer.momentum
        0.9
    """
    changed: Any = content
    for name, before in reversed(_steps(path)):
        changed = _replaced(field_of(owner, before) if before else owner, name, before, changed)
    found: Owner = changed
    return found


def _steps(path: str) -> list[tuple[str, str]]:
    """Each name of a path, with the path before it."""
    names = path.split(".")
    return [(name, ".".join(names[:place])) for place, name in enumerate(names)]


def _replaced(owner: Any, name: str, before: str, content: Any) -> Any:
    """An object with another content of one of its own fields."""
    _contents(owner, name, before)
    if isinstance(owner, Spec):
        return Spec(owner.cls, **{**dict(owner.options), name: content})
    return dataclasses.replace(owner, **{name: content})


def _contents(owner: Any, name: str, before: str) -> dict[str, Any]:
    """The contents of an object's own fields; raises `ValueError` if `name` is none of them."""
    if isinstance(owner, Spec):
        parameters = inspect.signature(owner.cls).parameters.values()
        found = {p.name: p.default for p in parameters if p.default is not p.empty}
        found = {option: found[option] for option in found if option != "generator"}
        found |= dict(owner.options)
    elif dataclasses.is_dataclass(owner):
        found = {field.name: getattr(owner, field.name) for field in dataclasses.fields(owner)}
    else:
        raise ArgumentError(before, "an object with fields", owner)
    if name not in found:
        prefix = f"{before}." if before else ""
        raise UnknownNameError("field", prefix + name, [prefix + field for field in found])
    return found
