"""Models by name, and the ways in which they read problems."""

from __future__ import annotations

from typing import Final

from torch import nn

from farfield.cli._names import find
from farfield.models import CLASSIFIERS, MAP_READERS, REASONERS, RESTORERS, SCORERS
from farfield.nn import SEQUENCE_LAYERS, SET_LAYERS, VALUE_HEADS
from farfield.tasks import Environment, ProblemTask, Reading, form_of

MODELS: Final[dict[Reading, dict[str, type[nn.Module]]]] = {
    "elements": SET_LAYERS,
    "item": CLASSIFIERS,
    "maps": MAP_READERS,
    "group": {**REASONERS, **SET_LAYERS},
    "candidates": {**SCORERS, **SET_LAYERS},
    "sequence": SEQUENCE_LAYERS,
    "items": {},
    "restoration": RESTORERS,
    "observation": VALUE_HEADS,
}
"""Models by name, for every way in which problems can be read."""


def find_reader(task: ProblemTask | Environment, name: str) -> tuple[Reading, type[nn.Module]]:
    """Way in which a model reads a task, and its class.

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
