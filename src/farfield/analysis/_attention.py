"""Attention of the places of a problem to each other in a trained Transformer."""

from __future__ import annotations

import math

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import Problems
from farfield.functional import sinusoidal_position
from farfield.models import Relational, Transformer


def attention_of(
    network: nn.Module, problems: Problems
) -> Float[Tensor, "batch head time candidate"]:
    """Weights with which each place of a problem attends to every place, head by head.

    Args:
        network: A `Relational` network with a `Transformer`, e.g. from `trained_network`.
        problems: What it is shown.

    Returns:
        Weights that sum to 1 over the last axis, the places attended to.

    Raises:
        ValueError: If the network has no such reasoner.

    Reference:
        webb2021, appendix A.3.9.
    """
    if not isinstance(network, Relational) or not isinstance(network.reasoner, Transformer):
        raise ValueError(f"network must be a Relational one with a Transformer, got {network!r}")
    reasoner, problems = network.reasoner, problems.compact()
    with torch.inference_mode():
        z = network.embed(problems.table(), problems.index)
        z = z + sinusoidal_position(*z.shape[1:], dtype=z.dtype, device=z.device)
        asked = slice(2 * z.shape[-1])  # the rows of the queries and of the keys
        query, key = rearrange(
            F.linear(z, reasoner.attention_in.weight[asked], reasoner.attention_in.bias[asked]),
            "batch time (two head feature) -> two batch head time feature",
            two=2,
            head=reasoner.num_heads,
        )
        return (query @ key.mT / math.sqrt(query.shape[-1])).softmax(-1)
