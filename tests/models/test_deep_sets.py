"""DeepSets against loops, and what it cannot see."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.models import DeepSets
from made import assert_spread, drawn, generator, state_of, unsettled
from oracles import webb2021_rivals as oracle

FEATURES, OUTPUTS = 6, 3


def small(*, maximum: bool) -> DeepSets:
    return unsettled(
        DeepSets(FEATURES, OUTPUTS, hidden_size=7, maximum=maximum, generator=generator())
    )


@pytest.mark.parametrize("maximum", [True, False])
def test_equations(maximum: bool) -> None:
    model, z = small(maximum=maximum), drawn(3, 4, FEATURES)
    expected = [oracle.deep_sets(row, state_of(model), maximum) for row in z.numpy()]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("maximum", [True, False])
def test_it_knows_no_order(maximum: bool) -> None:
    model, z = small(maximum=maximum), drawn(2, 4, FEATURES)
    torch.testing.assert_close(model(z.flip(1)), model(z), rtol=1e-12, atol=1e-12)


def test_first_parameters() -> None:
    model = DeepSets(128, 4, generator=generator())
    assert model.hidden.weight.shape == (256, 128)
    assert_spread(model.hidden.weight, (2 / 128) ** 0.5)
    assert_spread(model.output.weight, (2 / 260) ** 0.5)
    assert not model.hidden.bias.any()
