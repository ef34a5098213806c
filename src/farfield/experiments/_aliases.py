"""Names in which experiments are written down: they stay when classes and fields are renamed.

The key of an experiment is made from its description. A class or field that gets another name keeps
its older one there, so that no record is lost. Every rename has its entry here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Json = Any

CLASSES: Final[Mapping[str, str]] = {}
"""Path in descriptions of every class that has another one now."""

FIELDS: Final[Mapping[str, Mapping[str, str]]] = {}
"""Names in descriptions of fields that have another one now, by the path of their class now."""

_RECIPE: Final = "farfield.experiments.Recipe"
_WARMUP: Final = "farfield.experiments.Warmup"
_COSINE: Final[dict[str, Json]] = {"class": "farfield.experiments.Cosine"}


def as_written(described: dict[str, Json]) -> dict[str, Json]:
    """The description of a dataclass in the names that descriptions keep.

    Args:
        described: Its class and fields, as they are named now.
    """
    cls = described["class"]
    older = FIELDS.get(cls, {})
    written: dict[str, Json] = {}
    for name, content in described.items():
        written[older.get(name, name)] = content
    written["class"] = CLASSES.get(cls, cls)
    return _schedule_as_flags(written) if cls == _RECIPE else written


def as_named(written: dict[str, Json]) -> dict[str, Json]:
    """The description of a dataclass in the names of now.

    Args:
        written: What `as_written` returned.
    """
    now: dict[str, str] = {older: newer for newer, older in CLASSES.items()}
    path: Any = written["class"]  # anything, in a file from elsewhere
    cls = now.get(path, path)
    newer = {old: new for new, old in FIELDS.get(cls, {}).items()}
    described: dict[str, Json] = {}
    for name, content in written.items():
        described[newer.get(name, name)] = content
    described["class"] = cls
    return _schedule_from_flags(described) if cls == _RECIPE else described


def _schedule_as_flags(recipe: dict[str, Json]) -> dict[str, Json]:
    """A recipe whose schedule, where it can be, is written as `warmup` and `cosine_decay`."""
    schedule = recipe.get("schedule")
    if not isinstance(schedule, dict):
        return recipe
    rest = dict(schedule) if schedule["class"] == _WARMUP else {"then": schedule}
    flags = {"warmup": rest["fraction"]} if "fraction" in rest else {}
    match rest.get("then"):
        case None:
            pass
        case falling if falling == _COSINE:
            flags["cosine_decay"] = True
        case _:
            return recipe
    return {name: content for name, content in recipe.items() if name != "schedule"} | flags


def _schedule_from_flags(recipe: dict[str, Json]) -> dict[str, Json]:
    """The recipe that `_schedule_as_flags` wrote."""
    described = dict(recipe)
    falls, fraction = described.pop("cosine_decay", False), described.pop("warmup", None)
    schedule = _COSINE if falls else {}
    if fraction is not None:
        schedule = {"class": _WARMUP, "fraction": fraction} | ({"then": _COSINE} if falls else {})
    return described | {"schedule": schedule} if schedule else described
