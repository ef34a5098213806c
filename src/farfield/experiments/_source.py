"""The source that a user's class or function is written in, with what it refers to, as a digest."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
import sysconfig
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

_PARSING = threading.Lock()
"""Held while source is read: Python 3.11 parses it, and fails at that in two threads at once."""

_INSTALLED: Final = tuple(
    Path(sysconfig.get_path(name)).resolve()
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
"""Folders of Python and of what is installed, whose code is not the user's."""

Code = type | Callable[..., object]


def is_ours(thing: Code) -> bool:
    """Whether `thing` is part of Farfield, and so covered by its versions."""
    return thing.__module__.split(".")[0] == "farfield"


def source_digest(thing: Code) -> str:
    """Head of SHA-256 over the source of `thing`, so that edited code gets another name.

    The source of the user's classes and functions that it refers to by their names is in it, and
    theirs; so are plain values. What is reached otherwise, as `module.function`, is not.

    Args:
        thing: A class or function that is not part of Farfield.

    Raises:
        ValueError: If its source cannot be read: changed code would pass for the same.
    """
    found: dict[str, str] = {}
    waiting: list[Code] = [thing]
    while waiting:
        one = waiting.pop()
        name = f"{one.__module__}.{one.__qualname__}"
        if name in found:
            continue
        try:
            with _PARSING:
                found[name] = inspect.getsource(one)
        except (OSError, TypeError) as error:
            raise ValueError(
                f"the source of {one.__qualname__} must be at hand, so that another version of it "
                "is not taken for the same: write it in a file, and run that"
            ) from error
        for word, meant in _referred(found[name], one):
            if not callable(meant):
                found[f"{one.__module__}.{word}"] = repr(meant)
            elif _is_of_the_user(meant):
                waiting.append(meant)
    own, *others = found.values()  # the thing itself stands first
    text = "\n".join([own, *sorted(others)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _referred(source: str, code: Code) -> Iterator[tuple[str, Any]]:
    """Names that stand in the source and mean code or plain values of its module."""
    known = vars(sys.modules[code.__module__]) if code.__module__ in sys.modules else {}
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:  # a lambda, from the middle of its line
        return
    for word in sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}):
        meant = known.get(word)
        if isinstance(meant, type | bool | int | float | str) or inspect.isfunction(meant):
            yield word, meant


def _is_of_the_user(code: Code) -> bool:
    """Whether code is neither Farfield's nor Python's nor that of an installed package."""
    file = getattr(sys.modules.get(code.__module__), "__file__", None)
    if file is None or is_ours(code):
        return False
    place = Path(file).resolve()
    return not any(place.is_relative_to(folder) for folder in _INSTALLED)
