"""Networks that are scored and kept with the weights of a teacher."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch
from torch import nn

from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import Experiment, Network, Player, Pretrained, Spec
from farfield.objectives import ICT, MeanTeacher, Objective, Supervised, TemporalEnsembling
from farfield.records import Store
from farfield.tasks import TRAINING
from farfield.training import evaluate, trained_network
from farfield.training.internal import OneNetwork, Stack
from learners import check_resumed, check_together
from small import SMALL_ENCODER, SMALL_LSTM, small_experiment

TEACHER = MeanTeacher(decay=0.5)
SEEDS = (0, 3)


class Normalized(nn.Module):
    """Batch normalization over problems, with running averages."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(num_features)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.norm(z.flatten(0, 1)).reshape(z.shape)


def experiment(rule: Objective = TEACHER, context: Spec | None = None, steps: int = 3):
    plain = small_experiment(steps=steps, evaluations=1, reasoner=SMALL_LSTM)
    model = Network(reasoner=SMALL_LSTM, encoder=SMALL_ENCODER, context=context)
    return dataclasses.replace(plain, objective=rule, model=model)


def updated(learner, steps: int = 3):
    for step in range(steps):
        learner.update(step)
    return learner


def values(scores) -> list[float]:
    return [score.value for score in scores]


def teacher_of(learner: OneNetwork) -> dict[str, torch.Tensor]:
    """The tensors that the teacher has of its own, and the others of the network."""
    state, own = learner.state(), learner.model.state_dict()
    return {name: state.get(f"objective.{name}", tensor) for name, tensor in own.items()}


@pytest.mark.parametrize("rule", [TEACHER, ICT(decay=0.5)])
@pytest.mark.parametrize("context", [None, Spec(Normalized)])
def test_what_is_scored_and_kept_is_the_teacher(rule: Objective, context: Spec | None) -> None:
    learner = updated(OneNetwork(experiment(rule, context), 0))
    before = learner.state()
    kept = OneNetwork(experiment(Supervised(), context), 0)
    kept.model.load_state_dict(teacher_of(learner))
    assert values(learner.score(3)[0]) == values(kept.score(3)[0])
    assert values(learner.training_metrics(3)[0]) == values(kept.training_metrics(3)[0])
    for name, tensor in learner.weights()[0].items():
        assert torch.equal(tensor, kept.model.state_dict()[name])
        assert context is None or not torch.equal(tensor, before[f"model.{name}"])
    for name, tensor in learner.state().items():
        assert torch.equal(tensor, before[name]), name


@pytest.mark.parametrize(
    "rule",
    [
        MeanTeacher(decay=0.5, scores_teacher=False),
        ICT(decay=0.5, scores_teacher=False),
        ICT(decay=None),
        TemporalEnsembling(num_outputs=4),
    ],
)
def test_otherwise_it_is_the_network_itself(rule: Objective) -> None:
    learner = updated(OneNetwork(experiment(rule), 0))
    own = learner.model.state_dict()
    assert all(torch.equal(tensor, own[name]) for name, tensor in learner.weights()[0].items())
    together = updated(Stack(experiment(rule), SEEDS))
    state = together.state()
    for name, tensor in together.weights()[1].items():
        assert torch.equal(tensor, state[f"model.{name}"][1])


@pytest.mark.parametrize(
    "rule, context",
    [
        (TEACHER, None),
        (TEACHER, Spec(Normalized)),
        (MeanTeacher(decay=0.5, warmup=True, averages_buffers=True), Spec(Normalized)),
        (MeanTeacher(decay=0.5, independent_teacher=True), None),
    ],
)
def test_teachers_together_are_teachers_alone(rule: Objective, context: Spec | None) -> None:
    check_together(experiment(rule, context))


def test_the_network_that_is_kept_has_the_recorded_scores(tmp_path: Path) -> None:
    described, store = experiment(MeanTeacher(decay=0.4)), Store(tmp_path)
    run([Job(experiment=described, seed=0)], store, executor=Here())
    record = store.find(described.key, 0)
    network = trained_network(described, 0, store)
    recorded = {
        score.regime: score.value
        for score in record.scores
        if score.step == 3 and score.metric == "accuracy"
    }
    assert evaluate(network, described.task) == pytest.approx(recorded)


@pytest.mark.parametrize("seeds", [(0,), SEEDS])
def test_scores_of_a_teacher_do_not_depend_on_a_stop(
    tmp_path: Path, seeds: tuple[int, ...]
) -> None:
    described = dataclasses.replace(
        experiment(), recipe=dataclasses.replace(experiment().recipe, steps=5, evaluations=5)
    )

    def learner() -> OneNetwork | Stack:
        return OneNetwork(described, 0) if len(seeds) == 1 else Stack(described, seeds)

    check_resumed(learner, described, tmp_path / "checkpoint", stop=2)


def matrices(state: dict[str, torch.Tensor], part: str) -> torch.Tensor:
    """The weights of a part of a network, without biases, which may start at zero."""
    return torch.cat([t.flatten() for n, t in state.items() if n.startswith(part) and t.ndim > 1])


def test_an_independent_teacher_is_another_draw() -> None:
    rule = MeanTeacher(independent_teacher=True)
    players = (Player(objective=rule, parts=("reasoner",)),)
    described = dataclasses.replace(experiment(Supervised()), players=players)
    learner = OneNetwork(described, 0)
    own, teacher = learner.model.state_dict(), teacher_of(learner)
    assert torch.equal(matrices(teacher, "encoder"), matrices(own, "encoder"))
    drawn, first = matrices(teacher, "reasoner"), matrices(own, "reasoner")
    assert (drawn != first).float().mean() > 0.9
    assert drawn.std() == pytest.approx(float(first.std()), rel=0.2)
    again, other = (teacher_of(OneNetwork(described, seed)) for seed in (0, 1))
    assert torch.equal(matrices(again, "reasoner"), drawn)
    assert not torch.equal(matrices(other, "reasoner"), drawn)


def test_an_independent_teacher_takes_over_what_its_network_does() -> None:
    described = dataclasses.replace(
        experiment(MeanTeacher(independent_teacher=True)),
        starts_from=Pretrained(experiment=experiment(Supervised()), include=("encoder",)),
    )
    start = updated(OneNetwork(experiment(Supervised()), 0)).weights()[0]
    teacher = teacher_of(OneNetwork(described, 0, start=start))
    assert torch.equal(matrices(teacher, "encoder"), matrices(start, "encoder"))
    assert not torch.equal(matrices(teacher, "reasoner"), matrices(start, "reasoner"))


def test_of_several_players_the_last_one_is_followed() -> None:
    plain = experiment(Supervised())
    players = tuple(
        Player(objective=MeanTeacher(decay=decay), parts=(part,))
        for decay, part in ((0.5, "encoder"), (0.9, "reasoner"))
    )
    described: Experiment = dataclasses.replace(plain, players=players)
    learner = updated(OneNetwork(described, 0))
    state = learner.state()
    for name, tensor in learner.weights()[0].items():
        assert torch.equal(tensor, state[f"objective1.{name}"])
    assert TRAINING in {score.regime for score in learner.score(3)[0]}
