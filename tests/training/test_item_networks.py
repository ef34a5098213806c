"""Networks that classify single items in training: as one program, and through a front."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import Tensor, nn

from each import each
from farfield.analysis import Occlusion, RandomAttention
from farfield.core import stream
from farfield.experiments import SGD, Experiment, ItemNetwork, Recipe, Spec
from farfield.functional.internal import NFMRules
from farfield.models import (
    CNN13,
    BottleneckMLP,
    DigitCNN,
    PreActResNet,
    PreActResNetNFM,
    QuickCNN,
    ResNet,
    WideResNet,
)
from farfield.nn import MapNormalizer
from farfield.objectives import ManifoldMixup
from farfield.tasks import TRAINING
from farfield.training.internal import OneNetwork, Stack, problems_of_run
from learners import check_together
from plain import Plain

IMAGES, VECTORS = Plain(item_shape=(12, 12), length=1), Plain(item_shape=(2,), length=1)
CORES = {
    "preact-resnet": (IMAGES, Spec(PreActResNet, width=2)),
    "wide-resnet": (IMAGES, Spec(WideResNet, depth=10, widen_factor=1)),
    "cnn-13": (IMAGES, Spec(CNN13, width=2)),
    "digit-cnn": (IMAGES, Spec(DigitCNN, width=8)),
    "quick-cnn": (
        IMAGES,
        Spec(QuickCNN, width=2, normalizer=MapNormalizer(field="window", learned_sigma=True)),
    ),
    "quick-cnn, batch": (IMAGES, Spec(QuickCNN, width=2, normalizer=MapNormalizer())),
    "resnet": (
        IMAGES,
        Spec(ResNet, depth=8, width=2, normalizer=MapNormalizer(learned_sigma=True, affine=True)),
    ),
    "mlp": (VECTORS, Spec(BottleneckMLP, hidden_sizes=(5, 4), bottleneck=2, batch_norm=True)),
}


class Shift(nn.Module):
    """A front that knows the shape of items."""

    def __init__(self, item_shape: tuple[int, ...], amount: float = 0.5) -> None:
        super().__init__()
        self.register_buffer("amount", torch.full(item_shape, amount))

    def forward(self, items: Tensor) -> Tensor:
        return items - self.amount


def experiment_of(task: Plain, core: Spec, **changed: object) -> Experiment:
    return Experiment(
        task=task,
        model=ItemNetwork(core=core, front=Spec(Shift)),
        recipe=Recipe(steps=3, batch_size=6, optimizer=SGD(momentum=0.9, nesterov=True)),
        **changed,
    )


READING = NFMRules(num_heads=2, key_size=2, value_size=2)


@each("name", [name for name in CORES if name != "preact-resnet"])
def test_together_equals_alone_where_layers_mix(name: str) -> None:
    experiment = experiment_of(*CORES[name])
    model = experiment.model.build(experiment.task, stream(0))
    rule = ManifoldMixup(layers=("input", *model.mixing_layers))
    check_together(dataclasses.replace(experiment, objective=rule), steps=1)


def test_attention_is_drawn_at_random_for_a_regime_of_the_trained_network() -> None:
    task, core = Plain(item_shape=(4, 4), length=1), Spec(PreActResNetNFM, width=2, rules=READING)
    changes = (Occlusion(size=2, of=TRAINING), RandomAttention(of=TRAINING))
    experiment = experiment_of(task, core, perturbations=changes)
    learner = OneNetwork(experiment, 0, dtype=torch.float64)
    together = Stack(experiment, (0, 1), dtype=torch.float64)
    for one in (learner, together):
        one.update(0)
    losses = [
        {score.regime: score.value for score in one.score(1)[0] if score.metric == "loss"}
        for one in (learner, learner, together)
    ]
    assert losses[0] == losses[1]
    assert losses[0] == pytest.approx(losses[2], rel=1e-6)
    assert len(set(losses[0].values())) == 3


def test_a_front_is_made_for_the_items_of_the_task() -> None:
    model = ItemNetwork(core=CORES["mlp"][1], front=Spec(Shift, amount=2.0))
    network = model.build(VECTORS, stream(0, "weights")).eval()
    assert network.front.amount.tolist() == [2.0, 2.0]
    problems = problems_of_run(VECTORS, 0)[TRAINING]
    answers = network(problems.table(), problems.index)
    expected = network.core(problems.table()[problems.index[:, 0]] - 2)
    assert torch.equal(answers, expected)


def test_a_problem_of_several_items_is_refused() -> None:
    with pytest.raises(ValueError, match="one item a problem, got plain with 6; Network answers"):
        ItemNetwork(core=CORES["mlp"][1]).build(Plain(), stream(0))
