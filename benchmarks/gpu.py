"""Networks of several seeds as one program on a GPU, and the hours of the grid of webb2021 there.

Run from the root of the checkout:

    make gpu                                        # about two minutes on a GPU
    python -m benchmarks.gpu --device cpu --quick   # the same code at a tiny size

Every model of the paper, after its context normalization, is trained for some steps on each of the
four tasks: ten seeds together, with steps that are recorded and replayed, and on the first task
also ten with steps as they are, and one seed by itself. Time by the wall, after the device is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, final

import torch
import tyro

from benchmarks import _pages
from benchmarks._report import page_of_table
from benchmarks._rounds import Lines, publish
from farfield.experiments import Experiment
from farfield.reproductions import TABLES, Claim
from farfield.training import Stack

RESULTS: Final = _pages.RESULTS / "gpu"
GRID: Final = tuple(f"webb2021/table-{number}" for number in (9, 10, 11, 12))
SEEDS: Final = 10
WARM_UP: Final = 2
GOAL_HOURS: Final = 2.0
GOAL_TIMES: Final = 1.5
COLUMNS: Final = ("model", "task", "ms a step", "as they are", "one seed", "ten by one", "hours")

Json = Mapping[str, Any]


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the measurement.

    Args:
        device: Where the networks are.
        rounds: Steps that are timed.
        quick: Two models and tasks, three steps.
        beside: What else ran on the machine, for the page; empty for nothing.
        name: Name of the result files; by default date and device.
    """

    device: Literal["cpu", "cuda"] = "cuda"
    rounds: int = 30
    quick: bool = False
    beside: str = ""
    name: str | None = None


def cells(claims: Iterable[Claim]) -> dict[tuple[str, str], list[Claim]]:
    """Claims by model and task, the longest training first; context norm tells nothing of time."""
    found: dict[tuple[str, str], list[Claim]] = {}
    for claim in sorted(claims, key=lambda claim: -claim.experiment.recipe.steps):
        kind = claim.row.removesuffix(" + TCN"), claim.experiment.task.name
        found.setdefault(kind, []).append(claim)
    return found


def seconds_a_step(
    experiment: Experiment, seeds: int, device: str, steps: int, *, replay: bool = True
) -> float:
    """Seconds that a step takes.

    Args:
        experiment: What is trained.
        seeds: Networks together.
        device: Where.
        steps: How many steps are timed.
        replay: Whether a GPU records and replays them.
    """
    wait: Callable[[], None] = torch.cuda.synchronize if device == "cuda" else lambda: None
    stack = Stack(experiment, range(seeds), device=device, replay=replay)
    for step in range(WARM_UP):
        stack.update(step)
    wait()
    started = time.perf_counter()
    for step in range(WARM_UP, WARM_UP + steps):
        stack.update(step)
    wait()
    return (time.perf_counter() - started) / steps


def measure(options: Options, rounds: int) -> Lines:
    """A line for each model and task."""
    claims = [claim for home in GRID for claim in TABLES[home].claims]
    first, lines = claims[0].experiment.task.name, Lines()
    kinds = cells(claims)
    for (model, task), group in [*kinds.items()][:: len(kinds) // 2 if options.quick else 1]:
        taken = partial(seconds_a_step, group[0].experiment, device=options.device, steps=rounds)
        lines.append(
            {
                "model": model,
                "task": task,
                "steps": sum(claim.experiment.recipe.steps for claim in group),
                "replayed": taken(SEEDS),
                "as they are": taken(SEEDS, replay=False) if task == first else None,
                "one": taken(1) if task == first else None,
            }
        )
    return lines


def hours(line: Json) -> float:
    """Hours that all cells of a model and task take, ten networks each, without their scores."""
    return float(line["steps"] * line["replayed"] / 3600)


def row(line: Json, lines: Lines) -> tuple[str, ...]:
    """One row of the table, in the order of `COLUMNS`."""
    del lines
    one, plain = line["one"], line["as they are"]
    return (
        line["model"],
        line["task"],
        f"{1e3 * line['replayed']:.2f}",
        f"{1e3 * plain:.2f}" if plain else "",
        f"{1e3 * one:.2f}" if one else "",
        f"{line['replayed'] / one:.2f}" if one else "",
        f"{hours(line):.2f}",
    )


def markdown(results: Json) -> str:
    """The results as a Markdown page."""
    lines, settings = results["lines"], results["settings"]
    total = sum(map(hours, lines))
    said = (
        f"Steps of ten networks as one program on {settings['device']}, {settings['rounds']} of "
        f"each model and task after the first {WARM_UP}, by the wall. *As they are*: the same "
        "steps, neither recorded nor replayed. *Hours*: all cells of Tables 9 to 12 of webb2021, "
        "ten networks each, cell after cell, without their scores."
    )
    judged = (
        f"All models and tasks of this page: {total:.1f} hours (goal for the grid: "
        f"{GOAL_HOURS:g}). Ten seeds are to take at most {GOAL_TIMES:g} times as long as one."
    )
    return page_of_table(results, "Networks together on a GPU", f"{said}\n\n{judged}", COLUMNS, row)


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    publish(
        options,
        {"device": options.device},
        {"lines": partial(measure, options)},
        RESULTS,
        markdown,
        row,
    )


if __name__ == "__main__":
    main(tyro.cli(Options))
