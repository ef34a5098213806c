"""Readers of sets: tokens beside the elements, and an answer from each token."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core.internal import PositiveFloat, Size, check_arguments
from farfield.functional.internal import default_layer
from farfield.models._abilities import HasNumFeatures, width_of
from farfield.models._sequence_reader import check_sequence


@final
class TokenReader(nn.Module):
    r"""Put learned tokens (CLS tokens) before the elements of a set, and answer from them.

    $$(t', x') = \mathrm{core}(t, E x + p), \qquad
      y = \big\Vert_k \; W_k \, \mathrm{LN}_k(t'_k) + b_k$$

    with the tokens $t$, the elements $x$ and the positions $p$ of a sequence, if it is one. Any
    core from set to set serves: `farfield.nn.NeuralInterpreter`, `farfield.nn.PreNormTransformer`.

    Args:
        core: From `(batch, item, num_features)` to the same, with an attribute `num_features`.
        in_features: Features of an element.
        num_outputs: Numbers in an answer, those of all tokens one after another.
        num_tokens: Number of tokens; must divide `num_outputs`.
        length: Number of elements where each has a position, whose learned vector is added;
            None for a set without order, or one whose elements contain their positions.
        shared: Whether all tokens are the same vector and have one head, as in the released code
            for digits; they then differ only by where the core says they are.
        shared_head: Whether the tokens have one head, each having its own vector.
        places_std: Standard deviation of the first vectors of the positions. Where it is far above
            that of the elements, a core that normalizes its input sees positions and little else.

    Shape:
        `(batch, item, in_features)` to `(batch, num_outputs)`.

    Attributes:
        core: The core.
        embedding: Linear layer on elements that are not as wide as the core, or the identity.
        places: Learned vectors of the positions, `(length, feature)`, or None.
        tokens: The tokens, `(token, feature)`, or one for all, drawn from a standard normal
            distribution.
        heads: Layer normalization and linear layer of each token, or one for all.

    Raises:
        TypeError: If the core does not say how wide it is.
        ValueError: If a size is below 1, the tokens do not divide the outputs, `places_std` is not
            positive or given without `length`, or the set has another shape.

    Reference:
        gondal2021, sections 2, 4.1 and 4.2.
    """

    @check_arguments
    def __init__(  # noqa: PLR0913 — what is read, and how tokens and places are made
        self,
        core: nn.Module,
        in_features: Size,
        num_outputs: Size,
        *,
        num_tokens: Size = 1,
        length: Size | None = None,
        shared: bool = False,
        shared_head: bool = False,
        places_std: PositiveFloat = 1.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if num_outputs % num_tokens:
            raise ValueError(f"num_tokens must divide num_outputs={num_outputs}, got {num_tokens}")
        if length is None and places_std != 1:
            raise ValueError(
                f"places_std must be left out for a set without positions, got {places_std} and no "
                "length"
            )
        width = width_of("core", core, HasNumFeatures)
        self.in_features, self.num_tokens, self.length = in_features, num_tokens, length
        self.core = core
        self.embedding = (
            nn.Identity() if width == in_features else default_layer(in_features, width, generator)
        )
        self.places = None if length is None else _drawn(length, width, generator, places_std)
        self.tokens = _drawn(1 if shared else num_tokens, width, generator)
        self.heads = nn.ModuleList(
            _head(width, num_outputs // num_tokens, generator)
            for _ in range(1 if shared or shared_head else num_tokens)
        )

    @classmethod
    def released(
        cls,
        core: nn.Module,
        in_features: int,
        num_outputs: int,
        *,
        num_tokens: int = 1,
        generator: torch.Generator | None = None,
    ) -> TokenReader:
        """Build gondal2021's released reader: all tokens are the same vector and have one head.

        Args:
            core: Layer that reads the set.
            in_features: Features of an element.
            num_outputs: Numbers in all answers together.
            num_tokens: Number of tokens.
        """
        return cls(
            core, in_features, num_outputs, num_tokens=num_tokens, shared=True, generator=generator
        )

    def forward(self, z: Float[Tensor, "batch item feature"]) -> Float[Tensor, "batch _"]:
        """Answer for every set of a batch."""
        return self.answer(self.core(self.elements(z)))

    def elements(self, z: Float[Tensor, "batch item feature"]) -> Float[Tensor, "batch _ _"]:
        """Return the inputs of the core: the tokens, then the elements of every set.

        Args:
            z: The sets.
        """
        check_sequence(z, self.in_features, self.length)
        x = self.embedding(z)
        if self.places is not None:
            x = x + self.places
        tokens = self.tokens.expand(len(x), self.num_tokens, -1)
        return torch.cat((tokens, x), dim=1)

    def answer(self, x: Float[Tensor, "batch item feature"]) -> Float[Tensor, "batch _"]:
        """Answer from the outputs of the core for `elements`.

        Args:
            x: Outputs of the core, the tokens first.
        """
        read = x[:, : self.num_tokens]
        if len(self.heads) == 1:
            return self.heads[0](read).flatten(1)
        return torch.cat(
            [head(token) for head, token in zip(self.heads, read.unbind(1), strict=True)], dim=1
        )

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return f"num_tokens={self.num_tokens}"


def _head(width: int, outputs: int, generator: torch.Generator | None) -> nn.Sequential:
    layer = default_layer(width, outputs, generator)
    return nn.Sequential(nn.LayerNorm(width), layer)


def _drawn(
    rows: int, columns: int, generator: torch.Generator | None, std: float = 1.0
) -> nn.Parameter:
    vectors = nn.Parameter(torch.empty(rows, columns))
    nn.init.normal_(vectors, std=std, generator=generator)
    return vectors
