"""Training and evaluation throughput of the library beside the straightforward loop.

Run from the root of the checkout:

    python -m benchmarks.throughput            # everything, some hours on two cores
    python -m benchmarks.throughput --quick    # the same with few and short rounds
    python -m benchmarks.throughput --reasoners esbn --tasks identity-rules --withheld 0
    python -m benchmarks.throughput --busy     # where others work: processor time, one thread each
    python -m benchmarks.throughput --reasoners --no-sets    # the estimate alone

In every round each contender works for a short slice of time while the others sleep, so that a
neighbor on the machine slows all of them alike; the result is the median of the rounds' ratios.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

import tyro
from rich.console import Console

from benchmarks import _cases, _estimate, _report
from benchmarks._cases import Case
from benchmarks._pages import RESULTS, name_of_today, write
from benchmarks._worker import ROOT, Worker
from farfield.records import environment

NETWORKS = 5
"""Networks in each of the library's two processes."""
PER_NETWORK = {"training": 1, "evaluation": 10_000}
"""Number of units that a time covers: one step, or the paper's 10,000 test problems."""


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options and duration of the measurement.

    Args:
        reasoners: Models.
        tasks: Tasks.
        withheld: Numbers of withheld shapes.
        rounds: Rounds of each case; the medians are over these.
        seconds: Length of a training slice, seconds.
        quick: Three rounds of half a second, for a first look.
        works: Measured work of each case, `"training"` and `"evaluation"`.
        sets: Measure the drawing of the sets too.
        estimate: Estimate the hours of ESBN's four tables too.
        busy: Compare processor time of one thread each, at one seed, without targets. Two threads
            that wait for each other cannot be measured beside others.
        beside: Other load of the machine, for the page; empty for none.
        name: Name of the result files; by default date and processor.
    """

    reasoners: tuple[str, ...] = _cases.REASONERS
    tasks: tuple[str, ...] = _cases.TASKS
    withheld: tuple[int, ...] = _cases.WITHHELD
    rounds: int = 7
    seconds: float = 2.0
    quick: bool = False
    works: tuple[str, ...] = tuple(PER_NETWORK)
    sets: bool = True
    estimate: bool = True
    busy: bool = False
    beside: str = ""
    name: str | None = None


@final
class Bout:
    """Start the processes of one case: one of the loop, and one per core of the library."""

    def __init__(self, case: Case, *, busy: bool = False) -> None:
        self.clock = "processor" if busy else "seconds"
        self.loop = Worker("straightforward", threads=1 if busy else 2)
        self.ours, self.tuned = (
            [Worker(name, threads=1) for _ in range(1 if busy else 2)]
            for name in ("farfield", "tuned")
        )
        for team in ([self.loop], self.ours, self.tuned):
            for first, worker in zip((0, NETWORKS), team, strict=False):
                seeds = list(range(first, first + NETWORKS))
                worker.ask("prepare", **case.as_dict(), seeds=seeds)
        for worker in self.workers:
            worker.answer()

    @property
    def workers(self) -> list[Worker]:
        """Processes of the case."""
        return [self.loop, *self.ours, *self.tuned]

    def slice(self, workers: Sequence[Worker], work: str, **arguments: Any) -> float:
        """Let the workers work at the same time: units per second, all together."""
        for worker in workers:
            worker.ask(work, **arguments)
        answers = [worker.answer() for worker in workers]
        return sum(answer["count"] / answer[self.clock] for answer in answers)

    def products(self, workers: Sequence[Worker], work: str) -> dict[str, float]:
        """Count the FLOPs of a unit, and the seconds per unit of all its products alone."""
        for worker in workers:
            worker.ask("products", work=work)
        answers = [worker.answer() for worker in workers]
        rate = sum(1 / answer["seconds"] for answer in answers)
        flops = sum(answer["flops"] for answer in answers) / len(answers)
        return {"flops": flops, "seconds": 1 / rate}

    def lines(self, case: Case, options: Options) -> list[dict[str, Any]]:
        """Measure each work, at one and ten seeds unless busy, and the loop in as many processes.

        Returns:
            A line of results for each.
        """
        found = []
        for work in options.works:
            teams: dict[int | str, tuple[list[Worker], int]] = {1: (self.ours[:1], 1)}
            if not options.busy:
                teams[10] = (self.ours, NETWORKS)
            teams[_report.TUNED] = (self.tuned, NETWORKS)
            rates: dict[int | str, list[float]] = {"loop": [], **{seeds: [] for seeds in teams}}
            for _ in range(options.rounds):
                rates["loop"].append(self.work([self.loop], work, NETWORKS, options.seconds))
                for seeds, (workers, networks) in teams.items():
                    rates[seeds].append(self.work(workers, work, networks, options.seconds))
            loop_products = self.products([self.loop], work)
            found += [
                {
                    "work": work,
                    **case.as_dict(),
                    "seeds": seeds,
                    "unit": PER_NETWORK[work],
                    "target": None
                    if options.busy or seeds == _report.TUNED
                    else _cases.target(work, case.reasoner, case.withheld),
                    "loop": rates["loop"],
                    "ours": rates[seeds],
                    "products": {"loop": loop_products, "ours": self.products(workers, work)},
                }
                for seeds, (workers, _) in teams.items()
            ]
        return found

    def work(self, workers: Sequence[Worker], work: str, networks: int, seconds: float) -> float:
        """Run one slice of training or one evaluation."""
        if work == "training":
            return self.slice(workers, "train", networks=networks, seconds=seconds)
        return self.slice(workers, "evaluate", networks=networks)

    def close(self) -> None:
        """End the processes."""
        for worker in self.workers:
            worker.close()


def measure_sets(repeats: int) -> list[dict[str, Any]]:
    """Measure the seconds and megabytes of each cell's images and sets, in fresh processes."""
    found = []
    for task, withheld in _cases.SETS:
        command = [sys.executable, "-m", "benchmarks._sets", task, str(withheld)]
        samples = [
            json.loads(
                subprocess.run(
                    [*command, str(seed)], cwd=ROOT, check=True, capture_output=True
                ).stdout
            )
            for seed in range(repeats)
        ]
        found.append(
            {
                "task": task,
                "withheld": withheld,
                "sizes": samples[0]["sizes"],
                "target_seconds": _cases.SETS_SECONDS,
                "target_megabytes": _cases.SETS_MEGABYTES,
                "images": [sample["images"] for sample in samples],
                "seconds": [sample["seconds"] for sample in samples],
                "megabytes": [sample["megabytes"] for sample in samples],
            }
        )
    return found


def main(options: Options) -> None:
    """Measure everything asked for, show it and write it down."""
    console = Console()
    rounds, seconds = (3, 0.5) if options.quick else (options.rounds, options.seconds)
    options = Options(**{**asdict(options), "rounds": rounds, "seconds": seconds})
    described = environment(device="cpu", engine="one single-threaded process per core")
    name = options.name or name_of_today(described)
    results: dict[str, Any] = {
        "environment": described,
        "settings": {
            "rounds": rounds,
            "seconds": seconds,
            "busy": options.busy,
            "beside": options.beside,
        },
        "lines": [],
        "sets": measure_sets(1 if options.quick else 3) if options.sets else [],
    }
    path = write(results, RESULTS, name, _report.markdown)
    cases = [
        Case(reasoner=reasoner, task=task, withheld=withheld)
        for reasoner in options.reasoners
        for task in options.tasks
        for withheld in options.withheld
    ]
    for number, case in enumerate(cases, start=1):
        bout = Bout(case, busy=options.busy)
        try:
            lines = bout.lines(case, options)
        finally:
            bout.close()
        results["lines"] += lines
        found = " · ".join(
            f"{line['work']} ×{line['seeds']} {_report.cells(line)[-4]}" for line in lines
        )
        console.print(f"{number}/{len(cases)} {case.reasoner} {case.task} {case.withheld}: {found}")
        path = write(results, RESULTS, name, _report.markdown)
    if options.estimate:
        results["estimate"] = _estimate.estimate(rounds, seconds, console.print)
        path = write(results, RESULTS, name, _report.markdown)
    for table in _report.terminal(results, console.width):
        console.print(table)
    console.print(f"Written to {path.relative_to(ROOT)} and {path.with_suffix('.md').name}")


if __name__ == "__main__":
    main(tyro.cli(Options))
