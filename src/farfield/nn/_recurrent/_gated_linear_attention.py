"""Layers of gated linear attention."""

from __future__ import annotations

from typing import Unpack, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, PositiveFloat, Size, take_factory_arguments
from farfield.functional.internal import gated_linear_attention, xavier_layer
from farfield.nn._recurrent._residual_blocks import (
    Mixer,
    ResidualLayer,
    RootMeanSquareNorm,
    Units,
    by_head,
    wide_zeros,
)
from farfield.nn._recurrent._sequence_layer import LayerOptions, SequenceLayer
from farfield.nn._recurrent._states import State


@final
class GatedLinearAttention(ResidualLayer):
    r"""Write values under keys to a memory whose rows decay, and read it by queries.

    $$S_t = \mathrm{diag}(\alpha_t) S_{t-1} + k_t v_t^\top, \qquad
      o_t = K^{-1/2} S_t^\top q_t, \qquad
      \alpha_t = \sigma(W_2 W_1 x_t + b)^{1/\tau}, \qquad
      y_t = W_o (N(o_t) \odot \mathrm{SiLU}(W_g x_t))$$

    for each head, in residual blocks with a SwiGLU network behind. $N$ divides a head by the root
    of its mean square. `CausalTransformer` keeps all keys and values and weights them by a softmax;
    this layer keeps one matrix per head, of a size that does not grow. The steps of a chunk are
    computed in parallel.

    Args:
        hidden_size: Number of features inside, and of an output.
        num_layers: Number of blocks.
        num_heads: Number of heads.
        key_size: Features of a key of one head; None is half of `hidden_size` over the heads.
        value_size: Features of a value of one head; None is `hidden_size` over the heads.
        gate_rank: Number of features between $W_1$ and $W_2$.
        gate_normalizer: $\tau$; a larger one keeps more per step.
        feedforward_size: Hidden units of the network behind; None is 8/3 of `hidden_size`, 0 for
            none.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state `(num_layers, batch, num_heads,
        key_size, value_size)`, in float32 at least. Out: `hidden_size` features, and the last
        state.

    Attributes:
        encode: The linear layer on the inputs.
        blocks: The blocks, each with its `mixer`.
        norm: The last normalization.

    Raises:
        ValueError: If a size is below 1, heads leave no feature, or the input or the state has
            another shape.

    Reference:
        yang2024, section 4.4.
    """

    @take_factory_arguments(SequenceLayer)
    def __init__(  # noqa: PLR0913 — six are torch's
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_layers: Depth = 2,
        num_heads: Size = 4,
        key_size: Size | None = None,
        value_size: Size | None = None,
        gate_rank: Size = 16,
        gate_normalizer: PositiveFloat = 16.0,
        feedforward_size: Units | None = None,
        **options: Unpack[LayerOptions],
    ) -> None:
        key = head_size(hidden_size // 2, num_heads) if key_size is None else key_size
        value = head_size(hidden_size, num_heads) if value_size is None else value_size
        units = 8 * hidden_size // 3 if feedforward_size is None else feedforward_size
        sizes = (num_heads, key, value, gate_rank)
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            lambda _: _Mixer(hidden_size, *sizes, gate_normalizer, options["generator"]),
            centered=False,
            feedforward_size=units,
            **options,
        )


def head_size(size: int, num_heads: int) -> int:
    """Return the number of features of a head.

    Args:
        size: Number of features of all heads.
        num_heads: Number of heads.

    Raises:
        ValueError: If the heads leave none.
    """
    if size < num_heads:
        raise ValueError(f"num_heads must leave a feature per head of {size}, got {num_heads}")
    return size // num_heads


class _Mixer(Mixer):
    """Gated linear attention of all heads, with norm and gate on their outputs."""

    def __init__(
        self,
        size: int,
        num_heads: int,
        key_size: int,
        value_size: int,
        gate_rank: int,
        normalizer: float,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        self.num_heads, self.key_size, self.value_size = num_heads, key_size, value_size
        self.normalizer = normalizer
        keys, values = num_heads * key_size, num_heads * value_size

        def drawn(inputs: int, outputs: int, *, bias: bool = False) -> nn.Linear:
            return xavier_layer(inputs, outputs, generator, bias=bias)

        self.query, self.key = drawn(size, keys), drawn(size, keys)
        self.value, self.gate = drawn(size, values), drawn(size, values)
        self.decay_in, self.decay_out = drawn(size, gate_rank), drawn(gate_rank, keys, bias=True)
        self.norm = RootMeanSquareNorm(value_size)
        self.out = drawn(values, size)

    def first_state(self, x: Tensor) -> State:
        return (wide_zeros(x, x.shape[1], self.num_heads, self.key_size, self.value_size),)

    def forward(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        decay = F.logsigmoid(self.decay_out(self.decay_in(x))) / self.normalizer
        parts = (self.query(x), self.key(x), self.value(x), decay)
        heads = (by_head(part, self.num_heads) for part in parts)
        outputs, last = gated_linear_attention(*heads, *state)
        return self.out(self.norm(outputs).flatten(-2) * F.silu(self.gate(x))), (last,)
