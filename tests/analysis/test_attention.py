"""Attention of a Transformer: against torch's own layer with the same weights."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from farfield.analysis import attention_of
from farfield.core import Problems
from farfield.models import ESBN, Transformer
from farfield.models.internal import Relational
from made import generator


def problems() -> Problems:
    index = torch.randint(6, (3, 5), generator=generator())
    items = torch.randn(6, 4, generator=generator(), dtype=torch.float64)
    return Problems(items=items, index=index, target=torch.zeros(3))


def places(length: int, features: int) -> Tensor:
    """The code of places, number by number."""
    code = torch.empty(length, features, dtype=torch.float64)
    for place in range(length):
        for pair in range(features // 2):
            angle = place / 10000 ** (2 * pair / features)
            code[place, 2 * pair], code[place, 2 * pair + 1] = math.sin(angle), math.cos(angle)
    return code


def test_attention_is_that_of_torchs_layer() -> None:
    reasoner = Transformer(8, 2, num_heads=2, feedforward_size=8, generator=generator())
    network = Relational(nn.Linear(4, 8), None, reasoner).double().eval()
    layer = nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
    layer.in_proj_weight = reasoner.attention_in.weight
    layer.in_proj_bias = reasoner.attention_in.bias
    some = problems()
    with torch.inference_mode():
        x = network.encoder(some.items)[some.index] + places(5, 8)
        _, expected = layer(x, x, x, average_attn_weights=False)
    torch.testing.assert_close(attention_of(network, some), expected)


def test_what_has_no_attention_is_refused() -> None:
    network = Relational(nn.Linear(4, 8), None, ESBN(8, 2, hidden_size=4, key_size=3))
    with pytest.raises(ValueError, match="must be a Relational one with a Transformer"):
        attention_of(network, problems())
