"""The two that run against each other: the straightforward loop, and the library's engine."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Final, Protocol, final

import torch

from benchmarks import straightforward
from farfield.core import Problems, stream
from farfield.tasks import TASKS

WARM_UP = 5
"""Steps before anything is measured."""


class Contender(Protocol):
    """What a worker process can be asked for; every answer is plain JSON."""

    def prepare(self, *, reasoner: str, task: str, withheld: int, seeds: list[int]) -> dict: ...
    def train(self, *, seconds: float, networks: int) -> dict[str, float]: ...
    def evaluate(self, *, networks: int) -> dict[str, float]: ...
    def products(self, *, work: str) -> dict[str, float]: ...


def timed_steps(steps: Iterator[object], seconds: float) -> dict[str, float]:
    """Take steps until `seconds` have passed: how many, in how long."""
    start = time.perf_counter()
    for count in itertools.count(1):
        next(steps)
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            break
    return {"count": count, "seconds": elapsed}


@final
class Straightforward:
    """One network after another, each slice of time another one."""

    def prepare(self, *, reasoner: str, task: str, withheld: int, seeds: list[int]) -> dict:
        """Draw each network's problems, make it, take the first steps."""
        self.runs = [self.run(reasoner, task, withheld, seed) for seed in seeds]
        self.turn = itertools.cycle(range(len(seeds)))
        for _, steps, _ in self.runs:
            timed_steps(itertools.islice(steps, WARM_UP), 0.0)
        return {}

    @staticmethod
    def run(
        reasoner: str, task: str, withheld: int, seed: int
    ) -> tuple[straightforward.Network, Iterator[object], Problems]:
        """A network, its training, and the problems it is tested on."""
        described = TASKS[task](withheld=withheld)
        sets = described.draw(stream(seed, "data"))
        torch.manual_seed(seed)
        network = straightforward.Network(reasoner, described.num_outputs, described.segments)
        shuffle = torch.Generator().manual_seed(seed)
        training, test = sets["training"], sets[described.regimes[-1].name]
        return network, straightforward.train(network, training, shuffle), test

    def train(self, *, seconds: float, networks: int) -> dict[str, float]:
        """Steps of the network whose turn it is; `networks` changes nothing here."""
        del networks
        return timed_steps(self.runs[next(self.turn)][1], seconds)

    def evaluate(self, *, networks: int) -> dict[str, float]:
        """One network on its whole test set."""
        del networks
        network, _, test = self.runs[next(self.turn)]
        start = time.perf_counter()
        straightforward.evaluate(network, test)
        return {"count": len(test), "seconds": time.perf_counter() - start}

    def products(self, *, work: str) -> dict[str, float]:
        """The products of one step, or of the evaluation per problem."""
        from benchmarks._products import products

        network, steps, test = self.runs[0]
        if work == "training":
            return products(lambda: next(steps))
        total = products(lambda: straightforward.evaluate(network, test))
        return {name: amount / len(test) for name, amount in total.items()}


CONTENDERS: Final[dict[str, Callable[[], Contender]]] = {"straightforward": Straightforward}
