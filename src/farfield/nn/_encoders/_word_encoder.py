"""The encoder of words: a learned vector for each."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core import PositiveFloat, Size, check_arguments


@final
class WordEncoder(nn.Module):
    """A learned vector for each word of a vocabulary.

    It is `torch.nn.Embedding` for items that are numbers of words. `LinearEncoder` does the same
    for symbols as one-hot vectors, which a large vocabulary has no memory for.

    Args:
        num_outputs: Number of words.
        out_features: Size of an embedding.
        bound: First weights are uniform between −`bound` and `bound`.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(item, 1)`, integers, to `(item, out_features)`.

    Attributes:
        weight: The vectors, `(num_outputs, out_features)`.

    Raises:
        ValueError: If a size is below 1, `bound` is not positive, or the items are no numbers of
            words.

    Reference:
        ren2017, section 4.2; sizes and bound are those of the released code.
    """

    is_pure: ClassVar[bool] = True

    @check_arguments
    def __init__(
        self,
        num_outputs: Size,
        *,
        out_features: Size = 200,
        bound: PositiveFloat = 0.1,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.num_outputs, self.out_features = num_outputs, out_features
        self.weight = nn.Parameter(torch.empty(num_outputs, out_features))
        nn.init.uniform_(self.weight, -bound, bound, generator=generator)
        self.to(device=device, dtype=dtype)

    def forward(self, items: Int[Tensor, "item 1"]) -> Float[Tensor, "item feature"]:
        """Embed every word."""
        if items.ndim != 2 or items.shape[1] != 1 or items.is_floating_point():
            raise ValueError(
                "items must be numbers of words, integers of (item, 1), "
                f"got {items.dtype} of shape {tuple(items.shape)}"
            )
        return F.embedding(items[:, 0], self.weight)

    def extra_repr(self) -> str:
        """The sizes, for `print`."""
        return f"{self.num_outputs}, {self.out_features}"
