"""Classifiers of single items against loops, by their sizes, and as models of problems."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations

from each import each
from farfield.core import tap_layers
from farfield.core.internal import HasMixingLayers
from farfield.models import CNN13, BottleneckMLP, PreActResNet, WideResNet
from farfield.models._images._cnn13 import weight_norm
from farfield.models.internal import ItemModel
from made import assert_spread, away, drawn, generator, state_of
from oracles import image_networks as oracle

COLOR, GRAY = (3, 8, 8), (8, 8)
IMAGES = drawn(3, *COLOR)
MODES = pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])


def assert_equation(network: nn.Module, items: Tensor, expected: np.ndarray) -> None:
    np.testing.assert_allclose(network(items).detach(), expected, rtol=1e-9, atol=1e-11)


@MODES
@pytest.mark.parametrize("final_norm", [True, False])
@pytest.mark.parametrize(
    "depth, shape, stem_stride", [(18, COLOR, 1), (18, GRAY, 2), (34, GRAY, 1), (50, COLOR, 2)]
)
def test_preact_resnet(
    depth: int, shape: tuple[int, ...], stem_stride: int, final_norm: bool, training: bool
) -> None:
    options = {"depth": depth, "stem_stride": stem_stride, "final_norm": final_norm}
    network = away(PreActResNet(shape, 4, width=2, generator=generator(), **options), training)
    images = drawn(3, *shape)
    expected = oracle.preact_resnet(images.numpy(), depth, stem_stride, state_of(network), training)
    assert_equation(network, images, expected)


@MODES
@pytest.mark.parametrize(
    "slope, widen_factor, depth, published",
    [(0.0, 1, 10, False), (0.01, 2, 10, False), (0.3, 1, 14, False), (0.0, 2, 14, True)],
)
def test_wide_resnet(
    slope: float, widen_factor: int, depth: int, published: bool, training: bool
) -> None:
    options = {"depth": depth, "widen_factor": widen_factor, "negative_slope": slope}
    options["published"] = published
    network = away(WideResNet(COLOR, 4, generator=generator(), **options), training)
    arguments = ({10: 1, 14: 2}[depth], slope, state_of(network), training, published)
    expected = oracle.wide_resnet(IMAGES.numpy(), *arguments)
    assert_equation(network, IMAGES, expected)


@MODES
@pytest.mark.parametrize("shape", [(3, 12, 12), (13, 13), (18, 18)])
def test_cnn13(shape: tuple[int, ...], training: bool) -> None:
    network = away(CNN13(shape, 4, width=2, generator=generator()), training)
    images = drawn(3, *shape)
    assert_equation(network, images, oracle.cnn13(images.numpy(), state_of(network), training))


@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize(
    "sizes, bottleneck, position",
    [((5, 6, 7), None, None), ((5, 7), 2, 1), ((5, 6, 7), 2, 1), ((), 2, 0), ((), None, None)],
)
def test_mlp(
    sizes: tuple[int, ...], bottleneck: int | None, position: int | None, batch_norm: bool
) -> None:
    options = {"hidden_sizes": sizes, "bottleneck": bottleneck, "batch_norm": batch_norm}
    network, items = (
        away(BottleneckMLP((2, 2), 3, generator=generator(), **options)),
        drawn(6, 2, 2),
    )
    layers = len(sizes) + (bottleneck is not None)
    expected = oracle.mlp(items.numpy(), layers, position, state_of(network), batch_norm)
    assert_equation(network, items, expected)
    if bottleneck is not None:
        narrow = network.layers[position](drawn(6, network.layers[position][0].in_features))
        assert narrow.shape == (6, 2)
        assert (narrow < 0).any()


def count(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


@each(
    "depth, widen_factor, millions",
    [(28, 10, 36.5), (28, 12, 52.5), (22, 8, 17.2), (22, 10, 26.8), (16, 8, 11.0), (40, 2, 2.2)],
)
def test_wide_resnets_are_as_large_as_published(
    depth: int, widen_factor: int, millions: float
) -> None:
    """Zagoruyko and Komodakis 2016, tables 4 and 5."""
    network = WideResNet((3, 32, 32), 10, depth=depth, widen_factor=widen_factor, device="meta")
    assert round(count(network) / 1e6, 1) == millions


@each(
    "make, parameters",
    [
        # 11.17 M of the PreActResNet18 of small images.
        (partial(PreActResNet, (3, 32, 32), 10, final_norm=False), 11_171_146),
        (partial(PreActResNet, (3, 32, 32), 10), 11_171_146 + 2 * 512),
        (partial(PreActResNet, (3, 32, 32), 10, depth=34, final_norm=False), 21_279_306),
        (partial(PreActResNet, (3, 32, 32), 10, depth=50, final_norm=False), 23_509_066),
        (partial(WideResNet, (3, 32, 32), 10), 36_489_290),
        (partial(WideResNet, (3, 32, 32), 10, published=True), 36_479_194),
        # 1.5 M in Oliver et al. 2018.
        (partial(WideResNet, (3, 32, 32), 10, widen_factor=2), 1_469_642),
        (partial(CNN13, (3, 32, 32), 10), 3_125_908),
        (partial(BottleneckMLP, (2,), 2), 20 * 3 + 20 * 21 * 2 + 2 * 21),
    ],
)
def test_networks_have_as_many_parameters_as_their_tables_say(
    make: Callable[..., nn.Module], parameters: int
) -> None:
    network = make(device="meta")
    assert count(network) == parameters
    assert network(torch.empty(5, *network.item_shape, device="meta")).shape == (
        5,
        network.output.out_features,
    )


def test_a_depth_without_its_shortcuts_is_the_same_network() -> None:
    shorter, longer = (
        WideResNet(GRAY, 2, depth=depth, widen_factor=1, device="meta") for depth in (20, 22)
    )
    assert shorter.state_dict().keys() == longer.state_dict().keys()


NETWORKS = {
    "preact-resnet": PreActResNet((3, 12, 12), 4, width=2, generator=generator()),
    "wide-resnet": WideResNet((3, 12, 12), 4, depth=10, widen_factor=1, generator=generator()),
    "cnn-13": CNN13((3, 12, 12), 4, width=2, generator=generator()),
    "mlp": BottleneckMLP((3, 12, 12), 4, hidden_sizes=(5, 7), bottleneck=2, generator=generator()),
}
networks = pytest.mark.parametrize("name", NETWORKS)


@networks
def test_problems_can_be_mixed_at_the_layers_that_a_network_declares(name: str) -> None:
    model, seen = ItemModel(copy.deepcopy(NETWORKS[name])), []
    assert isinstance(model, HasMixingLayers)
    assert model.mixing_layers == tuple(f"core.{layer}" for layer in model.core.mixing_layers)

    def tap(layer: str):
        def first_of_all(output: Tensor) -> Tensor:
            seen.append(layer)
            assert len(output) == 5
            return output[:1].expand_as(output)

        return first_of_all

    items, index = torch.rand(7, 3, 12, 12, generator=generator()), torch.arange(5).unsqueeze(1)
    with tap_layers(model, {layer: tap(layer) for layer in model.mixing_layers}):
        model(items, index)
    assert tuple(seen) == model.mixing_layers
    for layer in model.mixing_layers:  # nothing passes a layer by
        with tap_layers(model.eval(), {layer: tap(layer)}):
            answers = model(items, index)
        torch.testing.assert_close(answers, answers[:1].expand_as(answers))
    assert not hasattr(ItemModel(nn.Flatten()), "mixing_layers")


def test_released_layers_of_cnn13_are_mixed_before_their_activation() -> None:
    network, outputs = NETWORKS["cnn-13"], []
    handle = network.group1.register_forward_hook(lambda *call: outputs.append(call[-1]))
    network(torch.rand(5, 3, 12, 12, generator=generator()))
    handle.remove()
    assert isinstance(network.group1[-1], nn.BatchNorm2d)
    assert (outputs[0] < 0).any()


@pytest.mark.parametrize("side", [12, 28, 32, 64])
@pytest.mark.parametrize("cls", [PreActResNet, WideResNet, CNN13])
def test_images_of_any_size_are_classified(cls: type[nn.Module], side: int) -> None:
    options = {"depth": 10, "widen_factor": 1} if cls is WideResNet else {"width": 1}
    for shape in ((side, side), (2, side, side)):
        network = cls(shape, 3, **options, device="meta")
        assert network(torch.empty(2, *shape, device="meta")).shape == (2, 3)


@pytest.mark.processor
def test_a_narrow_network_has_the_gradients_of_double_precision() -> None:
    def gradients(dtype: torch.dtype) -> Iterator[Tensor]:
        network = PreActResNet(COLOR, 4, width=4, generator=generator()).to(dtype)
        network(images.to(dtype)).square().sum().backward()
        return (each.grad for each in network.parameters())

    images = drawn(8, *COLOR)
    for single, double in zip(*map(gradients, (torch.float32, torch.float64)), strict=True):
        torch.testing.assert_close(single.double(), double, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "momentum, options",
    [
        (0.9, {}),
        (0.1, {"final_momentum": 0.1}),
        (0.1, {"published": True}),
        (0.3, {"published": True, "final_momentum": 0.3}),
    ],
)
def test_the_newest_batch_has_a_share_of_the_last_running_averages(
    momentum: float, options: dict[str, Any]
) -> None:
    network = WideResNet(GRAY, 2, depth=10, widen_factor=1, generator=generator(), **options)
    calls = []
    network.final_norm.register_forward_pre_hook(lambda *call: calls.append(call))
    network(torch.rand(3, *GRAY, generator=generator()))
    [(_, (maps,))] = calls
    expected = momentum * maps.detach().mean((0, 2, 3))
    torch.testing.assert_close(network.final_norm.running_mean, expected)
    assert network.group1[0].norms[0].momentum == 0.1


def test_first_weights_are_those_of_torch() -> None:
    network = PreActResNet((3, 32, 32), 10, width=16, generator=generator())
    for weight, inputs in (
        (network.stem.weight, 3 * 9),
        (network.group2[0].convolutions[0].weight, 16 * 9),
        (network.group2[0].shortcut.weight, 16),
        (network.output.weight, 8 * 16),
    ):
        assert weight.abs().max() <= inputs**-0.5
        assert_spread(weight, (3 * inputs) ** -0.5)
    normalized = CNN13((3, 32, 32), 10, width=16, generator=generator()).group1[3]
    assert_spread(normalized.weight, (3 * 16 * 9) ** -0.5)
    assert normalized.bias.abs().max() <= (16 * 9) ** -0.5


@pytest.mark.parametrize("layer", [nn.Linear(5, 3), nn.Conv2d(2, 3, 3)])
def test_weight_norm_is_that_of_torch(layer: nn.Module) -> None:
    inputs = drawn(4, 5) if isinstance(layer, nn.Linear) else drawn(4, 2, 5, 5)
    mine, theirs = (
        norm(copy.deepcopy(layer)) for norm in (weight_norm, parametrizations.weight_norm)
    )
    torch.testing.assert_close(mine.weight, layer.weight)
    state = away(mine).state_dict()
    theirs.double().load_state_dict(state)
    assert theirs.state_dict().keys() == state.keys()
    outputs = [layer(inputs) for layer in (mine, theirs)]
    torch.testing.assert_close(*outputs)
    gradients = [
        torch.autograd.grad(output.sin().sum(), [*layer.parameters()])
        for layer, output in zip((mine, theirs), outputs, strict=True)
    ]
    torch.testing.assert_close(*gradients)


DROPPING = {
    "wide-resnet": WideResNet(
        GRAY, 4, depth=10, widen_factor=1, dropout=0.5, generator=generator()
    ),
    "preact-resnet": PreActResNet(GRAY, 4, width=2, dropout=0.5, generator=generator()),
    "cnn-13": CNN13((12, 12), 4, width=2, dropout=0.5, generator=generator()),
    "mlp": BottleneckMLP((12, 12), 4, dropout=0.5, generator=generator()),
    "mlp, noise": BottleneckMLP((12, 12), 4, noise=0.5, generator=generator()),
}


@pytest.mark.parametrize("name", DROPPING)
def test_noise_is_for_training_alone(name: str) -> None:
    network = DROPPING[name]
    images = torch.rand(3, *network.item_shape, generator=generator())
    with torch.random.fork_rng():
        torch.manual_seed(0)
        same = [torch.equal(network.train(mode)(images), network(images)) for mode in (True, False)]
    assert same == [False, True]


def test_half_of_the_hidden_units_are_dropped_and_no_bottleneck() -> None:
    network = BottleneckMLP(
        (4,), 2, hidden_sizes=(400, 400), bottleneck=300, dropout=0.5, generator=generator()
    )
    items = torch.rand(50, 4, generator=generator())
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for layer, dropped in zip(network.layers, (0.5, 0.0, 0.5), strict=True):
            kept = layer.train(False)(items) != 0
            items = layer.train()(items)
            assert ((items == 0) & kept).sum() / kept.sum() == pytest.approx(dropped, abs=0.02)


def test_noise_has_the_standard_deviation_that_is_asked_for() -> None:
    network = BottleneckMLP((400,), 400, hidden_sizes=(), noise=0.3, generator=generator())
    network.output.weight.data = torch.eye(400)
    items = torch.rand(50, 400, generator=generator())
    with torch.random.fork_rng():
        torch.manual_seed(0)
        added = network(items) - items - network.output.bias
    assert_spread(added, 0.3)


def test_bytes_are_fractions_and_every_problem_is_a_row() -> None:
    core = PreActResNet(GRAY, 3, width=2, generator=generator())
    model = ItemModel(core).double()
    pixels = torch.randint(256, (5, *GRAY), generator=generator(), dtype=torch.uint8)
    index = torch.tensor([[4], [0], [0], [2]])
    shown = pixels[[4, 0, 0, 2]].double() / 255
    answers, mean = model(pixels, index), core.final_norm.running_mean.clone()
    core.final_norm.reset_running_stats()
    assert torch.equal(core(shown), answers)
    assert torch.equal(core.final_norm.running_mean, mean)
    assert torch.equal(model(pixels.double() / 255, index), answers)


def test_a_front_is_what_items_are_read_through() -> None:
    core = BottleneckMLP((2,), 3, generator=generator())
    model = ItemModel(core, nn.BatchNorm1d(2, affine=False).eval())
    model.front.running_mean.fill_(0.5)
    items, index = torch.rand(4, 2, generator=generator()), torch.arange(4).unsqueeze(1)
    torch.testing.assert_close(model(items, index), core((items - 0.5) / (1 + 1e-5) ** 0.5))


IMAGE = "item_shape must be .*square.*BottleneckMLP"


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: PreActResNet((2,), 2), rf"{IMAGE}.*"),
        (lambda: PreActResNet((32, 32, 3), 2), r"item_shape must be .*got \(32, 32, 3\)"),
        (lambda: WideResNet((3, 32, 30), 2), r"item_shape must be .*got \(3, 32, 30\)"),
        (lambda: CNN13((11, 11), 2), r"at least 12 × 12 pixels, got \(11, 11\)"),
        (lambda: PreActResNet(GRAY, 2, depth=101), "depth must be 18, 34 or 50, got 101"),
        (lambda: WideResNet(GRAY, 2, depth=24), "depth must be 6n . 4 or 6n . 2, .*got 24"),
        (lambda: WideResNet(GRAY, 2, depth=4), "depth must be 6n . 4 or 6n . 2, .*got 4"),
        (lambda: WideResNet(GRAY, 2, final_momentum=0), "final_momentum must be"),
        (
            lambda: PreActResNet(GRAY, 2, width=1)(torch.zeros(2, 1, 8, 8)),
            r"items must be \(batch, 8, 8\), got shape \(2, 1, 8, 8\)",
        ),
        (
            lambda: BottleneckMLP((2,), 2)(torch.zeros(2, 3)),
            r"items must be \(batch, 2\), got shape \(2, 3\)",
        ),
        (
            lambda: ItemModel(nn.Flatten())(torch.zeros(2, 3), torch.zeros(2, 2).long()),
            r"index must be \(batch, 1\), one item a problem, got \(2, 2\)",
        ),
        (
            lambda: ItemModel(nn.Flatten())(torch.zeros(2, 3).long(), torch.zeros(2, 1).long()),
            "items must be uint8 of 0…255 or floating-point of 0…1, got torch.int64",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, said: str, unchecked: None) -> None:
    with pytest.raises(ValueError, match=said):
        make()
