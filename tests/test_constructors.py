"""Every public constructor with a wrong value for each of its arguments: all are refused by name.

Valid arguments are those with which the mechanisms of `zoo` and `test_factory_arguments` are
made; a task is made with its defaults.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Annotated, Any, Union

import pytest
from torch import nn

from each import each
from farfield._exports import faces
from farfield.core.internal import hints_of
from farfield.tasks import TASKS
from zoo import MODULES

HUGE = 10**12
BAD: dict[object, tuple[object, ...]] = {
    int: ("no", None, 1.5, math.nan, True, [], -1, HUGE),
    float: ("no", None, math.nan, math.inf, True, []),
    bool: ("no", None, 1, 0, math.nan, []),
    str: (1, None, [], True),
    tuple: ("no", None, 1, math.nan, {}),
    nn.Module: ("no", None, 1, nn.Linear, math.nan, []),
}
"""Values that are none of a type; `None` is left out where it is allowed."""
OTHER = ("no", 1, math.nan, [])
UNLIMITED = {"correction", "sample"}
"""Numbers that are compared with the inputs alone."""


def bad_values(name: str, hint: Any) -> tuple[object, ...]:
    """Values that an annotation excludes; none where it says too little."""
    parts = typing.get_args(hint) if typing.get_origin(hint) in {Union, types.UnionType} else [hint]
    kinds = {bare(part) for part in parts} - {types.NoneType}
    if len(kinds) > 1 or kinds <= {Any, object} or name == "generator":
        return OTHER * (name != "device")
    values = BAD.get(*kinds, OTHER)
    optional = types.NoneType in parts
    return tuple(
        value
        for value in values
        if not (value is None and optional) and not (value == HUGE and name in UNLIMITED)
    )


def bare(hint: Any) -> Any:
    """A type without its marks and parts."""
    while typing.get_origin(hint) is Annotated:
        hint = hint.__origin__
    origin = typing.get_origin(hint) or hint
    return tuple if origin is Sequence else origin


@cache
def made_with() -> dict[type, dict[str, Any]]:
    """Arguments that the public modules of the zoo were made with, by class."""
    public = [
        cls
        for home in (*faces("farfield.nn"), *faces("farfield.models"))
        for cls in map(vars(home).get, home.__all__)
        if isinstance(cls, type) and not getattr(cls, "_is_protocol", False)
    ]
    found: dict[type, dict[str, Any]] = {
        cls: {} for cls in public if dataclasses.is_dataclass(cls) and not issubclass(cls, tuple)
    }
    patch = pytest.MonkeyPatch()
    for cls in public:
        if issubclass(cls, nn.Module):
            patch.setattr(cls, "__init__", noting(cls, cls.__init__, found))
    for animal in MODULES.values():
        animal.build(None)
    patch.undo()
    return found


def noting(
    cls: type, made: Callable[..., None], found: dict[type, dict[str, Any]]
) -> Callable[..., None]:
    def init(self: object, *args: object, **kwargs: object) -> None:
        bound = inspect.signature(made).bind(self, *args, **kwargs)
        known = dict(list(bound.arguments.items())[1:])
        if type(self) is cls and len(known) > len(found.get(cls, {})):
            found[cls] = known
        made(self, *args, **kwargs)

    return init


def wrong(cls: type) -> Iterator[tuple[str, object]]:
    for name, hint in hints_of(cls).items():
        if name in inspect.signature(cls).parameters:
            yield from ((name, value) for value in bad_values(name, hint))


CASES = [*made_with(), *TASKS.values()]


@each("cls", CASES)
def test_a_wrong_value_is_refused_by_the_name_of_its_argument(cls: type, unchecked: None) -> None:
    known = made_with().get(cls, {})
    silent = []
    for name, value in wrong(cls):
        try:
            cls(**{**known, name: value})
        except (ValueError, TypeError) as error:
            if not re.search(rf"\b{name}\b", str(error)):
                silent.append((name, value, str(error)))
        else:
            silent.append((name, value, "taken"))
    assert not silent


def test_all_public_modules_are_tried() -> None:
    public = {
        cls
        for home in (*faces("farfield.nn"), *faces("farfield.models"))
        for cls in map(vars(home).get, home.__all__)
        if isinstance(cls, type) and issubclass(cls, nn.Module)
    }
    assert public <= made_with().keys()
