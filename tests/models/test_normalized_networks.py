"""Networks with a normalizer of one's choice before every ReLU, against loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from farfield.models import DigitCNN, QuickCNN, ResNet
from farfield.nn import DivisiveNorm2d, GroupNorm, ImageBatchNorm, MapNormalizer
from made import assert_spread, drawn, generator, state_of, unsettled
from oracles import normalized_networks as oracle

SIGMA = 0.4
NORMALIZERS = {
    "none": None,
    "batch": MapNormalizer(field="batch", sigma=SIGMA, affine=True),
    "batch, learned": MapNormalizer(field="batch", sigma=SIGMA, learned_sigma=True),
    "layer": MapNormalizer(field="layer", sigma=SIGMA, affine=True),
    "window": MapNormalizer(field="window", sigma=SIGMA),
    "window, learned": MapNormalizer(field="window", sigma=SIGMA, learned_sigma=True),
}
normalizers = pytest.mark.parametrize("name", NORMALIZERS)
MODES = pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])


def away(network: nn.Module, training: bool) -> nn.Module:
    """Parameters and running averages away from their first values."""
    for name, buffer in unsettled(network).named_buffers():
        source = torch.rand(buffer.shape, generator=generator(2), dtype=buffer.dtype)
        buffer.copy_(source + 0.5 if name.endswith("var") else source - 0.5)
    return network.train(training)


def test_the_network_for_digits_has_the_sizes_of_the_text() -> None:
    colored, rotated = (
        DigitCNN(shape, outputs, device="meta")
        for shape, outputs in (((2, 28, 28), 2), ((1, 28, 28), 10))
    )
    # Convolutions with biases, gains and shifts of the norms, the linear layer.
    inner = 128 * 64 * 9 + 128 + 2 * (128 * 128 * 9 + 128) + 2 * (64 + 3 * 128)
    sizes = [sum(p.numel() for p in network.parameters()) for network in (colored, rotated)]
    assert sizes == [64 * 2 * 9 + 64 + inner + 258, 64 * 9 + 64 + inner + 1290]
    assert sizes[0] == 371_394
    assert colored.features(torch.ones(3, 128, 14, 14)).shape == (3, 128)


def test_the_network_for_digits_is_that_of_the_text() -> None:
    network = DigitCNN((2, 6, 6), 3, width=8, generator=generator()).double()
    with torch.no_grad():
        for norm in network.norms:
            norm.weight.normal_(generator=generator())
    maps = x = torch.rand(4, 2, 6, 6, dtype=torch.float64, generator=generator())
    for number, (convolve, norm) in enumerate(
        zip(network.convolutions, network.norms, strict=True)
    ):
        maps = nn.functional.conv2d(
            maps, convolve.weight, convolve.bias, stride=2 if number == 1 else 1, padding=1
        ).clamp(min=0)
        groups = maps.reshape(4, 8, -1)
        mean, variance = groups.mean(2, keepdim=True), groups.var(2, correction=0, keepdim=True)
        maps = ((groups - mean) / (variance + 1e-5).sqrt()).reshape(maps.shape)
        maps = maps * norm.weight[:, None, None] + norm.bias[:, None, None]
    expected = maps.mean((2, 3)) @ network.output.weight.T + network.output.bias
    torch.testing.assert_close(network(x), expected)


@MODES
@normalizers
@pytest.mark.parametrize("shape", [(3, 8, 8), (9, 9)])
def test_quick_cnn(shape: tuple[int, ...], name: str, training: bool) -> None:
    normalizer = NORMALIZERS[name]
    network = away(
        QuickCNN(shape, 4, width=2, normalizer=normalizer, generator=generator()), training
    )
    images, state = drawn(3, *shape), state_of(network)
    norm = oracle.normalizer(normalizer and normalizer.field, SIGMA, state, training)
    expected = oracle.quick_cnn(images.numpy(), state, norm)
    np.testing.assert_allclose(network(images).detach(), expected, rtol=1e-9, atol=1e-11)


@MODES
@normalizers
def test_resnet(name: str, training: bool) -> None:
    normalizer = NORMALIZERS[name]
    network = ResNet((8, 8), 4, depth=8, width=2, normalizer=normalizer, generator=generator())
    images = drawn(3, 8, 8)
    state = state_of(away(network, training))
    norm = oracle.normalizer(normalizer and normalizer.field, SIGMA, state, training)
    expected = oracle.resnet(images.numpy(), 1, state, norm)
    np.testing.assert_allclose(network(images).detach(), expected, rtol=1e-9, atol=1e-11)


def test_networks_are_as_large_as_published() -> None:
    """Caffe's network, and 0.46 million numbers of He et al. 2016, table 6, with shortcuts."""
    quick = QuickCNN((3, 32, 32), 10, device="meta")
    assert sum(parameter.numel() for parameter in quick.parameters()) == 145_578
    assert (quick.hidden.in_features, quick.hidden.out_features) == (1024, 64)
    resnet = ResNet((3, 32, 32), 10, device="meta")
    shortcuts = 16 * 32 + 32 * 64
    numbers = sum(parameter.numel() for parameter in resnet.parameters())
    assert round((numbers - shortcuts) / 1e6, 2) == 0.46


def test_windows_are_those_of_the_paper() -> None:
    normalizer = MapNormalizer(field="window")
    quick = QuickCNN((8, 8), 2, width=1, normalizer=normalizer, generator=generator())
    assert [norm.window for norm in quick.norms] == [5, 3, 3]
    network = ResNet((8, 8), 2, width=1, windows=(7, 5, 3, 1), normalizer=normalizer, device="meta")
    windows = [m.window for m in network.modules() if isinstance(m, DivisiveNorm2d)]
    assert windows == [7, *[5] * 9, *[3] * 10, *[1] * 11]


@pytest.mark.parametrize("truncated", [False, True])
def test_first_weights_have_the_deviations_of_the_text(truncated: bool) -> None:
    network = QuickCNN((3, 32, 32), 10, truncated=truncated, generator=generator())
    layers = (*network.convolutions, network.hidden, network.output)
    # A normal distribution cut off at two deviations has 0.8796 of its deviation left.
    kept = 0.8796 if truncated else 1
    for layer, std in zip(layers, (1e-4, 1e-2, 1e-2, 1e-1, 1e-1), strict=True):
        assert_spread(layer.weight, kept * std)
        assert (layer.weight.abs().max() <= 2 * std) == truncated
        assert not layer.bias.any()


def test_dropout_takes_hidden_units_and_logits_in_training_alone() -> None:
    network = QuickCNN((8, 8), 400, width=200, dropout=0.5, generator=generator())
    images = torch.rand(3, 8, 8, generator=generator())
    hidden = []
    network.output.register_forward_pre_hook(lambda _, inputs: hidden.append(inputs[0]))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        logits = network(images)
    for dropped in (logits, *hidden):
        assert (dropped == 0).double().mean() == pytest.approx(0.5, abs=0.05)
    assert (network.eval()(images) != 0).all()


def test_a_normalizer_is_made_for_channels_and_window() -> None:
    for field, kind in (
        ("batch", ImageBatchNorm),
        ("layer", GroupNorm),
        ("window", DivisiveNorm2d),
    ):
        made = MapNormalizer(field=field, sigma=0.5, learned_sigma=True, affine=True)(4, 3)
        assert isinstance(made, kind)
        assert (made.num_channels, made.sigma.item(), made.affine) == (4, 0.5, True)
        assert isinstance(made.sigma, nn.Parameter)
    assert MapNormalizer(field="layer")(4, 3).num_groups == 1
    assert MapNormalizer(field="window")(4, 3).window == 3


def test_any_function_serves_as_a_normalizer() -> None:
    def instance_norm(channels: int, window: int) -> nn.Module:
        del window
        return nn.InstanceNorm2d(channels)

    for network in (
        QuickCNN((8, 8), 2, normalizer=instance_norm, device="meta"),
        ResNet((8, 8), 2, normalizer=instance_norm, device="meta"),
    ):
        assert any(isinstance(part, nn.InstanceNorm2d) for part in network.modules())


@pytest.mark.parametrize("side", [8, 28, 32, 64])
@pytest.mark.parametrize("cls", [QuickCNN, ResNet])
def test_images_of_any_size_are_classified(cls: type[nn.Module], side: int) -> None:
    for shape in ((side, side), (2, side, side)):
        network = cls(shape, 3, width=1, device="meta")
        assert network(torch.empty(2, *shape, device="meta")).shape == (2, 3)


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: DigitCNN((8, 8), 2, width=12), "width must be a multiple of 8 .* got 12"),
        (lambda: QuickCNN((7, 7), 2), r"at least 8 × 8 pixels, got \(7, 7\)"),
        (lambda: QuickCNN((8, 8), 2, windows=(5, 3)), "windows must be a tuple"),
        (lambda: QuickCNN((8, 8), 2, normalizer=1), "normalizer must be callable or None, got 1"),
        (lambda: ResNet((8, 8), 2, depth=18), "depth must be 6n . 2, as 32, got 18"),
        (lambda: ResNet((8, 8), 2, depth=2), "depth must be 6n . 2, as 32, got 2"),
        (lambda: MapNormalizer(field="group"), "field must be 'batch' or 'layer' or 'window'"),
        (lambda: MapNormalizer(sigma=-1), "sigma must be a finite number of at least 0, got -1"),
        (
            lambda: QuickCNN((8, 8), 2, device="meta")(torch.zeros(2, 1, 8, 8)),
            r"items must be \(batch, 8, 8\), got shape \(2, 1, 8, 8\)",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, said: str, unchecked: None) -> None:
    with pytest.raises(ValueError, match=said):
        make()
