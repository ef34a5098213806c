"""Residual networks with pre-activation whose groups read one another."""

from __future__ import annotations

from typing import Final, Unpack, final

from jaxtyping import Float
from torch import Tensor, nn

from farfield.core.internal import Depth, Dropout, FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import NFMRules
from farfield.models._images._preact_resnet import PreActResNet
from farfield.nn import MultiPass
from farfield.nn.internal import LayerRead

_GROUPS: Final = ("group1", "group2", "group3", "group4")


@final
class PreActResNetNFM(nn.Module):
    """A `PreActResNet` in several passes, with neural function modules after its four groups.

    In the last pass each group reads the states that all groups have written so far, in this pass
    and before. At first that adds nothing: the network answers as the `PreActResNet` that is made
    of the same generator. Another network becomes one in the same way, by `farfield.nn.MultiPass`.

    Args:
        item_shape: Channels, height and width of a square image, or height and width of a gray one;
            the sides of the four maps are multiples of each other, as those of 32×32 pixels, unless
            `rules` have `space_to_depth=False`.
        rules: The options of reads; None is `NFMRules()`, those of the text.
        passes: Number of passes. A single pass reads below alone.
        depth: Number of layers: 18, 34 or 50.
        width: Channels of the stem and of the first group.
        dropout: Probability that a number between the convolutions of a block is dropped in
            training.
        stem_stride: Pixels from one window of the stem to the next.
        final_norm: Whether the maps of the last group are normalized and activated.

    Shape:
        `(batch, *item_shape)` to `(batch, num_outputs)`.

    Attributes:
        core: The network in its passes.
        out_features: Numbers in an answer, which may be an embedding.

    Raises:
        ValueError: As `PreActResNet`, or if there is no pass.

    Reference:
        lamb2022, section 10.4.4.
    """

    @take_factory_arguments()
    def __init__(  # noqa: PLR0913 — two are torch's
        self,
        item_shape: tuple[Size, ...],
        num_outputs: Size,
        *,
        rules: NFMRules | None = None,
        passes: Depth = 2,
        depth: Depth = 18,
        width: Size = 64,
        dropout: Dropout = 0.0,
        stem_stride: Size = 1,
        final_norm: bool = True,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        self.out_features = num_outputs
        network = PreActResNet(
            item_shape,
            num_outputs,
            depth=depth,
            width=width,
            dropout=dropout,
            stem_stride=stem_stride,
            final_norm=final_norm,
            generator=generator,
        )
        first = network.output.in_features // 2 ** (len(_GROUPS) - 1)
        self.core = MultiPass(
            network,
            _GROUPS,
            tuple(first * 2**number for number in range(len(_GROUPS))),
            passes=passes,
            rules=rules,
            generator=generator,
        )

    def forward(self, items: Float[Tensor, "batch ..."]) -> Float[Tensor, "batch _"]:
        """Classify every image.

        Args:
            items: The images.
        """
        found: Tensor = self.core(items)
        return found

    def trace(self, items: Float[Tensor, "batch ..."]) -> tuple[LayerRead, ...]:
        """Record the reads of the groups, as `MultiPass.trace` does.

        Args:
            items: The images.
        """
        return self.core.trace(items)
