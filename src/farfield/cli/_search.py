"""`farfield search`: one model with several values of its fields, chosen among by validation."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any

from rich.table import Table as Grid

from farfield.cli._arguments import Search as Command
from farfield.cli._console import make_console, say
from farfield.cli._train import check_trainable, experiment_of, train_missing
from farfield.core import printable
from farfield.execution import jobs_of
from farfield.experiments import (
    Architecture,
    Choice,
    ScoredTrial,
    Search,
    Selection,
    Spec,
    Uniform,
)
from farfield.metrics import mean_and_standard_error, measure_of
from farfield.records import DIVERGED, Store, selection_of, write_whole


def search(command: Command, rest: Sequence[str]) -> None:
    """Train every combination that has no record yet, then choose.

    Args:
        command: What to train, and with which values.
        rest: Words with the fields of task, model and recipe.
    """
    asked = search_of(command, rest)
    for experiment in asked.experiments:
        check_trainable(experiment)
    jobs = jobs_of(asked.experiments, asked.seeds)
    store, console = Store(command.records), make_console()
    labels = {trial.experiment.key: " ".join(map(str, trial.values)) for trial in asked.trials}
    train_missing(command, jobs, labels, store, console)
    found = selection_of(asked, store)
    if command.out is not None:
        write_whole(command.out, json.dumps(found.to_json(), indent=1).encode())
    console.print(_grid(found))
    others = [r.name for r in asked.experiment.regimes if r.name not in ("training", found.regime)]
    lines = (
        f"Chosen: {found}",
        f"No score in {', '.join(others)} was read",
        f"experiment {found.best.key} in {command.records}",
    )
    for line in lines:
        say(console, printable(line))


def search_of(command: Command, rest: Sequence[str]) -> Search:
    """The search that the words describe.

    Args:
        command: The words with fixed names.
        rest: The fields of task, model and recipe.
    """
    experiment = experiment_of(command, rest)
    return Search(
        experiment=experiment,
        over=tuple(_field(text, experiment.model) for text in command.over),
        samples=command.samples,
        metric=command.metric,
        regime=command.regime,
        seeds=tuple(range(command.seeds)),
    )


def _field(text: str, network: Architecture) -> Choice | Uniform:
    """A field and its values, from `recipe.learning-rate=0.1,0.01`."""
    name, sign, values = text.partition("=")
    if not (sign and values):
        raise ValueError(
            f"over must be a field and its values, e.g. recipe.learning-rate=0.1,0.01, got {text!r}"
        )
    path = _path(name.replace("-", "_"), network)
    kind, *limits = values.split(":")
    if kind not in ("uniform", "loguniform"):
        return Choice(field=path, values=tuple(map(_value, values.split(","))))
    if len(limits) != 2:
        raise ValueError(f"over must give two limits, e.g. {kind}:0.001:0.1, got {text!r}")
    low, high = map(_value, limits)
    return Uniform(field=path, low=low, high=high, log=kind == "loguniform")


def _path(name: str, network: Architecture) -> str:
    """Path of a field in the experiment, where `model` is short for the model in the network."""
    before, _, field = name.partition(".")
    part = next(part for part in ("reasoner", "scorer", "core") if hasattr(network, part))
    first = field.partition(".")[0]
    is_short = before == "model" and not isinstance(getattr(network, first, None), Spec)
    return f"model.{part}.{field}" if is_short else name


def _value(text: str) -> Any:
    """The number, truth value or `None` that a text writes; the text itself if it is none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _grid(selection: Selection) -> Grid:
    """The trials with their scores; the chosen one in bold."""
    measure = measure_of(selection.metric)
    grid = Grid(box=None, padding=(0, 2))
    for heading in (*selection.names, f"{measure.label}, {selection.regime}", "networks"):
        grid.add_column(heading, header_style="dim", justify="right", no_wrap=True)
    for trial in selection.trials:
        style = "bold" if trial is selection.best else None
        grid.add_row(
            *selection.texts(trial), _score(trial, selection.metric), _networks(trial), style=style
        )
    return grid


def _score(trial: ScoredTrial, metric: str) -> str:
    """Mean and standard error of the networks of a trial."""
    measure, scores = measure_of(metric), [s for s in trial.scores if s is not None]
    if trial.mean is None:
        return DIVERGED
    spread = ""
    if len(scores) > 1:
        spread = f" ± {measure.written(mean_and_standard_error(scores).standard_error)}"
    return f"{measure.written(trial.mean)}{spread}{measure.unit}"


def _networks(trial: ScoredTrial) -> str:
    """Number of networks of a trial, and of those that diverged."""
    gone = trial.scores.count(None)
    count = len(trial.scores)
    return f"{count - gone} of {count}, {gone} diverged" if gone else str(count)
