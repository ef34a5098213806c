"""The encoder of what agents see, in passes that read one another."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Depth, Size, check_arguments
from farfield.functional import NFMRules
from farfield.nn._encoders._planes_encoder import VIEWS, PlanesEncoder
from farfield.nn._nfm._multi_pass import LayerRead, MultiPass


@final
class PlanesNFMEncoder(nn.Module):
    """A `PlanesEncoder` in several passes, with neural function modules after its convolutions.

    In the last pass each convolution reads what all of them have given so far, in this pass and in
    those before. At first that adds nothing: it embeds as the `PlanesEncoder` that is made of the
    same generator.

    Args:
        item_shape: Channels, height and width of an item.
        convolutions: Channels, side and stride of each convolution, without padding.
        out_features: Size of an embedding.
        rules: The options of reads; None is `NFMRules(key_size=32, value_size=32, top_k=4,
            space_to_depth=False)`, the numbers of the text, with maps brought to one size by their
            nearest neighbors, as the sides of convolutions without padding are no multiples.
        passes: Number of passes.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(item, channel, height, width)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, out_features)`.

    Attributes:
        core: The encoder in its passes.

    Raises:
        ValueError: As `PlanesEncoder`, or if there is no pass.

    Reference:
        lamb2022, section 10.4.5.
    """

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (19, 7, 7),
        *,
        convolutions: tuple[tuple[Size, Size, Size], ...] = VIEWS,
        out_features: Size = 128,
        rules: NFMRules | None = None,
        passes: Depth = 2,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        encoder = PlanesEncoder(
            item_shape,
            convolutions=convolutions,
            out_features=out_features,
            generator=generator,
        )
        self.out_features = out_features
        self.core = MultiPass(
            encoder,
            tuple(f"layers.{number}" for number in range(len(convolutions))),
            tuple(channels for channels, _, _ in convolutions),
            passes=passes,
            rules=rules or NFMRules(key_size=32, value_size=32, top_k=4, space_to_depth=False),
            generator=generator,
        )
        self.to(device=device, dtype=dtype)

    def forward(self, items: Shaped[Tensor, "item ..."]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        found: Tensor = self.core(items)
        return found

    def trace(self, items: Shaped[Tensor, "item ..."]) -> tuple[LayerRead, ...]:
        """Reads of the convolutions, as in `MultiPass.trace`.

        Args:
            items: The items.
        """
        return self.core.trace(items)
