"""Run-time checks of arguments against their annotations.

There are two ways in which a class takes arguments: a frozen dataclass calls `check_fields(self)`
first in its `__post_init__`; an ordinary constructor or function is decorated with
`@check_arguments`, or with `@extend_arguments(Base)` if it takes the keywords of a base too. Either
takes NumPy's numbers for numbers and lists for tuples, and refuses a value of another type, or a
number outside of the limits of its annotation, by the name of the argument. An argument without an
annotation passes unchecked.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import operator
import types
import typing
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import Parameter
from numbers import Real
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    final,
)

import numpy as np
import torch

from farfield.core._argument_texts import CONSTRUCTOR


@final
class ArgumentError(ValueError):
    """An argument of the wrong type, or a number outside its limits.

    Args:
        name: Of the argument, or of the part of it that is wrong, e.g. `"sizes[1]"`.
        wanted: Expected value in words, e.g. `"an int"`.
        value: Given value.
        mend: Expression to write instead; empty if unknown.
    """

    def __init__(self, name: str, wanted: str, value: object, mend: str = "") -> None:
        self.name = name
        self.mend = mend
        super().__init__(f"{name} must be {wanted}, got {_shown(value)}{mend and '; ' + mend}")

    def says_more(self, name: str) -> bool:
        """Tell if the error names a part of the argument `name`, or a correction.

        Args:
            name: Of the argument.
        """
        return self.name != name or bool(self.mend)


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a number, as a mark of its annotation: `Annotated[int, Limits(at_least=1)]`.

    Args:
        at_least: Least number; `None` for no limit.
        above: Lower limit, excluded.
        at_most: Greatest number.
        below: Upper limit, excluded.
    """

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None

    def hold(self, value: float) -> bool:
        """Check that a number is within the limits.

        Args:
            value: The number.
        """
        return (
            (self.at_least is None or value >= self.at_least)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        """Describe the limits in words, e.g. `of at least 0 and below 1`, or `0…1`."""
        given = {name: limit for name, limit in vars(self).items() if limit not in (None, _LARGEST)}
        if given.keys() == {"at_least", "at_most"}:
            return f"{self.at_least}…{self.at_most}"
        words = {"at_least": "of at least", "at_most": "of at most"}
        return " and ".join(f"{words.get(name, name)} {limit}" for name, limit in given.items())


_LARGEST = 2**63 - 1
"""Largest integer that torch and SQLite take; no error names it as a limit."""

Seed = Annotated[int, Limits(at_least=0)]
"""Seed of a random stream, of any size."""

PositiveInt = Annotated[int, Limits(at_least=1, at_most=_LARGEST)]
"""Integer of at least 1."""

NonNegativeInt = Annotated[int, Limits(at_least=0, at_most=_LARGEST)]
"""Integer of at least 0."""

Size = Annotated[int, Limits(at_least=1, at_most=2**24)]
"""Number of features, slots or steps; a larger number would exhaust any memory."""

Depth = Annotated[int, Limits(at_least=1, at_most=2**10)]
"""Number of stacked modules, or of iterations of a module."""

PositiveFloat = Annotated[float, Limits(above=0)]
"""Number above 0."""

NonNegativeFloat = Annotated[float, Limits(at_least=0)]
"""Number of at least 0."""

Fraction = Annotated[float, Limits(at_least=0, at_most=1)]
"""Number of 0…1."""


FractionBelowOne = Annotated[float, Limits(at_least=0, below=1)]
"""Number of 0…1, without 1."""


Dropout = FractionBelowOne
"""Probability of dropout, below 1."""


class Kind(NamedTuple):
    """Checker of one annotation.

    Attributes:
        words: In words, e.g. `"an int"`.
        take: Function from the name of an argument and the given value to the value of that type;
            raises `ArgumentError` for any other value.
        exact: Types whose values `take` returns unchanged, so that it need not be called.
    """

    words: str
    take: Callable[[str, Any], Any]
    exact: frozenset[type] = frozenset()


@cache
def kind_of(hint: Any) -> Kind:
    """Build the checker of an annotation; it accepts everything if the annotation has no check.

    Args:
        hint: The annotation, resolved: a type, and no text.
    """
    origin = typing.get_origin(hint) or hint
    if origin in _PLAIN:
        return _PLAIN[origin]
    if origin in _BUILT:
        return _BUILT[origin](hint)
    for attribute in ("array_type", "__supertype__", "__value__"):  # jaxtyping's, new, named types
        if hasattr(hint, attribute):
            return kind_of(getattr(hint, attribute))
    return _instance_of(origin) if isinstance(origin, type) else _ANYTHING


def _simple(words: str, convert: Callable[[Any], Any], *exact: type) -> Kind:
    """Build a checker from a function that raises `TypeError` for other types."""

    def take(name: str, value: Any) -> Any:
        try:
            return convert(value)
        except (TypeError, OverflowError):
            raise ArgumentError(name, words, value) from None

    return Kind(words, take, frozenset(exact))


def _flag(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise TypeError


def _int(value: Any) -> int:
    if type(value) is not int:
        _check_number(value)
        value = operator.index(value)
    return int(value)


def _float(value: Any) -> float:
    _check_number(value)
    if not isinstance(value, Real | np.ndarray | torch.Tensor):
        raise TypeError
    number = float(value) + 0.0  # there is one zero
    if not math.isfinite(number):
        raise TypeError
    return number


def _check_number(value: Any) -> None:
    """Raise `TypeError` for flags, and for arrays that are not a constant of one number."""
    array = isinstance(value, np.ndarray | torch.Tensor)
    if isinstance(value, bool | np.bool_) or (
        array and (value.ndim or value.dtype in (torch.bool, np.bool_) or _is_learned(value))
    ):
        raise TypeError


def _is_learned(value: Any) -> bool:
    return bool(getattr(value, "requires_grad", False))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    raise TypeError


def _none(value: Any) -> None:
    if value is not None:
        raise TypeError


def _take_as_it_is(name: str, value: Any) -> Any:
    del name
    return value


def _take_callable(name: str, value: Any) -> Any:
    if not callable(value):
        raise ArgumentError(name, "callable", value)
    return value


_ANYTHING = Kind("anything", _take_as_it_is)

_PLAIN: dict[Any, Kind] = {
    bool: _simple("True or False", _flag, bool),
    int: _simple("an int", _int, int),
    float: _simple("a finite number", _float),
    str: _simple("text", _text, str),
    type(None): _simple("None", _none, type(None)),
    object: _ANYTHING,
    Any: _ANYTHING,
    Callable: Kind("callable", _take_callable),
}


def _limited(hint: Any) -> Kind:
    """Build the checker of a number with the `Limits` of its annotation."""
    kind = kind_of(hint.__origin__)
    limits = [mark for mark in hint.__metadata__ if isinstance(mark, Limits)]
    if not limits:
        return kind
    words = f"{kind.words} {' and '.join(map(str, limits))}"

    def take(name: str, value: Any) -> Any:
        try:
            found = value if type(value) in kind.exact else kind.take(name, value)
        except ArgumentError:
            raise ArgumentError(name, words, value) from None
        for limit in limits:
            if not limit.hold(found):
                raise ArgumentError(name, words, value)
        return found

    return Kind(words, take)


def _any_of(hint: Any) -> Kind:
    """Build the checker of a union: one of its types, else converted by the first."""
    late = {float: 1, type(None): 2}  # an int is an int first; None is named last
    hints = sorted(typing.get_args(hint), key=lambda part: late.get(_bare(part), 0))
    kinds = [kind_of(part) for part in hints]
    words = " or ".join(kind.words for kind in kinds)
    plain = {_bare(part): kind for part, kind in zip(hints, kinds, strict=True)}
    # A number is converted only after all types that take it unconverted.
    order = [kind for part, kind in plain.items() if part not in (bool, int, float)] + kinds

    def take(name: str, value: Any) -> Any:
        nearest: ArgumentError | None = None
        exact = plain.get(type(value))
        for kind in order if exact is None else (exact,):
            try:
                return kind.take(name, value)
            except ArgumentError as error:
                nearest = nearest or (error if error.says_more(name) else None)
        raise nearest or ArgumentError(name, words, value)

    return Kind(words, take, frozenset(t for t, kind in plain.items() if t in kind.exact))


def _bare(hint: Any) -> Any:
    """Remove the marks of an annotation."""
    return hint.__origin__ if typing.get_origin(hint) is Annotated else hint


def _one_of(hint: Any) -> Kind:
    values = typing.get_args(hint)
    words = " or ".join(repr(value) for value in values)

    def take(name: str, value: Any) -> Any:
        for known in values:
            if type(known) is type(value) and known == value:
                return known
        raise ArgumentError(name, words, value)

    return Kind(words, take)


def _tuple_of(hint: Any) -> Kind:
    """Build the checker of a tuple, which converts any ordered iterable except text."""
    hints = typing.get_args(hint)
    endless = len(hints) == 2 and hints[1] is Ellipsis
    kinds = [kind_of(hint) for hint in (hints[:1] if endless else hints)]
    inner = ", ".join(kind.words for kind in kinds)
    words = f"a tuple of parts, each {inner}" if endless else f"a tuple ({inner})"

    def take(name: str, value: Any) -> Any:
        if not _has_parts_in_order(value):
            raise ArgumentError(name, words, value)
        value = tuple(value)
        if endless and kinds[0].exact.issuperset(map(type, value)):
            return value
        wanted = kinds * len(value) if endless else kinds if hints else [_ANYTHING] * len(value)
        if len(wanted) != len(value):
            raise ArgumentError(name, words, value)
        parts = zip(wanted, value, strict=True)
        return tuple(kind.take(f"{name}[{k}]", part) for k, (kind, part) in enumerate(parts))

    return Kind(words, take)


def _has_parts_in_order(value: object) -> bool:
    if isinstance(value, np.ndarray | torch.Tensor):
        return value.ndim > 0
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | set | type)


def _class_of(hint: Any) -> Kind:
    """Build the checker of a class, or of a subclass of a given class."""
    (parent,) = typing.get_args(hint) or (None,)
    if not isinstance(parent, type):
        return _simple("a class", _take_class)
    words = f"a class, {parent.__name__} or one under it"

    def take(name: str, value: Any) -> Any:
        if not (isinstance(value, type) and issubclass(value, parent)):
            raise ArgumentError(name, words, value)
        return value

    return Kind(words, take)


def _take_class(value: Any) -> type:
    if isinstance(value, type):
        return value
    raise TypeError


def _instance_of(cls: type) -> Kind:
    """Build the checker of an instance of a class or protocol; text is no sequence."""
    words = f"{'an' if cls.__name__[0] in 'AEIOUaeiou' else 'a'} {cls.__name__}"
    if getattr(cls, "_is_protocol", False) and not getattr(cls, "_is_runtime_protocol", False):
        return _ANYTHING

    def take(name: str, value: Any) -> Any:
        text = isinstance(value, str | bytes) and cls.__module__ == "collections.abc"
        if text or isinstance(value, type) or not is_instance(value, cls):
            raise ArgumentError(name, words, value, _mend(cls, value))
        return value

    return Kind(words, take, frozenset({cls}))


_INSTANCES: dict[tuple[type, type], bool] = {}


def is_instance(value: object, cls: type) -> bool:
    """Call `isinstance`, slow for a protocol, once for each class of frozen dataclasses.

    All objects of such a class have the same members.

    Args:
        value: Any object.
        cls: A class or protocol.
    """
    own = type(value)
    if not getattr(getattr(own, "__dataclass_params__", None), "frozen", False):
        return isinstance(value, cls)
    if (own, cls) not in _INSTANCES:
        _INSTANCES[own, cls] = isinstance(value, cls)
    return _INSTANCES[own, cls]


_BUILT: dict[Any, Callable[[Any], Kind]] = {
    Annotated: _limited,
    Union: _any_of,
    types.UnionType: _any_of,
    Literal: _one_of,
    tuple: _tuple_of,
    type: _class_of,
}


def _mend(cls: type, value: Any) -> str:
    """Suggest the expression that `value` was probably meant to be, or an empty text."""
    if isinstance(value, type) and _may_stand_for(cls, value):
        return f"write {value.__name__}(…)"
    if getattr(cls, "_is_protocol", False):
        return _missing(cls, value)
    if not dataclasses.is_dataclass(cls):
        return ""
    first = next(iter(inspect.signature(cls).parameters.values()), None)
    hint = hints_of(cls).get(first.name) if first else None
    if first is None or hint is None:
        return ""
    try:
        kind_of(hint).take(first.name, value)
    except ArgumentError:
        return ""
    named = f"{first.name}=" if first.kind is first.KEYWORD_ONLY else ""
    shown = _shown(value).removeprefix("the class ")
    return f"write {cls.__name__}({named}{'…' if shown.startswith('an object of') else shown})"


def _missing(protocol: type, value: Any) -> str:
    """List the members of a protocol that an object lacks, if it has most of them."""
    parts = [vars(part) for part in protocol.__mro__ if getattr(part, "_is_protocol", False)]
    names = {name for part in parts for name in (*part, *part.get("__annotations__", ()))}
    members = sorted(name for name in names if not name.startswith("_"))
    lacking = [name for name in members if not hasattr(value, name)]
    return f"it has no {', '.join(lacking)}" if 2 * len(lacking) < len(members) else ""


def _may_stand_for(cls: type, value: type) -> bool:
    """Check that instances of the class `value` are instances of the class or protocol `cls`."""
    return isinstance(value, cls) if getattr(cls, "_is_protocol", False) else issubclass(value, cls)


def _shown(value: object) -> str:
    """Format a value for an error, always short."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    text = repr(value)
    if isinstance(value, int) and len(text) > 80:
        return f"a number of {len(text)} digits"
    return text if len(text) <= 80 and "\n" not in text else f"an object of {type(value).__name__}"


T = TypeVar("T")


@cache
def hints_of(code: Callable[..., object]) -> dict[str, Any]:
    """Resolve the annotations of a function, or of a class's constructor arguments.

    Args:
        code: A class or a function.

    Raises:
        NameError: If an annotation contains a name that its module lacks.
    """
    if dataclasses.is_dataclass(code):
        return typing.get_type_hints(code, include_extras=True)
    function: Any = getattr(code, "__init__") if isinstance(code, type) else code  # noqa: B009
    found = typing.get_type_hints(function, include_extras=True)
    found.pop("return", None)
    return found


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
        if type(value) not in kind.exact and (taken := kind.take(name, value)) is not value:
            object.__setattr__(owner, name, taken)


@cache
def _field_kinds(cls: type[DataclassInstance]) -> tuple[tuple[str, Kind], ...]:
    hints = hints_of(cls)
    return tuple((field.name, kind_of(hints[field.name])) for field in dataclasses.fields(cls))


def check_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function or method so that its arguments are checked by their annotations.

    Its signature, name and docstring stay; a constructor without a docstring gets one that says
    where arguments are described. Defaults are not checked, and arguments that do not fit the
    signature fail as without the check. Annotations are read at the first call.

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


def extend_arguments(base: Callable[..., object]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator of a constructor whose `**options` go to the constructor of a base.

    It checks as `check_arguments` does, and shows the keywords of the base in the signature, where
    `**options` is written.

    Args:
        base: Class whose constructor takes the options and checks them, or a function.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        own, inherited = inspect.signature(function), inspect.signature(base).parameters.values()
        *named, options = own.parameters.values()
        known = {*own.parameters}
        more = [p for p in inherited if p.kind is p.KEYWORD_ONLY and p.name not in known]
        checked: Any = check_arguments(function)
        checked.__signature__ = own.replace(parameters=[*named, *more])
        checked.__annotations__ = {**hints_of(base), **function.__annotations__}
        del checked.__annotations__[options.name]
        return checked

    return decorate


class _Signature(NamedTuple):
    """Names of the arguments by position, of `*more` and `**others`, and kinds by name."""

    positions: tuple[str, ...]
    more: str
    others: str
    kinds: dict[str, Kind]

    def names_at(self, position: int) -> tuple[str, str]:
        """Find the name of a positional argument, and the parameter that gives its type."""
        if position < len(self.positions):
            return self.positions[position], self.positions[position]
        return f"{self.more}[{position - len(self.positions)}]", self.more

    def take(self, name: str, known_as: str, value: Any) -> Any:
        """Convert and check the argument by its annotation."""
        kind = self.kinds.get(known_as)
        return value if kind is None or type(value) in kind.exact else kind.take(name, value)


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
