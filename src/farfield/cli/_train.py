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
from farfield.core import stream
from farfield.execution import jobs_of, results, run
from farfield.experiments import OFFERED, Experiment, Network, Recipe, ScoringNetwork, Spec
from farfield.models import REASONERS, SCORERS
from farfield.nn import CONTEXTS, ENCODERS
from farfield.records import Store
from farfield.reports import extrapolation_profile
from farfield.tasks import Candidates, Task

STEPS = 1000
"""Updates, where `--recipe.steps` is not given."""


def train(command: Train, rest: Sequence[str]) -> None:
    """Train, then print the score in every regime.

    Args:
        command: What to train.
        rest: Words with the fields of task, model and recipe.
    """
    experiment = experiment_of(command, rest)
    experiment.model.build(experiment.task, stream(0, "trial"))  # or say now what is wrong with it
    jobs = jobs_of([experiment], range(command.seeds))
    store, console = Store(command.records), Console()
    labels = {experiment.key: f"{command.model} on {command.task}"}
    with Display(jobs, labels, console, at_once(command.device, command.workers)) as display:
        run(jobs, store, device=command.device, workers=command.workers, report=display.take)
    profile = extrapolation_profile(experiment.task, results(jobs, store))
    console.print(f"\n[bold]{command.model}[/] on [bold]{command.task}[/]\n")
    console.print(str(profile), highlight=False, soft_wrap=True)
    console.print(f"\nexperiment {experiment.key} in {command.records}", soft_wrap=True)


def experiment_of(command: Train, rest: Sequence[str]) -> Experiment:
    """The experiment that the words describe.

    Args:
        command: The words with fixed names.
        rest: The fields of task, model and recipe.
    """
    task, part = find_task(command.task), find("model", command.model, {**REASONERS, **SCORERS})
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
    context = None
    if command.context != "none":
        context = Spec(find("context", command.context, CONTEXTS))
    made = task(**fields_of_task(task, options.task, command.shapes))
    encoder = find("encoder", command.encoder or _usual_encoder(made), ENCODERS)
    return Experiment(
        task=made,
        model=_network(made, Spec(part, **dataclasses.asdict(options.model)), encoder, context),
        recipe=options.recipe,
    )


def _usual_encoder(task: Task) -> str:
    """Name of the encoder that the papers have for images such as those of a task."""
    if len(task.item_shape) == 3:
        return "analogy"
    return "panel" if isinstance(task, Candidates) else "conv"


def _network(
    task: Task, part: Spec, encoder: type[nn.Module], context: Spec | None
) -> Network | ScoringNetwork:
    """A network that scores the candidates of a task, where it has some, or answers it."""
    scores = part.cls in SCORERS.values()
    if scores != isinstance(task, Candidates):
        names = SCORERS if isinstance(task, Candidates) else REASONERS
        raise ValueError(
            f"model must be one of {', '.join(names)} for {task.name}, got a "
            f"{'scorer' if scores else 'reasoner'} ({part.cls.__name__})"
        )
    if scores:
        return ScoringNetwork(scorer=part, encoder=Spec(encoder), context=context)
    return Network(reasoner=part, encoder=Spec(encoder), context=context)


def _options_of_module(cls: type[nn.Module]) -> Any:
    hints = get_type_hints(cls.__init__)
    return plain_dataclass(
        "Model",
        [
            (p.name, hints[p.name], p.default)
            for p in inspect.signature(cls).parameters.values()
            if p.kind is p.KEYWORD_ONLY and p.name not in OFFERED and hints[p.name] in PLAIN
        ],
    )
