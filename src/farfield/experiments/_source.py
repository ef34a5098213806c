"""The digest of a user's class or function, over everything that its code can reach by value."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import hashlib
import importlib
import inspect
import sys
import types
from collections.abc import Iterable
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, Final, get_args

import numpy as np
import torch

from farfield.core.internal import Generator
from farfield.experiments._code import Chain, Source, source_of
from farfield.experiments._objects import (
    Code,
    Looks,
    Walk,
    look_at_array,
    look_at_field,
    look_at_generator,
    look_at_mapping,
    look_at_number,
    look_at_parts,
    look_at_path,
    look_at_set,
    look_at_tensor,
)
from farfield.experiments._owners import (
    BUILTINS,
    HEAP_TYPE,
    check_as_written,
    functions_of,
    is_known_by_name,
    is_of_the_user,
    is_ours,
    module_name,
    module_of,
)

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
"""Attributes that Python and torch add to a class, without a meaning for users."""

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
"""Names through which code reaches objects that its text does not name; modules if alone."""

_HIDES: Final = "reaches objects that its text does not name"

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
    """Compute a digest of `thing` that changes with anything that changes its behavior.

    A function is the syntax of its source and the values that it refers to: globals, closures,
    defaults, attributes. A class is its bases and the content of its namespace now, wherever that
    was set. Both are followed through the user's own modules, to the end, installed ones among them
    that came from a folder or file; of Python and of packages of others the name counts alone, and
    the user's changes; so does the name of a builtin, whichever function a package has set for it.
    A part of Farfield must be as it was imported. Comments, docstrings, the order of
    definitions and how code is set in lines change nothing.

    Args:
        thing: A class or function that is not part of Farfield.

    Raises:
        ValueError: If something that the code reaches cannot be identified by its value, as
            an open file, or has no source: changed code would pass for the same; or if code
            reaches objects that its text does not name, as through `__globals__`.
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
    """Read the text of installed code, which another version may replace."""
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        return ""


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
    """See the user's changes of a class that counts by its name."""
    if is_ours(value):
        walk.reached.add(value)
    elif value.__flags__ & HEAP_TYPE:
        for name, part in [*vars(value).items()]:
            for function in functions_of(part):
                module, file = module_of(function), function.__code__.co_filename
                if module and file[:1] != "<" and is_of_the_user(module):
                    walk.see_all([(name, function)])


def _namespace(value: type) -> dict[str, Any]:
    """List the attributes of a class without Python's."""
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
    """Tell if a function holds values beside its code: a wrapped function, or free variables."""
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
    """Refuse a value through which code reaches objects that its text does not name."""
    if isinstance(value, types.ModuleType):
        hides = value.__name__ in _HIDING_MODULES
    elif isinstance(value, types.FunctionType | types.BuiltinFunctionType):
        hides = f"{value.__module__}.{value.__qualname__}" in _HIDING
    else:
        hides = value is sys.modules
    if hides or walk.builtin(value) in _HIDING_BUILTINS:
        walk.refuse(_HIDES)


def _look_through(walk: Walk, module: types.ModuleType, chains: Iterable[Chain]) -> None:
    """See the objects that are reached through a module of the user's, and no others."""
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
    """See the user's replacement of a part of an installed module."""
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
    """Follow attributes to the value outside the user's modules, and return the attributes left."""
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
    """Compute the digest of the file of a compiled module."""
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


def content_of(value: Any) -> str:
    """Write the text that two equal values share: of their type alone if they have no digest.

    Args:
        value: Any object; its cached properties are left out.
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
    (dataclasses.Field, look_at_field),
    (_GENERATORS, look_at_generator),
    (torch.Tensor, look_at_tensor),
    (np.ndarray, look_at_array),
    (np.generic, look_at_number),
    (PurePath, look_at_path),
    ((set, frozenset), look_at_set),
    ((tuple, list), look_at_parts),
    ((dict, types.MappingProxyType), look_at_mapping),
)
"""Writer of each kind of value; the first that fits counts."""
