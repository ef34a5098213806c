"""The first step of the user's code, done twice: what differs is refused by its name."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield import _machine
from farfield.core import Problems, Stream
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.tasks import TRAINING, Regime, SameDifferent
from farfield.training import _repeatable, train
from farfield.training.internal import OneNetwork
from small import SMALL_ENCODER


class Flat(nn.Module):
    """A module of the user's: one linear layer over all items."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.output = nn.Linear(length * in_features, num_outputs)
        self.bias = nn.Parameter(torch.zeros(num_outputs))

    def forward(self, z: Tensor) -> Tensor:
        return self.output(z.flatten(1)) + self.bias


class Urandom(Flat):
    def forward(self, z: Tensor) -> Tensor:
        return super().forward(z) * (1 + int.from_bytes(os.urandom(4)) / 2**32)


class Unseeded(Flat):
    def forward(self, z: Tensor) -> Tensor:
        return super().forward(z) * float(np.random.default_rng().normal())


class UnseededBackward(Flat):
    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.bias.register_hook(lambda gradient: gradient * random.SystemRandom().random())


class Counted(Flat):
    calls: ClassVar[list[int]] = []

    def forward(self, z: Tensor) -> Tensor:
        self.calls.append(1)
        return super().forward(z) * len(self.calls)


class FromOutside(Flat):
    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        nn.init.constant_(self.bias, float(os.urandom(1)[0]) + random.SystemRandom().random())


class Repeatable(Flat):
    """It draws from all that is seeded, and counts its own calls."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.held, self.calls = [np.random.default_rng()], 0

    def forward(self, z: Tensor) -> Tensor:
        self.calls += 1
        noise = torch.rand(()) + random.random() + float(self.held[0].normal())
        return super().forward(z) * noise * self.calls


def experiment_of(reasoner: type[nn.Module], **recipe: Any) -> Experiment:
    return Experiment(
        task=SameDifferent(withheld=98, max_problems=40),
        model=Network(reasoner=Spec(reasoner)),
        recipe=Recipe(**{"steps": 2, "batch_size": 8, **recipe}),
    )


@pytest.fixture(autouse=True)
def anew() -> None:
    """No experiment was compared before."""
    _repeatable._DONE.clear()
    Counted.calls.clear()


@pytest.mark.parametrize(
    ("reasoner", "what"),
    [
        (Urandom, "the loss"),
        (Unseeded, "the loss"),
        (UnseededBackward, r"the gradient of reasoner\.bias"),
        (Counted, "the loss"),
        (FromOutside, r"the first reasoner\.bias"),
    ],
)
def test_what_differs_is_refused_by_its_name(reasoner: type[nn.Module], what: str) -> None:
    experiment = experiment_of(reasoner)
    with pytest.raises(ValueError, match=f"must be repeatable, .* had other values of {what};"):
        train(OneNetwork(experiment, 0), experiment)
    with pytest.raises(ValueError, match="must be repeatable"):  # another seed is no way around
        train(OneNetwork(experiment, 1), experiment)


def test_what_is_repeatable_is_trained_as_if_it_was_done_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    experiment = experiment_of(Repeatable)
    compared, plain = OneNetwork(experiment, 0), OneNetwork(experiment, 0)
    scores, _ = train(compared, experiment)
    monkeypatch.setattr(_repeatable, "_is_of_users", lambda experiment: False)
    _repeatable._DONE.clear()
    assert scores == train(plain, experiment)[0]
    for name, tensor in compared.model.state_dict().items():
        assert torch.equal(tensor, plain.model.state_dict()[name]), name
    assert compared.model.reasoner.calls == plain.model.reasoner.calls > 0


def test_it_is_done_once_for_an_experiment_with_code_of_the_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps, update = list[int](), OneNetwork.update

    def noted(self: OneNetwork, step: int) -> Tensor:
        steps.append(step)
        return update(self, step)

    monkeypatch.setattr(OneNetwork, "update", noted)
    experiment = experiment_of(Flat)
    for seed in (0, 1):
        train(OneNetwork(experiment, seed), experiment)
    assert steps == [0, 0, 1, 0, 1]


@dataclass(frozen=True)
class Drifting:
    """A task of the user's whose problems depend on how often it was asked."""

    name: ClassVar[str] = "drifting"
    version: ClassVar[int] = 1
    metric: ClassVar[str] = "accuracy"
    item_shape: ClassVar[tuple[int, ...]] = (1, 2)
    length: ClassVar[int] = 1
    num_outputs: ClassVar[int] = 2
    segments: ClassVar[tuple[tuple[int, int], ...]] = ((0, 1),)
    regimes: ClassVar[tuple[Regime, ...]] = (Regime(name=TRAINING, distance=0.0, unit="steps"),)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        os.environ["DRIFT"] = str(int(os.environ["DRIFT"]) + 1)
        items = torch.ones(4, 1, 2) * int(os.environ["DRIFT"])
        index, target = torch.arange(4).unsqueeze(1), torch.tensor([0, 1, 0, 1])
        return {TRAINING: Problems(items=items, index=index, target=target)}

    def sample(self, regime: str, count: int, stream: Stream) -> Problems:
        return self.draw(stream)[regime][:count]

    def loss(self, outputs: Tensor, problems: Problems) -> Tensor:
        return nn.functional.cross_entropy(outputs, problems.target, reduction="none")

    def score(self, outputs: Tensor, problems: Problems) -> Tensor:
        return (outputs.argmax(-1) == problems.target).float()

    def chance(self, regime: str) -> float:
        return 0.5

    def oracle(self, problems: Problems) -> Tensor:
        return torch.ones(len(problems))


def test_problems_that_change_with_every_draw_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DRIFT", "0")
    model = Network(reasoner=Spec(Flat), encoder=SMALL_ENCODER)
    experiment = Experiment(task=Drifting(), model=model, recipe=Recipe(steps=1))
    with pytest.raises(ValueError, match="other values of the items of the training problems"):
        train(OneNetwork(experiment, 0), experiment)


SCALE = [0]


@dataclass(frozen=True)
class Scaling(Drifting):
    """A task of the user's whose draws change what its loss reads."""

    def draw(self, stream: Stream) -> dict[str, Problems]:
        SCALE[0] += 1
        return super().draw(stream)

    def loss(self, outputs: Tensor, problems: Problems) -> Tensor:
        return super().loss(outputs, problems) * SCALE[0]


def test_a_draw_that_changes_a_global_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFT", "0")
    model = Network(reasoner=Spec(Flat), encoder=SMALL_ENCODER)
    experiment = Experiment(task=Scaling(), model=model, recipe=Recipe(steps=1))
    assert experiment.key
    with pytest.raises(ValueError, match="changed a value that its code refers to, as a global"):
        train(OneNetwork(experiment, 0), experiment)


class Once(Flat):
    """It cannot be made a second time, as if it held the one camera of a machine."""

    made: ClassVar[list[int]] = []

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.made.append(1)
        if len(self.made) > 1:
            raise OSError("camera is taken")


def test_what_cannot_be_done_twice_is_trained_with_a_warning() -> None:
    experiment = experiment_of(Once)
    Once.made.clear()
    learner = OneNetwork(experiment, 0)
    with pytest.warns(UserWarning, match=r"could not be done twice \(.*camera is taken\)"):
        train(learner, experiment)


class Failing(Flat):
    def forward(self, z: Tensor) -> Tensor:
        raise KeyError("mine")


def test_an_error_of_the_step_itself_is_raised_as_it_is() -> None:
    experiment = experiment_of(Failing)
    with pytest.raises(KeyError, match="mine"):
        train(OneNetwork(experiment, 0), experiment)


@pytest.mark.parametrize("is_cpu", [True, False])
def test_a_gpu_may_round_otherwise_and_a_cpu_may_not(
    monkeypatch: pytest.MonkeyPatch, is_cpu: bool
) -> None:
    monkeypatch.setitem(_machine.FORCED, "cpu", is_cpu)
    one = torch.tensor([1.0, float("nan")])
    assert _repeatable._is_same(one, one.clone())
    assert _repeatable._is_same(one, one * (1 + 1e-6)) is not is_cpu
    assert not _repeatable._is_same(one, one * 1.1)
