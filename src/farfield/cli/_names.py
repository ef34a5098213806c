"""Tasks, models and their fields by their names on the command line."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeVar, get_origin, get_type_hints

import docstring_parser
import tyro
from torch import nn

from farfield.core.internal import UnknownNameError
from farfield.models import REASONERS, ResNetGenerator
from farfield.models.internal import CLASSIFIERS, MAP_READERS, RESTORERS, SCORERS
from farfield.nn import SEQUENCE_LAYERS
from farfield.nn.internal import SET_LAYERS, VALUE_HEADS
from farfield.tasks import (
    ENVIRONMENTS,
    TASKS,
    VARIATIONS,
    Environment,
    GlyphSet,
    Handwriting,
    ProblemTask,
    Variation,
)
from farfield.tasks.internal import Reading, form_of

Named = TypeVar("Named")

PLAIN = (
    int,
    float,
    bool,
    str,
    int | None,
    float | None,
    bool | None,
    tuple[str, ...],
    tuple[int, ...],
    tuple[float, ...],
    tuple[int, int],
    tuple[int, int] | None,
    tuple[float, float],
)
"""Types of the fields that can be given on the command line."""


def find(kind: str, name: str, names: Mapping[str, Named]) -> Named:
    """Look up a name.

    Args:
        kind: Kind of the name, for the error.
        name: The name received.
        names: The known names.

    Raises:
        UnknownNameError: If the name is unknown; it suggests the nearest known one.
    """
    if name not in names:
        raise UnknownNameError(kind, name, names)
    return names[name]


def find_task_or_environment(name: str) -> Any:
    """Find the class of a task or environment.

    Args:
        name: Its name on the command line.

    Raises:
        UnknownNameError: If it is unknown.
    """
    return find("task", name, TASKS | ENVIRONMENTS)


def shapes_of(name: str) -> GlyphSet | Handwriting | None:
    """Build the images of a name: `None` for the built-in glyphs, else the letters or the paper's.

    Args:
        name: `"glyphs"`, `"letters"`, `"plain-letters"`, `"handwriting"` or `"paper"`.
    """
    if name == "glyphs":
        return None
    if name == "handwriting":
        return Handwriting()
    named = {"letters": GlyphSet.letters, "plain-letters": GlyphSet.plain_letters}
    return named.get(name, GlyphSet.paper)()


def find_variations(names: str, images: str) -> tuple[Variation, ...]:
    """Find standard variations by name.

    Args:
        names: Names with commas between them; `"all"` for every variation of the images.
        images: Name of the images; only plain letters and handwriting come in several hands.

    Raises:
        UnknownNameError: If a name is unknown.
    """
    if names == "all":
        has_hands = images in ("plain-letters", "handwriting")
        return tuple(one for one in VARIATIONS.values() if has_hands or not one.font)
    return tuple(find("variation", name, VARIATIONS) for name in names.split(",") if name)


def options_of_task(task: Any) -> Any:
    """Make a dataclass of the fields of a task that the command line can set.

    Args:
        task: The class of the task.
    """
    hints = get_type_hints(task)
    fields = [
        (field.name, hint, field.default)
        for field in dataclasses.fields(task)
        if (hint := hints[field.name]) in PLAIN or get_origin(hint) is Literal
    ]
    return plain_dataclass("Task", fields, task)


def fields_of_task(
    task: Any, options: Any, images: str, variations: str = "", training_variation: str = ""
) -> dict[str, Any]:
    """Collect the fields of a task: its options, and the images where it has a field for them.

    Args:
        task: The class of the task.
        options: The dataclass of `options_of_task`, filled in.
        images: Name of the images.
        variations: Names of the variations of the tests.
        training_variation: Name of the variation of training.

    Raises:
        ValueError: If other images are named than the task's own, and it takes none; or a variation
            of a task without variations.
    """
    fields = dataclasses.asdict(options)
    varied = find_variations(variations, images)
    trained = find_variations(training_variation, images)
    if any(field.name == "variations" for field in dataclasses.fields(task)):
        fields |= {"variations": varied, "training_variation": next(iter(trained), None)}
    elif varied or trained:
        given = variations or training_variation
        raise ValueError(
            f"variations must be left out for {task.name}, got {given}: its items do not vary"
        )
    if any(field.name == "shapes" for field in dataclasses.fields(task)):
        return {**fields, "shapes": shapes_of(images)}
    if images != "glyphs":
        raise ValueError(f"images must be left out for {task.name}, got {images}: it draws its own")
    return fields


def plain_dataclass(name: str, fields: Sequence[tuple[str, Any, Any]], described_by: type) -> Any:
    """Make a frozen dataclass of options.

    Args:
        name: Its name.
        fields: Name, type and default of each.
        described_by: The class whose docstring describes the options.
    """
    text = docstring_parser.parse(inspect.getdoc(described_by) or "").params
    said = {part.arg_name: " ".join((part.description or "").split()) for part in text}
    made = [
        (
            field,
            Annotated[hint, tyro.conf.arg(help=said.get(field, ""))],
            dataclasses.field(default=default),
        )
        for field, hint, default in fields
    ]
    return dataclasses.make_dataclass(name, made, frozen=True, kw_only=True)


MODELS: Final[dict[Reading, dict[str, type[nn.Module]]]] = {
    "elements": {**SET_LAYERS, **REASONERS},
    "item": CLASSIFIERS,
    "maps": MAP_READERS,
    "group": {**REASONERS, **SET_LAYERS},
    "candidates": {**SCORERS, **SET_LAYERS, **REASONERS},
    "sequence": SEQUENCE_LAYERS,
    "items": {},
    "restoration": RESTORERS,
    "generation": {"gan": ResNetGenerator},
    "observation": VALUE_HEADS,
}
"""Models by name, for every way in which problems can be read."""


def find_reader(task: ProblemTask | Environment, name: str) -> tuple[Reading, type[nn.Module]]:
    """Find the class of a model, and the way in which it reads a task.

    Args:
        task: The task.
        name: Name of the model on the command line.

    Raises:
        UnknownNameError: If the model is unknown.
        ValueError: If the model does not support the task.
    """
    readers: dict[str, tuple[Reading, type[nn.Module]]] = {}
    acted_in: tuple[Reading, ...] = ("sequence", "observation")
    readings = acted_in if isinstance(task, Environment) else form_of(task).readings
    for reading in readings:
        for model, cls in MODELS[reading].items():
            readers.setdefault(model, (reading, cls))
    if name not in readers and any(name in models for models in MODELS.values()):
        *most, last = readers or ["a network of farfield.experiments"]
        fitting = f"{', '.join(most)} or {last}" if most else last
        raise ValueError(f"model {name!r} does not support task {task.name!r}; use {fitting}")
    return find("model", name, readers)
