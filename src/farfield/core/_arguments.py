"""Run-time checks of arguments against their annotations.

There are two ways in which a class takes arguments, and one function for each: a frozen dataclass
calls `check_fields(self)` first in its `__post_init__`; an ordinary constructor or function is
decorated with `@check_arguments`. Either takes NumPy's numbers for numbers and lists for tuples,
and refuses what is of another type, or a number outside of the limits of its annotation, by the
name of the argument. What has no annotation passes as it is.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from inspect import Parameter
from typing import Any, ClassVar, Final, NamedTuple, ParamSpec, Protocol, TypeVar

from farfield.core._hints import Kind, hints_of, kind_of

CONSTRUCTOR: Final = (
    "Make one; `farfield.core.ARGUMENTS` and base classes describe what the class does not."
)
"""Docstring of constructors that have none."""

P = ParamSpec("P")
R = TypeVar("R")


class DataclassInstance(Protocol):
    """Instance of any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


def check_fields(owner: DataclassInstance) -> None:
    """Convert and check every field of a dataclass by its annotation.

    Args:
        owner: The dataclass, frozen or not, whose fields are set.

    Raises:
        ValueError: If a field is of another type, or a number outside of its limits.
    """
    for name, kind in _field_kinds(type(owner)):
        value = getattr(owner, name)
        taken = kind.take(name, value)
        if taken is not value:
            object.__setattr__(owner, name, taken)


@cache
def _field_kinds(cls: type[DataclassInstance]) -> tuple[tuple[str, Kind], ...]:
    hints = hints_of(cls)
    return tuple((field.name, kind_of(hints[field.name])) for field in dataclasses.fields(cls))


def check_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function or method so that its arguments are checked by their annotations.

    Its signature, name and docstring stay; a constructor without a docstring gets one that says
    where arguments are described. Defaults are not checked, and what does not fit the signature
    fails as without the check. Annotations are read at the first call.

    Args:
        function: The function.

    Raises:
        ValueError: At a call, if an argument is of another type, or a number outside of its limits.
    """

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        known = _signature(function)
        positional = [
            known.take(*known.names_at(position), value) for position, value in enumerate(args)
        ]
        named = {
            name: known.take(name, name if name in known.kinds else known.others, value)
            for name, value in kwargs.items()
        }
        return function(*positional, **named)

    if function.__name__ == "__init__":
        checked.__doc__ = function.__doc__ or CONSTRUCTOR
    return checked


class _Signature(NamedTuple):
    """Names of the arguments by position, of `*more` and `**others`, and kinds by name."""

    positions: tuple[str, ...]
    more: str
    others: str
    kinds: dict[str, Kind]

    def names_at(self, position: int) -> tuple[str, str]:
        """Name of a positional argument, and the parameter that gives its type."""
        if position < len(self.positions):
            return self.positions[position], self.positions[position]
        return f"{self.more}[{position - len(self.positions)}]", self.more

    def take(self, name: str, known_as: str, value: Any) -> Any:
        """The argument, converted and checked by its annotation."""
        kind = self.kinds.get(known_as)
        return value if kind is None else kind.take(name, value)


@cache
def _signature(function: Callable[..., object]) -> _Signature:
    by_kind: dict[object, list[str]] = defaultdict(list)
    for name, parameter in inspect.signature(function).parameters.items():
        by_kind[parameter.kind].append(name)
    return _Signature(
        (*by_kind[Parameter.POSITIONAL_ONLY], *by_kind[Parameter.POSITIONAL_OR_KEYWORD]),
        "".join(by_kind[Parameter.VAR_POSITIONAL]),
        "".join(by_kind[Parameter.VAR_KEYWORD]),
        {name: kind_of(hint) for name, hint in hints_of(function).items()},
    )
