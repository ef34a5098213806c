"""Names of Python's builtins, whatever a package has put in their place."""

from __future__ import annotations

import builtins
import io
from collections.abc import Mapping
from types import BuiltinFunctionType
from typing import Any, Final

from farfield.experiments._owners import is_of_the_user

HEAP_TYPE: Final = 1 << 9
"""Mark of classes that are made by a class statement, not in C."""

_FUNCTIONS: Final = {
    *("__build_class__", "__import__", "abs", "aiter", "all", "anext", "any", "ascii", "bin"),
    *("breakpoint", "callable", "chr", "compile", "delattr", "dir", "divmod", "eval", "exec"),
    *("format", "getattr", "globals", "hasattr", "hash", "hex", "id", "input", "isinstance"),
    *("issubclass", "iter", "len", "locals", "max", "min", "next", "oct", "open", "ord", "pow"),
    *("print", "repr", "round", "setattr", "sorted", "sum", "vars"),
}
_CLASSES: Final = {
    *("bool", "bytearray", "bytes", "classmethod", "complex", "dict", "enumerate", "filter"),
    *("float", "frozenset", "int", "list", "map", "memoryview", "object", "property", "range"),
    *("reversed", "set", "slice", "staticmethod", "str", "super", "tuple", "type", "zip"),
}
BUILTINS: Final = _FUNCTIONS | _CLASSES
"""Names of builtin functions and classes, except errors."""

_OPEN: Final = str(io.open.__module__)


def replaced_builtins() -> Mapping[int, str]:
    """Names of the builtins that a package has replaced, as Ray does with `print`.

    By the identity of what the package has put there. A function of the user's is left out: as a
    value of a name that the user's module binds, it is the user's code.
    """
    return {
        id(value): name
        for name in BUILTINS
        if (value := vars(builtins).get(name)) is not None
        and own_name(value) is None
        and not is_of_the_user(str(getattr(value, "__module__", "")))
    }


def own_name(value: Any) -> str | None:
    """Name of a builtin function or class of Python's own, else `None`.

    Args:
        value: Any object.
    """
    if isinstance(value, type):
        is_static = not value.__flags__ & HEAP_TYPE and value.__module__ == "builtins"
        return value.__name__ if is_static and value.__name__ in _CLASSES else None
    if isinstance(value, BuiltinFunctionType) and value.__name__ in _FUNCTIONS:
        is_own = value.__module__ == (_OPEN if value.__name__ == "open" else "builtins")
        return value.__name__ if is_own else None
    return None


def builtin_line(name: str) -> tuple[str, str, str]:
    """Kind, module and name of a builtin, for a digest.

    Args:
        name: One of `BUILTINS`.
    """
    if name in _CLASSES:
        return "class", "builtins", name
    return "builtin", _OPEN if name == "open" else "builtins", name
