"""Training and evaluation on visual analogies (webb2020) beside straightforward loops.

Run from the root of the checkout:

    python -m benchmarks.analogies            # some minutes
    python -m benchmarks.analogies --quick    # the same with few and short rounds

In every round each contender works for a short slice of time, one after another in one process of
one thread, so that a neighbor on the machine slows all of them alike; the result is the median of
the rounds' ratios. Processor time is taken, which a neighbor does not lengthen by its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import torch
import tyro
from rich.console import Console
from torch import Tensor

from benchmarks import _analogies_contenders as contending
from benchmarks import _analogies_report as report
from benchmarks import _pages
from benchmarks._contenders import WARM_UP, Answer, take, timed, timed_steps
from benchmarks._products import flops
from benchmarks._worker import ROOT
from farfield.core import Problems, stream
from farfield.execution.internal import keep_freed_memory
from farfield.records import environment
from farfield.tasks import TRAINING
from farfield.training._evaluate import encode_all
from farfield.training.internal import OneNetwork, problems_of_run, score_problems

RESULTS = _pages.RESULTS / "analogies"


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options and duration of the measurement.

    Args:
        rounds: Rounds of training; the medians are over these.
        seconds: Length of a training slice, seconds; at least one step is taken.
        evaluations: Rounds of evaluation.
        by_problem: Problems that the loops evaluate, and a region's time is scaled from.
        quick: Three short rounds, for a first look.
        beside: Other load of the machine, for the page; empty for none.
        name: Name of the result files; by default date and processor.
    """

    rounds: int = 7
    seconds: float = 1.0
    evaluations: int = 3
    by_problem: int = 128
    quick: bool = False
    beside: str = ""
    name: str | None = None


def training(problems: Problems, table: Tensor, rounds: int, seconds: float) -> list[Answer]:
    """Alternate steps of all contenders; a line for each, with its work in every round.

    Args:
        problems: The training problems.
        table: All images of the training region.
        rounds: Rounds of turns.
        seconds: Length of a turn.
    """
    entered = contending.contenders(problems, table)
    for contender in entered:
        take(contender.steps, 2 if contender.name in contending.LOOPS else WARM_UP)
    turns = [partial(timed_steps, contender.steps, seconds) for contender in entered]
    found = in_turns(turns, rounds)
    return [
        {
            "name": contender.name,
            "encoded": contender.encoded,
            "flops": flops(partial(next, contender.steps)),
            "target": contending.TRAINING_TARGETS.get(contender.name),
            "turns": answers,
        }
        for contender, answers in zip(entered, found, strict=True)
    ]


def evaluation(problems: Problems, table: Tensor, rounds: int, count: int) -> list[Answer]:
    """Score a region, by the loops only some of its problems: a line for each.

    Args:
        problems: All problems of the region.
        table: All images of the region.
        rounds: Rounds of turns.
        count: Problems of the loops.
    """
    loops = contending.evaluators(problems, table, count)
    model = OneNetwork(contending.experiment(), seed=0).model.eval()
    turns = [partial(timed, loop, count) for loop in loops.values()]
    turns.append(partial(timed, partial(encode, model, problems), len(problems)))
    score = partial(score_problems, model, contending.TASK, problems)
    turns.append(partial(timed, score, len(problems)))
    names = [*loops, report.ENCODING, contending.OURS]
    return [
        {"name": name, "target": contending.EVALUATION_TARGETS.get(name), "turns": answers}
        for name, answers in zip(names, in_turns(turns, rounds), strict=True)
    ]


@torch.inference_mode()
def encode(model: Any, problems: Problems) -> Tensor:
    """Embed all objects of a region."""
    return encode_all(model, problems)


def in_turns(turns: list[Callable[[], Answer]], rounds: int) -> list[list[Answer]]:
    """Collect the results of each in every round.

    Args:
        turns: Functions that run one after another in a round.
        rounds: How often.
    """
    found = [[turn() for turn in turns] for _ in range(rounds)]
    return [list(answers) for answers in zip(*found, strict=True)]


def regions(repeats: int) -> dict[str, Any]:
    """Measure the seconds and bytes of a region's images, and of the problems of all regions.

    Args:
        repeats: How often each is drawn.
    """
    task = contending.TASK
    objects = task.objects(1)
    every = torch.arange(len(objects))
    images = [timed(partial(objects.index_select, 0, every), 1) for _ in range(repeats)]
    table = objects.index_select(0, every)
    problems = [timed(partial(task.draw, stream(seed)), 1) for seed in range(repeats)]
    sets = task.draw(stream(0))
    return {
        "objects": len(table),
        "megabytes": table.numel() * table.element_size() / 1e6,
        "images": images,
        "regimes": len(sets),
        "problems": sum(len(drawn) for drawn in sets.values()),
        "draws": problems,
        "target_seconds": contending.REGION_SECONDS,
        "target_megabytes": contending.REGION_MEGABYTES,
    }


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    keep_freed_memory()
    console = Console()
    rounds, seconds, evaluations, count = (
        (3, 0.2, 2, 32)
        if options.quick
        else (options.rounds, options.seconds, options.evaluations, options.by_problem)
    )
    described = environment(device="cpu", engine="one thread, freed memory kept")
    drawn = regions(evaluations)
    sets = problems_of_run(contending.TASK, 0)
    problems, table = sets[TRAINING], sets[TRAINING].table()
    furthest = contending.TASK.regimes[-1].name
    results = {
        "environment": described,
        "settings": {
            "rounds": rounds,
            "seconds": seconds,
            "evaluations": evaluations,
            "by_problem": count,
            "problems": len(problems),
            "beside": options.beside,
        },
        "training": training(problems, table, rounds, seconds),
        "evaluation": {
            regime: evaluation(sets[regime], sets[regime].table(), evaluations, count)
            for regime in (TRAINING, furthest)
        },
        "regions": drawn,
    }
    name = options.name or _pages.name_of_today(described)
    path = _pages.write(results, RESULTS, name, report.markdown)
    for shown in report.terminal(results, console.width):
        console.print(shown)
    console.print(f"Written to {path.relative_to(ROOT)} and {path.with_suffix('.md').name}")


if __name__ == "__main__":
    main(tyro.cli(Options))
