"""Small runs of every kind of learner, each of some tenths of a second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from farfield.execution import Executor, Here, Stacked, jobs_of
from farfield.execution.internal import Job
from farfield.experiments import (
    AgentNetwork,
    Experiment,
    GANNetwork,
    ItemNetwork,
    Player,
    Pretrained,
    QuantileNetwork,
    Recipe,
    RMSprop,
    Spec,
)
from farfield.models import BottleneckMLP, ResNetDiscriminator, ResNetGenerator
from farfield.nn import GRULayer, LinearEncoder, QuantileHead
from farfield.objectives import (
    ICT,
    PPO,
    HingeDiscriminator,
    HingeGenerator,
    Mixup,
    RainbowIQN,
    TemporalEnsembling,
)
from farfield.tasks import ImageGeneration, TwoMoons
from farfield.tasks._images._image_task import IMAGE_FILES
from tasks import image_sets
from worlds import Recall

HERE = Here()


@final
@dataclass(frozen=True)
class Kind:
    """Networks that are trained in one way, each after that which it starts from."""

    jobs: list[Job]
    executor: Executor = HERE


def _images(is_test: bool) -> tuple[np.ndarray, np.ndarray]:
    images, labels = image_sets.read(is_test)
    return images.repeat(2, 2).repeat(2, 3), labels


IMAGE_FILES["endurance"] = replace(image_sets.MADE_UP, shape=(3, 4, 4), read=_images)


def _classifier(steps: int = 12, **fields: object) -> Experiment:
    """A classifier of few points."""
    return Experiment(
        task=TwoMoons(unlabelled=60, test_points=40),
        model=ItemNetwork(core=Spec(BottleneckMLP, hidden_sizes=(8, 8))),
        recipe=Recipe(steps=steps, evaluations=3, batch_size=16, learning_rate=0.01),
        **fields,
    )


def _networks() -> list[Experiment]:
    """A network whose teacher is in its state, and one that remembers its past answers."""
    rules = (ICT(decay=0.6, consistency="unlabelled"), TemporalEnsembling(num_outputs=2, ramp=0.0))
    return [_classifier(objective=rule) for rule in rules]


def _adversaries() -> Experiment:
    """A generator and a discriminator, which take turns."""
    discriminator = Spec(ResNetDiscriminator, width=2, projection_size=3, names_rotations=True)
    weights = {"info_max": 0.2, "rotation": 0.5}
    critic = Player(objective=HingeDiscriminator(**weights), parts=("discriminator",), repeats=2)
    generator = Player(
        objective=HingeGenerator(**weights), parts=("generator",), optimizer=RMSprop()
    )
    return Experiment(
        task=ImageGeneration(data_set="endurance", noise_size=3),
        model=GANNetwork(generator=Spec(ResNetGenerator, width=2), discriminator=discriminator),
        recipe=Recipe(steps=4, batch_size=8, learning_rate=0.01),
        players=(critic, generator),
    )


def _agents() -> list[Experiment]:
    """An agent that learns from what it just did, and one that learns from a memory of it."""
    encoder = Spec(LinearEncoder, out_features=8)
    actor = Experiment(
        task=Recall(),
        model=AgentNetwork(core=Spec(GRULayer, hidden_size=8), encoder=encoder),
        recipe=Recipe(steps=5, batch_size=4, evaluations=2),
        objective=PPO(rollout_length=10, minibatches=2, epochs=2),
    )
    values = QuantileNetwork(encoder=encoder, head=Spec(QuantileHead, hidden_size=6, num_cosines=5))
    rule = RainbowIQN(copies=3, memory_size=60, first_steps=12, acting_quantiles=4, target_period=2)
    return [actor, replace(actor, task=Recall(delay=0), model=values, objective=rule)]


def _chain() -> list[Experiment]:
    """Three networks, each of which starts from the one before."""
    first = _classifier()
    second = _classifier(8, starts_from=Pretrained(experiment=first))
    return [first, second, _classifier(5, starts_from=Pretrained(experiment=second))]


KINDS = {
    "networks": Kind(jobs_of(_networks(), range(1))),
    "stacks": Kind(jobs_of([_classifier(objective=Mixup(alpha=0.5))], range(3)), Stacked("cpu")),
    "two players": Kind(jobs_of([_adversaries()], range(1))),
    "agents": Kind(jobs_of(_agents(), range(1))),
    "chains": Kind(jobs_of(_chain(), range(1))),
}
