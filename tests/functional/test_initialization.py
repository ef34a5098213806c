"""Initializations: the spread that is named, zero biases, nothing from the global generator."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from farfield.functional.internal import (
    kaiming_normal_,
    linear_layer,
    lstm_controller,
    normal_,
    uninitialized,
)

SIZE, INPUTS = 300, 200


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def assert_normal(weight: torch.Tensor, deviation: float) -> None:
    """Zero mean, the given deviation and the kurtosis of a normal, within six standard errors."""
    drawn = weight.detach().double().flatten() / deviation
    error = 6 / math.sqrt(len(drawn))
    assert abs(drawn.mean()) < error
    assert abs(drawn.square().mean() - 1) < error * math.sqrt(2)
    assert abs(drawn.pow(4).mean() - 3) < error * math.sqrt(96)


def test_xavier_and_kaiming() -> None:
    layer = linear_layer(INPUTS, SIZE, generator())
    assert_normal(layer.weight, math.sqrt(2 / (INPUTS + SIZE)))
    assert (layer.bias == 0).all()
    layer = kaiming_normal_(nn.Linear(INPUTS, SIZE), generator())
    assert_normal(layer.weight, math.sqrt(2 / INPUTS))
    assert (layer.bias == 0).all()
    convolution = kaiming_normal_(nn.Conv2d(32, 32, 4), generator())
    assert_normal(convolution.weight, math.sqrt(2 / (32 * 16)))
    assert (convolution.bias == 0).all()
    assert kaiming_normal_(nn.Linear(2, 3, bias=False), generator()).bias is None


def test_a_normal_distribution_is_whole_or_cut_off_at_two_deviations() -> None:
    for layer in (nn.Linear(INPUTS, SIZE), nn.Conv2d(32, 32, 4)):
        whole = normal_(layer, 0.3, generator=generator())
        assert_normal(whole.weight, 0.3)
        assert (whole.bias == 0).all()
        cut = normal_(layer, 0.3, truncated=True, generator=generator()).weight.detach() / 0.3
        assert 1.99 < cut.abs().max() < 2
        # of a normal cut off at ±2: 1 − 4 φ(2) / (2 Φ(2) − 1)
        assert cut.square().mean() == pytest.approx(0.7737, abs=6 / math.sqrt(cut.numel()))
    assert normal_(nn.Linear(2, 3, bias=False), 1.0, generator=generator()).bias is None


@pytest.mark.parametrize("name, inputs", [("weight_ih", INPUTS), ("weight_hh", SIZE)])
def test_lstm_rows_are_drawn_by_kind_of_gate(name: str, inputs: int) -> None:
    cell = lstm_controller(INPUTS, SIZE, generator())
    enter, keep, candidate, leave = getattr(cell, name).chunk(4)
    assert_normal(enter, math.sqrt(2 / (inputs + 2 * SIZE)))
    assert_normal(keep, math.sqrt(2 / (inputs + 2 * SIZE)))
    assert_normal(candidate, 5 / 3 * math.sqrt(2 / (inputs + SIZE)))
    assert_normal(leave, math.sqrt(2 / (inputs + SIZE)))
    assert (cell.bias_ih == 0).all()
    assert (cell.bias_hh == 0).all()


def initialize(source: torch.Generator | None) -> list[torch.Tensor]:
    modules = (
        lstm_controller(3, 4, source),
        linear_layer(3, 4, source),
        normal_(uninitialized(nn.Linear, 3, 4), 0.5, generator=source),
        normal_(uninitialized(nn.Linear, 3, 4), 0.5, truncated=True, generator=source),
        kaiming_normal_(uninitialized(nn.Conv2d, 1, 2, kernel_size=4), source),
    )
    return [parameter for module in modules for parameter in module.parameters()]


def test_the_generator_decides_and_the_global_one_is_left_alone() -> None:
    before = torch.get_rng_state()
    first, again, other = (initialize(generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(map(torch.equal, first, again))
    assert not torch.equal(first[0], other[0])


def test_without_a_generator_the_global_one_decides() -> None:
    with torch.random.fork_rng():
        first, again = [], []
        for drawn in (first, again):
            torch.manual_seed(3)
            drawn.extend(initialize(None))
    assert all(map(torch.equal, first, again))


def test_uninitialized_is_on_the_default_device_and_of_the_default_dtype() -> None:
    layer = uninitialized(nn.Linear, 3, 4, bias=False)
    assert (layer.in_features, layer.out_features, layer.bias) == (3, 4, None)
    assert layer.weight.device == torch.get_default_device()
    with torch.device("meta"):
        assert uninitialized(nn.Linear, 3, 4).weight.is_meta
