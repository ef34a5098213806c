"""Scales of normalizers, dependence of units, and divisive normalization as an activation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from farfield.analysis.internal import (
    dependence,
    divisive_activation,
    map_responses,
    mutual_information,
    normalizer_scales,
)
from farfield.core import Problems, stream
from farfield.models import BottleneckMLP, QuickCNN
from farfield.models.internal import ItemModel
from farfield.nn import MapNormalizer
from made import generator
from oracles import normalizer_analysis as oracle

SAMPLES = 20_000


def network(**options: object) -> ItemModel:
    normalizer = MapNormalizer(field="window", sigma=0.5, **options)
    core = QuickCNN((3, 8, 8), 2, width=3, normalizer=normalizer, generator=generator())
    return ItemModel(core).double().eval()


def drawn(count: int) -> Problems:
    items = torch.rand(count, 3, 8, 8, dtype=torch.float64, generator=generator(1))
    rows = torch.arange(count)
    return Problems(items=items, index=rows[:, None], target=rows % 2)


def gaussians(correlation: float, samples: int = SAMPLES) -> torch.Tensor:
    both = torch.randn(samples, 2, dtype=torch.float64, generator=generator(2))
    both[:, 1] = correlation * both[:, 0] + math.sqrt(1 - correlation**2) * both[:, 1]
    return both


@pytest.mark.parametrize("learned", [False, True])
def test_scales_are_mean_absolute_inputs_beside_the_constants(learned: bool) -> None:
    model, problems = network(learned_sigma=learned), drawn(600)
    if learned:
        with torch.no_grad():
            model.core.norms[1].sigma.fill_(-0.2)
    with torch.no_grad():
        maps = model.core.convolutions[0](problems.items)
    found = normalizer_scales(model, problems)
    assert [scale.name for scale in found] == ["core.norms.0", "core.norms.1", "core.norms.2"]
    assert [scale.sigma for scale in found] == pytest.approx([0.5, 0.2 if learned else 0.5, 0.5])
    assert found[0].input_scale == pytest.approx(float(maps.abs().mean()))
    assert not any(part._forward_pre_hooks for part in model.modules())


def test_a_network_without_such_normalizers_is_refused() -> None:
    model = ItemModel(BottleneckMLP((3, 8, 8), 2, batch_norm=True, generator=generator())).eval()
    with pytest.raises(ValueError, match=r"normalizers with a constant sigma, .*got ItemModel"):
        normalizer_scales(model.double(), drawn(2))


def test_responses_are_those_of_all_channels_at_one_position() -> None:
    model, problems = network(), drawn(5)
    with torch.no_grad():
        maps = model.core.convolutions[0](problems.items)
    known = {tuple(row) for row in maps.movedim(1, -1).reshape(-1, 3).numpy().round(12).tolist()}
    rows = map_responses(model, problems, "core.convolutions.0", 200, stream(0))
    assert rows.shape == (200, 3)
    found = {tuple(row) for row in rows.numpy().round(12).tolist()}
    assert len(found) == 200
    assert found <= known
    again, other = (
        map_responses(model, problems, "core.convolutions.0", 200, stream(seed)) for seed in (0, 1)
    )
    assert torch.equal(rows, again)
    assert not torch.equal(rows, other)


@pytest.mark.parametrize("correlation", [0.0, 0.3, -0.6, 0.9])
def test_information_of_gaussians_is_known(correlation: float) -> None:
    known = -0.5 * math.log(1 - correlation**2)
    found = mutual_information(*gaussians(correlation).T)
    assert found == pytest.approx(known, rel=0.06, abs=0.005)


def test_information_of_other_known_distributions() -> None:
    first = torch.rand(SAMPLES, generator=generator(3))
    assert mutual_information(first, first) == pytest.approx(math.log(24), rel=0.01)
    # The second is in the same half as the first, and anywhere in it: one bit.
    second = (first >= 0.5).float() / 2 + torch.rand(SAMPLES, generator=generator(4)) / 2
    assert mutual_information(first, second) == pytest.approx(math.log(2), rel=0.02)
    # Without correlation: x and ±x.
    sign = torch.randint(2, (SAMPLES,), generator=generator(5)) * 2 - 1
    mirrored = first * sign
    assert mutual_information(first, mirrored, bins=4) > 0.5
    columns = torch.stack([first - 0.5, (first - 0.5) * sign], 1)
    assert dependence(columns).correlation < 0.03
    assert dependence(columns).information > 1.5


def test_information_is_that_of_any_increasing_functions() -> None:
    first, second = gaussians(0.7, 2_000).T
    found = mutual_information(first, second)
    assert mutual_information(first.exp(), second**3) == found
    assert mutual_information(second, first) == pytest.approx(found, rel=1e-12)


INDEPENDENT = {
    "rectified": lambda x: x.relu(),
    "coins": lambda x: (x > 0).double(),
    "bytes": lambda x: (40 * x + 128).clamp(0, 255).floor(),
    "rarely one": lambda x: (x > 2.5).double(),
    "constant": torch.zeros_like,
}


@pytest.mark.parametrize("second", INDEPENDENT)
@pytest.mark.parametrize("first", INDEPENDENT)
def test_independent_variables_with_ties_share_nothing(first: str, second: str) -> None:
    x, y = gaussians(0).T
    columns = torch.stack([INDEPENDENT[first](x), INDEPENDENT[second](y)], 1)
    assert mutual_information(*columns.T) == pytest.approx(0, abs=0.005)
    found = dependence(columns)
    assert found.information == pytest.approx(0, abs=0.005)
    assert found.correlation < 0.02


def test_coins_that_agree_share_a_bit() -> None:
    coins = (gaussians(0)[:, 0] > 0).double()
    assert mutual_information(coins, coins) == pytest.approx(math.log(2), rel=1e-3)
    agreeing = coins.clone()
    agreeing[: SAMPLES // 4] = 1 - agreeing[: SAMPLES // 4]  # three of four agree
    shared = math.log(2) + 0.75 * math.log(0.75) + 0.25 * math.log(0.25)
    assert mutual_information(coins, agreeing) == pytest.approx(shared, rel=0.02)


@pytest.mark.parametrize("tied", [False, True])
def test_dependence_is_that_of_loops(tied: bool) -> None:
    responses = gaussians(0.6, 300) @ torch.rand(2, 4, dtype=torch.float64, generator=generator())
    responses = responses + 0.3 * torch.randn(300, 4, dtype=torch.float64, generator=generator(6))
    responses = responses.relu() if tied else responses
    correlation, information = oracle.dependence(responses.numpy(), 6)
    found = dependence(responses, bins=6)
    assert found.correlation == pytest.approx(correlation, rel=1e-9)
    assert found.information == pytest.approx(information, rel=1e-9)


@pytest.mark.parametrize("sigma", [0.1, 0.5, 2.0])
def test_an_activation_of_two_units(sigma: float) -> None:
    first, second = (
        torch.randn(5, 4, dtype=torch.float64, generator=generator(seed)) for seed in (0, 1)
    )
    expected = np.vectorize(oracle.divisive_activation)(first, second, sigma)
    np.testing.assert_allclose(divisive_activation(first, second, sigma), expected, rtol=1e-9)


def test_a_small_constant_saturates_and_a_large_one_is_linear() -> None:
    x = torch.linspace(0.6, 4.5, 40, dtype=torch.float64)
    other = torch.full_like(x, 0.5)
    torch.testing.assert_close(divisive_activation(x, other, 1e-6), torch.ones_like(x))
    large = divisive_activation(x, other, 1e3)
    torch.testing.assert_close(large * 1e3, (x - 0.5) / 2, rtol=1e-5, atol=0)
    assert not divisive_activation(other, x, 0.5).any()


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: map_responses(network(), drawn(1), "core.hidden", 1, stream(0)),
            r"layer must give maps \(batch, channel, height, width\), got \(1, 6\) from",
        ),
        (
            lambda: map_responses(network(), drawn(1), "core.convolutions.0", 65, stream(0)),
            "samples must be at least 1 and at most 64, .*1 problems, got 65",
        ),
        (lambda: dependence(torch.zeros(600, 1)), "at least two units, got 1"),
        (lambda: dependence(torch.zeros(575, 2)), "bins must be at most .*, 575, got 24"),
        (
            lambda: mutual_information(torch.zeros(600), torch.zeros(601)),
            "second must hold as many values as first, 600, got 601",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, message: str, unchecked: None) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_layer_of_the_network_may_be_any_that_gives_maps() -> None:
    class Maps(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.only = nn.Identity()

        def forward(self, items: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            return self.only(items[index[:, 0]])

    rows = map_responses(Maps(), drawn(2), "only", 128, stream(0))
    expected = drawn(2).items.movedim(1, -1).reshape(-1, 3)
    torch.testing.assert_close(rows.sort(0).values, expected.sort(0).values)
