"""Roll-outs of trained networks, and the last frame copied as their floor."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Problems
from farfield.models import RollOut

SURE = 9.0
"""Logit of a white pixel of a copied frame."""


def rolled_out(network: nn.Module, problems: Problems) -> Float[Tensor, "batch time value"]:
    """Logits of the frames that a trained network predicts from its own predictions.

    Args:
        network: A `RollOut`, e.g. from `trained_network`.
        problems: Sequences, of which it sees the first frames only.

    Raises:
        ValueError: If the network does not roll out, or is in training.

    Reference:
        lamb2022, Figure 3.
    """
    if not isinstance(network, RollOut) or network.training:
        raise ValueError(f"network must be a RollOut in evaluation mode, got {network!r}")
    problems = problems.compact()
    with torch.inference_mode():
        logits: Tensor = network(problems.table(), problems.index)
    return logits[:, network.given - 1 : -1]


def copy_last_frame(problems: Problems, given: int) -> Float[Tensor, "batch time value"]:
    """Logits of the last given frame, copied for every later one.

    Args:
        problems: Sequences of black and white frames.
        given: How many frames are given, at least 1.
    """
    rolled = problems.index.shape[1] - given
    last = problems.items[problems.index[:, given - 1]].flatten(1)
    return (SURE * (2 * last - 1))[:, None].expand(-1, rolled, -1)
