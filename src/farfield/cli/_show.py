"""Commands that show problems and networks as pictures, or all records in the browser."""

from __future__ import annotations

import dataclasses
import io
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tyro
from rich.text import Text
from torch import nn

from farfield.analysis import watch_episode
from farfield.cli._arguments import Explore, Show, is_key
from farfield.cli._console import make_console, say
from farfield.cli._names import fields_of_task, find_task_or_environment, options_of_task
from farfield.cli._runs import SHORT, complete_key, store_of
from farfield.core import stream
from farfield.core.internal import UnknownNameError, printable
from farfield.experiments import Experiment
from farfield.experiments.internal import names_of_others
from farfield.models import GAN, SRCNN
from farfield.records import Store
from farfield.records.internal import write_whole
from farfield.reports import film, problem_sheet
from farfield.reports.internal import generated_sheet
from farfield.suites.internal import own_parts
from farfield.tasks import Environment, ImageGeneration, ProblemTask, SuperResolution
from farfield.training import trained_network


def show(command: Show, rest: Sequence[str]) -> None:
    """Draw sample problems of every regime of a task, or beginnings of episodes.

    Args:
        command: Which task, and where to.
        rest: Words with the fields of the task.

    Raises:
        ValueError: If an option does not go with a task, or with a key.
    """
    if is_key(command.task):
        _show_network(command, rest)
        return
    _check_left_out(command, ("regime", "enlarge", "module"), "a task")
    task = task_of(command, rest)
    path = command.out or Path(f"problems-{command.task}.png")
    problem_sheet(task, path, seed=command.seed)
    said = Text.assemble(f"{command.task}: problems of every regime in ", (printable(path), "bold"))
    make_console().print(said, soft_wrap=True)


def _check_left_out(command: Show, names: Sequence[str], beside: str) -> None:
    """Raise `ValueError` if an option is given that does not go with a task, or with a key."""
    for name in names:
        if (given := getattr(command, name)) != getattr(Show, name):
            raise ValueError(f"{name} must be left out with {beside}, got {given}")


def _show_network(command: Show, rest: Sequence[str]) -> None:
    """Draw the work of a trained network: a film, generated images or an enlarged picture."""
    if rest:
        raise ValueError(f"fields must be left out with a key, got {' '.join(rest)}")
    _check_left_out(command, ("withheld", "images"), "a key")
    store = store_of(command.records)
    key = complete_key(store, command.task)
    experiment, network = _trained(command, store, key)
    task = experiment.task
    is_agent = isinstance(task, Environment)
    core = getattr(network, "core", None)
    if not is_agent:
        _check_left_out(command, ("regime",), "a network that acts in no environment")
    if not isinstance(core, SRCNN):
        _check_left_out(command, ("enlarge",), f"{type(network).__name__}, which enlarges none")
    if isinstance(task, Environment):
        regime = command.regime or task.regimes[-1].name
        names = [one.name for one in task.regimes]
        if regime not in names:
            raise UnknownNameError("regime", regime, names)
        episode = watch_episode(network, task, regime, stream(command.seed, "filmstrip").child(0))
        path = film(episode, command.out or Path(f"film-{key[:SHORT]}.png"))
        what = f"an episode in {regime}, score {episode.score:g}, of {episode.mission!r}"
    elif isinstance(core, SRCNN) and isinstance(task, SuperResolution):
        if command.enlarge is None:
            raise ValueError("enlarge must name a picture that the SRCNN enlarges, got none")
        picture, scale = command.enlarge, task.scale
        path = command.out or Path(f"{picture.stem}-x{scale}.png")
        content = io.BytesIO()
        core.enlarge(picture, scale).save(content, path.suffix.lstrip(".") or "png")
        write_whole(path, content.getvalue())
        what = f"{printable(picture)}, {scale} times as large"
    elif isinstance(network, GAN) and isinstance(task, ImageGeneration):
        path = command.out or Path(f"images-{key[:SHORT]}.png")
        if path.suffix.lower() != ".png":
            raise ValueError(f"out must end in .png, got {path}")
        write_whole(path, generated_sheet(network, task, command.seed))
        what = "images of the data, and images that the generator makes"
    else:
        raise ValueError(
            f"{key[:SHORT]} must be an agent, a GAN or an SRCNN to be drawn, got "
            f"{type(network).__name__} on {task.name}; `farfield explore` shows its answers"
        )
    said = Text.assemble(f"{what}: ", (printable(path), "bold"))
    make_console().print(said, soft_wrap=True)


def _trained(command: Show, store: Store, key: str) -> tuple[Experiment, nn.Module]:
    """Build the experiment of a key, and its trained network."""
    seeds = {record.seed: record for record in store.records(key)}
    if command.seed not in seeds:
        there = ", ".join(map(str, seeds))
        raise ValueError(f"seed must be one of {there} of experiment {key}, got {command.seed}")
    described = seeds[command.seed].experiment
    classes = own_parts(command.module)
    if missing := sorted(names_of_others(described) - classes.keys()):
        raise ValueError(
            f"module must name the file of {', '.join(missing)}, which is no part of Farfield, "
            f"e.g. --module my_module.py, got {', '.join(map(str, command.module)) or 'none'}"
        )
    experiment = Experiment.from_json(described, classes=classes)
    return experiment, trained_network(experiment, command.seed, store)


def task_of(command: Show, rest: Sequence[str]) -> ProblemTask | Environment:
    """Build the task that the words describe.

    Args:
        command: The words with fixed names.
        rest: The fields of the task.
    """
    task = find_task_or_environment(command.task)
    words = list(rest)
    if command.withheld is not None:
        if any(word.partition("=")[0] == "--task.withheld" for word in rest):
            raise ValueError("withheld is given twice, as --withheld and --task.withheld: drop one")
        words += ["--task.withheld", str(command.withheld)]
    group = options_of_task(task)
    fields: list[Any] = [("task", group, dataclasses.field(default=group()))]
    options: Any = tyro.cli(
        dataclasses.make_dataclass("Options", fields, frozen=True),
        prog=f"farfield show {command.task}",
        args=words,
    )
    shown: ProblemTask | Environment = task(
        **fields_of_task(
            task, options.task, command.images, command.variations, command.training_variation
        )
    )
    return shown


def explore(command: Explore) -> None:
    """Serve the pages to this machine until the command is interrupted.

    Args:
        command: Folders and port.

    Raises:
        ModuleNotFoundError: If the packages of the extra are not installed.
        ValueError: If the port is impossible or taken.
    """
    from farfield.cli._report import results_folder
    from farfield.explorer import serve

    if not 1 <= command.port <= 65535:
        raise ValueError(f"port must be a number from 1 to 65535, got {command.port}")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", command.port)) == 0:
            raise ValueError(f"port must be free, got {command.port}, which something listens on")
    records, results = results_folder(command.records), results_folder(command.results)
    say(make_console(), f"http://127.0.0.1:{command.port} (Ctrl-C ends it)")
    own_parts(command.module)  # an error of a file is said here
    serve(records, results, command.port, command.module)
