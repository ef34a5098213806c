"""Contenders of training and evaluation on visual analogies: three loops, and the library twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, final

import torch
from torch import Tensor

from benchmarks import straightforward_analogies as straightforward
from farfield.core import Problems
from farfield.experiments import Experiment, Recipe, ScoringNetwork, Spec
from farfield.models import LSTMScorer
from farfield.nn import AnalogyEncoder
from farfield.tasks import VAECTranslation
from farfield.training.internal import OneNetwork

TASK: Final = VAECTranslation()
"""Task with the paper's images of 128×128, trained on region 1."""
LOOPS: Final[dict[str, straightforward.Encode]] = {
    "loop, every candidate analogy": straightforward.encode_every_analogy,
    "loop, every position": straightforward.encode_every_place,
    "loop, every picture": straightforward.encode_every_picture,
}
TRAINING_TARGETS: Final = {"loop, every candidate analogy": 4.4, "loop, every position": 1.6}
"""Least ratio of a loop's time for a step to the library's."""
EVALUATION_TARGETS: Final = {"loop, every candidate analogy": 20.0, "loop, every position": 20.0}
REGION_SECONDS: Final = 2.0
REGION_MEGABYTES: Final = 120.0
PLAIN: Final = "library, whole pictures convolved"
OURS: Final = "library"
COUNTED: Final = 5
"""Steps over which the library's images are counted; a batch shows some of them twice."""


@final
@dataclass(frozen=True, kw_only=True)
class Contender:
    """One that trains.

    Args:
        name: Name on the page.
        steps: Takes training steps, one each time something is asked of it.
        encoded: Images that are encoded for a problem, on average.
    """

    name: str
    steps: Iterator[object]
    encoded: float


def experiment(encoder: type[torch.nn.Module] = AnalogyEncoder) -> Experiment:
    """Build the context normalization of Table 1 of webb2020.

    Args:
        encoder: Encoder of images.
    """
    return Experiment(
        task=TASK,
        model=ScoringNetwork(scorer=Spec(LSTMScorer), encoder=Spec(encoder)),
        recipe=Recipe(
            steps=1_000_000,
            learning_rate=straightforward.LEARNING_RATE,
            batch_size=straightforward.BATCH,
        ),
    )


def contenders(problems: Problems, table: Tensor) -> list[Contender]:
    """Build all contenders of training, the most work first and the library last.

    Args:
        problems: The training problems, whose objects the table shows.
        table: All images of the training region.
    """
    shuffle = torch.Generator().manual_seed(0)
    loops = [
        Contender(
            name=name,
            steps=straightforward.train(
                loop_of(encode), table, problems.index, problems.target, shuffle
            ),
            encoded=images_encoded(encode, table, problems.index[:1]),
        )
        for name, encode in LOOPS.items()
    ]
    encoders = {PLAIN: straightforward.Encoder, OURS: AnalogyEncoder}
    return loops + [library(name, encoder) for name, encoder in encoders.items()]


def loop_of(encode: straightforward.Encode) -> straightforward.Network:
    """Build a network of a loop; the global generator does not change.

    Args:
        encode: Which images it encodes.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return straightforward.Network(encode)


def images_encoded(encode: straightforward.Encode, table: Tensor, index: Tensor) -> float:
    """Count the images of a problem that a loop passes to its encoder."""
    encoder, seen = straightforward.Encoder(), []
    encoder.register_forward_pre_hook(lambda _, inputs: seen.append(len(inputs[0])))
    with torch.no_grad():
        encode(encoder, table, index)
    return sum(seen) / len(index)


def library(name: str, encoder: type[torch.nn.Module]) -> Contender:
    """Build the library's step of one network, which draws its images in every step.

    Args:
        name: Name on the page.
        encoder: Encoder of images.
    """
    engine = OneNetwork(experiment(encoder), seed=0)
    seen: list[int] = []
    counting = engine.model.encoder.register_forward_pre_hook(
        lambda _, inputs: seen.append(len(inputs[0]))
    )
    for step in range(COUNTED):
        engine.update(step)
    counting.remove()
    return Contender(
        name=name,
        steps=map(engine.update, range(COUNTED, 1_000_000)),
        encoded=sum(seen) / COUNTED / straightforward.BATCH,
    )


def evaluators(problems: Problems, table: Tensor, count: int) -> dict[str, Callable[[], object]]:
    """Evaluate `count` problems by each loop, problem by problem.

    Args:
        problems: Problems of a region.
        table: All images of the region.
        count: How many of them.
    """
    index, target = problems.index[:count], problems.target[:count]

    def evaluator(network: straightforward.Network) -> Callable[[], object]:
        return lambda: straightforward.evaluate(network, table, index, target)

    return {name: evaluator(loop_of(encode)) for name, encode in LOOPS.items()}
