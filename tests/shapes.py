"""Checks of shapes at run time: what the import hook of jaxtyping puts before each function.

Its own decorator binds the arguments of a call three times, compiles two functions for each that
it decorates, and decorates those too whose annotations have no shape.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable

import beartype
import jaxtyping
from jaxtyping import config
from jaxtyping._storage import pop_shape_memo, push_shape_memo

__name__ = "jaxtyping.shapes"  # keys leave out the functions of type checkers by their module

CONFIGURATION = beartype.BeartypeConf(
    is_pep484_tower=True,  # `int` stands for `float`, as type checkers have it
    violation_type=jaxtyping.TypeCheckError,
)


def install(modules: Iterable[str]) -> None:
    """Check the shapes of modules that are imported from now on."""
    jaxtyping.jaxtyped = _decorator
    jaxtyping.install_import_hook([*modules], "beartype.beartype")


def _decorator(*, typechecker: object) -> Callable[[type | Callable], type | Callable]:
    """Return the decorator of functions and classes; those without shapes stay as they are."""

    def decorate(thing: type | Callable) -> type | Callable:
        if isinstance(thing, type):
            if dataclasses.is_dataclass(thing) and "__init__" in vars(thing):
                thing.__init__ = decorate(thing.__init__)
            return thing
        return _with_checks(thing) if _names_a_shape(thing) else thing

    return decorate


def _names_a_shape(function: Callable) -> bool:
    names = {name for hint in function.__annotations__.values() for name in NAME.findall(str(hint))}
    return any("jaxtyping." in repr(function.__globals__.get(name)) for name in names)


NAME = re.compile(r"[A-Za-z_]\w*")


def _with_checks(function: Callable) -> Callable:
    checked = beartype.beartype(conf=CONFIGURATION)(function)

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        if config.jaxtyping_disable:
            return function(*args, **kwargs)
        push_shape_memo({})  # the same name of an axis is the same size within a call
        try:
            return checked(*args, **kwargs)
        finally:
            pop_shape_memo()

    return call
