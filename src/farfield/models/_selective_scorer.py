"""A scorer of analogies that selects a candidate object in every picture."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core.internal import Size, check_arguments
from farfield.functional.internal import xavier_layer
from farfield.models._sequence_reader import check_sequence

_POSE = 3
_TERMS = 4
_LOG_WEIGHT = 4.0
"""First logarithm of a weight: a difference of an eighth of the unit lowers a score by about 1."""


@final
class SelectiveScorer(nn.Module):
    r"""Select one object in each picture by learned weights, and compare how objects differ.

    $$p = \mathrm{softmax}_k\, g(h_k), \qquad
      \bar z = \sum_k p_k z_k, \qquad
      \text{score} = -\sum_j \alpha_j\, (\bar z_D - \bar z_C - \bar z_B + \bar z_A)_j^2$$

    for the pose $z_k$ (center and width) and the features $h_k$ of candidate $k$, a network $g$
    with one hidden layer, and weights $\alpha$ above 0. Which of the objects the analogy is about
    is all that has to be learned: labels of analogies alone teach it. `SlotwiseScorer` weights
    slots that hold the same object in every picture; here the slots of a picture are in any order.

    Args:
        in_features: Size of an embedding, candidate by candidate: the pose, then features.
        length: Positions of a sequence: A, B, C and a candidate of the problem, 4.
        num_slots: Number of candidate objects in an embedding.
        hidden_size: Units of the hidden layer.

    Shape:
        `(batch, 4, in_features)` to `(batch, 1)`.

    Attributes:
        hidden: The hidden layer.
        output: The layer that gives the logit of a candidate object.
        log_weight: Logarithms of the weights $\alpha$, 4 at first.

    Raises:
        ValueError: If a size is below 1, `length` is not 4, or the slots do not divide an
            embedding into more than 3 numbers each.

    Reference:
        Made for webb2020's analogies, shown by direction. Analogies as parallelograms: Rumelhart &
        Abrahamson 1973.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        length: Size,
        *,
        num_slots: Size = 9,
        hidden_size: Size = 16,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if length != _TERMS:
            raise ValueError(f"length must be 4 (A, B, C and a candidate), got {length}")
        if in_features % num_slots or in_features // num_slots <= _POSE:
            raise ValueError(
                f"num_slots must divide in_features ({in_features}) into more than {_POSE} numbers "
                f"each, got {num_slots}"
            )
        self.in_features, self.num_slots = in_features, num_slots
        features = in_features // num_slots - _POSE
        self.hidden = xavier_layer(features, hidden_size, generator)
        self.output = xavier_layer(hidden_size, 1, generator)
        self.log_weight = nn.Parameter(torch.full((_POSE,), _LOG_WEIGHT))

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 1"]:
        """Score every sequence."""
        check_sequence(z, self.in_features, _TERMS)
        width = self.in_features // self.num_slots
        slots = z.reshape(*z.shape[:2], self.num_slots, width)
        logits = self.output(torch.tanh(self.hidden(slots[..., _POSE:])))
        selected = (torch.softmax(logits, dim=2) * slots[..., :_POSE]).sum(2)
        a, b, c, d = selected.unbind(1)
        return -((d - c - b + a).square() @ self.log_weight.exp()).unsqueeze(1)

    def extra_repr(self) -> str:
        """Return the options, for `print`."""
        return f"{self.in_features}, num_slots={self.num_slots}"
