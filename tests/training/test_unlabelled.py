"""A set without labels is learned from and never scored."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import Stream, stream
from farfield.experiments import Experiment, Recipe
from farfield.objectives import ICT, Supervised
from farfield.records import Score
from farfield.tasks import TRAINING, VALIDATION, FewLabels, ImageClasses, ProblemTask, TwoMoons
from farfield.tasks.internal import UNLABELLED
from farfield.training import evaluate, train
from farfield.training.internal import OneNetwork, Stack
from tasks.image_sets import add, read

RECIPE = Recipe(steps=6, batch_size=16, learning_rate=0.01, evaluations=2)
MOONS = TwoMoons(unlabelled=60, test_points=40)


@final
class Perceptron(nn.Module):
    """One hidden layer over single items."""

    def __init__(self, task: ProblemTask, stream: Stream) -> None:
        super().__init__()
        width = int(torch.Size(task.item_shape).numel())
        self.hidden, self.output = nn.Linear(width, 8), nn.Linear(8, task.num_outputs)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.3, generator=stream.torch())

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        fractions = 255 if items.dtype == torch.uint8 else 1
        items = items.to(self.hidden.weight.dtype) / fractions
        return self.output(self.hidden(items.flatten(1)).relu()[index[:, 0]])


@final
@dataclass(frozen=True, kw_only=True)
class PerceptronNetwork:
    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        return Perceptron(task, stream)


def experiment(task: ProblemTask = MOONS, consistency: str = UNLABELLED) -> Experiment:
    return Experiment(
        task=task, model=PerceptronNetwork(), recipe=RECIPE, objective=ICT(consistency=consistency)
    )


def alone(asked: Experiment) -> OneNetwork:
    return OneNetwork(asked, 0, dtype=torch.float64)


def stacked(asked: Experiment) -> Stack:
    return Stack(asked, (0, 1), dtype=torch.float64)


def last_scores(asked: Experiment, make: Callable = alone) -> dict[tuple[str, str], Score]:
    (scores, *_), _ = train(make(asked), asked)
    return {(s.regime, s.metric): s for s in scores if s.step == RECIPE.steps}


@pytest.mark.parametrize("make", [alone, stacked])
def test_only_regimes_are_scored(make: Callable) -> None:
    found = last_scores(experiment(), make)
    assert found.keys() == {
        (regime, metric) for regime in (TRAINING, "test") for metric in ("accuracy", "loss")
    }
    assert found["test", "accuracy"].count == 40
    network = experiment().model.build(MOONS, stream(0, "weights"))
    assert list(evaluate(network, MOONS)) == [TRAINING, "test"]


def test_the_set_is_learned_from() -> None:
    others = last_scores(experiment()), last_scores(experiment(consistency=TRAINING))
    assert others[0]["test", "loss"].value != others[1]["test", "loss"].value
    supervised = dataclasses.replace(experiment(), objective=Supervised())
    assert last_scores(supervised).keys() == others[0].keys()


def test_a_seed_learns_the_same_alone_and_among_others() -> None:
    together, one = last_scores(experiment(), stacked), last_scores(experiment())
    for name, score in one.items():
        assert together[name].value == pytest.approx(score.value, rel=1e-9)


def test_a_task_without_the_set_is_refused() -> None:
    said = r"objective must read sets that the task draws \(training, unlabelled, test\), got 'o"
    with pytest.raises(ValueError, match=said):
        alone(experiment(consistency="others"))


def test_images_are_scored_with_the_scores_of_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "ten", classes=10, read=ten)
    few = FewLabels(data_set="ten", labels_per_class=2, validation_per_class=1)
    every = ImageClasses(data_set="ten", validation_per_class=1, binary_cross_entropy=True)
    names = {"accuracy", "error", "loss", "nll", "top-5", "ece"}
    for asked in (experiment(few), experiment(every, consistency=TRAINING)):
        for make in (alone, stacked):
            found = last_scores(asked, make)
            assert found.keys() == {(r, n) for r in (TRAINING, VALIDATION, "test") for n in names}
            for regime in (TRAINING, VALIDATION, "test"):
                score = {name: found[regime, name].value for name in names}
                assert score["accuracy"] <= score["top-5"] <= 1
                assert 0 <= score["ece"] <= 1
                is_same = score["nll"] == pytest.approx(score["loss"], rel=1e-6)
                assert is_same is (asked.task is few)


def ten(is_test: bool) -> tuple[np.ndarray, np.ndarray]:
    """The images that are made up, of ten classes."""
    images, _ = read(is_test)
    return images, np.arange(len(images)) % 10
