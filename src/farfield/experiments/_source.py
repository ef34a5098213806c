"""The digest of a user's class or function, over everything that its code can reach by value."""

from __future__ import annotations

import builtins
import copy
import copyreg
import dataclasses
import functools
import hashlib
import importlib
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, Final, NoReturn, final, get_args

import numpy as np
import torch

from farfield.core import Generator
from farfield.experiments._arrays import array_digest, tensor_digest
from farfield.experiments._code import Chain, Source, source_of
from farfield.experiments._owners import (
    BUILTINS,
    HEAP_TYPE,
    builtin_line,
    check_as_written,
    functions_of,
    is_of_the_user,
    is_ours,
    module_name,
    module_of,
    own_name,
    replaced_builtins,
)

Code = type | Callable[..., object]

_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented))

_NOT_OF_A_CLASS: Final = {
    "__abstractmethods__",
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__non_callable_proto_members__",
    "__orig_bases__",
    "__parameters__",
    "__protocol_attrs__",
    "__slotnames__",
    "__static_attributes__",
    "__type_params__",
    "__weakref__",
    "_abc_impl",
    "_backward_cls",  # of torch.autograd.Function, which makes it
    "_is_protocol",
    "_is_runtime_protocol",
}
"""Attributes that Python and torch add to a class, without meaning of their own."""

_OF_ENUMS: Final = {
    "_all_bits_",
    "_boundary_",
    "_flag_mask_",
    "_hashable_values_",
    "_inverted_",
    "_iter_member_",
    "_iter_member_by_value_",
    "_member_map_",
    "_member_names_",
    "_member_type_",
    "_singles_mask_",
    "_unhashable_values_",
    "_unhashable_values_map_",
    "_use_args_",
    "_value2member_map_",
    "_value_repr_",
}
"""Attributes that Python adds to an enumeration, made from its members."""

_OF_MEMBERS: Final = {"__objclass__", "_name_", "_sort_order_", "_value_"}
"""Attributes that Python adds to a member of an enumeration."""

_TYPE_CHECKERS: Final = {"beartype", "jaxtyping", "typeguard"}
"""Packages whose decorators check types and change no number."""

_HIDING: Final = {
    "_frozen_importlib.module_from_spec",
    "_frozen_importlib_external.spec_from_file_location",
    "_pickle.load",
    "_pickle.loads",
    "gc.get_objects",
    "gc.get_referents",
    "gc.get_referrers",
    "importlib.__import__",
    "importlib.import_module",
    "importlib.reload",
    "importlib.util.find_spec",
    "inspect.currentframe",
    "inspect.getmodule",
    "inspect.stack",
    "marshal.load",
    "marshal.loads",
    "pkgutil.find_loader",
    "pkgutil.get_loader",
    "pkgutil.resolve_name",
    "pydoc.locate",
    "pydoc.safeimport",
    "runpy.run_module",
    "runpy.run_path",
    "sys._current_frames",
    "sys._getframe",
}
_HIDING_MODULES: Final = {name.rpartition(".")[0] for name in _HIDING} | {"builtins"}
_HIDING_BUILTINS: Final = {"globals", "eval", "exec", "__import__"}
"""Through which code reaches what its text does not name; modules where they stand alone."""

_HIDES: Final = "reaches what its text does not name"

_GENERATORS: Final = get_args(Generator)

_DESCRIPTORS: Final = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)

_LRU: Final = type(functools.lru_cache(len))


def source_digest(thing: Code) -> str:
    """Digest of `thing`, which changes with anything that changes its behavior.

    A function is the syntax of its source and the values that it refers to: globals, closures,
    defaults, attributes. A class is its bases and what its namespace holds now, wherever that was
    set. Both are followed through the user's own modules, to the end, installed ones among them
    that came from a folder or file; of Python and of packages of others the name counts alone, and
    what the user has put there; so does that of a builtin, whatever a package has put in its
    place. A part of Farfield must be as it was imported. Comments, docstrings, the order of
    definitions and how code is set in lines change nothing.

    Args:
        thing: A class or function that is not part of Farfield.

    Raises:
        ValueError: If something that the code reaches cannot be identified by its value, as
            an open file, or has no source: changed code would pass for the same; or if code
            reaches what its text does not name, as through `__globals__`.
    """
    walk = Walk(_LOOKS)
    try:
        with walk.at(thing.__qualname__):
            if not is_of_the_user(thing.__module__):
                walk.say("installed", _text_of(thing))
            walk.see(thing)
        check_as_written(walk.reached)
    except RecursionError:
        raise ValueError(f"{thing.__qualname__} reaches values that are nested too deep") from None
    return hashlib.sha256("\n".join(walk.lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _text_of(thing: Code) -> str:
    """The text of installed code, which may be replaced by another version of it."""
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        return ""


Looks = tuple[tuple[Any, Callable[["Walk", Any], None]], ...]
"""Kinds of values with the writer of each."""


@final
class Walk:
    """A walk over values that writes them down for a digest.

    What was seen before is written as its number, so that circles end.

    Args:
        looks: Writer of each kind of value; the first that fits counts.
        seen: Numbers of objects by their identity, of builtins by their name.
    """

    def __init__(
        self, looks: Looks, seen: Mapping[int | str, int] = types.MappingProxyType({})
    ) -> None:
        self.lines: list[str] = []
        self.reached = set[Code]()  # of Farfield
        self.is_trial = False
        self._looks = looks
        self._seen = dict(seen)
        self._replaced = replaced_builtins()
        self._kept: list[object] = []  # alive, so that no other object has its identity
        self._path: list[str] = []

    def say(self, *words: object) -> None:
        """Write a line."""
        self.lines.append(" ".join(map(repr, words)))

    @contextmanager
    def at(self, where: str) -> Iterator[None]:
        """Record the path to the values seen meanwhile."""
        self._path.append(where)
        yield
        self._path.pop()

    def refuse(self, what: str) -> NoReturn:
        """Raise `ValueError`: something cannot be written down."""
        start, *way = self._path
        where = "".join(f" → {part}" for part in way)
        raise ValueError(
            f"{start} has no key: {start}{where} {what}, so that another version of it could be "
            "taken for the same. Make it a plain value or a function in a file, or make it inside "
            "the code that uses it"
        )

    def builtin(self, value: Any) -> str | None:
        """Name of a builtin, and of what a package has put in its place; else `None`."""
        return self._replaced.get(id(value)) or own_name(value)

    def see(self, value: Any) -> None:
        """Write down a value and what it reaches."""
        if type(value) in _PLAIN:
            self.say(type(value).__name__, value)
        elif type(value) in (tuple, frozenset):
            self._look(value)
        elif name := self.builtin(value):
            self.see_builtin(name)
        elif self._is_new(id(value)):
            self._kept.append(value)
            self._look(value)

    def see_builtin(self, name: str) -> None:
        """Write down a builtin by its name."""
        if self._is_new(name):
            self.say(*builtin_line(name))

    def _is_new(self, mark: int | str) -> bool:
        """True if an object is seen for the first time; else its number is written."""
        if mark in self._seen:
            self.say("seen", self._seen[mark])
            return False
        self._seen[mark] = len(self._seen)
        return True

    def see_all(self, values: Iterable[tuple[str, Any]]) -> None:
        """Write down named values."""
        for name, value in values:
            self.say("named", name)
            with self.at(name):
                self.see(value)

    def _look(self, value: Any) -> None:
        for kind, look in self._looks:
            if isinstance(value, kind):
                look(self, value)
                return
        _look_at_object(self, value)

    def inside(self) -> Walk:
        """A walk that starts here and knows what was seen so far."""
        walk = Walk(self._looks, self._seen)
        walk._path, walk.reached = [*self._path], self.reached
        walk.is_trial = self.is_trial
        return walk

    def content_of(self, value: Any) -> str:
        """Text of a value from a new walk: of its type alone where it has no digest."""
        walk = Walk(self._looks)
        walk.is_trial = True
        try:
            with walk.at("value"):
                walk.see(value)
        except ValueError:
            return f"{type(value)}"
        return "\n".join(walk.lines)


def _look_at_parts(walk: Walk, value: tuple[Any, ...] | list[Any]) -> None:
    if type(value) not in (tuple, list):
        _look_at_object(walk, value)
        return
    walk.say(type(value).__name__, len(value))
    walk.see_all((f"[{k}]", part) for k, part in enumerate(value))


def _look_at_mapping(walk: Walk, value: Mapping[Any, Any]) -> None:
    if type(value) not in (dict, types.MappingProxyType):
        _look_at_object(walk, value)
        return
    walk.say("dict", len(value))
    for key, content in value.items():
        with walk.at(f"[{key!r:.40}]"):
            walk.see(key)
            walk.see(content)


def _look_at_set(walk: Walk, value: set[Any] | frozenset[Any]) -> None:
    """Elements in the order of what is written of each, as sets have none of their own."""
    walk.say("set", len(value))
    walk.see(type(value))
    written = []
    for part in value:
        inner = walk.inside()
        inner.see(part)
        written.append("\n".join(inner.lines))
    walk.lines += sorted(written)


def _look_at_array(walk: Walk, value: np.ndarray) -> None:
    walk.see(type(value))
    if value.dtype.hasobject:
        walk.say("objects", value.shape)
        walk.see(value.tolist())
    else:
        walk.say("array", array_digest(value))


def _look_at_tensor(walk: Walk, value: torch.Tensor) -> None:
    walk.see(type(value))
    try:
        walk.say("tensor", tensor_digest(value), value.requires_grad)
    except (TypeError, RuntimeError, NotImplementedError) as error:
        walk.refuse(f"is a tensor whose numbers cannot be read ({error})")
    walk.see_all(sorted(vars(value).items()))


def _look_at_number(walk: Walk, value: np.generic) -> None:
    walk.say("number", value.dtype.str, value.tobytes())


def _look_at_generator(walk: Walk, value: object) -> NoReturn:
    walk.refuse(f"is a {type(value).__name__}, whose state changes when it is drawn from")


def _look_at_module(walk: Walk, value: types.ModuleType) -> None:
    walk.say("module", value.__name__.rpartition(".")[2])
    if is_of_the_user(value.__name__):
        walk.see_all(
            (name, part) for name, part in sorted(vars(value).items()) if not _is_dunder(name)
        )


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _look_at_class(walk: Walk, value: type) -> None:
    if is_known_by_name(value):
        walk.say("class", value.__module__, value.__qualname__)
        _look_for_own(walk, value)
        return
    walk.say("class of the user", value.__qualname__)
    if type(value) is not type:
        with walk.at("its metaclass"):
            walk.see(type(value))
    for base in value.__bases__:
        with walk.at(base.__name__):
            walk.see(base)
    walk.see_all(sorted(_namespace(value).items()))


def _look_for_own(walk: Walk, value: type) -> None:
    """See what the user has put in a class that counts by its name."""
    if is_ours(value):
        walk.reached.add(value)
    elif value.__flags__ & HEAP_TYPE:
        for name, part in [*vars(value).items()]:
            for function in functions_of(part):
                module, file = module_of(function), function.__code__.co_filename
                if module and file[:1] != "<" and is_of_the_user(module):
                    walk.see_all([(name, function)])


def is_known_by_name(value: type) -> bool:
    """True if a class is found by its name in a module not the user's, or is made in C."""
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


def _namespace(value: type) -> dict[str, Any]:
    """Attributes of a class that are its own, not Python's."""
    found = {name: part for name, part in vars(value).items() if name not in _NOT_OF_A_CLASS}
    if not issubclass(value, Enum):
        return found
    members = {name: member.value for name, member in value.__members__.items()}
    own = {name: _attributes(member) for name, member in value.__members__.items()}
    kept = {name: part for name, part in found.items() if name not in members.keys() | _OF_ENUMS}
    return kept | {"members": members} | ({"attributes": own} if any(own.values()) else {})


def _attributes(member: Enum) -> dict[str, Any]:
    return {name: part for name, part in vars(member).items() if name not in _OF_MEMBERS}


def _look_at_member(walk: Walk, value: Enum) -> None:
    walk.say("member", value.name)
    if value.name is None:  # a combination of flags that has none
        walk.see(value.value)
    walk.see(type(value))
    if value.name not in type(value).__members__:
        walk.see_all(sorted(_attributes(value).items()))


def _look_at_function(walk: Walk, value: types.FunctionType) -> None:
    code, module = value.__code__, str(value.__globals__.get("__name__", ""))
    wrapped = value.__dict__.get("__wrapped__")
    if wrapped is not None and _is_type_checker(module, code.co_filename):
        walk.see(wrapped)
        return
    generated = code.co_qualname.startswith("__create_fn__.") or module.startswith("namedtuple_")
    if generated or not is_of_the_user(module):
        if module.startswith("farfield."):
            walk.reached.add(value)
        walk.say("function", "" if generated else module, code.co_qualname)
        if generated or not _is_closure(value):
            return
    else:
        _look_at_source(walk, value)
    cells = (
        (name, cell) for name, cell in zip(code.co_freevars, value.__closure__ or (), strict=True)
    )
    walk.see_all((name, _content(cell)) for name, cell in cells)
    walk.see(value.__defaults__)
    walk.see(value.__kwdefaults__)
    walk.see_all(sorted(value.__dict__.items()))


def _is_closure(value: types.FunctionType) -> bool:
    """True if a function holds values beside its code: what it wraps, or free variables."""
    code = value.__code__
    return (
        "<locals>" in code.co_qualname
        or "__wrapped__" in value.__dict__
        or not {"__class__"}.issuperset(code.co_freevars)  # the cell of `super()`
    )


def _is_type_checker(module: str, file: str) -> bool:
    return module.partition(".")[0] in _TYPE_CHECKERS or file.startswith("<@beartype(")


_EMPTY: Final = ("a cell without content",)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


def _look_at_source(walk: Walk, value: types.FunctionType) -> None:
    try:
        source = source_of(value)
    except OSError as error:
        walk.refuse(f"must have the source that it was made from ({error})")
    if source.hiding:
        with walk.at(source.hiding[0]):
            walk.refuse(_HIDES)
    walk.say("function of the user", source.text)
    for name in source.names:
        _look_at_global(walk, name, value, source)
    for imported in source.imports:
        with walk.at(imported.module):
            if is_of_the_user(imported.module):
                _look_through(walk, importlib.import_module(imported.module), imported.chains)
                continue
            for chain in imported.chains:
                if ".".join((imported.module, *chain)) in _HIDING:
                    walk.refuse(_HIDES)
                if imported.module in sys.modules:
                    _look_outside(walk, sys.modules[imported.module], chain)


def _look_at_global(walk: Walk, name: str, function: types.FunctionType, source: Source) -> None:
    scope = function.__globals__
    walk.say("global", name)
    if name not in scope and name in BUILTINS:
        with walk.at(name):
            if name in _HIDING_BUILTINS:
                walk.refuse(_HIDES)
            walk.see_builtin(name)
        return
    if name not in scope and not hasattr(builtins, name):
        walk.say("unbound")
        return
    value = scope[name] if name in scope else getattr(builtins, name)
    with walk.at(name):
        if isinstance(value, types.ModuleType):
            _look_through(walk, value, source.chains(name))
        else:
            _check_hides_nothing(walk, value)
            walk.see(value)


def _check_hides_nothing(walk: Walk, value: object) -> None:
    """Refuse a value through which code reaches what its text does not name."""
    if isinstance(value, types.ModuleType):
        hides = value.__name__ in _HIDING_MODULES
    elif isinstance(value, types.FunctionType | types.BuiltinFunctionType):
        hides = f"{value.__module__}.{value.__qualname__}" in _HIDING
    else:
        hides = value is sys.modules
    if hides or walk.builtin(value) in _HIDING_BUILTINS:
        walk.refuse(_HIDES)


def _look_through(walk: Walk, module: types.ModuleType, chains: Iterable[Chain]) -> None:
    """See what is reached through a module of the user's, and nothing else of it."""
    for chain in chains:
        value, rest = _reached(module, chain)
        walk.say("through", *chain)
        with walk.at(".".join(chain) or "itself"):
            if isinstance(value, types.ModuleType) and rest:
                walk.say("installed", value.__name__)
                _look_outside(walk, value, rest)
            else:
                _check_hides_nothing(walk, value)
                walk.see(value)


def _look_outside(walk: Walk, module: types.ModuleType, chain: Chain) -> None:
    """See what the user has put in the place of a part of an installed module."""
    value: Any = module
    while chain and isinstance(value, types.ModuleType):
        value, chain = getattr(value, chain[0], _MISSING), chain[1:]
    _check_hides_nothing(walk, value)
    if isinstance(value, type | types.FunctionType) and is_ours(value):
        walk.reached.add(value)
        return
    if isinstance(value, type):
        _look_for_own(walk, value)
    owner = value if isinstance(value, type) else type(value)
    modules = {module_name(owner), *map(module_of, functions_of(value))}
    if any(module and is_of_the_user(module) for module in modules):
        walk.see(value)


def _reached(module: types.ModuleType, chain: Chain) -> tuple[Any, Chain]:
    """The value at which attributes lead out of the user's modules, and the attributes left."""
    value: Any = module
    while chain and isinstance(value, types.ModuleType) and is_of_the_user(value.__name__):
        if chain[0] == "__dict__":
            return value, ()
        value, chain = getattr(value, chain[0], _MISSING), chain[1:]
    return value, chain


_MISSING: Final = ("not there",)


def _look_at_method(walk: Walk, value: types.MethodType) -> None:
    walk.say("method")
    walk.see(value.__func__)
    walk.see(value.__self__)


def _look_at_builtin(walk: Walk, value: Any) -> None:
    owner = value.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        module = str(value.__module__ or getattr(owner, "__name__", ""))
        if is_of_the_user(module):
            walk.say("compiled", _file_digest(walk, module))
        walk.say("builtin", module, value.__qualname__)
    else:
        walk.say("builtin of", value.__name__)
        walk.see(owner)


def _file_digest(walk: Walk, module: str) -> str:
    """Digest of the file of a compiled module."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if not isinstance(file, str) or file.endswith(".py"):
        walk.refuse("is compiled code without a file")
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


def _look_at_descriptor(walk: Walk, value: Any) -> None:
    walk.say("descriptor", value.__qualname__.rpartition(".")[2])


def _look_at_property(walk: Walk, value: property) -> None:
    walk.see(type(value))
    walk.see_all((("get", value.fget), ("set", value.fset), ("delete", value.fdel)))


def _look_at_wrapper(walk: Walk, value: Any) -> None:
    walk.say(type(value).__name__)
    walk.see(value.__func__)


def _look_at_cached_property(walk: Walk, value: functools.cached_property[Any]) -> None:
    walk.say("cached property")
    walk.see(value.func)


def _look_at_partial(walk: Walk, value: Any) -> None:
    walk.see(type(value))
    walk.see_all((("func", value.func), ("args", value.args), ("keywords", value.keywords)))


def _look_at_cached(walk: Walk, value: Any) -> None:
    walk.see(value.__wrapped__)
    walk.see(value.cache_parameters())


def _look_at_path(walk: Walk, value: PurePath) -> None:
    walk.say("path", value.as_posix())


def _look_at_field(walk: Walk, value: dataclasses.Field[Any]) -> None:
    slots = sorted({*dataclasses.Field.__slots__} - {"type"})
    walk.see_all((name, getattr(value, name)) for name in slots)


def _look_at_object(walk: Walk, value: Any) -> None:
    """An object is its class, and the state that a copy of it would be made from."""
    cls = type(value)
    if isinstance(value, Iterator) and is_known_by_name(cls):
        walk.refuse(f"is a {cls.__name__}, which changes when it is read")
    reducer = copyreg.dispatch_table.get(cls)
    try:
        reduced = reducer(value) if reducer else value.__reduce_ex__(4)
    except Exception as error:  # noqa: BLE001 — whatever an object of others does when it is asked
        walk.refuse(f"is a {cls.__name__}, whose state cannot be read ({error})")
    walk.say("object")
    walk.see(cls)
    if isinstance(reduced, str):
        walk.say("known as", reduced)
        return
    function, args, state, parts, pairs = (*reduced, None, None, None)[:5]
    walk.see(function)
    walk.see(args)
    _look_at_state(walk, state, value)
    if not is_known_by_name(cls):  # it may keep something from its copies
        _look_at_state(walk, object.__getstate__(value), value)
    walk.see(None if parts is None else [*parts])
    walk.see(None if pairs is None else dict(pairs))


def _look_at_state(walk: Walk, state: Any, value: Any) -> None:
    """Attributes but for those that a property keeps as it computes them."""
    if isinstance(state, tuple) and len(state) == 2:
        for part in state:
            _look_at_state(walk, part, value)
    elif isinstance(state, dict) and all(isinstance(name, str) for name in state):
        kept = [name for name in sorted(state) if not _is_as_computed(walk, value, name)]
        if state and not kept:
            walk.see(None)  # as before a property was asked
        walk.see_all((name, state[name]) for name in kept)
    else:
        walk.see(state)


def _is_as_computed(walk: Walk, value: Any, name: str) -> bool:
    """True if an attribute is what a property of the class computes, and keeps under its name."""
    if not _is_lazy(inspect.getattr_static(type(value), name, None)):
        return False
    if walk.is_trial:
        return True
    try:
        fresh = copy.copy(value)
        for other in [*vars(fresh)]:
            if _is_lazy(inspect.getattr_static(type(value), other, None)):
                del vars(fresh)[other]
        return walk.content_of(vars(value)[name]) == walk.content_of(getattr(fresh, name))
    except Exception:  # noqa: BLE001 — whatever the property of others does when it is asked
        return False


def _is_lazy(part: Any) -> bool:
    """True for a descriptor that an attribute of the same name hides, other than a method."""
    kind = type(part)
    is_method = isinstance(part, types.FunctionType | staticmethod | classmethod | type)
    return hasattr(kind, "__get__") and not hasattr(kind, "__set__") and not is_method


def content_of(value: Any) -> str:
    """Text that two values share if they are alike: of their type alone where they have no digest.

    Args:
        value: Any object; what its properties keep is left out.
    """
    return Walk(_LOOKS).content_of(value)


_LOOKS: Final[Looks] = (
    (type, _look_at_class),
    (types.FunctionType, _look_at_function),
    (types.MethodType, _look_at_method),
    (types.ModuleType, _look_at_module),
    ((types.BuiltinFunctionType, types.MethodWrapperType), _look_at_builtin),
    (_DESCRIPTORS, _look_at_descriptor),
    (property, _look_at_property),
    ((classmethod, staticmethod), _look_at_wrapper),
    (functools.cached_property, _look_at_cached_property),
    ((functools.partial, functools.partialmethod), _look_at_partial),
    (_LRU, _look_at_cached),
    (Enum, _look_at_member),
    (dataclasses.Field, _look_at_field),
    (_GENERATORS, _look_at_generator),
    (torch.Tensor, _look_at_tensor),
    (np.ndarray, _look_at_array),
    (np.generic, _look_at_number),
    (PurePath, _look_at_path),
    ((set, frozenset), _look_at_set),
    ((tuple, list), _look_at_parts),
    ((dict, types.MappingProxyType), _look_at_mapping),
)
"""Writer of each kind of value; the first that fits counts."""
