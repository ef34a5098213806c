"""The public names of a package, from what its `__init__` binds."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType


def exported(names: Mapping[str, object]) -> list[str]:
    """Public names of a package, sorted: all that it binds but modules and what serves `__init__`.

    Args:
        names: `vars()` at the end of `__init__`.
    """
    helpers = {"Final", "exported"}
    return sorted(
        name
        for name, value in names.items()
        if name[0] != "_" and name not in helpers and not isinstance(value, ModuleType)
    )
