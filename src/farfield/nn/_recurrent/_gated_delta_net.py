"""Gated DeltaNet and DeltaNet."""

from __future__ import annotations

from typing import Unpack, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, Size, take_factory_arguments
from farfield.functional.internal import (
    causal_convolution,
    gated_delta_rule,
    inverse_softplus_,
    xavier_layer,
)
from farfield.nn._recurrent._gated_linear_attention import head_size
from farfield.nn._recurrent._residual_blocks import (
    Convolution,
    Mixer,
    ResidualLayer,
    RootMeanSquareNorm,
    Units,
    by_head,
    wide_zeros,
)
from farfield.nn._recurrent._sequence_layer import LayerOptions, SequenceLayer
from farfield.nn._recurrent._states import State

_EPS = 1e-6
"""Added to the squared lengths of queries and keys, which are 0 where nothing is given."""


@final
class GatedDeltaNet(ResidualLayer):
    r"""Move the value under each key of a memory towards a new value; the memory decays.

    $$S_t = \alpha_t (I - \beta_t k_t k_t^\top) S_{t-1} + \beta_t k_t v_t^\top, \qquad
      o_t = K^{-1/2} S_t^\top q_t, \qquad
      \alpha_t = \exp(-e^A \mathrm{softplus}(a_t + \delta)), \qquad
      \beta_t = 2 \sigma(b_t)$$

    for each head, with $a, b$ linear in $x$ and $q, k, v$ linear in $x$ behind a causal
    convolution of each feature and a SiLU, $q$ and $k$ of length 1. The outputs are normalized by
    head, gated by $\mathrm{SiLU}(W_g x)$ and pass a linear layer, in residual blocks with a SwiGLU
    network behind. `GatedLinearAttention` adds the new value and keeps the old one; here it
    replaces it. A rate $\beta$ of 2 turns the sign of a value: eigenvalues in [−1, 1] make parity
    possible, which those in [0, 1] do not. The steps of a chunk are computed in parallel.

    Args:
        hidden_size: Number of features inside, and of an output.
        num_layers: Number of blocks.
        num_heads: Number of heads.
        key_size: Features of a key of one head; None is 3/4 of `hidden_size` over the heads.
        value_size: Features of a value of one head; None is twice `key_size`.
        kernel_size: Number of steps that a convolution reads.
        gated: False for DeltaNet: $\alpha = 1$, and no gate on the outputs.
        negative_eigenvalues: True for rates in [0, 2], False for $\beta = \sigma(b)$ in [0, 1].
        feedforward_size: Hidden units of the network behind; None is 8/3 of `hidden_size`, 0 for
            none.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of two parts: inputs of the
        convolutions `(num_layers, batch, kernel_size - 1, num_heads * (2 * key_size +
        value_size))`, and the memory `(num_layers, batch, num_heads, key_size, value_size)`, in
        float32 at least. Out: `hidden_size` features, and the last state.

    Attributes:
        encode: The linear layer on the inputs.
        blocks: The blocks, each with its `mixer`.
        norm: The last normalization.

    Raises:
        ValueError: If a size is below 1, heads leave no feature, or the input or the state has
            another shape.

    Reference:
        yang2025, section 3; grazzi2025, section 4, for eigenvalues in [−1, 1]. Squared lengths
        have 1e-6 added, as in the released code: without it the gradient of zeros is infinite.
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
        kernel_size: Size = 4,
        gated: bool = True,
        negative_eigenvalues: bool = True,
        feedforward_size: Units | None = None,
        **options: Unpack[LayerOptions],
    ) -> None:
        key = head_size(3 * hidden_size // 4, num_heads) if key_size is None else key_size
        units = 8 * hidden_size // 3 if feedforward_size is None else feedforward_size
        sizes = (num_heads, key, 2 * key if value_size is None else value_size, kernel_size)
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            lambda _: _Mixer(
                hidden_size,
                *sizes,
                options["generator"],
                gated=gated,
                negative=negative_eigenvalues,
            ),
            centered=False,
            feedforward_size=units,
            **options,
        )


class _Mixer(Mixer):
    """The gated delta rule of all heads, with norm and gate on their outputs."""

    def __init__(
        self,
        size: int,
        num_heads: int,
        key_size: int,
        value_size: int,
        kernel_size: int,
        generator: torch.Generator | None,
        *,
        gated: bool,
        negative: bool,
    ) -> None:
        super().__init__()
        self.num_heads, self.key_size, self.value_size = num_heads, key_size, value_size
        self.gated, self.negative = gated, negative
        keys, values = num_heads * key_size, num_heads * value_size

        def drawn(inputs: int, outputs: int) -> nn.Linear:
            return xavier_layer(inputs, outputs, generator, bias=False)

        self.query, self.key, self.value = (drawn(size, n) for n in (keys, keys, values))
        self.convolution = Convolution(2 * keys + values, kernel_size, generator, bias=False)
        self.rate = drawn(size, num_heads)
        if gated:
            self.gate, self.decay = drawn(size, values), drawn(size, num_heads)
            uniform = torch.rand(num_heads, generator=generator)
            self.log_rate = nn.Parameter((16 * (1 - uniform)).log())
            self.step_bias = nn.Parameter(inverse_softplus_(torch.empty(num_heads), generator))
        self.norm = RootMeanSquareNorm(value_size)
        self.out = drawn(values, size)

    def first_state(self, x: Tensor) -> State:
        memory = wide_zeros(x, x.shape[1], self.num_heads, self.key_size, self.value_size)
        return self.convolution.first_state(x), memory

    def forward(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        before, memory = state
        joined = torch.cat([self.query(x), self.key(x), self.value(x)], dim=-1)
        convolved, after = causal_convolution(
            joined, self.convolution.weight, self.convolution.bias, before
        )
        keys = self.num_heads * self.key_size
        sizes = (keys, keys, convolved.shape[-1] - 2 * keys)
        split = F.silu(convolved).split_with_sizes(sizes, dim=-1)
        query, key, value = (by_head(part, self.num_heads) for part in split)
        rate = self.rate(x).sigmoid()
        outputs, last = gated_delta_rule(
            _of_length_one(query),
            _of_length_one(key),
            value,
            2 * rate if self.negative else rate,
            self._log_decay(x) if self.gated else None,
            memory,
        )
        outputs = self.norm(outputs).flatten(-2)
        if self.gated:
            outputs = outputs * F.silu(self.gate(x))
        return self.out(outputs), (after.to(before.dtype), last)

    def _log_decay(self, x: Tensor) -> Tensor:
        return -self.log_rate.exp() * F.softplus(self.decay(x) + self.step_bias)


def _of_length_one(x: Tensor) -> Tensor:
    return x * (x.square().sum(-1, keepdim=True) + _EPS).rsqrt()
