"""Progressive matrices drawn, rendered and scored a second, on one thread.

Run from the root of the checkout:

    python -m benchmarks.matrices            # half a minute

In every round each kind of problem is described and then rendered in batches, one kind after
another, and `WReN` scores problems and takes their gradient, with the premises of a problem looked
at once and with every candidate in a separate sequence; the result is the median of the rounds,
in processor time, which a neighbor on the machine does not lengthen by its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Final, final

import torch
import tyro
from rich.console import Console
from torch import Tensor, nn

from benchmarks import _pages
from benchmarks._contenders import timed
from benchmarks._worker import ROOT
from farfield.core import Problems, stream
from farfield.models import WReN
from farfield.models.internal import AnalogyScoring
from farfield.nn import PanelEncoder
from farfield.records import environment
from farfield.tasks import TRAINING, ProgressiveMatrices

RESULTS: Final = _pages.RESULTS / "matrices"
TARGET: Final = 2_000
"""Rendered problems a second, at 80×80."""
BATCH: Final = 32
PANEL: Final = PanelEncoder().out_features
"""Size of the embedding of a panel."""
COLUMNS: Final = (
    "problems",
    "MB each",
    "described /s",
    "rendered /s",
    "both /s",
    "range",
    "goal met",
)


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the measurement.

    Args:
        rounds: Rounds; medians are over these.
        problems: Problems of each kind and round.
        beside: Other load of the machine, for the page; empty for none.
        name: Name of the result files; by default date and processor.
    """

    rounds: int = 5
    problems: int = 1_000
    beside: str = ""
    name: str | None = None


def kinds(count: int) -> dict[str, ProgressiveMatrices]:
    """Build the tasks by their descriptions; the first is the default.

    Args:
        count: Problems of the training set.
    """
    made = partial(ProgressiveMatrices, training_problems=count, test_problems=1)
    return {
        "80×80": made(),
        "80×80, no distraction": made(distractors=False),
        "40×40": made(image_size=40),
        "160×160": made(image_size=160),
    }


def rendered(problems: Problems) -> None:
    """Yield all panels, in the batches of training."""
    for first in range(0, len(problems), BATCH):
        problems.items.index_select(0, problems.index[first : first + BATCH].flatten())


def measured(task: ProgressiveMatrices, seed: int) -> dict[str, float]:
    """Measure the processor seconds of a problem, described and rendered.

    Args:
        task: The task, with its number of training problems.
        seed: The run that is drawn.
    """
    count = task.training_problems
    sets: dict[str, Problems] = {}
    drawn = timed(lambda: sets.update(task.draw(stream(seed))), count)
    shown = timed(partial(rendered, sets[TRAINING]), count)
    return {"described": drawn["processor"] / count, "rendered": shown["processor"] / count}


def scored(shared: bool) -> float:
    """Measure the processor seconds of `WReN` for a problem, with the gradient of the scores.

    Args:
        shared: Whether the pairs of premises are looked at once for all candidates.
    """
    model = AnalogyScoring(nn.Identity(), None, WReN(PANEL, 9), num_candidates=8)
    embeddings = torch.rand(16 * BATCH, PANEL, requires_grad=True)
    index = torch.arange(16 * BATCH).reshape(BATCH, 16)

    def as_sequences() -> Tensor:
        return model.scorer(model.embed(embeddings, index).flatten(0, 1))

    def update() -> None:
        scores = model.answer(embeddings, index) if shared else as_sequences()
        scores.sum().backward()

    return timed(update, BATCH)["processor"] / BATCH


def rows(lines: list[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Format the cells of the table.

    Args:
        lines: A line for each kind of problem.
    """
    table = []
    for line in lines:
        turns = line["turns"]
        both = [1 / (turn["described"] + turn["rendered"]) for turn in turns]
        apart = [median(1 / turn[part] for turn in turns) for part in ("described", "rendered")]
        met = "–" if line["target"] is None else "yes" if median(both) >= line["target"] else "no"
        table.append(
            (
                line["name"],
                f"{line['megabytes']:.3f}",
                *(f"{rate:,.0f}" for rate in (*apart, median(both))),
                f"{min(both):,.0f}–{max(both):,.0f}",
                met,
            )
        )
    return table


def markdown(results: Mapping[str, Any]) -> str:
    """Write the page.

    Args:
        results: The measurements.
    """
    settings = results["settings"]
    head = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    body = ["| " + " | ".join(row) + " |" for row in rows(results["lines"])]
    beside = f" {settings['beside']}" if settings["beside"] else ""
    turns = results["scored"]
    ratios = sorted(turn["sequences"] / turn["shared"] for turn in turns)
    machine = ", ".join(f"{name} {value}" for name, value in results["environment"].items())
    return "\n".join(
        [
            "# Progressive matrices a second",
            "",
            (
                f"Medians of {settings['rounds']} rounds of {settings['problems']:,} problems of "
                f"16 panels, in processor time of one thread; the goal is {TARGET:,} at 80×80."
                f"{beside}"
            ),
            "",
            *head,
            *body,
            "",
            (
                "Scored by `WReN`, with the gradient: "
                f"{median(1 / turn['shared'] for turn in turns):,.0f} problems a second with the "
                f"premises of a problem looked at once, {median(ratios):.2f} times "
                f"({ratios[0]:.2f}–{ratios[-1]:.2f}) as many as with every candidate in "
                "a separate sequence, where it looks at 648 pairs instead of 200."
            ),
            "",
            f"Made by `python -m benchmarks.matrices` on: {machine}.",
            "",
        ]
    )


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    torch.set_num_threads(1)
    described = environment(device="cpu", engine="one thread")
    tasks = kinds(options.problems)
    for task in tasks.values():
        measured(task, 0)
    scored(True)
    turns = [
        [measured(task, 1 + number) for task in tasks.values()] for number in range(options.rounds)
    ]
    scores = [{"sequences": scored(False), "shared": scored(True)} for _ in range(options.rounds)]
    lines: list[Mapping[str, Any]] = [
        {
            "name": name,
            "megabytes": 16 * task.image_size**2 / 1e6,
            "target": TARGET if task.image_size == 80 else None,
            "turns": list(found),
        }
        for (name, task), found in zip(tasks.items(), zip(*turns, strict=True), strict=True)
    ]
    settings = {
        "rounds": options.rounds,
        "problems": options.problems,
        "beside": options.beside,
    }
    results = {"environment": described, "settings": settings, "lines": lines, "scored": scores}
    name = options.name or _pages.name_of_today(described)
    path = _pages.write(results, RESULTS, name, markdown)
    Console().print(markdown(results), markup=False, highlight=False)
    Console().print(f"Written to {path.relative_to(ROOT)} and {path.with_suffix('.md').name}")


if __name__ == "__main__":
    main(tyro.cli(Options))
