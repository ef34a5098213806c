"""The two that run against each other: the straightforward loop, and the library's engine."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Final, Protocol, final

import torch

from benchmarks import straightforward
from benchmarks._products import products
from farfield.core import Problems
from farfield.execution.internal import keep_freed_memory
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import REASONERS
from farfield.reproductions import TABLES
from farfield.tasks import TASKS
from farfield.training.internal import OneNetwork, problems_of_run, score_problems

WARM_UP = 5
"""Steps before anything is measured."""
COUNTED = 1_000
"""Number of test problems whose products are counted: whole, equal batches."""


Answer = dict[str, float]
"""Measured work: `count`, `seconds` and `processor` seconds, or `flops` and `seconds`."""


class Contender(Protocol):
    """Measurements in a worker process; every answer is plain JSON."""

    def prepare(self, *, reasoner: str, task: str, withheld: int, seeds: list[int]) -> Answer: ...
    def train(self, *, seconds: float, networks: int) -> Answer: ...
    def evaluate(self, *, networks: int) -> Answer: ...
    def products(self, *, work: str) -> Answer: ...


def take(steps: Iterator[object], count: int) -> None:
    """Take `count` steps."""
    for _ in range(count):
        next(steps)


def timed_steps(steps: Iterator[object], seconds: float) -> Answer:
    """Take steps until `seconds` have passed; return their number, time and processor time."""
    start, busy = time.perf_counter(), time.process_time()
    count, elapsed = 0, 0.0
    while elapsed < seconds:
        next(steps)
        count += 1
        elapsed = time.perf_counter() - start
    return {"count": count, "seconds": elapsed, "processor": time.process_time() - busy}


def timed(work: Callable[[], object], count: int) -> Answer:
    """Do `work` of `count` units; return its time and processor time."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    return {"count": count, "seconds": seconds, "processor": processor}


@final
class Straightforward:
    """One network after another, each slice of time another one."""

    def prepare(self, *, reasoner: str, task: str, withheld: int, seeds: list[int]) -> Answer:
        """Draw each network's problems, make it, take the first steps."""
        self.runs = [self.run(reasoner, task, withheld, seed) for seed in seeds]
        self.turn = itertools.cycle(range(len(seeds)))
        for _, steps, _ in self.runs:
            take(steps, WARM_UP)
        return {}

    @staticmethod
    def run(
        reasoner: str, task: str, withheld: int, seed: int
    ) -> tuple[straightforward.Network, Iterator[object], Problems]:
        """Build a network, its training, and its test problems."""
        described = TASKS[task](withheld=withheld)
        sets = problems_of_run(described, seed)
        torch.manual_seed(seed)
        network = straightforward.Network(reasoner, described.num_outputs, described.segments)
        shuffle = torch.Generator().manual_seed(seed)
        training, test = sets["training"], sets[described.regimes[-1].name]
        return network, straightforward.train(network, training, shuffle), test

    def train(self, *, seconds: float, networks: int) -> Answer:
        """Run steps of the current network; `networks` has no effect."""
        del networks
        return timed_steps(self.runs[next(self.turn)][1], seconds)

    def evaluate(self, *, networks: int) -> Answer:
        """Evaluate one network on its whole test set."""
        del networks
        network, _, test = self.runs[next(self.turn)]
        return timed(lambda: straightforward.evaluate(network, test), len(test))

    def products(self, *, work: str) -> Answer:
        """Count the products of one step, or of the evaluation per problem."""
        network, steps, test = self.runs[0]
        if work == "training":
            return products(lambda: next(steps))
        some = test[:COUNTED]
        total = products(lambda: straightforward.evaluate(network, some))
        return {name: amount / len(some) for name, amount in total.items()}


@final
class Farfield:
    """The library's engine: one process of it, with its networks one after another."""

    def __init__(self) -> None:
        keep_freed_memory()
        torch.set_flush_denormal(True)  # as `farfield.training.train` does around its loop

    def prepare(self, *, reasoner: str, task: str, withheld: int, seeds: list[int]) -> Answer:
        """Draw each network's problems, make it, take the first steps."""
        experiment = Experiment(
            task=TASKS[task](withheld=withheld),
            model=Network(reasoner=Spec(REASONERS[reasoner])),
            recipe=Recipe(steps=1),
        )
        return self.begin(experiment, seeds)

    def prepare_claim(self, *, table: str, cell: str, seeds: list[int]) -> Answer:
        """Build a contender from the experiment that tests a claim."""
        return self.begin(TABLES[table].cells[cell].experiment, seeds)

    def begin(self, experiment: Experiment, seeds: list[int]) -> Answer:
        """Draw each network's problems, make it, take the first steps."""
        described = experiment.task
        self.task = described
        self.learners = [OneNetwork(experiment, seed) for seed in seeds]
        self.tests = [
            problems_of_run(described, seed)[described.regimes[-1].name] for seed in seeds
        ]
        self.steps = [self.updates(learner) for learner in self.learners]
        self.turns = itertools.count()
        for steps in self.steps:
            take(steps, WARM_UP)
        return {}

    @staticmethod
    def updates(learner: OneNetwork) -> Iterator[None]:
        """Train for ever."""
        for step in itertools.count():
            learner.update(step)
            yield

    def train(self, *, seconds: float, networks: int) -> Answer:
        """Run steps of the current network among the first `networks`."""
        return timed_steps(self.steps[next(self.turns) % networks], seconds)

    def evaluate(self, *, networks: int) -> Answer:
        """Evaluate one network on its whole test set."""
        place = next(self.turns) % networks
        tests = self.tests[place]
        return timed(lambda: self.score(place, tests), len(tests))

    def score_all(self) -> Answer:
        """Evaluate one network in every regime, as after training."""
        return timed(lambda: self.learners[0].score(0), 1)

    def score(self, place: int, problems: Problems) -> None:
        """Score one network, as the library does after training."""
        score_problems(self.learners[place].model.eval(), self.task, problems)

    def products(self, *, work: str) -> Answer:
        """Count the products of one step, or of the evaluation per problem."""
        if work == "training":
            return products(lambda: next(self.steps[0]), repeats=4)
        some = self.tests[0][:COUNTED]
        total = products(lambda: self.score(0, some))
        return {name: amount / len(some) for name, amount in total.items()}


def tuned() -> Straightforward:
    """Start the loop in a process that keeps freed memory, as the library's processes do."""
    keep_freed_memory()
    return Straightforward()


CONTENDERS: Final[dict[str, Callable[[], Contender]]] = {
    "straightforward": Straightforward,
    "tuned": tuned,
    "farfield": Farfield,
}
