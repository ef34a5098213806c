"""An agent that knows the distribution of the return of each action: encoder and quantiles."""

from __future__ import annotations

from typing import final

from jaxtyping import Float, Shaped
from torch import Tensor, nn

from farfield.core import check_arguments
from farfield.functional import as_fractions
from farfield.nn import QuantileHead


@final
class QuantileAgent(nn.Module):
    """Encoder and `QuantileHead`: quantiles of the return of every action.

    Unlike an `ActorCritic` it has no memory: it acts on what it sees.

    Args:
        encoder: From observations `(item, *shape)` to embeddings `(item, feature)`.
        head: From these to quantiles.

    Shape:
        Observations `(batch, *shape)`, floating-point or uint8 of 0…255 as fractions, fractions
        `(batch, quantile)` and noise `(batch, noise_size)` to `(batch, quantile, num_actions)`.

    Attributes:
        noise_size: Numbers of noise for an observation.

    Raises:
        ValueError: If the head is another layer.

    Reference:
        lamb2022, section 10.4.5; Dabney et al. 2018.
    """

    @check_arguments
    def __init__(self, encoder: nn.Module, head: nn.Module) -> None:
        super().__init__()
        if not isinstance(head, QuantileHead):
            raise ValueError(f"head must be a QuantileHead, got {type(head).__name__}")
        self.encoder, self.head = encoder, head
        self.noise_size = head.noise_size

    def forward(
        self,
        items: Shaped[Tensor, "batch ..."],
        fractions: Float[Tensor, "batch quantile"],
        noise: Float[Tensor, "batch both"] | None = None,
    ) -> Float[Tensor, "batch quantile class"]:
        """The quantiles.

        Args:
            items: Observations.
            fractions: Of each observation, the fractions asked for.
            noise: Standard normal numbers for each; `None` for the mean weights.
        """
        z = self.encoder(as_fractions(items, self.head.cosine.weight.dtype))
        found: Tensor = self.head(z, fractions, noise)
        return found
