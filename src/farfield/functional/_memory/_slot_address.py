"""Addressing of the slots of a Neural Turing Machine."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

SHIFTS = (-1, 0, 1)
"""Shifts of a head, in slots."""

_EPS = 1e-8


def cosine_similarity(
    keys: Float[Tensor, "*#batch head feature"], slots: Float[Tensor, "*#batch slot feature"]
) -> Float[Tensor, "*#batch head slot"]:
    r"""Compute the cosine between every key and every slot, $k \cdot m / (\|k\| \|m\|)$.

    Args:
        keys: Keys to look for.
        slots: Where. Lengths below 1e-8 count as that.

    Reference:
        Graves et al. 2014, equation 6; webb2021, appendix A.3.5.
    """
    lengths = [torch.linalg.vector_norm(x, dim=-1).clamp_min(_EPS) for x in (keys, slots)]
    return keys @ slots.transpose(-1, -2) / lengths[0].unsqueeze(-1) / lengths[1].unsqueeze(-2)


def slot_address(
    similarity: Float[Tensor, "*batch slot"],
    previous: Float[Tensor, "*batch slot"] | None,
    *,
    strength: Float[Tensor, " *batch"],
    gate: Float[Tensor, " *batch"],
    shift: Float[Tensor, "*batch _"],
    sharpening: Float[Tensor, " *batch"],
) -> Float[Tensor, "*batch slot"]:
    r"""Compute weights of the slots by content, interpolation with the weights before, and shift.

    $$w^c = \mathrm{softmax}(\beta s), \qquad w^g = g w^c + (1 - g) w', \qquad
      \tilde w_i = \sum_j s_j w^g_{i - j}, \qquad
      w_i = \tilde w_i^\gamma / \sum_k \tilde w_k^\gamma$$

    with indices taken around the end.

    Args:
        similarity: Of the key with every slot.
        previous: Weights of the step before, $w'$. None is zeros, of a first step:
            sharpening then undoes the gate, which is left out.
        strength: $\beta$, positive.
        gate: $g$, in 0…1.
        shift: Weights of the turns by -1, 0 and 1 slots; sum to one.
        sharpening: $\gamma$, at least 1.

    Raises:
        ValueError: If there are not three weights of turns.

    Reference:
        Graves et al. 2014, equations 5 to 9; webb2021, appendix A.3.5.
    """
    if shift.shape[-1] != len(SHIFTS):
        raise ValueError(
            f"shift must hold {len(SHIFTS)} weights, of turns by {SHIFTS}, got {shift.shape[-1]}"
        )
    weights = (strength.unsqueeze(-1) * similarity).softmax(-1)
    if previous is not None:
        weights = previous + gate.unsqueeze(-1) * (weights - previous)
    turned = torch.stack([weights.roll(turn, -1) for turn in SHIFTS], dim=-2)
    weights = (shift.unsqueeze(-2) @ turned).squeeze(-2)
    # The power as a softmax of logarithms: a large exponent leaves something to divide by.
    logarithms = weights.clamp_min(torch.finfo(weights.dtype).tiny).log()
    return (sharpening.unsqueeze(-1) * logarithms).softmax(-1)
