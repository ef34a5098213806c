"""Layers of a network by name, and functions on what they give."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from farfield.core import tap_layers
from farfield.core.internal import layer_by_name

NETWORK = nn.Sequential(nn.Identity(), nn.Sequential(nn.Identity()), nn.Identity())
ONE = torch.ones(2, 3)


def test_layers_have_the_names_of_torch() -> None:
    assert layer_by_name(NETWORK, "1.0") is NETWORK[1][0]
    with pytest.raises(ValueError, match=r"got '1.1'; did you mean '1.0'\?"):
        layer_by_name(NETWORK, "1.1")
    with pytest.raises(ValueError, match=r"got 'head'; it has 0, 1, 1\.0, 2"):
        layer_by_name(NETWORK, "head")


def test_outputs_are_replaced_as_long_as_a_block_lasts() -> None:
    seen = []
    with tap_layers(NETWORK, {"0": lambda x: x + 1, "1.0": lambda x: seen.append(x) or 3 * x}):
        assert torch.equal(NETWORK(ONE), 6 * ONE)
    assert torch.equal(seen[0], 2 * ONE)
    assert torch.equal(NETWORK(ONE), ONE)


def test_no_tap_is_left_where_one_has_no_layer_or_an_error_is_raised() -> None:
    taps = {"0": lambda x: x + 1, "nowhere": lambda x: x}
    with pytest.raises(ValueError, match="'nowhere'"), tap_layers(NETWORK, taps):
        pass
    with pytest.raises(ZeroDivisionError), tap_layers(NETWORK, {"0": lambda x: 1 / 0}):
        NETWORK(ONE)
    assert torch.equal(NETWORK(ONE), ONE)


def test_a_layer_of_two_outputs_cannot_be_tapped() -> None:
    pair = nn.Sequential(nn.LSTM(3, 3))
    with (
        pytest.raises(ValueError, match="one tensor, got tuple from '0', a LSTM"),
        tap_layers(pair, {"0": lambda x: x}),
    ):
        pair(ONE)
