"""`farfield train`: one model, one task, several seeds."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from typing import Any, get_type_hints

import tyro
from rich.console import Console
from torch import nn

from farfield.cli._arguments import Train
from farfield.cli._display import Display, at_once
from farfield.cli._names import (
    PLAIN,
    fields_of_task,
    find,
    find_task,
    options_of_task,
    plain_dataclass,
)
from farfield.core import printable, stream
from farfield.execution import jobs_of, results, run
from farfield.experiments import (
    OFFERED,
    Architecture,
    Experiment,
    Network,
    Recipe,
    RollOutNetwork,
    ScoringNetwork,
    SequenceNetwork,
    SetNetwork,
    Spec,
)
from farfield.models import REASONERS, SCORERS
from farfield.nn import CONTEXTS, ENCODERS, SEQUENCE_LAYERS, SET_LAYERS, PatchEncoder
from farfield.records import Store
from farfield.reports import extrapolation_profile
from farfield.tasks import Candidates, ProblemTask, RolledOut, form_of, is_at_hand

STEPS = 1000
"""Updates, where `--recipe.steps` is not given."""

HIDDEN = 96
"""Units of a sequence layer, where `--model.hidden-size` is not given."""

WIDTH = "num_features"
"""Option of a layer from set to set that is that of the embeddings where it is not given."""


def train(command: Train, rest: Sequence[str]) -> None:
    """Train, then print the score in every regime.

    Args:
        command: What to train.
        rest: Words with the fields of task, model and recipe.
    """
    experiment = experiment_of(command, rest)
    experiment.model.build(experiment.task, stream(0, "trial"))  # says what is wrong
    if not is_at_hand(experiment.task):
        experiment.task.draw(stream(0))  # says which file is missing, and where to get it
    jobs = jobs_of([experiment], range(command.seeds))
    store, console = Store(command.records), Console()
    labels = {experiment.key: f"{command.model} on {command.task}"}
    with Display(jobs, labels, console, at_once(command.device, command.workers)) as display:
        run(jobs, store, device=command.device, workers=command.workers, report=display.take)
    profile = extrapolation_profile(experiment.task, results(jobs, store))
    console.print(f"\n[bold]{command.model}[/] on [bold]{command.task}[/]\n")
    console.print(str(profile), highlight=False, soft_wrap=True)
    place = f"\nexperiment {experiment.key} in {printable(command.records)}"
    console.print(place, soft_wrap=True, markup=False, emoji=False)


def experiment_of(command: Train, rest: Sequence[str]) -> Experiment:
    """The experiment that the words describe.

    Args:
        command: The words with fixed names.
        rest: The fields of task, model and recipe.
    """
    task = find_task(command.task)
    part = _model_for(task(), command.model)
    groups = {"task": options_of_task(task), "model": _options_of_module(part)}
    fields: list[Any] = [
        (name, group, dataclasses.field(default=group())) for name, group in groups.items()
    ]
    fields.append(("recipe", Recipe, dataclasses.field(default=Recipe(steps=STEPS))))
    options: Any = tyro.cli(
        dataclasses.make_dataclass("Options", fields, frozen=True),
        prog=f"farfield train --task {command.task} --model {command.model}",
        args=list(rest),
    )
    made = task(**fields_of_task(task, options.task, command.shapes))
    chosen = dataclasses.asdict(options.model)
    if chosen.get(WIDTH) is None:
        chosen.pop(WIDTH, None)
    spec = Spec(part, **chosen)
    return Experiment(task=made, model=_network(made, spec, command), recipe=options.recipe)


def _is_read_as_set(task: ProblemTask) -> bool:
    """Whether a task is for layers from set to set alone: of one item that has parts."""
    return task.length == 1 and len(task.item_shape) in (1, 3)


def _is_read_in_order(task: ProblemTask) -> bool:
    """Whether a task is for sequence layers: of items that are no images, or asked everywhere."""
    if _is_read_as_set(task):
        return False
    return len(task.item_shape) == 1 or form_of(task).answer == "everywhere"


def _models_for(task: ProblemTask) -> dict[str, type[nn.Module]]:
    """What a task can be learned with, by name."""
    if _is_read_as_set(task):
        return SET_LAYERS
    if _is_read_in_order(task):
        return SEQUENCE_LAYERS
    return {**(SCORERS if isinstance(task, Candidates) else REASONERS), **SET_LAYERS}


def _model_for(task: ProblemTask, name: str) -> type[nn.Module]:
    fitting = _models_for(task)
    others = {**REASONERS, **SCORERS, **SEQUENCE_LAYERS, **SET_LAYERS}
    if name in others and name not in fitting:
        raise ValueError(
            f"model must be one that {task.name} can be learned with, one of "
            f"{', '.join(fitting)}; got {name!r}, which is for other tasks"
        )
    return find("model", name, fitting)


def _usual_encoder(task: ProblemTask) -> str:
    """Name of the encoder that the papers have for items such as those of a task."""
    if _is_read_as_set(task):
        return "component" if len(task.item_shape) == 1 else "patch"
    if _is_read_in_order(task):
        return "linear"
    if len(task.item_shape) == 3:
        return "analogy"
    return "panel" if isinstance(task, Candidates) else "conv"


def _network(task: ProblemTask, part: Spec, command: Train) -> Architecture:
    """A network that reads a task as a set or in order, scores its candidates, or answers it.

    Where a task gives more than the first place, a network in order goes on from its own answers.
    """
    encoder = Spec(find("encoder", command.encoder or _usual_encoder(task), ENCODERS))
    if _is_read_as_set(task) or _is_read_in_order(task):
        if command.context not in (None, "none"):
            raise ValueError(
                f"context must be none for {task.name}, whose items are read one by one, "
                f"got {command.context!r}"
            )
        if _is_read_as_set(task):
            in_places = encoder.cls is PatchEncoder  # or its patches could stand in any order
            placed = Spec(PatchEncoder, positions=True) if in_places else encoder
            return SetNetwork(core=part, encoder=placed)
        if isinstance(task, RolledOut) and task.given > 1:
            return RollOutNetwork(core=part, encoder=encoder)
        return SequenceNetwork(core=part, encoder=encoder)
    context = None
    if command.context != "none":
        context = Spec(find("context", command.context or "norm", CONTEXTS))
    if part.cls in SET_LAYERS.values():
        return SetNetwork(core=part, encoder=encoder, context=context)
    if isinstance(task, Candidates):
        return ScoringNetwork(scorer=part, encoder=encoder, context=context)
    return Network(reasoner=part, encoder=encoder, context=context)


def _options_of_module(cls: type[nn.Module]) -> Any:
    hints, defaults = get_type_hints(cls.__init__), {}
    for name, parameter in inspect.signature(cls).parameters.items():
        if name not in OFFERED and hints[name] in PLAIN:
            defaults[name] = parameter.default
    if cls in SEQUENCE_LAYERS.values():
        defaults["hidden_size"] = HIDDEN
    if cls in SET_LAYERS.values():
        defaults[WIDTH] = None
        hints[WIDTH] = int | None
    fields = [(name, hints[name], default) for name, default in defaults.items()]
    return plain_dataclass("Model", fields, cls)
