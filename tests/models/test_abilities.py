"""What parts of models say of themselves."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from farfield.models._abilities import KeepsStatistics
from farfield.models.internal import (
    EncodesItems,
    HasHiddenSize,
    HasOutFeatures,
    Relational,
    width_of,
)
from farfield.nn import ContextNorm, LSTMLayer, PooledBatchNorm, SlotBatchNorm
from farfield.nn.internal import TimeStepNorm


def test_the_width_of_a_part_is_what_it_says() -> None:
    assert width_of("core", LSTMLayer(3, 5), HasHiddenSize) == 5
    assert width_of("encoder", nn.Linear(3, 7), HasOutFeatures) == 7


def test_a_part_that_does_not_say_its_width_is_refused() -> None:
    with pytest.raises(TypeError, match=r"core must have an integer attribute hidden_size.*Linear"):
        width_of("core", nn.Linear(3, 7), HasHiddenSize)
    wide = nn.Linear(3, 7)
    wide.out_features = "wide"
    with pytest.raises(TypeError, match=r"encoder must have .* out_features.*Linear has 'wide'"):
        width_of("encoder", wide, HasOutFeatures)


@pytest.mark.parametrize(
    "context, wanted",
    [
        (SlotBatchNorm(4), False),
        (SlotBatchNorm(4, training_statistics=(2,)), True),
        (PooledBatchNorm(4), False),
        (PooledBatchNorm(4, training_statistics=True), True),
        (TimeStepNorm(4, 3), False),
        (TimeStepNorm(4, 3, sample=2), True),
    ],
)
def test_a_context_says_whether_it_uses_statistics_of_training(
    context: nn.Module, wanted: bool
) -> None:
    assert isinstance(context, KeepsStatistics)
    assert context.wants_statistics == wanted


def test_what_has_not_the_members_has_not_the_ability() -> None:
    assert not isinstance(ContextNorm(4), KeepsStatistics)
    assert isinstance(Relational(nn.Flatten(), None, nn.Identity()), EncodesItems)
    assert not isinstance(nn.Identity(), EncodesItems)
    assert not isinstance(torch.nn.LSTM(2, 2), HasOutFeatures)
