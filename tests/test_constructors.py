"""Every public constructor with a wrong value for each of its arguments: all are refused by name.

Valid arguments are those with which the mechanisms of `test_zoo` and `test_factory_arguments` are
made; a task is made with its defaults.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from torch import nn

import farfield.models
import farfield.nn
from farfield.tasks import TASKS
from test_zoo import MODULES

HUGE = 10**12
BAD: dict[str, tuple[object, ...]] = {
    "int": ("no", None, 1.5, math.nan, True, [], -1, HUGE),
    "float": ("no", None, math.nan, math.inf, True, []),
    "bool": ("no", None, 1, 0, math.nan, []),
    "str": (1, None, [], True),
    "tuple": ("no", None, 1, math.nan, {}),
    "other": ("no", 1, nn.Linear, math.nan),
}
"""Values that are none of the annotated type, by type; `None` is left out where it is allowed."""
UNSET = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def kind_of(annotation: str) -> str:
    """The key of `BAD` for an annotation; empty for what takes anything."""
    own = annotation.removesuffix(" | None")
    names = {"Size": "int", "Depth": "int", "PositiveInt": "int", "NonNegativeInt": "int"}
    names |= {"PositiveFloat": "float", "NonNegativeFloat": "float", "Dropout": "float"}
    names |= {"Fraction": "float"}
    if own.startswith(("tuple", "Sequence")):
        return "tuple"
    if own in ("Device", "Any", "object"):
        return ""
    own = names.get(own, own)
    return own if own in BAD else "other"


@cache
def made_with() -> dict[type, dict[str, Any]]:
    """Arguments that the public modules of the zoo were made with, by class."""
    public = [
        cls
        for home in (farfield.nn, farfield.models)
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
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.kind in UNSET or parameter.annotation is inspect.Parameter.empty:
            continue
        annotation = str(parameter.annotation)
        for value in BAD.get(kind_of(annotation), ()):
            if not (value is None and annotation.endswith("None")):
                yield name, value


CASES = [*made_with(), *TASKS.values()]


@pytest.mark.parametrize("cls", CASES, ids=lambda cls: cls.__name__)
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
        for home in (farfield.nn, farfield.models)
        for cls in map(vars(home).get, home.__all__)
        if isinstance(cls, type) and issubclass(cls, nn.Module)
    }
    assert public <= made_with().keys()
