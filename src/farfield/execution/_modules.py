"""Modules of an experiment: the user's in a worker process, and installed packages."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

from farfield._files import python_digest
from farfield.execution._job import WorkerError, reason_of
from farfield.experiments import Experiment
from farfield.experiments.internal import is_of_the_user, is_ours
from farfield.tasks import Environment

WORKER: Final = "FARFIELD_WORKER"
"""Variable of the environment of a worker process: the module of the user's imported there."""


def check_no_worker() -> None:
    """Raise `WorkerError` in a worker process, which would start workers without end.

    Raises:
        WorkerError: If this process, or one that it came from, is a worker.
    """
    if module := os.environ.get(WORKER):
        raise WorkerError(
            f"runs must not be started while {module} is imported, as worker processes import it "
            f"too: in {module}, put the call that starts them under if __name__ == '__main__':"
        )


def foreign(value: object) -> list[Any]:
    """List the classes and functions in an experiment that are not Farfield's.

    Args:
        value: An experiment or a part of one.
    """
    if isinstance(value, type | FunctionType):
        return [] if is_ours(value) else [value]
    found: list[Any] = []
    if isinstance(value, tuple):
        for part in value:
            found += foreign(part)
    elif dataclasses.is_dataclass(value):
        found += foreign(type(value))
        for field in dataclasses.fields(value):
            found += foreign(getattr(value, field.name))
    return found


def import_paths(classes: Iterable[Any]) -> list[str]:
    """Build the path for modules of another process that needs some classes.

    Entries are those that they were when they were first used, wherever this process is now.

    Args:
        classes: Classes that are not Farfield's.
    """
    paths = list[str]()
    with contextlib.suppress(FileNotFoundError):  # the current folder may be gone
        paths += [_absolute(entry) for entry in sys.path if isinstance(entry, str)]
    tops = [sys.modules.get(cls.__module__.partition(".")[0]) for cls in classes]
    return [*dict.fromkeys([*paths, *(root for top in tops for root in _roots(top))])]


def _absolute(entry: str) -> str:
    finder = sys.path_importer_cache.get(entry)
    return str(getattr(finder, "path", None) or os.path.abspath(entry))  # noqa: PTH100


def _roots(module: ModuleType | None) -> list[str]:
    """List the folders of a module or package."""
    file = getattr(module, "__file__", None)
    if file is not None:
        folder = Path(file).absolute().parent
        return [str(folder.parent if Path(file).stem == "__init__" else folder)]
    return [str(Path(part).absolute().parent) for part in getattr(module, "__path__", ())]


def spawn_error(classes: Iterable[Any]) -> str | None:
    """Reason that another process could not import these classes, or `None` if it can.

    Args:
        classes: Classes that are not Farfield's.
    """
    for cls in classes:
        if cls.__module__ == "__main__":
            return f"{cls.__name__} is defined in the script itself, not in a module"
        if "<" in cls.__qualname__:  # <locals>, or <lambda>
            return f"{cls.__name__} is defined inside a function"
        if PathFinder.find_spec(cls.__module__.partition(".")[0], import_paths([cls])) is None:
            return f"{cls.__name__} comes from {cls.__module__}, which cannot be imported again"
    return None


_failed: Final = dict[str, str]()
"""Errors of modules that could not be imported in this process."""


def import_class(module: str, name: str, announce: Callable[[str], None]) -> Any:
    """Load a class of the user's in a worker process; its module is imported at most once.

    Args:
        module: Name of the module.
        name: Name of the class in it.
        announce: Takes the name of the module before it is imported, and nothing after it.

    Raises:
        WorkerError: If the module cannot be imported, now or before, or has no such class.
    """
    if module in _failed:
        raise WorkerError(_failed[module])
    if module not in sys.modules:
        announce(module)
    os.environ[WORKER] = module
    try:
        found: Any = importlib.import_module(module)
    except BaseException as error:  # also sys.exit
        _failed[module] = f"a worker process cannot import {module}: {reason_of(error)}"
        raise WorkerError(_failed[module]) from error
    announce("")
    for part in name.split("."):
        if not hasattr(found, part):
            raise WorkerError(
                f"{module} has no {name} where a worker process imports it; define it at the top "
                "of the module"
            )
        found = getattr(found, part)
    return found


STATED: Final = frozenset({"farfield", "torch", "numpy"})
"""Packages whose versions every record states."""

WORLDS: Final = ("gymnasium", "ale_py", "minigrid")
"""Packages that environments are made of, where they are imported."""


def packages_of(experiment: Experiment) -> str:
    """List the installed packages behind the user's classes and functions in an experiment.

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
    """List the modules that the values of a module come from."""
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
    """Find the distribution of a package, by the name of either."""
    for name in (top, *_names(top)):
        try:
            return metadata.distribution(name)
        except (metadata.PackageNotFoundError, ValueError):
            continue
    return None


def _names(top: str) -> Iterator[str]:
    """List the distributions of an installed package; all metadata is read for it."""
    if any(
        not {"site-packages", "dist-packages"}.isdisjoint(place.parts) for place in _places(top)
    ):
        yield from metadata.packages_distributions().get(top, ())


def _places(top: str) -> list[Path]:
    """List the folders of a package, or the file of a module."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # of a module that was made by hand
        return []
    if spec is None:
        return []
    return [*map(Path, spec.submodule_search_locations or filter(None, [spec.origin]))]
