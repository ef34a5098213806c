"""Networks of several seeds as one program on a GPU, and the hours of the grid of webb2021 there.

Run from the root of the checkout:

    make gpu                                        # about four minutes on a GPU
    python -m benchmarks.gpu --device cpu --quick   # the same code at a tiny size

Every model of the paper, after its context normalization, is trained for some steps on each of the
four tasks: ten seeds together, with steps that are recorded and replayed, in float32 and in TF32,
and all regimes of the ten are scored together. On the first task also: ten seeds with plain steps,
one seed, and the scores of one by itself. Time by the wall, after the device is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, final

import torch
import tyro

from benchmarks import _pages
from benchmarks._report import page_of_table
from benchmarks._rounds import Lines, publish
from farfield.experiments import Experiment
from farfield.reproductions import TABLES, Claim
from farfield.training._settings import fixed_settings
from farfield.training.internal import Learner, OneNetwork, Stack

RESULTS: Final = _pages.RESULTS / "gpu"
GRID: Final = tuple(f"webb2021/table-{number}" for number in (9, 10, 11, 12))
SEEDS: Final = 10
WARM_UP: Final = 2
GOAL_HOURS: Final = 2.0
GOAL_TIMES: Final = 1.5
QUICK_PROBLEMS: Final = 100
COLUMNS: Final = (
    "model", "task", "recorded", "ms a step", "TF32", "unrecorded", "one seed", "ten by one",
    "scores (s)", "one by one (s)", "hours", "hours TF32",
)  # fmt: skip

Json = Mapping[str, Any]


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the measurement.

    Args:
        device: Where the networks are.
        rounds: Steps that are timed.
        quick: Two models and tasks, two seeds, three steps, few problems.
        beside: Other load of the machine, for the page; empty for none.
        name: Name of the result files; by default date and device.
    """

    device: Literal["cpu", "cuda"] = "cuda"
    rounds: int = 30
    quick: bool = False
    beside: str = ""
    name: str | None = None


def cells(claims: Iterable[Claim]) -> dict[tuple[str, str], list[Claim]]:
    """Group claims by model and task, the longest training first; context norm costs no time."""
    found: dict[tuple[str, str], list[Claim]] = {}
    for claim in sorted(claims, key=lambda claim: -claim.experiment.recipe.steps):
        kind = claim.row.removesuffix(" + TCN"), claim.experiment.task.name
        found.setdefault(kind, []).append(claim)
    return found


def seconds(act: Callable[[int], object], device: str, times: int, warm_up: int = WARM_UP) -> float:
    """Measure the seconds of a call, after the first calls.

    Args:
        act: Called with the numbers 0, 1, …
        device: Device to synchronize.
        times: How many calls are timed.
        warm_up: Calls before these.
    """
    wait: Callable[[], None] = torch.cuda.synchronize if device == "cuda" else lambda: None
    for number in range(warm_up):
        act(number)
    wait()
    started = time.perf_counter()
    for number in range(warm_up, warm_up + times):
        act(number)
    wait()
    return (time.perf_counter() - started) / times


def line_of(experiment: Experiment, seeds: int, device: str, rounds: int) -> dict[str, Any]:
    """Measure the seconds of the steps and scores of an experiment.

    Args:
        experiment: The experiment.
        seeds: Networks together.
        device: Where.
        rounds: How many steps are timed.
    """
    ten = Stack(experiment, range(seeds), device=device)
    line: dict[str, Any] = {
        "replayed": seconds(ten.update, device, rounds),
        "recorded": ten.is_recorded,
        "scores": seconds(ten.score, device, times=1, warm_up=1),
    }
    with fixed_settings(matmul="tf32"):
        ten = Stack(experiment, range(seeds), device=device)
        return line | {"tf32": seconds(ten.update, device, rounds)}


def more_of(experiment: Experiment, seeds: int, device: str, rounds: int) -> dict[str, Any]:
    """Measure the seconds of plain steps, of one network, and of scores one by one.

    Args:
        experiment: The experiment.
        seeds: Networks together.
        device: Where.
        rounds: How many steps are timed.
    """
    plain = Stack(experiment, range(seeds), device=device, replay=False)
    one: Learner = OneNetwork(experiment, 0, device=device)
    return {
        "unrecorded": seconds(plain.update, device, rounds),
        "one": seconds(Stack(experiment, [0], device=device).update, device, rounds),
        "one by one": seeds * seconds(one.score, device, times=1, warm_up=1),
    }


def measure(options: Options, rounds: int) -> Lines:
    """Measure a line for each model and task."""
    claims = [claim for home in GRID for claim in TABLES[home].claims]
    first, lines = claims[0].experiment.task.name, Lines()
    kinds = cells(claims)
    for (model, task), group in [*kinds.items()][:: len(kinds) // 2 if options.quick else 1]:
        experiment, seeds = group[0].experiment, SEEDS
        if options.quick:
            few: Any = replace(experiment.problem_task, max_problems=QUICK_PROBLEMS)
            experiment, seeds = replace(experiment, task=few), 2
        given = experiment, seeds, options.device, rounds
        recipes = [claim.experiment.recipe for claim in group]
        lines.append(
            {
                "model": model,
                "task": task,
                "steps": sum(recipe.steps for recipe in recipes),
                "evaluations": sum(recipe.evaluations for recipe in recipes),
                **line_of(*given),
                **(more_of(*given) if task == first else {}),
            }
        )
    return lines


def hours(line: Json, step: str = "replayed") -> float:
    """Estimate the hours of all cells of a model and task, ten networks each.

    Args:
        line: The measurements; older lines have no scores.
        step: Which steps.
    """
    scores = line.get("evaluations", 0) * line.get("scores", 0.0)
    return float((line["steps"] * line[step] + scores) / 3600)


def row(line: Json, lines: Lines) -> tuple[str, ...]:
    """Format one row of the table, in the order of `COLUMNS`; empty where not measured."""
    del lines
    one = line.get("one")

    def shown(name: str, unit: float = 1e3) -> str:
        return f"{unit * line[name]:.2f}" if line.get(name) else ""

    return (
        line["model"],
        line["task"],
        {True: "yes", False: "no", None: ""}[line.get("recorded")],
        *(shown(name) for name in ("replayed", "tf32", "unrecorded", "one")),
        f"{line['replayed'] / one:.2f}" if one else "",
        *(shown(name, 1) for name in ("scores", "one by one")),
        f"{hours(line):.2f}",
        f"{hours(line, 'tf32'):.2f}" if line.get("tf32") else "",
    )


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    lines, settings = results["lines"], results["settings"]
    total = f"{sum(map(hours, lines)):.1f} hours"
    if all(line.get("tf32") for line in lines):
        total += f", with TF32 {sum(hours(line, 'tf32') for line in lines):.1f}"
    said = (
        f"Steps of ten networks as one program on {settings['device']}, {settings['rounds']} of "
        f"each model and task after the first {WARM_UP}, by the wall. *Unrecorded*: the same "
        "steps, neither recorded nor replayed. *Scores*: every regime of all ten, together and one "
        "by one. *Hours*: all cells of Tables 9 to 12 of webb2021, ten networks each, cell after "
        "cell, with their scores where these were measured."
    )
    judged = (
        f"All models and tasks of this page: {total} (goal for the grid: {GOAL_HOURS:g}, with TF32 "
        f"{GOAL_HOURS / 2:g}). Ten seeds are to take at most {GOAL_TIMES:g} times as long as one."
    )
    return page_of_table(results, "Networks together on a GPU", f"{said}\n\n{judged}", COLUMNS, row)


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    publish(
        options,
        {"device": options.device, "quick": options.quick},
        {"lines": partial(measure, options)},
        RESULTS,
        markdown,
        row,
    )


if __name__ == "__main__":
    main(tyro.cli(Options))
