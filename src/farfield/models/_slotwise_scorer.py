"""One scorer for every slot of an embedding, and a weighted sum of what it says."""

from __future__ import annotations

from typing import final

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.models._checks import check_sequence
from farfield.models._lstm_scorer import LSTMScorer


@final
class SlotwiseScorer(nn.Module):
    r"""An `LSTMScorer` that reads the slots of embeddings one at a time, and weights for them.

    $$\text{score} = \sum_k \alpha_k\, f(z_{1k}, \dots, z_{nk})$$

    with one $f$ for all slots $k$. Where one slot follows a rule and the others do not, $f$ learns
    the rule from that slot as if it stood alone, and $\alpha$ which slot it is. `LSTMScorer` on
    the whole embedding has to find both in one matrix.

    Args:
        in_features: Size of an embedding, slot by slot.
        length: Places of a sequence: the premises and one candidate.
        num_slots: Number of slots, all of one size.
        hidden_size: Number of hidden units.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, length, in_features)` to `(batch, 1)`.

    Attributes:
        scorer: The LSTM.
        weight: The weights $\alpha$ of the slots, all alike at first.

    Raises:
        ValueError: If a size is below 1, or the slots do not divide an embedding.

    Reference:
        Made for webb2020's analogies, in clutter.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        length: Size,
        *,
        num_slots: Size = 12,
        hidden_size: Size = 64,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if in_features % num_slots:
            raise ValueError(f"num_slots must divide in_features ({in_features}), got {num_slots}")
        self.in_features = in_features
        self.scorer = LSTMScorer(
            in_features // num_slots, length, hidden_size=hidden_size, generator=generator
        )
        self.weight = nn.Parameter(torch.full((num_slots,), num_slots**-0.5))

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 1"]:
        """Score every sequence."""
        check_sequence(z, self.in_features)
        slots = rearrange(
            z, "batch time (slot feature) -> (batch slot) time feature", slot=len(self.weight)
        )
        scores = self.scorer(slots).reshape(z.shape[0], len(self.weight))
        return (scores @ self.weight)[:, None]
