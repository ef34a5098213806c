"""Tasks with candidates, with a metric of their own, in parts, and over items drawn on demand."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import Problems, Stream, stream
from farfield.core.internal import LazyItems
from farfield.experiments import Experiment, Recipe, ScoringNetwork, Spec
from farfield.models import LSTMScorer
from farfield.nn import ContextNorm
from farfield.objectives import MeanTeacher
from farfield.tasks import TRAINING, ProblemTask, Regime
from farfield.tasks.internal import Candidates
from farfield.training import evaluate, train
from farfield.training.internal import OneNetwork, Stack
from learners import check_together
from small import tiny_experiment

pytestmark = pytest.mark.processor

DRAWN: list[int] = []
"""How many items were drawn, call by call."""


def draw_levels(latent: Tensor) -> Tensor:
    """A level as a vector of three numbers."""
    DRAWN.append(len(latent))
    return torch.cat([latent, latent.square() / 8, 1 - latent], dim=1)


@final
@dataclass(frozen=True, kw_only=True)
class NextLevel:
    """Which of three levels follows two others?"""

    name: ClassVar[str] = "next-level"
    version: ClassVar[int] = 1
    metric: ClassVar[str] = "rightness"
    item_shape, length, num_outputs, segments = (3,), 5, 3, ((0, 1, 2),)
    num_candidates = 3
    regimes = (
        Regime(name=TRAINING, distance=0, unit="levels"),
        Regime(name="levels-4", distance=4, unit="levels"),
    )

    def draw(self, stream: Stream) -> dict[str, Problems]:
        return {r.name: self.sample(r.name, 24, stream.child(r.name).numpy()) for r in self.regimes}

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        first = torch.from_numpy(generator.integers(0, 2, n)) + 4 * (regime != TRAINING)
        steps = torch.tensor([0, 1, 2, 0, 3])
        items = LazyItems(latent=torch.arange(9.0)[:, None], draw=draw_levels)
        index = first[:, None] + steps
        return Problems(items=items, index=index, target=torch.zeros(n, dtype=torch.int64))

    def loss(self, outputs: Tensor, problems: Problems) -> Tensor:
        return F.cross_entropy(outputs, problems.target, reduction="none")

    def score(self, outputs: Tensor, problems: Problems) -> Tensor:
        return (outputs.argmax(1) == problems.target).float()

    def parts(self, problems: Problems) -> dict[str, Tensor]:
        even = problems.index[:, 0] % 2 == 0
        return {"even": even, "odd": ~even}

    def chance(self, regime: str) -> float:
        return 1 / 3

    def oracle(self, problems: Problems) -> Tensor:
        levels = problems.sequences()[..., 0]
        return -(levels[:, 2:] - 2 * levels[:, 1:2] + levels[:, :1]).abs()


@final
class Flat(nn.Module):
    """Items as they are."""

    out_features = 3

    def forward(self, items: Tensor) -> Tensor:
        return items


@final
class Remembering(nn.Module):
    """Takes off the mean over all training problems, slot by slot."""

    wants_statistics = True

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(num_features))
        self.register_buffer("mean", torch.zeros(3, 3, num_features))

    def forward(self, z: Tensor) -> Tensor:
        mean = z.mean(0) if self.training else self.mean
        return (z - mean) * self.gain

    def calibrate(self, z: Tensor) -> None:
        self.mean = z.mean(0)


def experiment(context: type[nn.Module] = ContextNorm, steps: int = 5) -> Experiment:
    return Experiment(
        task=NextLevel(),
        model=ScoringNetwork(
            scorer=Spec(LSTMScorer, hidden_size=4), encoder=Spec(Flat), context=Spec(context)
        ),
        recipe=Recipe(steps=steps, batch_size=8, learning_rate=0.01),
    )


def test_the_task_is_one_with_candidates() -> None:
    task = NextLevel()
    assert isinstance(task, ProblemTask)
    assert isinstance(task, Candidates)
    assert evaluate(_Oracle(task), task) == {TRAINING: 1.0, "levels-4": 1.0}


@final
class _Oracle(nn.Module):
    def __init__(self, task: NextLevel) -> None:
        super().__init__()
        self.task = task

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        empty = torch.zeros(len(index), dtype=torch.int64)
        return self.task.oracle(Problems(items=items, index=index, target=empty))


def test_every_part_has_a_score_of_its_own_under_the_metric_of_the_task() -> None:
    [scores] = train(OneNetwork(experiment(), 0), experiment())[0]
    final = {(s.regime, s.metric): s for s in scores if s.step == 5}
    for regime in (TRAINING, "levels-4"):
        whole, even, odd = (final[regime, f"rightness{part}"] for part in ("", "/even", "/odd"))
        assert whole.count == even.count + odd.count == 24
        together = (even.value * even.count + odd.value * odd.count) / 24
        assert whole.value == pytest.approx(together, abs=1e-12)
    assert {s.metric for s in scores if s.step < 5} == {"rightness", "loss"}


def test_evaluation_draws_and_encodes_every_item_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farfield.training._evaluate.CHUNK", 7)
    network = OneNetwork(experiment(), 0)
    DRAWN.clear()
    network.score(0)
    assert [number for number in DRAWN if number] == [5, 5]


def test_learning_reaches_the_training_problems() -> None:
    long = experiment(steps=200)
    [scores] = train(OneNetwork(long, 0), long)[0]
    final = {(s.regime, s.metric): s.value for s in scores if s.step == 200}
    assert final[TRAINING, "rightness"] == 1


@pytest.mark.parametrize("context", [ContextNorm, Remembering])
def test_together_equals_alone(context: type[nn.Module]) -> None:
    check_together(experiment(context), seeds=(0, 1))


def test_statistics_are_of_all_training_problems_at_the_last_weights() -> None:
    learner = OneNetwork(experiment(Remembering), 0)
    train(learner, experiment(Remembering))
    sequences = NextLevel().draw(stream(0, "problems"))[TRAINING].sequences()
    expected = torch.stack(
        [
            torch.stack([sequences[:, place].mean(0) for place in (0, 1, candidate)])
            for candidate in (2, 3, 4)
        ]
    )
    torch.testing.assert_close(learner.model.context.mean, expected)
    assert "context.mean" in learner.weights()[0]


@pytest.mark.parametrize("learner", [OneNetwork, Stack])
def test_a_glance_normalizes_by_what_it_sees_and_leaves_no_trace(learner) -> None:
    tested = experiment(Remembering)
    seeds = 0 if learner is OneNetwork else [0]
    networks = learner(tested, seeds, dtype=torch.float64)
    for step in range(5):
        networks.update(step)
    [points] = networks.training_metrics(5)
    assert not networks.weights()[0]["context.mean"].any()
    [scores] = networks.score(5)
    final = {s.metric: s.value for s in scores if s.regime == TRAINING}
    assert networks.weights()[0]["context.mean"].any()
    assert {s.metric: s.value for s in points} == pytest.approx(
        {name: final[name] for name in ("rightness", "loss")}, rel=1e-9
    )


@pytest.mark.parametrize("make", [OneNetwork, Stack])
def test_statistics_of_a_teacher_are_its_own(make) -> None:
    described = dataclasses.replace(experiment(Remembering), objective=MeanTeacher(decay=0.5))
    learner = make(described, 0 if make is OneNetwork else [0])
    scores = train(learner, described)[0][0]
    kept = OneNetwork(experiment(Remembering), 0)
    kept.model.load_state_dict(learner.weights()[0])
    expected = {(s.regime, s.metric): s.value for s in kept.score(5)[0]}
    found = {(s.regime, s.metric): s.value for s in scores if s.step == 5}
    assert found == pytest.approx(expected, rel=1e-6)
    for name, tensor in kept.model.state_dict().items():
        torch.testing.assert_close(learner.weights()[0][name], tensor)
    assert kept.model.context.mean.any()
    assert not any(learner.state()[f"{of}.context.mean"].any() for of in ("model", "objective"))


def test_a_task_without_candidates_is_refused() -> None:
    with pytest.raises(TypeError, match=r"task must have candidates to score.*SameDifferent"):
        experiment().model.build(tiny_experiment().task, stream(0, "weights"))
