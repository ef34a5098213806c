"""A walk over values for a digest: how it writes data and objects."""

from __future__ import annotations

import copy
import copyreg
import dataclasses
import hashlib
import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any, Final, NoReturn, final

import numpy as np
import torch

from farfield.experiments._owners import (
    builtin_line,
    is_known_by_name,
    own_name,
    replaced_builtins,
)

_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented))


Code = type | Callable[..., object]

Looks = tuple[tuple[Any, Callable[["Walk", Any], None]], ...]
"""Kinds of values with the writer of each."""


@final
class Walk:
    """A walk over values that writes them down for a digest.

    An object that was seen before is written as its number, so that circles end.

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
        """Find the name of a builtin, or of its replacement by a package; else `None`."""
        return self._replaced.get(id(value)) or own_name(value)

    def see(self, value: Any) -> None:
        """Write down a value and all that it reaches."""
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
        """Tell if an object is seen for the first time; else its number is written."""
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
        look_at_object(self, value)

    def inside(self) -> Walk:
        """Start a walk here that knows all objects seen so far."""
        walk = Walk(self._looks, self._seen)
        walk._path, walk.reached = [*self._path], self.reached
        walk.is_trial = self.is_trial
        return walk

    def content_of(self, value: Any) -> str:
        """Write the text of a value by a new walk: of its type alone if it has no digest."""
        walk = Walk(self._looks)
        walk.is_trial = True
        try:
            with walk.at("value"):
                walk.see(value)
        except ValueError:
            return f"{type(value)}"
        return "\n".join(walk.lines)


def look_at_parts(walk: Walk, value: tuple[Any, ...] | list[Any]) -> None:
    if type(value) not in (tuple, list):
        look_at_object(walk, value)
        return
    walk.say(type(value).__name__, len(value))
    walk.see_all((f"[{k}]", part) for k, part in enumerate(value))


def look_at_mapping(walk: Walk, value: Mapping[Any, Any]) -> None:
    if type(value) not in (dict, types.MappingProxyType):
        look_at_object(walk, value)
        return
    walk.say("dict", len(value))
    for key, content in value.items():
        with walk.at(f"[{key!r:.40}]"):
            walk.see(key)
            walk.see(content)


def look_at_set(walk: Walk, value: set[Any] | frozenset[Any]) -> None:
    """Sort the elements of a set by the text of each."""
    walk.say("set", len(value))
    walk.see(type(value))
    written = []
    for part in value:
        inner = walk.inside()
        inner.see(part)
        written.append("\n".join(inner.lines))
    walk.lines += sorted(written)


def look_at_array(walk: Walk, value: np.ndarray) -> None:
    walk.see(type(value))
    if value.dtype.hasobject:
        walk.say("objects", value.shape)
        walk.see(value.tolist())
    else:
        walk.say("array", array_digest(value))


def look_at_tensor(walk: Walk, value: torch.Tensor) -> None:
    walk.see(type(value))
    try:
        walk.say("tensor", tensor_digest(value), value.requires_grad)
    except (TypeError, RuntimeError, NotImplementedError) as error:
        walk.refuse(f"is a tensor whose numbers cannot be read ({error})")
    walk.see_all(sorted(vars(value).items()))


def look_at_number(walk: Walk, value: np.generic) -> None:
    walk.say("number", value.dtype.str, value.tobytes())


def look_at_generator(walk: Walk, value: object) -> NoReturn:
    walk.refuse(f"is a {type(value).__name__}, whose state changes when it is drawn from")


def look_at_path(walk: Walk, value: PurePath) -> None:
    walk.say("path", value.as_posix())


def look_at_field(walk: Walk, value: dataclasses.Field[Any]) -> None:
    slots = sorted({*dataclasses.Field.__slots__} - {"type"})
    walk.see_all((name, getattr(value, name)) for name in slots)


def look_at_object(walk: Walk, value: Any) -> None:
    """Digest an object by its class and its copy state."""
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
    """Digest attributes, except cached properties."""
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
    """Tell if an attribute is the cached value of a property of the class."""
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
    """Tell if it is a descriptor that an attribute of the same name hides, other than a method."""
    kind = type(part)
    is_method = isinstance(part, types.FunctionType | staticmethod | classmethod | type)
    return hasattr(kind, "__get__") and not hasattr(kind, "__set__") and not is_method


def array_digest(array: np.ndarray) -> str:
    """Compute SHA-256 over type, shape and bytes of an array."""
    head = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(head + np.ascontiguousarray(array).tobytes()).hexdigest()


def tensor_digest(tensor: torch.Tensor) -> str:
    """Compute SHA-256 over type, shape and bytes of a tensor.

    Args:
        tensor: Of any device.

    Raises:
        TypeError: If it has no plain bytes, as one that is sparse.
    """
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta:
        raise TypeError(f"a tensor of layout {tensor.layout} has no plain bytes")
    numbers = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    head = f"{tensor.dtype}{tuple(tensor.shape)}".encode()
    return hashlib.sha256(head + numbers.tobytes()).hexdigest()
