"""First weights of the heads of a Neural Turing Machine."""

from __future__ import annotations

import torch
from torch import nn

from farfield.functional._memory._ntm import ntm_head_sizes


@torch.no_grad()
def ntm_heads_init_(
    heads: nn.Linear, slot_size: int, generator: torch.Generator | None = None
) -> nn.Linear:
    """Initialize all heads of a Neural Turing Machine, each as a layer of its own; biases 0.

    Fans, and so spreads, are those of a head's own rows: Xavier normal with gain 5/3 for tanh
    units, Kaiming normal for softplus units, Xavier normal for the others.

    Args:
        heads: What is initialized, in place; `NTMParameters` names its rows.
        slot_size: Numbers in a slot.
        generator: Where the draws come from. None is torch's global generator.

    Reference:
        webb2021, appendix A.3.5. The sharpening is not specified there and starts as the strength
        of the key does, the other softplus unit.
    """
    gain = nn.init.calculate_gain("tanh")
    tanh, erase, gates, softplus, turns = torch.split_with_sizes(
        heads.weight, ntm_head_sizes(slot_size)
    )
    for rows in tanh.chunk(3):
        nn.init.xavier_normal_(rows, gain=gain, generator=generator)
    for rows in (erase, *gates.chunk(2), *turns.chunk(2)):
        nn.init.xavier_normal_(rows, generator=generator)
    nn.init.kaiming_normal_(softplus, nonlinearity="relu", generator=generator)
    nn.init.zeros_(heads.bias)
    return heads
