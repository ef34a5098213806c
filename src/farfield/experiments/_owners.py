"""Owner of a module: Farfield, the user, or Python and installed packages."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_INSTALLED: Final = tuple(
    Path(sysconfig.get_path(name)).resolve()
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
"""Folders of Python and of installed packages."""

_FOLDERS: Final = {"site-packages", "dist-packages"}
"""Names of such folders wherever they are."""


def is_ours(thing: type | Callable[..., object]) -> bool:
    """True if `thing` is part of Farfield, and so covered by its versions."""
    return thing.__module__.partition(".")[0] == "farfield"


def is_of_the_user(module: str) -> bool:
    """True if a module is neither Farfield's nor Python's nor of an installed package.

    Args:
        module: Its full name; one that was never imported, and cannot be, was made by the user.
    """
    package = module.partition(".")[0]
    if package == "__main__":
        return True
    if package == "farfield" or package in sys.stdlib_module_names:
        return False
    file = _file_of(module) or _file_of(package)
    return file is None or not _is_installed(file)


@cache
def _is_installed(file: str) -> bool:
    """True if a file lies in a folder of Python or of installed packages."""
    path = Path(file).resolve()
    inside = any(path.is_relative_to(folder) for folder in _INSTALLED)
    return inside or not _FOLDERS.isdisjoint(path.parts)


def _file_of(name: str) -> str | None:
    """The file of a module or the folder of a package, if there is one."""
    module = sys.modules.get(name)
    if module is None:
        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            return None
        return (
            None
            if spec is None
            else spec.origin or next(iter(spec.submodule_search_locations or ()), None)
        )
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else next(iter(getattr(module, "__path__", ())), None)
