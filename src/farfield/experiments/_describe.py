"""Frozen objects as plain JSON and back, so that an experiment has one name on every machine.

A dataclass is described by its public import path and by those of its fields that differ from
their default; a field added later, with a default that keeps the old behavior, leaves the name of
every older experiment as it was. Arrays are described by their SHA-256.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np

from farfield._exports import faces
from farfield.core import ArgumentError
from farfield.core.internal import Kind, hints_of, kind_of
from farfield.experiments._aliases import as_named, as_written
from farfield.experiments._objects import array_digest
from farfield.experiments._owners import check_as_written, is_ours
from farfield.experiments._source import content_of, source_digest

Json = Any
"""Anything `json.dumps` takes: objects, lists, text, numbers, true, false and null."""


def public_path(thing: type | Callable[..., object]) -> str:
    """Find the import path for readers: `farfield.models.ESBN`, without private files."""
    parts = [part for part in thing.__module__.split(".") if not part.startswith("_")]
    module = ".".join(parts) or thing.__module__
    return f"{module}.{thing.__qualname__}"


def describe(value: object, *, digest: Callable[[Any], str] = source_digest) -> Json:
    """Write `value` as plain JSON.

    Args:
        value: An experiment or a part of one.
        digest: From a class or function of one's own to the digest of its code.

    Raises:
        TypeError: If something in it is neither a frozen dataclass, a class, a function, an array,
            a sequence nor a plain value.
        ValueError: If the source of a class or function of one's own cannot be read, or a part of
            Farfield was replaced.
    """
    reached = set[type | Callable[..., object]]()
    described = _described(value, digest, reached)
    check_as_written(reached)
    return described


_Digest = Callable[[Any], str]
_Reached = set[type | Callable[..., object]]


def _described(value: object, digest: _Digest, reached: _Reached) -> Json:
    """Write a value as plain JSON; add classes and functions of Farfield in it to `reached`."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, tuple | list):
        return [_described(part, digest, reached) for part in value]
    if isinstance(value, np.ndarray):
        return {"array": array_digest(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _describe_fields(value, digest, reached)
    if isinstance(value, type) or inspect.isfunction(value):
        reached.update(filter(is_ours, getattr(value, "__mro__", (value,))))
        name = as_written({"name": public_path(value)})
        return name if is_ours(value) else {**name, "source": digest(value)}
    raise TypeError(
        f"an experiment holds frozen dataclasses, classes and plain values; got {value!r}"
    )


def _number(value: float) -> float:
    """Check a number, and give zero one sign; raises `TypeError` for nan."""
    if math.isnan(value):
        raise TypeError("nan is not equal to itself, so that no experiment with it is found again")
    return value + 0.0


def _describe_fields(value: object, digest: _Digest, reached: _Reached) -> dict[str, Json]:
    reached.update(filter(is_ours, type(value).__mro__))
    _check_only_fields(value)
    described: dict[str, Json] = {"class": public_path(type(value))}
    if not is_ours(type(value)):
        described["source"] = digest(type(value))
    version = getattr(type(value), "version", None)
    if isinstance(version, int):
        described["version"] = version
    cls: Any = type(value)
    kinds = kinds_of(cls)
    for field, content in changed_fields(value):
        described[field] = _described(as_annotated(content, kinds.get(field)), digest, reached)
    return as_written(described)


def _check_only_fields(value: Any) -> None:
    """Raise `ValueError` if an attribute beside the fields does not follow from the fields."""
    cls, fields = type(value), {field.name for field in dataclasses.fields(value)}
    for name in sorted(getattr(value, "__dict__", {}).keys() - fields):
        is_lazy = isinstance(inspect.getattr_static(cls, name, None), cached_property)
        if is_ours(cls) and is_lazy:
            continue
        if _made(value, name) not in (None, content_of(vars(value)[name])):
            raise ValueError(
                f"{cls.__name__} has an attribute {name} that its fields do not make, which no "
                "key can tell; make it a field"
            )


@lru_cache(maxsize=64)
def _made(value: Any, name: str) -> str | None:
    """Read the attribute of a new instance with the same fields, if one can be made."""
    try:
        return content_of(getattr(dataclasses.replace(value), name, None))
    except Exception:  # noqa: BLE001 — whatever the class of others does when it is made
        return None


@cache
def kinds_of(cls: Any) -> dict[str, Kind]:
    """Build the checkers of a class's arguments by name; none if annotations cannot be read.

    Args:
        cls: Any class, a stranger's too.
    """
    try:
        return {name: kind_of(hint) for name, hint in hints_of(cls).items()}
    except Exception:  # noqa: BLE001 — annotations of others may be anything
        return {}


def as_annotated(content: Any, kind: Kind | None) -> Any:
    """Convert a value to its annotated type, so that 1 for a `float` is 1.0; else unchanged.

    Args:
        content: The value.
        kind: Checker of the annotation, if there is one.
    """
    try:
        return content if kind is None else kind.take("", content)
    except ArgumentError:
        return content


def changed_fields(value: object) -> Iterator[tuple[str, object]]:
    """Name and content of the fields of a dataclass that differ from their default."""
    if not dataclasses.is_dataclass(value):
        raise TypeError(f"value must be a dataclass, got {value!r}")
    for field in dataclasses.fields(value):
        content = getattr(value, field.name)
        if field.default is dataclasses.MISSING or content != field.default:
            yield field.name, content


def arrays_of(value: object) -> dict[str, np.ndarray]:
    """List every array inside `value`, by digest."""
    found: dict[str, np.ndarray] = {}
    if isinstance(value, np.ndarray):
        found[array_digest(value)] = value
    elif isinstance(value, tuple | list):
        for part in value:
            found |= arrays_of(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            found |= arrays_of(getattr(value, field.name))
    return found


def restore(
    described: Json,
    *,
    classes: Mapping[str, type] | None = None,
    arrays: Mapping[str, np.ndarray] | None = None,
) -> Any:
    """Restore the object that `describe` described.

    Only Farfield's own classes and those in `classes` are ever made; a description that names
    another module is refused, so that one read from a file cannot run a stranger's code.

    Args:
        described: Result of `describe`.
        classes: Classes of one's own, by the path in the description.
        arrays: Arrays by digest.

    Raises:
        ValueError: If a class or array is not known, or a class changed since.
    """
    known = dict(classes or {})

    def build(part: Json) -> Any:
        if isinstance(part, list):
            return tuple(build(inner) for inner in part)
        if not isinstance(part, dict):
            return part
        if "array" in part:
            return _known(part["array"], dict(arrays or {}), "array")
        part = as_named(part)
        if "name" in part:
            thing = _find(part["name"], known)
            _check_source(thing, part)
            return thing
        cls = _find(part["class"], known)
        if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
            raise ValueError(f"{part['class']!r} is not a dataclass, and so no part of experiments")
        _check_source(cls, part)
        version = part.get("version")
        if version is not None and version != getattr(cls, "version", None):
            raise ValueError(
                f"{part['class']} is at version {getattr(cls, 'version', None)}, "
                f"the description asks for version {version}"
            )
        fields = {
            name: build(content)
            for name, content in part.items()
            if name not in ("class", "version", "source")
        }
        return cls(**fields)

    return build(described)


def names_of_others(described: Json) -> set[str]:
    """List the classes and functions in a description that are not Farfield's, by their path.

    Args:
        described: Result of `describe`.
    """
    if isinstance(described, list):
        return set().union(*map(names_of_others, described))
    if not isinstance(described, dict):
        return set()
    names = {str(described[part]) for part in ("class", "name") if part in described}
    found = {name for name in names if not name.startswith("farfield.")}
    return found.union(*map(names_of_others, described.values()))


def _known(name: str, table: Mapping[str, Any], kind: str) -> Any:
    if name not in table:
        raise ValueError(f"the description names {kind} {name!r}, which was not given")
    return table[name]


def _find(path: str, known: Mapping[str, type]) -> Any:
    if path in known:
        return known[path]
    module, _, name = path.rpartition(".")
    if module.split(".")[0] != "farfield":
        raise ValueError(f"{path!r} is not part of Farfield; pass it in `classes`")
    for face in faces(module):
        if name in getattr(face, "__all__", ()):
            return getattr(face, name)
    raise ValueError(f"{path!r} is not a public name of Farfield")


def _check_source(thing: type, part: Mapping[str, Json]) -> None:
    wanted = part.get("source")
    if wanted is not None and wanted != source_digest(thing):
        raise ValueError(
            f"{public_path(thing)} has changed since the description was made: its code was "
            "edited, or something that it refers to was set to another value, by a script that "
            "worker processes do not run or by a network that was trained before in this one"
        )
