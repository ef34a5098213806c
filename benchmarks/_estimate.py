"""Estimated time of all of a model's tables, from measured steps and the claims' own budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, Final

from benchmarks._worker import Worker
from farfield.reproductions import TABLES, Budget, Claim

ROW: Final = "ESBN + TCN"
HOME: Final = tuple(f"webb2021/table-{number}" for number in (9, 10, 11, 12))
GOAL_HOURS: Final = 10.0
PROCESSES: Final = 2

Json = Mapping[str, Any]


def claims(row: str = ROW) -> list[Claim]:
    """List the cells of a row in all four tables."""
    return [claim for home in HOME for claim in TABLES[home].claims if claim.row == row]


def measure(claim: Claim, rounds: int, seconds: float) -> dict[str, Any]:
    """Find the measured steps and evaluations of one cell, all of its networks on two cores.

    Args:
        claim: The cell.
        rounds: Slices of training.
        seconds: Length of each.
    """
    recipe, runs = claim.at(Budget.PAPER).recipe, claim.published.runs
    workers = [Worker("farfield", threads=1) for _ in range(PROCESSES)]
    try:
        for place, worker in enumerate(workers):
            seeds = list(range(place, runs, PROCESSES))
            worker.ask("prepare_claim", table=claim.home, cell=claim.cell, seeds=seeds)
        for worker in workers:
            worker.answer()
        networks = runs // PROCESSES
        rates = [rate(workers, "train", networks=networks, seconds=seconds) for _ in range(rounds)]
        scored = rate(workers, "score_all")
    finally:
        for worker in workers:
            worker.close()
    return {
        "table": claim.home,
        "column": claim.column,
        "networks": runs,
        "steps": recipe.steps,
        "evaluations": recipe.evaluations,
        "rates": rates,
        "scored": scored,
    }


def rate(workers: Sequence[Worker], request: str, **arguments: Any) -> float:
    """Measure the units per second of processor time of all workers at the same time.

    A worker has one thread: on a machine that does nothing else its processor time is the time.
    """
    for worker in workers:
        worker.ask(request, **arguments)
    answers = [worker.answer() for worker in workers]
    return float(sum(answer["count"] / answer["processor"] for answer in answers))


def estimate(rounds: int, seconds: float, show: Callable[[str], None]) -> dict[str, Any]:
    """Write the estimate as JSON: the goal, and a line for each cell.

    Args:
        rounds: Slices of training of each cell.
        seconds: Length of each.
        show: Given a line on each cell.
    """
    lines = []
    for claim in claims():
        lines.append(measure(claim, rounds, seconds))
        show(f"{claim.name}: {hours(lines[-1]):.2f} h")
    return {"row": ROW, "goal": GOAL_HOURS, "lines": lines}


def hours(line: Json) -> float:
    """Estimate the hours of one cell: every step and every evaluation of all its networks."""
    steps = line["networks"] * line["steps"] / median(line["rates"])
    evaluations = line["networks"] * line["evaluations"] / line["scored"]
    return float(steps + evaluations) / 3600.0
