"""Owner of a module: Farfield, the user, or Python and installed packages."""

from __future__ import annotations

import json
import re
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from importlib import metadata
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
    return module_name(thing).partition(".")[0] == "farfield"


def module_name(thing: type | Callable[..., object]) -> str:
    """Name of the module of a class or function, empty where it is not known, as in Cython.

    Args:
        thing: A class or function.
    """
    module = getattr(thing, "__module__", None)
    return module if isinstance(module, str) else ""


def is_of_the_user(module: str) -> bool:
    """True if a module is neither Farfield's nor Python's nor of a package of others.

    An installed package is the user's if it was copied there by hand or installed from a folder or
    file of the machine, unless Farfield depends on it.

    Args:
        module: Its full name; one that was never imported, and cannot be, was made by the user.
    """
    package = module.partition(".")[0]
    if package == "__main__":
        return True
    if package == "farfield" or package in sys.stdlib_module_names:
        return False
    file = _file_of(module) or _file_of(package)
    return file is None or not _is_installed(file) or (_is_among(file) and _is_local(package))


_IMPORTED_AS: Final = {"PIL": "pillow", "sklearn": "scikit-learn"}
"""Distributions whose packages have other names, among those that Farfield depends on."""


@cache
def _is_local(package: str) -> bool:
    """True if an installed package is of no distribution, or of one from a folder or file."""
    found = _distribution(_IMPORTED_AS.get(package, package))
    if found is None:
        names = metadata.packages_distributions().get(package)
        found = _distribution(names[0]) if names else None
    if found is None:
        return True
    if _plain(found.name) in _dependencies() or "conda" in (found.read_text("INSTALLER") or ""):
        return False
    try:
        url = json.loads(found.read_text("direct_url.json") or "{}").get("url", "")
    except (ValueError, AttributeError):
        return False
    return str(url).startswith("file:")


def _distribution(name: str) -> metadata.Distribution | None:
    try:
        return metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None


@cache
def _dependencies() -> frozenset[str]:
    """Names of the distributions that Farfield depends on, those for extras among them."""
    found = _distribution("farfield")
    required = (found.requires if found else None) or []
    return frozenset(_plain(re.split(r"[^\w.-]", text, maxsplit=1)[0]) for text in required)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def _is_among(file: str) -> bool:
    """True if a file lies in a folder of installed packages, not in Python's own."""
    path = Path(file).resolve()
    inside = any(path.is_relative_to(folder) for folder in _INSTALLED[2:])
    return inside or not _FOLDERS.isdisjoint(path.parts)


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
