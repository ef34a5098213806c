"""Steps of mixup, manifold mixup and ICT beside plain steps and directly written steps.

Run from the root of the checkout:

    python -m benchmarks.mixing            # about a minute
    python -m benchmarks.mixing --quick    # fewer rounds

One network classifies images of 32×32 in color, 100 at a time; another one solves a relational
task, 32 problems at a time, whose nine images are among a hundred. In every round each contender
makes one step, one after another in one process of one thread, so that a neighbor on the machine
slows all of them alike; the result is the median of the rounds' ratios. Processor time is taken,
which a neighbor does not lengthen by its own. A step of ICT reads twice as many problems as the
others, half of them without answers: it is measured beside two plain steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks import _mixing_report as report
from benchmarks import _pages
from benchmarks._rounds import Options, publish
from benchmarks.straightforward_mixing import Consistency, NarrowNetwork, mixed_loss
from farfield.core import Problems, Stream, stream
from farfield.experiments import SGD, Experiment, Network, Recipe, Spec
from farfield.models import ESBN
from farfield.objectives import ICT, ManifoldMixup, Mixup, Objective, Supervised
from farfield.tasks import TRAINING, DistributionOfThree, ProblemTask, Regime
from farfield.training.internal import OneNetwork

RESULTS = _pages.RESULTS / "mixing"
WARM_UP = 2
LABELLED, UNLABELLED, BATCH, SIDE, CLASSES = 1000, 2000, 100, 32, 10
STEPS: Final = 10**6
"""Number in a run, some of which are measured."""


Step = Callable[[int], object]
"""Step of training, by its number."""


@final
@dataclass(frozen=True, kw_only=True)
class Images:
    """Images of noise in ten classes, some of them without answers."""

    name: ClassVar[str] = "noise"
    version: ClassVar[int] = 1
    item_shape, length, num_outputs, segments = (3, SIDE, SIDE), 1, CLASSES, ((0,),)
    regimes = (Regime(name=TRAINING, distance=0, unit="none"),)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets."""
        return {
            name: self.sample(TRAINING, count, stream.child(name).numpy())
            for name, count in ((TRAINING, LABELLED), ("unlabelled", UNLABELLED))
        }

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """Draw images and classes."""
        del regime
        items = generator.standard_normal((n, *self.item_shape), dtype=np.float32)
        return Problems(
            items=torch.from_numpy(items),
            index=torch.arange(n)[:, None],
            target=torch.from_numpy(generator.integers(CLASSES, size=n)),
        )

    def loss(self, outputs: Tensor, problems: Problems) -> Tensor:
        """Compute the cross-entropy."""
        return F.cross_entropy(outputs, problems.target, reduction="none")

    def score(self, outputs: Tensor, problems: Problems) -> Tensor:
        """Score 1 where the predicted class is correct, else 0."""
        return (outputs.argmax(-1) == problems.target).float()

    def chance(self, regime: str) -> float:
        """Return the score of a guess."""
        del regime
        return 1 / CLASSES

    def oracle(self, problems: Problems) -> Tensor:
        """Compute the answers."""
        return F.one_hot(problems.target, CLASSES).float()


@final
class Classifier(nn.Module):
    """A network of images as a network of problems that show one."""

    def __init__(self) -> None:
        super().__init__()
        self.core = NarrowNetwork()

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        """Compute the logits of every problem."""
        logits: Tensor = self.core(items.index_select(0, index[:, 0]))
        return logits


@final
@dataclass(frozen=True, kw_only=True)
class Classification:
    """The architecture of the classifier of images."""

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """Build the network."""
        del task, stream
        return Classifier()


LAYERS = ("input", "core.group1", "core.group2")


def image_steps() -> dict[str, Step]:
    """Build the steps on images, by the names on the page."""
    problems = Images().sample(TRAINING, 2 * BATCH, stream(0, "images").numpy())
    x, u = problems.table().split(BATCH)
    y = problems.target[:BATCH]

    def direct(loss: Callable[[NarrowNetwork], Tensor]) -> Step:
        network = NarrowNetwork()
        optimizer = _sgd(network)

        def step(number: int) -> None:
            del number
            optimizer.zero_grad()
            loss(network).backward()  # type: ignore[no-untyped-call]
            optimizer.step()

        return step

    def consistent(*, logs: bool) -> Step:
        network = NarrowNetwork()
        optimizer, rule = _sgd(network), Consistency(network, logs=logs)

        def step(number: int) -> None:
            optimizer.zero_grad()
            rule.loss(x, y, u, progress=number / STEPS).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            rule.after()

        return step

    ict = ICT(consistency="unlabelled", warmup=True, mixes_logits=True)
    return {
        report.PLAIN: _steps(Images(), Classification(), Supervised(), BATCH),
        report.INPUT: _steps(Images(), Classification(), Mixup(), BATCH),
        report.MANIFOLD: _steps(Images(), Classification(), ManifoldMixup(layers=LAYERS), BATCH),
        report.TWICE: _twice(_steps(Images(), Classification(), Supervised(), BATCH)),
        report.ICT: _steps(Images(), Classification(), ict, BATCH),
        report.PLAIN + report.DIRECT: direct(lambda network: F.cross_entropy(network(x), y)),
        report.INPUT + report.DIRECT: direct(
            lambda network: mixed_loss(network, x, y, at=0, alpha=1.0)
        ),
        report.MANIFOLD + report.DIRECT: direct(
            lambda network: mixed_loss(network, x, y, at=int(torch.randint(3, ())), alpha=2.0)
        ),
        report.TWICE + report.DIRECT: _twice(
            direct(lambda network: F.cross_entropy(network(x), y))
        ),
        report.ICT + report.DIRECT: consistent(logs=False),
        report.ICT + report.DIRECT + report.LOGS: consistent(logs=True),
    }


def _twice(step: Step) -> Step:
    def both(number: int) -> None:
        for each in (2 * number, 2 * number + 1):
            step(each)

    return both


def _sgd(network: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(
        network.parameters(), lr=0.01, momentum=0.9, nesterov=True, weight_decay=1e-4
    )


def relational_steps() -> dict[str, Step]:
    """Build the steps on a relational task, by the names on the page."""
    task, model = DistributionOfThree(withheld=0), Network(reasoner=Spec(ESBN))
    hidden = ManifoldMixup(layers=("encoder", "reasoner"))
    return {
        report.PLAIN: _steps(task, model, Supervised(), 32),
        report.INPUT: _steps(task, model, Mixup(), 32),
        report.MANIFOLD: _steps(task, model, hidden, 32),
        report.TWICE: _twice(_steps(task, model, Supervised(), 32)),
        report.ICT: _steps(task, model, ICT(layers=hidden.layers), 32),
        report.ICT + report.AT_INPUT: _steps(task, model, ICT(), 32),
    }


def _steps(task: ProblemTask, model: Any, rule: Objective, batch_size: int) -> Step:
    """Build the function from a number to that step of the library."""
    optimizer = SGD(momentum=0.9, nesterov=True, weight_decay=1e-4)
    recipe = Recipe(steps=STEPS, learning_rate=0.01, batch_size=batch_size, optimizer=optimizer)
    experiment = Experiment(task=task, model=model, objective=rule, recipe=recipe)
    return OneNetwork(experiment, 0).update


def measure(works: Mapping[str, Step], rounds: int) -> list[dict[str, Any]]:
    """Measure a line for each contender: its time in every round.

    Args:
        works: Functions of a number to a step, by name.
        rounds: Rounds of turns.
    """
    samples: dict[str, list[float]] = {name: [] for name in works}
    for number in range(WARM_UP + rounds):
        for name, work in works.items():
            start = time.process_time()
            work(number)
            if number >= WARM_UP:
                samples[name].append(time.process_time() - start)
    return [{"name": name, "seconds": seconds} for name, seconds in samples.items()]


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    settings = {"batch": BATCH, "side": SIDE}
    parts = {
        "images": lambda rounds: measure(image_steps(), rounds),
        "relational": lambda rounds: measure(relational_steps(), rounds),
    }
    publish(options, settings, parts, RESULTS, report.markdown, report.cells)


if __name__ == "__main__":
    main(tyro.cli(Options, default=Options(rounds=21)))
