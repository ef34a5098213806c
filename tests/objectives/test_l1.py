"""The price on activations: sums by hand, nothing left in the model, refusals."""

from __future__ import annotations

import dataclasses
import math
from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.experiments import Spec
from farfield.nn import ContextNorm, DivisiveNorm1d, NormalizedLSTM
from farfield.objectives import ActivationL1, CenteredL1, Supervised
from farfield.training.internal import OneNetwork, Stack
from made import gradcheck
from small import loss_of, small_experiment

DRAW = stream(0, "objective")
BATCH, TIME, FEATURES = 5, 3, 4


class Centring(nn.Module):
    """Divides by the mean square over the features; what it takes off depends on a parameter."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.share = nn.Parameter(torch.full((num_features,), 0.7))

    def center(self, z: Tensor) -> Tensor:
        return z - self.share * z.mean(-1, keepdim=True)

    def forward(self, z: Tensor) -> Tensor:
        v = self.center(z)
        return v * (1 + v.square().mean(-1, keepdim=True)).rsqrt()


class Twice(nn.Module):
    """Two normalizers, the second called twice, once on half of the places."""

    def __init__(self) -> None:
        super().__init__()
        source = torch.Generator().manual_seed(0)
        self.first = nn.Linear(FEATURES, FEATURES)
        self.second = nn.Linear(FEATURES, FEATURES)
        self.norms = nn.ModuleList([Centring(FEATURES), Centring(FEATURES)])
        self.unused = nn.Linear(1, 1)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(generator=source)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        hidden = self.norms[0](self.first(items[index]))
        hidden = self.norms[1](self.second(hidden))
        return self.norms[1](hidden[:, :1]).sum(1)


def problems() -> Problems:
    generator = torch.Generator().manual_seed(1)
    items = torch.randn(7, FEATURES, dtype=torch.float64, generator=generator)
    index = torch.randint(7, (BATCH, TIME), generator=generator)
    return Problems(items=items, index=index, target=torch.arange(BATCH) % FEATURES)


def loss(outputs: Tensor, batch: Problems) -> Tensor:
    return nn.functional.cross_entropy(outputs, batch.target, reduction="none")


def model() -> Twice:
    return Twice().double()


def value(rule, network: nn.Module, batch: Problems) -> float:
    return loss_of(rule, network, batch, loss, DRAW).item()


def hooks_of(module: nn.Module) -> int:
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in module.modules())


def centered(norm: Centring, z: np.ndarray) -> np.ndarray:
    """What the normalizer divides, number by number."""
    share, v = norm.share.detach().numpy(), np.empty_like(z)
    for place in np.ndindex(z.shape[:-1]):
        mean = math.fsum(z[place]) / z.shape[-1]
        for j in range(z.shape[-1]):
            v[(*place, j)] = z[(*place, j)] - share[j] * mean
    return v


def scaled(v: np.ndarray) -> np.ndarray:
    out = np.empty_like(v)
    for place in np.ndindex(v.shape[:-1]):
        squares = math.fsum(number**2 for number in v[place]) / v.shape[-1]
        out[place] = v[place] / math.sqrt(1 + squares)
    return out


def linear(layer: nn.Linear, x: np.ndarray) -> np.ndarray:
    return x @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()


@pytest.mark.parametrize("mean_over_steps", [False, True])
@pytest.mark.parametrize("weight", [0.0, 0.01, 3.0])
def test_the_price_is_the_mean_size_of_what_each_normalizer_divides(
    weight: float, mean_over_steps: bool
) -> None:
    network, batch = model(), problems()
    first, second = network.norms
    x = batch.items.numpy()[batch.index.numpy()]
    v_first = centered(first, linear(network.first, x))
    v_second = centered(second, linear(network.second, scaled(v_first)))
    v_again = centered(second, scaled(v_second)[:, :1])
    sums = [math.fsum(abs(v).ravel()) for v in (v_first, v_second, v_again)]
    if mean_over_steps:
        penalty = sums[0] / v_first.size + (sums[1] + sums[2]) / (v_second.size + v_again.size)
    else:
        penalty = sums[0] / v_first.size + sums[1] / v_second.size + sums[2] / v_again.size
    plain = value(Supervised(), network, batch)
    found = value(CenteredL1(weight=weight, mean_over_steps=mean_over_steps), network, batch)
    assert found == pytest.approx(plain + weight * penalty, rel=1e-12)


def test_named_layers_pay_for_what_they_give() -> None:
    network, batch = model(), problems()
    x = batch.items.numpy()[batch.index.numpy()]
    z_first = linear(network.first, x)
    z_second = linear(network.second, scaled(centered(network.norms[0], z_first)))
    expected = {"first": abs(z_first).mean(), "second": abs(z_second).mean()}
    plain = value(Supervised(), network, batch)
    for layers in (("first",), ("second",), ("second", "first")):
        rule = ActivationL1(layers=layers, weight=0.3)
        found = value(rule, network, batch)
        penalty = sum(expected[name] for name in layers)
        assert found == pytest.approx(plain + 0.3 * penalty, rel=1e-12)


RULES = [CenteredL1(weight=0.5), ActivationL1(layers=("first", "second"), weight=0.5)]
rules = pytest.mark.parametrize("rule", RULES, ids=["centered", "activation"])


@rules
def test_gradients_flow(rule) -> None:
    network, batch = model(), problems()
    parameters = [network.first.weight, network.norms[0].share]
    names = ["first.weight", "norms.0.share"]

    def total(*values: Tensor) -> Tensor:
        given = dict(zip(names, values, strict=True))
        return loss_of(rule, network, batch, loss, DRAW, given)

    values = [parameter.detach().clone().requires_grad_() for parameter in parameters]
    assert gradcheck(total, values)
    plain = torch.autograd.grad(loss_of(Supervised(), network, batch, loss, DRAW), parameters)
    priced = torch.autograd.grad(loss_of(rule, network, batch, loss, DRAW), parameters)
    assert not any(torch.equal(*pair) for pair in zip(plain, priced, strict=True))


@rules
def test_nothing_stays_in_the_model(rule) -> None:
    network, batch = model(), problems()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    first, again = (loss_of(rule, network, batch, loss, DRAW) for _ in range(2))
    assert torch.equal(first, again)
    assert hooks_of(network) == 0
    assert all(torch.equal(before[name], now) for name, now in network.state_dict().items())


@rules
def test_nothing_stays_after_an_exception(rule) -> None:
    network, batch = model(), problems()
    seen: list[int] = []

    def fail(module: nn.Module, inputs: object) -> None:
        seen.append(hooks_of(network))
        raise ArithmeticError

    handle = network.norms[1].register_forward_pre_hook(fail)
    with pytest.raises(ArithmeticError):
        loss_of(rule, network, batch, loss, DRAW)
    handle.remove()
    assert seen == [3]
    assert hooks_of(network) == 0


@rules
def test_it_can_be_mapped_over_networks(rule) -> None:
    network, batch = model(), problems()
    given = {name: torch.stack([p, 1.5 * p]) for name, p in network.state_dict().items()}

    def total(values: dict[str, Tensor]) -> Tensor:
        return loss_of(rule, network, batch, loss, DRAW, values)

    values = torch.func.vmap(total)(given)
    gradients = torch.func.vmap(torch.func.grad(total))(given)
    for seed in range(2):
        network.load_state_dict({name: stacked[seed] for name, stacked in given.items()})
        alone = loss_of(rule, network, batch, loss, DRAW)
        torch.testing.assert_close(values[seed], alone, rtol=1e-12, atol=0)
        (expected,) = torch.autograd.grad(alone, [network.first.weight])
        torch.testing.assert_close(
            gradients["first.weight"][seed], expected, rtol=1e-10, atol=1e-13
        )
    assert hooks_of(network) == 0


def test_a_recurrent_cell_pays_for_each_of_its_steps() -> None:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            source = torch.Generator().manual_seed(0)
            self.lstm = NormalizedLSTM(
                FEATURES, FEATURES, batch_first=True, normalizer=Centring, generator=source
            )

        def forward(self, items: Tensor, index: Tensor) -> Tensor:
            return self.lstm(items[index])[0][:, -1]

    network, batch = Recurrent().double(), problems()
    sizes: dict[nn.Module, list[Tensor]] = {}
    norms = network.lstm.normalizers[0].values()
    for norm in norms:
        norm.register_forward_hook(
            lambda part, inputs, _: sizes.setdefault(part, []).append(part.center(inputs[0]).abs())
        )
    plain = loss_of(Supervised(), network, batch, loss, DRAW)
    penalty = sum(size.mean() for norm in norms for size in sizes[norm])
    assert [len(sizes[norm]) for norm in norms] == [TIME] * 5
    found = loss_of(CenteredL1(weight=0.2), network, batch, loss, DRAW)
    torch.testing.assert_close(found, plain + 0.2 * penalty, rtol=1e-12, atol=0)
    averaged = loss_of(
        CenteredL1(weight=0.2 * TIME, mean_over_steps=True), network, batch, loss, DRAW
    )
    torch.testing.assert_close(averaged, found, rtol=1e-12, atol=0)


def test_a_named_layer_pays_for_each_of_its_calls() -> None:
    class Again(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(FEATURES, FEATURES).double()

        def forward(self, items: Tensor, index: Tensor) -> Tensor:
            return self.layer(self.layer(items[index])[:, 0])

    network, batch = Again(), problems()
    first = network.layer(batch.items[batch.index])
    sizes = [first.abs().mean(), network.layer(first[:, 0]).abs().mean()]
    plain = loss_of(Supervised(), network, batch, loss, DRAW)
    rule = ActivationL1(layers=("layer",), weight=0.2)
    torch.testing.assert_close(
        loss_of(rule, network, batch, loss, DRAW), plain + 0.2 * sum(sizes), rtol=1e-12, atol=0
    )
    rule = dataclasses.replace(rule, mean_over_steps=True)
    mean = (TIME * sizes[0] + sizes[1]) / (TIME + 1)
    torch.testing.assert_close(
        loss_of(rule, network, batch, loss, DRAW), plain + 0.2 * mean, rtol=1e-12, atol=0
    )


def test_padding_is_known_to_what_is_priced() -> None:
    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = ContextNorm(FEATURES, affine=False)

        def forward(self, items: Tensor, index: Tensor) -> Tensor:
            mask = (index == 0).cummax(1).values
            mask[:, 0] = False
            return self.norm(items[index], padding_mask=mask).sum(1)

    network, batch = Masked(), problems()
    mask = (batch.index == 0).cummax(1).values
    mask[:, 0] = False
    size = network.norm.center(batch.items[batch.index], mask).abs().mean()
    plain = loss_of(Supervised(), network, batch, loss, DRAW)
    found = loss_of(CenteredL1(weight=0.2), network, batch, loss, DRAW)
    torch.testing.assert_close(found, plain + 0.2 * size, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    "rule", [CenteredL1(weight=0.3), ActivationL1(layers=("encoder",), weight=0.3)]
)
def test_networks_trained_together_are_networks_alone(rule) -> None:
    plain = small_experiment(steps=4)
    priced = dataclasses.replace(
        plain,
        model=dataclasses.replace(plain.model, context=Spec(CentringContext)),
        objective=rule,
    )
    plain = dataclasses.replace(priced, objective=Supervised())
    name = "encoder.weight"
    together = Stack(priced, (0, 3), dtype=torch.float64)
    alone, other = (OneNetwork(e, 3, dtype=torch.float64) for e in (priced, plain))
    for learner in (together, alone, other):
        for step in range(4):
            learner.update(step)
    for part, content in alone.weights()[0].items():
        torch.testing.assert_close(together.weights()[1][part], content, rtol=1e-8, atol=1e-10)
    assert not torch.allclose(alone.weights()[0][name], other.weights()[0][name])


class CentringContext(nn.Module):
    """A context of problems that takes off the mean over places."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.norm = Centring(num_features)

    def forward(self, z: Tensor) -> Tensor:
        return self.norm(z)


def test_divisive_normalization_pays_in_a_recurrent_cell() -> None:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            normalizer = partial(DivisiveNorm1d, window=3)
            source = torch.Generator().manual_seed(0)
            self.lstm = NormalizedLSTM(
                FEATURES, FEATURES, batch_first=True, normalizer=normalizer, generator=source
            )

        def forward(self, items: Tensor, index: Tensor) -> Tensor:
            return self.lstm(items[index])[0][:, -1]

    network, batch = Recurrent().double(), problems()
    received: dict[nn.Module, list[Tensor]] = {}
    norms = network.lstm.normalizers[0].values()
    for norm in norms:
        norm.register_forward_hook(
            lambda part, inputs, _: received.setdefault(part, []).append(inputs[0].detach())
        )
    plain = value(Supervised(), network, batch)
    penalty = 0.0
    for norm in norms:
        sizes = []
        for z in torch.cat(received[norm]).numpy():
            padded = [0.0, *z, 0.0]
            sizes += [abs(z[j] - math.fsum(padded[j : j + 3]) / 3) for j in range(FEATURES)]
        penalty += math.fsum(sizes) / len(sizes) * len(received[norm])
    found = value(CenteredL1(weight=0.2), network, batch)
    assert found == pytest.approx(plain + 0.2 * penalty, rel=1e-12)


# --- Refusals ------------------------------------------------------------------------------------


def test_a_model_without_normalizers_is_refused() -> None:
    class Bare(nn.Module):
        def __init__(self, *parts: nn.Module) -> None:
            super().__init__()
            self.parts = nn.ModuleList(parts)

        def forward(self, items: Tensor, index: Tensor) -> Tensor:
            return items[index].sum(1)

    for parts, number in (((), 0), ((Centring(1), Centring(2)), 2)):
        with pytest.raises(TypeError, match=f"got Bare with {number} and none called"):
            loss_of(CenteredL1(), Bare(*parts), problems(), loss, DRAW)


def test_layers_that_are_not_there_or_not_called_are_refused() -> None:
    with pytest.raises(ValueError, match=r"layers must be layers .*, got 'third'; it has first"):
        loss_of(ActivationL1(layers=("first", "third")), model(), problems(), loss, DRAW)
    with pytest.raises(ValueError, match=r"layers must be layers .* calls, got \['unused'\]"):
        loss_of(ActivationL1(layers=("first", "unused")), model(), problems(), loss, DRAW)
    with pytest.raises(ValueError, match="layers must name at least one layer"):
        ActivationL1(layers=())


def test_a_layer_that_gives_more_than_a_tensor_is_refused() -> None:
    network = nn.LSTM(FEATURES, FEATURES).double()

    class Around(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = network

        def forward(self, items: Tensor, index: Tensor) -> Tensor:
            return self.lstm(items[index])[0].sum(1)

    with pytest.raises(ValueError, match="must each return one tensor, got tuple from 'lstm'"):
        loss_of(ActivationL1(layers=("lstm",)), Around(), problems(), loss, DRAW)
    assert hooks_of(network) == 0


@pytest.mark.parametrize("weight", [-1.0, float("inf"), float("nan"), "1", True])
def test_a_weight_that_is_none_is_refused(unchecked: None, weight: float) -> None:
    message = f"weight must be a finite number of at least 0, got {weight!r}"
    for make in (CenteredL1, lambda weight: ActivationL1(layers=("first",), weight=weight)):
        with pytest.raises(ValueError, match=message):
            make(weight=weight)
