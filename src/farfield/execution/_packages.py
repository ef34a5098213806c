"""Installed packages that an experiment uses beside Farfield, for its records."""

from __future__ import annotations

import functools
import importlib.util
import json
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Final

from farfield._files import python_digest
from farfield.execution._imports import foreign
from farfield.experiments import Experiment, is_of_the_user
from farfield.tasks import Environment

STATED: Final = frozenset({"farfield", "torch", "numpy"})
"""Packages whose versions every record states."""

WORLDS: Final = ("gymnasium", "ale_py", "minigrid")
"""Packages that environments are made of, where they are imported."""


def packages_of(experiment: Experiment) -> str:
    """Installed packages that the user's classes and functions in an experiment are made of.

    They are those of the classes, and those imported by the modules of the user's that lead there.
    One from an index has its version, e.g. `einops 0.8.1`; one that was installed from a folder or
    file, in editable form or not, also a digest of its source.

    Args:
        experiment: Any.
    """
    modules = [thing.__module__ for thing in foreign(experiment)]
    tops, seen = dict[str, None](), set[str]()
    while modules:
        module = modules.pop()
        top = module.partition(".")[0]
        if module in seen or top in STATED or top in sys.stdlib_module_names:
            continue
        seen.add(module)
        tops[top] = None
        if is_of_the_user(module):
            modules += _imported_by(sys.modules.get(module))
    if isinstance(experiment.task, Environment):
        tops |= dict.fromkeys(name for name in WORLDS if name in sys.modules)
    return ", ".join(filter(None, map(_described, sorted(tops))))


def _imported_by(module: ModuleType | None) -> list[str]:
    """Names of the modules that the values of a module come from."""
    held = {} if module is None else vars(module)
    values = [value for name, value in held.items() if not name.startswith(("__", "@"))]
    names = [
        value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        for value in values
    ]
    return [name for name in names if isinstance(name, str)]


@functools.cache
def _described(top: str) -> str:
    """Name and version of the distribution of a package; empty if it belongs to none."""
    found = _distribution(top)
    if found is None:
        return ""
    try:
        url = json.loads(found.read_text("direct_url.json") or "{}").get("url", "")
    except (ValueError, AttributeError):
        url = ""
    source = f" (source {python_digest(_places(top))})" if str(url).startswith("file:") else ""
    return f"{found.name} {found.version}{source}"


def _distribution(top: str) -> metadata.Distribution | None:
    """Distribution of a package, by the name of either."""
    for name in (top, *_names(top)):
        try:
            return metadata.distribution(name)
        except (metadata.PackageNotFoundError, ValueError):
            continue
    return None


def _names(top: str) -> Iterator[str]:
    """Names of the distributions of an installed package; all there are are read for it."""
    if any(
        not {"site-packages", "dist-packages"}.isdisjoint(place.parts) for place in _places(top)
    ):
        yield from metadata.packages_distributions().get(top, ())


def _places(top: str) -> list[Path]:
    """Folders of a package, or the file of a module."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # of a module that was made by hand
        return []
    if spec is None:
        return []
    return [*map(Path, spec.submodule_search_locations or filter(None, [spec.origin]))]
