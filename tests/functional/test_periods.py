"""The periods of sequences, on sequences whose periods are known."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from farfield.functional.internal import periods
from made import drawn, generator


def correlation(x: Tensor, lag: int) -> float:
    """By loops."""
    steps = len(x)
    centered = [row - sum(x) / steps for row in x]
    energy = [float(c @ c) for c in centered]
    shared = sum(float(centered[t] @ centered[t + lag]) for t in range(steps - lag))
    busy = sum(energy) ** 2 / sum(e * e for e in energy)
    return shared / sum(energy) * steps / (steps - lag) * math.sqrt(busy)


@pytest.mark.parametrize("period", [4, 6, 15])
def test_the_period_of_what_repeats_itself_is_found(period: int) -> None:
    wave = drawn(1, period, 2).repeat(1, 60 // period, 1)
    noisy = wave + 0.5 * drawn(1, 60, 2, seed=1)
    assert periods(noisy).tolist() == [period]


def test_each_sequence_has_its_own_and_none_has_one_by_chance() -> None:
    wave = drawn(1, 5, 1).repeat(1, 8, 1)
    assert periods(torch.cat([wave, torch.ones(1, 40, 1), drawn(1, 40, 1)])).tolist() == [5, 0, 0]
    chance = torch.rand(1_000, 100, 2, generator=generator())
    assert (periods(chance) > 0).float().mean() < 0.01


@pytest.mark.parametrize("steps", [40, 100, 784, 1_000])
def test_what_stands_still_has_no_period(steps: int) -> None:
    still = torch.tensor([0.1, 0.7, 123.456])[:, None, None]  # their means are other numbers
    assert periods(still.expand(3, steps, 3)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_sums_are_large_enough_in_any_precision(dtype: torch.dtype) -> None:
    noise = drawn(5, 400, 3).to(dtype)
    wave = drawn(5, 20, 3).repeat(1, 20, 1).to(dtype)
    assert periods(torch.cat([noise, wave])).tolist() == [0] * 5 + [20] * 5


def test_three_standard_deviations_are_asked_for() -> None:
    """Just below and just above, with the noise that brings a sequence there."""
    wave, noise = drawn(10, 2).repeat(6, 1), drawn(60, 2, seed=1)
    lags = [lag for lag in range(4, 16) if 60 % lag == 0]
    seen = set()
    for share in torch.linspace(0.0, 3.0, 7).tolist():
        x = wave + share * noise
        best = max(lags, key=lambda lag: correlation(x, lag))
        expected = best if correlation(x, best) > 3 else 0
        assert periods(x[None]).tolist() == [expected]
        seen.add(expected > 0)
    assert seen == {True, False}


def test_a_burst_in_a_silence_is_no_rhythm() -> None:
    x = torch.zeros(1, 1_000, 3)
    x[0, :10, 0] = 1.0
    assert periods(x).tolist() == [0]
    assert periods(x[:, :3]).tolist() == [0]  # too short to have one
