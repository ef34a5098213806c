"""Public names of a package, from the names that its `__init__` binds."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType


def exported(names: Mapping[str, object]) -> list[str]:
    """List the public names of a package: its names, except modules and tools of `__init__`.

    Args:
        names: `vars()` at the end of `__init__`.
    """
    helpers = {"Final", "TYPE_CHECKING", "exported", "face", "moved"}
    return sorted(
        name
        for name, value in names.items()
        if name[0] != "_" and name not in helpers and not isinstance(value, ModuleType)
    )


def face(names: dict[str, object]) -> list[str]:
    """List the public names of a package that has an internal face; former names warn.

    Args:
        names: `vars()` at the end of `__init__`; its `__getattr__` is set.
    """
    names["__getattr__"] = moved(str(names["__name__"]))
    return exported(names)


def moved(package: str) -> Callable[[str], object]:
    """Make the `__getattr__` of a package: a former public name is found, with a warning.

    Args:
        package: Name of the package, e.g. `"farfield.nn"`.
    """

    def find(name: str) -> object:
        face = f"{package}.internal"
        if not name.startswith("_") and name != "internal":
            inner = importlib.import_module(face)
            if name in inner.__all__:
                warnings.warn(
                    f"{package}.{name} is {face}.{name} now; the next release drops the old name",
                    DeprecationWarning,
                    stacklevel=2,
                )
                return getattr(inner, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find


def faces(package: str) -> list[ModuleType]:
    """Import the two faces of a package: the one for users, and the one for Farfield itself.

    Args:
        package: Name of the package, e.g. `"farfield.nn"`; without such a package there is no face.
    """
    found = []
    for name in (package, f"{package}.internal"):
        with suppress(ModuleNotFoundError):
            found.append(importlib.import_module(name))
    return found
