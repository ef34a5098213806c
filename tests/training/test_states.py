# ruff: noqa: NPY002 — networks of others draw from NumPy's old generator
"""Networks whose state is not one tensor a name: they train, stop, go on and come back."""

from __future__ import annotations

import random
from collections import deque
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations

from farfield.core import stream
from farfield.execution import Here, run, vmap_error
from farfield.execution.internal import Job
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.records import Store
from farfield.training import train, trained_network
from farfield.training.internal import OneNetwork, Progress
from learners import EVERY_STEP, check_resumed, check_together, set_global_generators
from small import SMALL_ENCODER, small_experiment

pytestmark = pytest.mark.processor


class Flat(nn.Module):
    """A reasoner of two layers, to which others add what is unusual."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.a = nn.Linear(in_features, in_features)
        self.b = nn.Linear(in_features, in_features)
        self.output = nn.Linear(length * in_features, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        return self.output(self.b(torch.tanh(self.a(z))).flatten(1))


class Tied(Flat):
    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.b.weight = self.a.weight


class UnderTwoNames(Flat):
    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.b = self.again = self.a


class NormedTwice(Flat):
    """One module with buffers under two names."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.a = nn.Sequential(self.a, nn.BatchNorm1d(length))
        self.norm = self.a[1]


class Views(Flat):
    """Buffers that are views of one, and one that is not contiguous."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.register_buffer("sums", torch.zeros(2, 3))
        self.register_buffer("first", self.sums[0])
        self.register_buffer("turned", torch.arange(6.0).reshape(2, 3).T)

    def forward(self, z: Tensor) -> Tensor:
        if self.training:
            self.first += 1.0
        return super().forward(z) + self.sums.sum() / 100 + self.turned[0, 1]


class TiedByMemory(Flat):
    """Two parameters of the same memory."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.b.weight = nn.Parameter(self.a.weight.data)


class Counting(Flat):
    """Extra state that is JSON."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.seen = {"calls": 0, "names": ["x"]}

    def forward(self, z: Tensor) -> Tensor:
        if self.training:
            self.seen["calls"] += 1
        return super().forward(z) * (1 + self.seen["calls"] / 100)

    def get_extra_state(self) -> Any:
        return self.seen

    def set_extra_state(self, state: Any) -> None:
        self.seen = dict(state)


class CountingInATensor(Counting):
    def get_extra_state(self) -> Any:
        return torch.tensor(self.seen["calls"])

    def set_extra_state(self, state: Any) -> None:
        self.seen["calls"] = int(state)


class Lazy(Flat):
    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.a = nn.LazyLinear(in_features)
        self.b = nn.Sequential(nn.LazyBatchNorm1d(), nn.Linear(in_features, in_features))


class Parametrized(Flat):
    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        parametrizations.weight_norm(self.a)
        parametrizations.spectral_norm(self.b)


class Passing(Flat):
    """A running mean that the state dictionary leaves out, and one that is replaced."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.register_buffer("mean", torch.zeros(()), persistent=False)
        self.register_buffer("kept", torch.zeros(()))

    def forward(self, z: Tensor) -> Tensor:
        if self.training:
            self.mean += z.detach().mean()
            self.kept = self.kept + self.mean
        return super().forward(z) + self.kept


class DrawingFromNumPy(Flat):
    def forward(self, z: Tensor) -> Tensor:
        return super().forward(z + float(np.random.normal()))


class DrawingFromPython(Flat):
    def forward(self, z: Tensor) -> Tensor:
        return super().forward(z + random.gauss(0, 1))


class DrawingFromTorch(Flat):
    def forward(self, z: Tensor) -> Tensor:
        return super().forward(z + torch.randn(()))


class DrawingWhenBuilt(Flat):
    """Plain numbers that differ from seed to seed, and are in no state."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.scales = (random.random(), np.random.rand(2), torch.rand(1))

    def forward(self, z: Tensor) -> Tensor:
        first, second, third = self.scales
        return super().forward(z * first * float(second.sum()) * third)


class Holding(Flat):
    """Generators of its own."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.random = random.Random(1)
        self.numpy = np.random.default_rng(2)
        self.old = np.random.RandomState(3)
        self.torch = torch.Generator()

    def forward(self, z: Tensor) -> Tensor:
        drawn = self.random.random() + self.numpy.random() + self.old.rand()
        return super().forward(z + drawn + torch.rand(1, generator=self.torch))


class Inner:
    """What a module may hold a generator in."""

    def __init__(self, held: object) -> None:
        self.held = held


class HoldingInside(Flat):
    """Generators inside lists, dictionaries, functions and attributes of attributes."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        closed, bits = random.Random(4), np.random.PCG64(5)
        self.listed = [(random.Random(1),)]
        self.named = {"a": deque([np.random.default_rng(2)])}
        self.inner = Inner(Inner(np.random.RandomState(3)))
        self.closure = lambda: closed.random() / 2
        self.bound = random.Random(6).random
        self.partial = partial(torch.rand, 1, generator=torch.Generator())
        self.bits = bits

    def forward(self, z: Tensor) -> Tensor:
        drawn = self.listed[0][0].random() + self.named["a"][0].random() + self.closure()
        drawn += (
            self.bound() + self.inner.held.held.rand() + np.random.Generator(self.bits).random()
        )
        return super().forward(z + drawn + self.partial())


class CountingPlainly(Flat):
    """Plain values that the next step goes on from."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.calls, self.hidden, self.means = 0, None, {"all": [np.zeros(2)]}
        self.alias = self.a.weight.data

    def forward(self, z: Tensor) -> Tensor:
        if self.training:
            self.calls += 1
            self.means["all"][0] += 0.5
            self.hidden = z.detach().mean() + (0 if self.hidden is None else self.hidden)
        state = self.calls + float(self.means["all"][0].sum()) + (self.hidden or 0)
        return super().forward(z + state) + self.alias.sum()


class CountingPlainlyAlone(Flat):
    calls = 0

    def forward(self, z: Tensor) -> Tensor:
        self.calls += 1
        return super().forward(z) * self.calls


STACKED = [Flat, Tied, UnderTwoNames, NormedTwice, Lazy]
ALONE = {
    Parametrized: "",
    Views: "first shares memory with reasoner.sums",
    TiedByMemory: "reasoner.b.weight shares memory with reasoner.a.weight",
    Counting: "_extra_state is neither parameter nor buffer",
    CountingInATensor: "_extra_state is neither parameter nor buffer",
    Passing: "reasoner.kept is replaced in the forward pass",
    DrawingFromNumPy: "draws from the global generator of Python or NumPy",
    DrawingFromPython: "draws from the global generator of Python or NumPy",
    DrawingFromTorch: "random",
    DrawingWhenBuilt: "scales differs from seed to seed",
    Holding: "a module holds a generator",
    HoldingInside: "a module holds a generator",
    CountingPlainly: "",
}


def with_reasoner(cls: type[nn.Module], steps: int = 4) -> Experiment:
    return Experiment(
        task=small_experiment().task,
        model=Network(reasoner=Spec(cls), encoder=SMALL_ENCODER),
        recipe=Recipe(steps=steps, evaluations=2, batch_size=16),
    )


def same(first: object, second: object) -> bool:
    return torch.equal(first, second) if isinstance(first, Tensor) else first == second


@pytest.mark.parametrize("cls", [*STACKED, *ALONE])
def test_a_network_of_ones_own_stops_goes_on_and_comes_back(
    tmp_path: Path, cls: type[nn.Module]
) -> None:
    experiment = with_reasoner(cls)
    whole = check_resumed(lambda: OneNetwork(experiment, 1), experiment, tmp_path / "s", stop=2)
    wanted = whole.weights()[0]
    store = Store(tmp_path / "runs")
    run([Job(experiment=experiment, seed=1)], store, Here())
    assert store.is_complete(experiment.key, 1)
    kept = store.weights(experiment.key, 1)
    assert kept.keys() == wanted.keys()
    network = trained_network(experiment, 1, store)
    by_hand = experiment.model.build(experiment.task, stream(0))
    by_hand.load_state_dict(kept)
    for state in (kept, network.state_dict(), by_hand.state_dict()):
        assert all(same(state[name], wanted[name]) for name in wanted)


class Counter:
    """An object of the user's that counts."""

    def __init__(self) -> None:
        self.calls = 0


class CountingInAnObject(Flat):
    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.counter = Counter()

    def forward(self, z: Tensor) -> Tensor:
        self.counter.calls += 1
        return super().forward(z) * self.counter.calls


class HoldingLater(Flat):
    generator: np.random.Generator | None = None

    def forward(self, z: Tensor) -> Tensor:
        self.generator = self.generator or np.random.default_rng(0)
        return super().forward(z) * float(self.generator.random())


class HoldingAnew(Flat):
    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.generators = (random.Random(0),)

    def forward(self, z: Tensor) -> Tensor:
        self.generators = (random.Random(self.generators[0].random()),)
        return super().forward(z)


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (CountingInAnObject, "counter"),
        (HoldingLater, "generator"),
        (HoldingAnew, "generators"),
    ],
)
def test_where_a_checkpoint_would_lose_something_none_is_written(
    tmp_path: Path, cls: type[nn.Module], name: str
) -> None:
    experiment, path = with_reasoner(cls), tmp_path / "state"
    clock = EVERY_STEP
    with pytest.warns(UserWarning, match=rf"no checkpoint is .* reasoner\.{name} changes") as told:
        train(OneNetwork(experiment, 1), experiment, checkpoint=path, clock=clock)
    assert len(told) == 1
    assert not path.exists()


def test_what_counts_its_calls_is_not_said_to_draw() -> None:
    reason = vmap_error(with_reasoner(CountingPlainlyAlone), "cpu")
    assert reason == (
        "the network does something else at every call, as a counter of calls does, which "
        "would be alike for all networks"
    )


def test_ties_come_back_as_ties(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for cls in (Tied, UnderTwoNames):
        experiment = with_reasoner(cls)
        run([Job(experiment=experiment, seed=0)], store, Here())
        reasoner = trained_network(experiment, 0, store).reasoner
        assert reasoner.a.weight is reasoner.b.weight


def test_a_tied_weight_takes_one_step_along_both_gradients() -> None:
    learner = OneNetwork(with_reasoner(Tied), 0, dtype=torch.float64)
    weight = learner.model.reasoner.a.weight
    before = weight.detach().clone()
    learner.update(0)
    moved = (weight.detach() - before).abs()
    # Adam's first step is its step size, whatever the gradient; two would be twice that.
    assert float(moved.max()) == pytest.approx(5e-4, rel=1e-3)


@pytest.mark.parametrize("cls", STACKED)
def test_together_equals_alone_where_weights_have_two_names(cls: type[nn.Module]) -> None:
    experiment = with_reasoner(cls)
    assert vmap_error(experiment, "cpu") is None
    check_together(experiment)


@pytest.mark.parametrize("cls", [cls for cls in ALONE if ALONE[cls]])
def test_what_cannot_be_stacked_is_refused_before(cls: type[nn.Module]) -> None:
    reason = vmap_error(with_reasoner(cls), "cpu")
    assert reason is not None
    assert ALONE[cls] in reason


class Unknown(Flat):
    """Extra state that no file can hold."""

    def get_extra_state(self) -> Any:
        return {1, 2}

    def set_extra_state(self, state: Any) -> None:
        pass


class Pairs(Unknown):
    def get_extra_state(self) -> Any:
        return {"pair": (1, 2)}


class OneWay(Flat):
    """Extra state that cannot be set."""

    def get_extra_state(self) -> Any:
        return 1


class Expanded(Flat):
    """A buffer that torch itself cannot load."""

    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.register_buffer("same", torch.zeros(1).expand(5))


class NeverCalled(Flat):
    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__(length, in_features, num_outputs)
        self.spare = nn.LazyLinear(3)


class MadeOnTheWay(Flat):
    def forward(self, z: Tensor) -> Tensor:
        if not hasattr(self, "more"):
            self.more = nn.Parameter(torch.zeros(()))
        return super().forward(z) + self.more


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Unknown, r"reasoner\._extra_state must be a tensor or JSON, got \{1, 2\}"),
        (Pairs, r"reasoner\._extra_state must be a tensor or JSON"),
        (OneWay, "the state of the network must load again"),
        (Expanded, "the state of the network must load again, got: .*same"),
        (NeverCalled, r"got reasoner\.spare\.\w+ without values"),
        (MadeOnTheWay, r"must be made with its module, got reasoner\.more"),
    ],
)
def test_a_state_that_cannot_be_kept_is_refused_before_or_at_the_first_update(
    cls: type[nn.Module], message: str
) -> None:
    experiment, seen = with_reasoner(cls), list[Progress]()
    with pytest.raises(ValueError, match=message):
        train(OneNetwork(experiment, 0), experiment, report=seen.append)
    assert seen == []


@pytest.mark.parametrize(
    "cls", [DrawingFromNumPy, DrawingFromPython, DrawingFromTorch, DrawingWhenBuilt]
)
def test_draws_of_a_network_depend_on_its_seed_and_leave_the_caller_s_alone(
    unchecked: None, cls: type[nn.Module]
) -> None:
    experiment = with_reasoner(cls, steps=2)

    def run(seed: int) -> dict[str, Tensor]:
        learner = OneNetwork(experiment, seed)
        train(learner, experiment)
        return learner.weights()[0]

    def next_draws() -> list[float]:
        return [random.random(), float(np.random.rand()), float(torch.rand(()))]

    set_global_generators()
    wanted = next_draws()
    first = run(1)
    set_global_generators()
    again = run(1)
    assert next_draws() == wanted
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other) for name, other in run(2).items())


def test_steps_draw_other_numbers_from_every_generator() -> None:
    drawn = list[tuple[float, float, float]]()

    class Noting(Flat):
        def forward(self, z: Tensor) -> Tensor:
            if self.training:
                drawn.append((random.random(), float(np.random.rand()), float(torch.rand(()))))
            return super().forward(z)

    experiment = with_reasoner(Noting, steps=3)
    train(OneNetwork(experiment, 0), experiment)
    for column in zip(*drawn, strict=True):
        assert len(set(column)) == 3
