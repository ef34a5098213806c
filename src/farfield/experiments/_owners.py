"""Owner of code: Farfield, the user, or others; and parts of Farfield that were replaced."""

from __future__ import annotations

import builtins
import io
import json
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, partial, partialmethod
from importlib import metadata
from importlib.util import find_spec
from operator import attrgetter, eq
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final, final

_INSTALLED: Final = tuple(
    Path(sysconfig.get_path(name)).resolve()
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
"""Folders of Python and of installed packages."""

_FOLDERS: Final = {"site-packages", "dist-packages"}
"""Names of folders of installed packages."""


def is_ours(thing: type | Callable[..., object]) -> bool:
    """Tell if `thing` is part of Farfield, and so covered by its versions."""
    return module_name(thing).partition(".")[0] == "farfield"


def module_name(thing: type | Callable[..., object]) -> str:
    """Find the module of a class or function, empty if it is not known, as in Cython.

    Args:
        thing: A class or function.
    """
    module = getattr(thing, "__module__", None)
    return module if isinstance(module, str) else ""


def is_known_by_name(value: type) -> bool:
    """Tell if a class is found by its name in a module not the user's, or is made in C."""
    if not value.__flags__ & HEAP_TYPE:
        return True
    module = module_name(value)
    if not module:  # as classes of Cython hide it
        return True
    if is_of_the_user(module):
        return False
    found: Any = sys.modules.get(module)
    for part in value.__qualname__.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    return found is value or is_ours(value)


def is_of_the_user(module: str) -> bool:
    """Tell if a module is neither Farfield's nor Python's nor of a package of others.

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
"""Distributions that Farfield depends on and whose packages have other names."""


@cache
def _is_local(package: str) -> bool:
    """Tell if an installed package is of no distribution, or of one from a folder or file."""
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
    """List the distributions that Farfield depends on, with its extras."""
    found = _distribution("farfield")
    required = (found.requires if found else None) or []
    return frozenset(_plain(re.split(r"[^\w.-]", text, maxsplit=1)[0]) for text in required)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def _is_among(file: str) -> bool:
    """Tell if a file lies in a folder of installed packages, not in Python's own."""
    path = Path(file).resolve()
    inside = any(path.is_relative_to(folder) for folder in _INSTALLED[2:])
    return inside or not _FOLDERS.isdisjoint(path.parts)


@cache
def _is_installed(file: str) -> bool:
    """Tell if a file lies in a folder of Python or of installed packages."""
    path = Path(file).resolve()
    inside = any(path.is_relative_to(folder) for folder in _INSTALLED)
    return inside or not _FOLDERS.isdisjoint(path.parts)


def _file_of(name: str) -> str | None:
    """Find the file of a module or the folder of a package, if there is one."""
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
    """List the names of the builtins that a package has replaced, as Ray does with `print`.

    By the identity of the package's replacement. A function of the user's is left out: as a
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
    """Find the name of a builtin function or class of Python's own, else `None`.

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
    """Find the kind, module and name of a builtin, for a digest.

    Args:
        name: One of `BUILTINS`.
    """
    if name in _CLASSES:
        return "class", "builtins", name
    return "builtin", _OPEN if name == "open" else "builtins", name


_OURS: Final = "farfield."

_MADE_LATER: Final = {
    "__abstractmethods__",
    "__annotations__",
    "__annotations_cache__",
    "__doc__",
    "__non_callable_proto_members__",
    "__protocol_attrs__",
    "__slotnames__",
    "_abc_impl",
    "_backward_cls",
}
"""Attributes of classes that Python and torch set when they are first needed."""

_MISSING: Final = object()

_inside: Final = attrgetter("__code__", "__defaults__", "__kwdefaults__")


@final
class _Written:
    """A module or class of Farfield as it was when it was first seen.

    Args:
        owner: The module or class.
    """

    def __init__(self, owner: ModuleType | type) -> None:
        self.owner = owner
        self.names = self.kept = dict(vars(owner))
        self.inside: dict[FunctionType, tuple[Any, ...]] = {}
        for value in self.names.values():
            for one in functions_of(value):
                if module_of(one).startswith(_OURS):
                    keywords = one.__kwdefaults__
                    copied = None if keywords is None else dict(keywords)
                    self.inside[one] = one.__code__, one.__defaults__, copied

    def classes(self) -> Iterator[type]:
        """List the classes that a module defines."""
        for value in self.names.values():
            if isinstance(value, type) and value.__module__ == self.owner.__name__:
                yield value

    def uses(self) -> Iterator[str]:
        """List the names of the modules of Farfield that the parts of a module are from."""
        for value in self.names.values():
            is_module = isinstance(value, ModuleType)
            module = value.__name__ if is_module else getattr(value, "__module__", None)
            if isinstance(module, str) and module.startswith(_OURS):
                yield module

    def _is_kept(self) -> bool:
        """Tell if all is as at the last look: the quick answer."""
        try:
            is_named = vars(self.owner) == self.kept
            return is_named and [*map(_inside, self.inside)] == [*self.inside.values()]
        except Exception:  # noqa: BLE001 — whatever a value raises that somebody has put there
            return False

    def replaced(self) -> str | None:
        """Describe the first part that has changed, else `None`."""
        if self._is_kept():
            return self._of_the_user
        now = vars(self.owner)
        for name in [*now, *(self.names.keys() - now.keys())]:
            value = now.get(name, _MISSING)
            if value is not self.names.get(name, _MISSING) and not self._is_added(name, value):
                modules = [module_of(one) for one in functions_of(value)]
                by = [module for module in modules if is_of_the_user(module)] or modules
                words = f" by code of {by[0]}" if by else ""
                return f"{self.owner.__name__}.{name} was replaced{words}"
        for function, (code, *_) in self.inside.items():
            if function.__code__ != code:
                return f"the code of {function.__qualname__} was replaced"
            if _inside(function) != self.inside[function]:
                return f"a default of {function.__qualname__} was replaced"
        self.kept = dict(now)  # with harmless changes
        return self._of_the_user

    def _is_added(self, name: str, value: object) -> bool:
        """Tell if it is an attribute that changes nothing: of Python, a submodule, or inherited."""
        if name in _MADE_LATER or isinstance(value, ModuleType):
            return True
        if isinstance(self.owner, ModuleType):  # `torch.compile` adds `__builtins_dict___0`
            return name.startswith("__") and (name.endswith("__") or name not in self.names)
        bases = () if name in self.names else self.owner.__mro__[1:]
        return any(vars(base).get(name) is value for base in bases)  # as an undone change leaves

    @cached_property
    def _of_the_user(self) -> str | None:
        """Words for the first part that was the user's code from the beginning, else `None`."""
        for name, value in self.names.items():
            for module in map(module_of, functions_of(value)):
                if not module.startswith((_OURS, "namedtuple_")) and is_of_the_user(module):
                    return f"{self.owner.__name__}.{name} was replaced by code of {module}"
        return None


def functions_of(value: Any) -> Iterator[FunctionType]:
    """List the functions behind a value: itself, and the functions that it wraps.

    Args:
        value: Any object.
    """
    match value:
        case FunctionType():
            yield value
            yield from functions_of(vars(value).get("__wrapped__"))
        case property():
            for part in (value.fget, value.fset, value.fdel):
                yield from functions_of(part)
        case staticmethod() | classmethod():
            yield from functions_of(value.__func__)
        case cached_property() | partial() | partialmethod():
            yield from functions_of(value.func)


def module_of(function: FunctionType) -> str:
    """Find the name of the module that a function was written in.

    Args:
        function: The function, whatever names its attributes claim.
    """
    return str(function.__globals__.get("__name__", ""))


@cache
def _written(module: str) -> tuple[_Written, ...]:
    """Remember a module and its classes as first seen."""
    first = _Written(sys.modules[module])
    return first, *map(_Written, first.classes())


_IMPORTED: Final = [
    _written(name)
    for name, module in [*sys.modules.items()]
    if name.startswith(_OURS) and not getattr(module.__spec__, "_initializing", False)
]
"""Modules imported before the first key; others are noted when a key first reaches them."""


def _packages(module: str) -> Iterator[str]:
    """List the names of the packages of Farfield that a module is in."""
    while (module := module.rpartition(".")[0]) != "farfield":
        yield module


@cache
def _reached_from(module: str) -> frozenset[str]:
    """Collect a module and all modules of Farfield that its code names, and theirs."""
    found, left = set[str](), [module]
    while left:
        name = left.pop()
        if name not in found and name in sys.modules:
            found.add(name)
            left += _written(name)[0].uses()
    return frozenset(found)


@final
class _Reached:
    """Modules with their packages, and all modules of Farfield that their code names.

    Args:
        modules: Names of the modules.
    """

    def __init__(self, modules: frozenset[str]) -> None:
        found = frozenset[str]().union(*map(_reached_from, modules))
        packages = {package for name in found for package in _packages(name)}
        names = sorted(found | packages)
        self._parts = [one for name in names for one in _written(name)]
        self._now: list[Mapping[str, Any]] = [vars(one.owner) for one in self._parts]
        self._names: list[Mapping[str, Any]] = []
        self._inside = {f: inside for one in self._parts for f, inside in one.inside.items()}

    def replaced(self) -> str | None:
        """Describe the first part that has changed, else `None`."""
        if self._is_kept():
            return None
        for one in self._parts:
            if words := one.replaced():
                return words
        self._names = [one.kept for one in self._parts]
        return None

    def _is_kept(self) -> bool:
        """Tell if all is as when nothing was replaced: the quick answer, for thousands of keys."""
        try:
            are_named = bool(self._names) and all(map(eq, self._now, self._names))
            return are_named and [*map(_inside, self._inside)] == [*self._inside.values()]
        except Exception:  # noqa: BLE001 — whatever a value raises that somebody has put there
            return False


_reached: Final = cache(_Reached)


def check_as_written(things: Iterable[type | Callable[..., object]]) -> None:
    """Raise `ValueError` if a part of Farfield that classes or functions reach was replaced.

    Args:
        things: Classes and functions of Farfield.

    Raises:
        ValueError: If a method, function, default or constant is not the one that was imported.
    """
    if words := _reached(frozenset(thing.__module__ for thing in things)).replaced():
        raise ValueError(
            f"{words}, which no key can tell; write a class of your own with it, and leave "
            "Farfield unchanged"
        )
