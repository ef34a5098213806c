"""Reasoners over slots, whose features are the content of an object and its position."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Self, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, Size, check_arguments
from farfield.functional.internal import default_layer
from farfield.models._sequence_reader import SequenceReader
from farfield.nn import ContextNorm, RelationalCrossAttention


class _Layer(nn.Module):
    """Self-attention and a network, each normalized before and added to its input."""

    def __init__(
        self,
        size: int,
        num_heads: int,
        head_size: int,
        feedforward_size: int,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        self.attention = _attention(size, num_heads, head_size, generator)
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.fc1 = default_layer(size, feedforward_size, generator)
        self.fc2 = default_layer(feedforward_size, size, generator)

    def forward(self, x: Tensor) -> Tensor:
        normed = self.norm1(x)
        return self.mlp(x + self.attention(normed, normed))

    def mlp(self, x: Tensor) -> Tensor:
        """Add the outputs of the network to its inputs."""
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class _RelationalLayer(nn.Module):
    """Relational cross-attention and a network, then self-attention and the same network."""

    def __init__(
        self,
        size: int,
        num_heads: int,
        head_size: int,
        feedforward_size: int,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        self.cross = _attention(size, num_heads, head_size, generator)
        self.norm = nn.LayerNorm(size)
        self.own = _Layer(size, num_heads, head_size, feedforward_size, generator)

    def forward(self, objects: Tensor, symbols: Tensor) -> Tensor:
        read = self.cross(self.norm(objects), self.norm(symbols))
        return self.own(self.own.mlp(symbols + read))


def _attention(
    size: int, num_heads: int, head_size: int, generator: torch.Generator | None
) -> RelationalCrossAttention:
    """Build attention whose last layer alone has a bias, as in the released code."""
    attention = RelationalCrossAttention(
        size, num_heads=num_heads, head_size=head_size, generator=generator
    )
    attention.output = default_layer(num_heads * head_size, size, generator)
    return attention


class _SlotReader(SequenceReader):
    """Base of reasoners that normalize two halves of the features over the slots of a problem."""

    _layer: ClassVar[Callable[..., nn.Module]]
    """Class of the layers."""

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        num_layers: Depth = 6,
        num_heads: Size = 8,
        head_size: Size = 64,
        feedforward_size: Size = 512,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features)
        if in_features % 2:
            raise ValueError(
                "in_features must be even, half for the content of an object and half for its "
                f"position, got {in_features}"
            )
        size = in_features // 2
        self.context = ContextNorm(size, correction=1)
        self._add_tokens(size, generator)
        self.layers = nn.ModuleList(
            self._layer(size, num_heads, head_size, feedforward_size, generator)
            for _ in range(num_layers)
        )
        self.output = default_layer(size, num_outputs, generator)

    def _add_tokens(self, size: int, generator: torch.Generator | None) -> None:
        """Add the parameters that make tokens of slots, if any."""

    def _halves(
        self, z: Float[Tensor, "batch slot feature"]
    ) -> tuple[Float[Tensor, "batch slot half"], Float[Tensor, "batch slot half"]]:
        """Return contents and positions, both normalized over the objects."""
        if z.shape[1] < 2:
            raise ValueError(f"z must have at least two slots, got shape {tuple(z.shape)}")
        content, position = z.chunk(2, dim=-1)
        return self.context(content), self.context(position)


@final
class OCRA(_SlotReader):
    r"""Turn every pair of objects into a token of its relation, and read the tokens.

    $$P = \mathrm{softmax}(\hat z \hat z^\top), \qquad
      r_{ij} = w \, P_{ij} + b + \hat m_i + \hat m_j \quad (i \le j)$$

    with linear maps $\hat z$ of contents and $\hat m$ of positions, each normalized over the
    objects first. A transformer reads the tokens behind a token of the class, which answers. Like
    `CoRelNet` it knows contents by their similarities alone.

    Args:
        in_features: Features of a slot: content, then position, as of a split `SlotEncoder`.
        num_outputs: Numbers of an answer.
        num_layers: Number of layers of the transformer.
        num_heads: Number of heads.
        head_size: Numbers of a query, key and value of a head.
        feedforward_size: Hidden units of the network behind attention.
        generator: Source of the first weights; `None` for torch's global generator.

    Shape:
        `(batch, slot, in_features)` to `(batch, num_outputs)`, for at least two slots.

    Attributes:
        context: The normalization over objects, with one gain and shift for both halves.
        content, position: Linear maps of the halves.
        relation: $w$ and $b$.
        start: Token of the class.
        layers: Layers of the transformer.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1, `in_features` is odd, or there is one slot.

    Reference:
        webb2023, section 3; without its dropout of 0.1.
    """

    _layer = _Layer

    def _add_tokens(self, size: int, generator: torch.Generator | None) -> None:
        self.content, self.position = (default_layer(size, size, generator) for _ in range(2))
        self.relation = default_layer(1, size, generator)
        self.start = nn.Parameter(torch.randn(size, generator=generator, device="cpu"))

    def _read(self, z: Tensor) -> Tensor:
        content, position = self._halves(z)
        content, position = self.content(content), self.position(position)
        similar = (content @ content.mT).softmax(-1)
        first, second = torch.triu_indices(z.shape[1], z.shape[1], device=z.device)
        relations = self.relation(similar[:, first, second].unsqueeze(-1))
        tokens = relations + position[:, first] + position[:, second]
        tokens = torch.cat([self.start.expand(len(z), 1, -1), tokens], dim=1)
        for layer in self.layers:
            tokens = layer(tokens)
        return tokens[:, 0]


@final
class SlotAbstractor(_SlotReader):
    r"""Carry positions of objects along the relations of their contents, and average.

    $$s \leftarrow s + \mathrm{RCA}(\mathrm{LN}(x), \mathrm{LN}(s)), \quad
      s \leftarrow s + \mathrm{MLP}(\mathrm{LN}(s)), \quad
      s \leftarrow s + \mathrm{SA}(\mathrm{LN}(s)), \quad
      s \leftarrow s + \mathrm{MLP}(\mathrm{LN}(s))$$

    in each layer, with the same network twice and `farfield.nn.RelationalCrossAttention`: the
    objects $x$ are contents, the symbols $s$ start as positions. The symbols of `Abstractor` are
    learned.

    Args:
        in_features: Features of a slot: content, then position, as of a split `SlotEncoder`.
        num_outputs: Numbers of an answer.
        num_layers: Number of layers.
        num_heads: Number of heads of both kinds of attention.
        head_size: Numbers of a query, key and value of a head.
        feedforward_size: Hidden units of the network of a layer.
        generator: Source of the first weights; `None` for torch's global generator.

    Shape:
        `(batch, slot, in_features)` to `(batch, num_outputs)`, for at least two slots.

    Attributes:
        context: The normalization over objects, with one gain and shift for both halves.
        layers: The layers.
        output: The linear output layer, on the mean over slots.

    Raises:
        ValueError: If a size is below 1, `in_features` is odd, or there is one slot.

    Reference:
        mondal2024, section 3; without its dropout.
    """

    _layer = _RelationalLayer

    @classmethod
    def released(
        cls, in_features: int, num_outputs: int, *, generator: torch.Generator | None = None
    ) -> Self:
        """Build the released network: queries of objects start equal to keys."""
        model = cls(in_features, num_outputs, generator=generator)
        for layer in model.layers:
            if isinstance(layer, _RelationalLayer):
                layer.cross.key.load_state_dict(layer.cross.query.state_dict())
        return model

    def _read(self, z: Tensor) -> Tensor:
        objects, symbols = self._halves(z)
        for layer in self.layers:
            symbols = layer(objects, symbols)
        return symbols.mean(1)
