"""Players that take turns on parts of a network: two that play against each other, and one gradient
for several."""

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
from farfield.experiments import SGD, Adam, Experiment, Player, Recipe, RMSprop, SetNetwork, Spec
from farfield.experiments.internal import PredictionNetwork
from farfield.nn import PreNormTransformer
from farfield.nn.internal import PastNorm
from farfield.objectives import Mixup, Objective, Update
from farfield.tasks import TRAINING, DistributionOfThree, DynamicObjects, Regime
from farfield.training.internal import OneNetwork, Stack
from learners import check_resumed, check_together
from small import SMALL_LSTM, small_experiment

pytestmark = pytest.mark.processor


@final
@dataclass(frozen=True, kw_only=True)
class TwoMoons:
    """Points on two half circles; an answer is right where it lies near one of them."""

    name: ClassVar[str] = "two-moons"
    version: ClassVar[int] = 1
    item_shape, length, num_outputs, segments = (2,), 1, 2, None
    regimes = (Regime(name=TRAINING, distance=0, unit="points"),)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        return {TRAINING: self.sample(TRAINING, 64, stream.child(TRAINING).numpy())}

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        angle, upper = generator.uniform(0, np.pi, n), generator.integers(0, 2, n)
        x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
        y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
        items = torch.from_numpy(np.stack([x, y], 1)).float()
        return Problems(items=items, index=torch.arange(n)[:, None], target=items)

    def loss(self, outputs: Tensor, problems: Problems) -> Tensor:
        return torch.cdist(outputs, problems.target.to(outputs)).amin(1)

    def score(self, outputs: Tensor, problems: Problems) -> Tensor:
        return (-self.loss(outputs, problems)).exp()

    def chance(self, regime: str) -> float:
        return 0.0

    def oracle(self, problems: Problems) -> Tensor:
        return problems.target


@final
class Pair(nn.Module):
    """A generator of points, and a critic that tells them from those of the task."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self.generator = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
        self.critic = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
        self.frozen = nn.Parameter(torch.zeros(1))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.5, 0.5, generator=generator)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.generator(F.embedding(index[:, 0], items))

    def judge(self, points: Tensor) -> Tensor:
        return self.critic(points)[:, 0]

    def generate(self, noise: Tensor) -> Tensor:
        return self.generator(noise)


@final
@dataclass(frozen=True, kw_only=True)
class Adversaries:
    """A generator and a critic."""

    def build(self, task: object, stream: Stream) -> nn.Module:
        return Pair(stream.torch())


@final
@dataclass(frozen=True, kw_only=True)
class Hinge(Objective):
    """One side of the hinge loss of adversaries."""

    critic: bool

    def draw(self, batches, stream: Stream) -> dict[str, Tensor]:
        (problems,) = batches.values()
        items = problems.items
        noise = torch.randn(len(problems), 2, generator=stream.torch(), dtype=torch.float64)
        return {"noise": noise.to(items.dtype)}

    def loss(self, update: Update) -> tuple[Tensor, dict[str, Tensor]]:
        network = update.network
        fake = network.call("judge", network.call("generate", update.draws["noise"]))
        if not self.critic:
            return -fake.mean(), {}
        real = network.call("judge", update.problems.target.to(fake))
        return (1 - real).relu().mean() + (1 + fake).relu().mean(), {}


@final
@dataclass(frozen=True, kw_only=True)
class Counting(Objective):
    """The generator's side, which counts its own updates."""

    def start(self, network, sets, stream):
        return {"moves": torch.zeros(())}

    def draw(self, batches, stream):
        return Hinge(critic=False).draw(batches, stream)

    def loss(self, update):
        loss, _ = Hinge(critic=False).loss(update)
        return loss, {"moves": update.state["moves"] + 1}


CRITIC = Player(objective=Hinge(critic=True), parts=("critic",), repeats=3, learning_rate=0.02)
GENERATOR = Player(objective=Counting(), parts=("generator",), optimizer=RMSprop(), repeats=2)
GAN = Experiment(
    task=TwoMoons(),
    model=Adversaries(),
    recipe=Recipe(steps=6, batch_size=16, learning_rate=0.01, clip_norm=5.0),
    players=(CRITIC, GENERATOR),
)


def moved(experiment: Experiment) -> set[str]:
    """Parts of the network that a step changes."""
    learner = OneNetwork(experiment, 0)
    before = {name: tensor.clone() for name, tensor in learner.weights()[0].items()}
    learner.update(0)
    after = learner.weights()[0]
    return {name.partition(".")[0] for name in after if not torch.equal(after[name], before[name])}


def test_every_player_moves_its_parts_alone() -> None:
    assert moved(GAN) == {"critic", "generator"}
    for player in (CRITIC, GENERATOR):
        assert moved(dataclasses.replace(GAN, players=(player,))) == set(player.parts)


def test_players_repeat_their_updates_on_batches_and_draws_of_their_own() -> None:
    learner = OneNetwork(GAN, 0)
    for step in range(4):
        learner.update(step)
    state = learner.state()
    assert state["objective1.moves"] == 4 * GENERATOR.repeats
    # The same critic against a generator that stands still, with its three updates as three steps.
    still = dataclasses.replace(GAN, players=(CRITIC,))
    apart = dataclasses.replace(still, players=(dataclasses.replace(CRITIC, repeats=1),))
    together, single = OneNetwork(still, 0), OneNetwork(apart, 0)
    together.update(0)
    for step in range(3):
        single.update(step)
    for name, tensor in together.weights()[0].items():
        assert torch.equal(single.weights()[0][name], tensor), name


def test_networks_trained_together_are_networks_alone() -> None:
    check_together(GAN, steps=3)


@pytest.mark.parametrize("make", [lambda: OneNetwork(GAN, 3), lambda: Stack(GAN, (0, 3))])
def test_two_players_stopped_and_resumed_end_with_the_same_bytes(make, tmp_path) -> None:
    check_resumed(make, GAN, tmp_path / "checkpoint", stop=3)


def test_generators_come_nearer_to_the_moons() -> None:
    longer = dataclasses.replace(GAN, recipe=Recipe(steps=100, batch_size=64, learning_rate=0.002))
    stack, noise = Stack(longer, range(2)), torch.randn(200, 2, generator=stream(0).torch())
    moons = longer.task.draw(stream(0))[TRAINING].items

    def distances() -> Tensor:
        """Of points made of noise to the nearest of the moons and back, for each seed."""
        found = []
        for weights in stack.weights():
            network = Pair(torch.Generator())
            network.load_state_dict(weights)
            apart = torch.cdist(network.generate(noise).detach(), moons)
            found.append(apart.amin(0).mean() + apart.amin(1).mean())
        return torch.stack(found)

    before = distances()
    for step in range(100):
        stack.update(step)
    assert (distances() < 0.8 * before).all()


def test_players_of_one_objective_move_at_once_each_with_its_learning_rate() -> None:
    plain = small_experiment(steps=4, reasoner=SMALL_LSTM)
    players = (Player(), Player(parts=("reasoner.output",), learning_rate=0.03, optimizer=SGD()))
    experiment = dataclasses.replace(plain, players=players)
    assert [len(turn) for turn in experiment.turns] == [2]
    one, own = (
        OneNetwork(plain, 0, dtype=torch.float64),
        OneNetwork(experiment, 0, dtype=torch.float64),
    )
    before = {name: tensor.clone() for name, tensor in one.weights()[0].items()}
    assert one.update(0) == own.update(0)
    for name, tensor in own.weights()[0].items():
        if name.startswith("reasoner.output."):
            gradient = one.model.get_parameter(name).grad
            torch.testing.assert_close(tensor, before[name] - 0.03 * gradient, rtol=1e-9, atol=0)
        else:
            assert torch.equal(tensor, one.weights()[0][name]), name


def test_players_with_what_the_recipe_says_are_one_objective() -> None:
    plain = small_experiment(steps=4, reasoner=SMALL_LSTM)
    players = (Player(), Player(parts=("encoder",), optimizer=Adam(), learning_rate=5e-4))
    assert plain.recipe.learning_rate == 5e-4
    learners = [
        OneNetwork(dataclasses.replace(plain, players=some), 0)
        for some in ((), (Player(),), players)
    ]
    for learner in learners:
        for step in range(3):
            learner.update(step)
    for learner in learners[1:]:
        for name, tensor in learners[0].weights()[0].items():
            assert torch.equal(learner.weights()[0][name], tensor), name


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Player(parts=("",)), r"parts must be names of parts of a network.*, got ''"),
        (lambda: Player(repeats=0), "repeats must be an int .*, got 0"),
        (lambda: Player(objective=3), "objective must be an Objective, got 3"),
        (
            lambda: dataclasses.replace(GAN, objective=Mixup()),
            r"objective must be that of a player .* got Mixup\(.*; write Player\(objective=…\)",
        ),
        (
            lambda: OneNetwork(dataclasses.replace(GAN, players=(Player(parts=("critik",)),)), 0),
            "parts must name parts of the network, got 'critik'; it has frozen, generator.0.weight",
        ),
        (
            lambda: OneNetwork(
                dataclasses.replace(GAN, players=(Player(parts=("critic",)), Player())), 0
            ),
            r"players must each train something, got Player\(.*critic",
        ),
    ],
)
def test_what_is_no_player_is_refused(make, message: str, unchecked) -> None:
    with pytest.raises(ValueError, match=message):
        make()


SET_NETWORK = SetNetwork(core=Spec(PreNormTransformer))
OLDER = {
    "one objective": ({}, {}, ()),
    "one player": ({"trained": ["reader"]}, {}, (Player(parts=("reader",)),)),
    "learning rates of parts": (
        {"trained": ["reader"]},
        {"part_rates": [["reader.tokens", 0.1], ["reader.heads", 0.2]]},
        (
            Player(parts=("reader",)),
            Player(parts=("reader.tokens",), learning_rate=0.1),
            Player(parts=("reader.heads",), learning_rate=0.2),
        ),
    ),
    "a learning rate in all": (
        {},
        {"part_rates": [["reader", 0.1]]},
        (Player(), Player(parts=("reader",), learning_rate=0.1)),
    ),
}


@pytest.mark.parametrize("name", OLDER)
def test_players_are_written_down_as_they_were_before_there_were_any(name: str) -> None:
    model, recipe, players = OLDER[name]
    plain = Experiment(task=DistributionOfThree(), model=SET_NETWORK, recipe=Recipe(steps=3))
    written = plain.to_json()
    written = {**written, "model": written["model"] | model, "recipe": written["recipe"] | recipe}
    experiment = dataclasses.replace(plain, players=players)
    assert experiment.to_json() == written
    assert Experiment.from_json(written) == experiment


@pytest.mark.parametrize("context", [None, Spec(PastNorm)])
@pytest.mark.parametrize("tuned", [False, True])
def test_predictors_are_written_down_as_they_were(context: Spec | None, tuned: bool) -> None:
    parts = ("predictor",) if context is None else ("context", "predictor")
    experiment = Experiment(
        task=DynamicObjects(),
        model=PredictionNetwork(context=context),
        recipe=Recipe(steps=3),
        players=() if tuned else (Player(parts=parts),),
    )
    written = experiment.to_json()
    assert "players" not in written
    assert written["model"].get("trains_autoencoder", False) is tuned
    assert Experiment.from_json(written) == experiment


@pytest.mark.parametrize(
    "players",
    [
        (Player(parts=("reader",), repeats=2),),
        (Player(learning_rate=0.1),),
        (Player(parts=("encoder",)), Player(objective=Mixup(), parts=("reader",))),
        (Player(), Player(parts=("encoder", "reader"), learning_rate=0.1)),
    ],
)
def test_other_players_are_written_down_as_such(players: tuple[Player, ...]) -> None:
    plain = Experiment(task=DistributionOfThree(), model=SET_NETWORK, recipe=Recipe(steps=3))
    for model in (SET_NETWORK, PredictionNetwork()):
        experiment = dataclasses.replace(plain, model=model, players=players)
        assert len(experiment.to_json()["players"]) == len(players)
        assert Experiment.from_json(experiment.to_json()) == experiment
        assert experiment.key != plain.key
