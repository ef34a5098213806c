"""Generators and discriminators against loops, by their sizes, and with what judges them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from farfield.core import Problems
from farfield.functional.internal import NFMRules
from farfield.models import GAN, ResNetDiscriminator, ResNetGenerator
from farfield.models._images._discriminators import spectral_norm
from farfield.models.internal import FeatureNetwork, ItemModel
from made import assert_spread, drawn, generator, state_of
from models.test_image_networks import MODES, away
from oracles import adversarial as oracle

NFM = NFMRules(num_heads=2, key_size=3, value_size=3)
SHAPES = {(1, 4, 4): 0, (2, 8, 8): 1, (1, 14, 14): 2}
"""Shapes of images, and the blocks that double sides."""


def made(shape: tuple[int, ...], **options: object) -> ResNetGenerator:
    return ResNetGenerator(5, shape, width=3, generator=generator(), **options)


@MODES
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("blocks", [1, 2])
def test_generator(shape: tuple[int, ...], blocks: int, training: bool) -> None:
    network, noise = away(made(shape, blocks=blocks), training), drawn(4, 5)
    expected = oracle.generator(
        noise.numpy(), SHAPES[shape], blocks, shape[-1], state_of(network), training
    )
    np.testing.assert_allclose(network(noise).detach(), expected, rtol=1e-9, atol=1e-11)


def test_discriminator() -> None:
    images = torch.rand(3, 2, 9, 9, generator=generator(), dtype=torch.float64)
    network = away(
        ResNetDiscriminator(
            (2, 9, 9), width=3, projection_size=4, names_rotations=True, generator=generator()
        ),
        training=False,
    )
    expected = oracle.discriminator(images.numpy(), state_of(network))
    places, whole = network.look(images)
    local, projected = network.project(places, whole)
    found = {
        "places": places,
        "whole": whole,
        "scores": network(images),
        "rotations": network.rotations(whole),
        "local": local,
        "global": projected,
    }
    assert found.keys() == expected.keys()
    for name, tensor in found.items():
        np.testing.assert_allclose(
            tensor.detach(), expected[name], rtol=1e-9, atol=1e-11, err_msg=name
        )


@pytest.mark.parametrize(
    "network, count",
    [
        # 4.3 M of SNGAN with residual blocks on CIFAR-10, and 1.05 M of its discriminator.
        (ResNetGenerator(128, (3, 32, 32), device="meta"), 4_276_739),
        (ResNetDiscriminator((3, 32, 32), device="meta"), 1_053_825),
        (ResNetDiscriminator((3, 32, 32), projection_size=1024, device="meta"), 1_615_233),
        (ResNetDiscriminator((3, 32, 32), names_rotations=True, device="meta"), 1_054_341),
    ],
)
def test_numbers_of_parameters(network: nn.Module, count: int) -> None:
    assert sum(parameter.numel() for parameter in network.parameters()) == count


def test_function_modules_read_eight_times_and_change_nothing_at_first() -> None:
    plain = ResNetGenerator(5, (1, 32, 32), width=3, generator=generator())
    network = ResNetGenerator(5, (1, 32, 32), width=3, nfm=NFM, generator=generator())
    noise = drawn(2, 5).float()
    # The output layer is drawn after the modules, and so another.
    network.output.load_state_dict(plain.output.state_dict())
    assert torch.equal(network(noise), plain(noise))
    layers = ("seed", "stages.0", "stages.1", "stages.2")
    reads = network.body.trace(noise)
    assert [read.reader for read in reads] == [(k, name) for k in (1, 2) for name in layers]
    assert len(reads[-1].written) == 8
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("gamma"):
                parameter.fill_(1.0)
    assert not torch.allclose(network(noise), plain(noise))


def test_passes_have_weights_of_their_own_from_one_distribution() -> None:
    network = ResNetGenerator(5, (1, 8, 8), width=64, nfm=NFM, generator=generator())
    for name in ("seed.0", "stages.0.0.convolutions.1", "stages.0.0.shortcut"):
        first, second = (part.get_submodule(name) for part in network.body.networks)
        assert not torch.equal(first.weight, second.weight)
        assert_spread(first.weight, float(second.weight.detach().square().mean().sqrt()))
        assert not first.bias.any()


@pytest.mark.parametrize("make", [lambda: nn.Linear(4, 3), lambda: nn.Conv2d(2, 3, 3)])
def test_spectral_norm_is_that_of_torch(make) -> None:
    ours, theirs = make().double(), make().double()
    theirs.load_state_dict(ours.state_dict())
    spectral_norm(ours, generator())
    parametrizations.spectral_norm(theirs)
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    theirs.load_state_dict(ours.state_dict())
    for _ in range(3):
        torch.testing.assert_close(ours.weight, theirs.weight, rtol=1e-12, atol=0)
    largest = torch.linalg.matrix_norm(ours.weight.detach().flatten(1), 2)
    assert float(largest) == pytest.approx(1, rel=0.1)
    # Two calls before one gradient, and none of them changed in evaluation.
    (ours.weight.sum() + ours.weight.square().sum()).backward()
    before = {name: buffer.clone() for name, buffer in ours.named_buffers()}
    ours.eval()
    assert torch.equal(ours.weight, ours.weight)
    for name, buffer in ours.named_buffers():
        assert torch.equal(buffer, before[name])


class Pixels(nn.Module):
    """Classes by the mean of the left and of the right half of an image."""

    def __init__(self) -> None:
        super().__init__()
        self.halves = nn.AdaptiveAvgPool2d((1, 2))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return 20 * self.halves(images).flatten(1)


def test_a_judge_compares_features_of_images_rounded_to_bytes() -> None:
    judge = FeatureNetwork(ItemModel(Pixels()), layer="core.halves", label="halves")
    images = torch.rand(1_200, 1, 4, 4, generator=generator(), dtype=torch.float64)
    real = torch.rand(700, 1, 4, 4, generator=generator(1), dtype=torch.float64) / 2
    found = judge.scores(images, real)
    rounded = (255 * images).round() / 255
    halves = [part.reshape(-1, 4, 2, 2).mean((1, 3)).numpy() for part in (rounded, real)]
    assert found == {
        "fid/halves": pytest.approx(oracle.frechet_distance(*halves), rel=1e-9),
        "is/halves": pytest.approx(oracle.inception_score(20 * halves[0], 10), rel=1e-9),
    }
    assert not math.isclose(
        oracle.frechet_distance(images.reshape(-1, 4, 2, 2).mean((1, 3)).numpy(), halves[1]),
        found["fid/halves"],
        rel_tol=1e-9,
    )


def test_a_gan_answers_with_pixels_of_its_generator_and_scores_sets_by_its_judge() -> None:
    judge = FeatureNetwork(ItemModel(Pixels()), layer="core.halves", label="halves")
    maker, other = made((1, 4, 4)), ResNetDiscriminator((1, 4, 4), width=2, generator=generator())
    network, noise = GAN(maker, other, judge).eval(), drawn(20, 5).float()
    index = torch.arange(20)[:, None].flip(0)
    pixels = network(noise, index)
    assert torch.equal(pixels, maker(noise.flip(0)).flatten(1))
    images = torch.randint(0, 256, (20, 1, 4, 4), generator=generator(), dtype=torch.uint8)
    problems = Problems(items=noise, index=index, target=images)
    expected = judge.scores(pixels.reshape(images.shape), images / 255)
    assert network.set_scores(pixels, problems) == expected
    assert GAN(maker, other).set_scores(pixels, problems) == {}


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: made((3, 8, 4)), r"item_shape must be .*square.*got \(3, 8, 4\)"),
        (lambda: made((1, 8, 8))(torch.zeros(2, 4)), r"noise must be \(batch, 5\), got shape"),
        (
            lambda: ResNetDiscriminator((1, 3, 3)),
            r"item_shape must be .*at least 4 × 4 pixels, got \(1, 3, 3\)",
        ),
        (
            lambda: ResNetDiscriminator((1, 8, 8), width=2)(torch.zeros(2, 1, 4, 4)),
            r"items must be \(batch, 1, 8, 8\), got shape \(2, 1, 4, 4\)",
        ),
        (
            lambda: ResNetDiscriminator((1, 8, 8), width=2).project(None, None),
            "projection_size of the discriminator must be a size .* got None",
        ),
        (
            lambda: ResNetDiscriminator((1, 8, 8), width=2).rotations(None),
            "names_rotations of the discriminator must be True .* got False",
        ),
        (
            lambda: GAN(nn.Linear(2, 2), nn.Linear(2, 2)),
            "discriminator must have methods look, realness, .* got Linear without",
        ),
        (
            lambda: FeatureNetwork(Pixels(), layer="half", label="x"),
            "layers must be layers of the network, got 'half'; did you mean 'halves'",
        ),
        (
            lambda: FeatureNetwork(Pixels(), layer="halves", label="a/b"),
            "label must be a name without a slash, got 'a/b'",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, message: str, unchecked: None) -> None:
    with pytest.raises(ValueError, match=message):
        make()
