"""mLSTM, the matrix memory of xLSTM."""

from __future__ import annotations

import math
from typing import Unpack, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, Size, take_factory_arguments
from farfield.functional.internal import (
    MLSTMState,
    block_linear,
    causal_convolution,
    mlstm,
)
from farfield.nn._recurrent._residual_blocks import (
    Convolution,
    HeadNorm,
    Mixer,
    ResidualLayer,
    by_head,
    normal_layer,
    wide_linear,
    wide_zeros,
)
from farfield.nn._recurrent._sequence_layer import LayerOptions, SequenceLayer
from farfield.nn._recurrent._states import State


@final
class MLSTM(ResidualLayer):
    r"""LSTM whose memory is a matrix: exponential gates write values under keys.

    $$C_t = f_t C_{t-1} + i_t \tfrac{k_t}{\sqrt K} v_t^\top, \quad
      n_t = f_t n_{t-1} + i_t \tfrac{k_t}{\sqrt K}, \quad
      h_t = \frac{C_t^\top q_t}{\max(|n_t^\top q_t|, 1)}, \quad
      i_t = e^{\tilde i_t}, \quad f_t = \sigma(\tilde f_t)$$

    for each head, in residual blocks: $(u, g) = W x$, $c = \mathrm{SiLU}(\mathrm{conv}(u))$,
    queries and keys from $c$ and values from $u$ in small blocks of features, gates linear in all
    three, and $y = W_o((N(h) + w \odot c) \odot \mathrm{SiLU}(g))$, where $N$ is a layer
    normalization by head. `torch.nn.LSTM` has a vector as memory, and its gates read its outputs.
    Here no gate does, so that the steps of a chunk are computed in parallel; but states cannot be
    tracked as `SLSTM` can.

    Args:
        hidden_size: Number of features of an output.
        num_layers: Number of blocks.
        num_heads: Number of heads; must divide `inner_size` and leave 2 features or more.
        inner_size: Number of features of $u$; None is twice `hidden_size`. The released code rounds
            it up to a multiple of 64.
        projection_size: Features of a block of queries, keys and values; must divide `inner_size`.
        kernel_size: Number of steps that the convolution reads.
        exponential_forget: True for $f_t = e^{\tilde f_t}$.
        first_stabilizer: Logarithm of the scale in which the first state is kept, $m_0$; None is
            −∞, with the same outputs step by step as at once. 0, the released start of steps,
            changes them by about 1e-6.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of four parts: inputs of the
        convolution `(num_layers, batch, kernel_size - 1, inner_size)`, then in float32 at least $C
        e^{-m}$ `(num_layers, batch, num_heads, K, K)`, $n e^{-m}$ without the last axis and $m$
        without the last two. Out: `hidden_size` features, and the last state.

    Attributes:
        encode: The linear layer on the inputs.
        blocks: The blocks, each with its `mixer`.
        norm: The last normalization.

    Raises:
        ValueError: If a size is below 1 or does not divide as above, or the input or the state has
            another shape.

    Reference:
        beck2024, section 2.3, figure 11 and appendix A.
    """

    @take_factory_arguments(SequenceLayer)
    def __init__(  # noqa: PLR0913 — six are torch's
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_layers: Depth = 2,
        num_heads: Size = 4,
        inner_size: Size | None = None,
        projection_size: Size = 4,
        kernel_size: Size = 4,
        exponential_forget: bool = False,
        first_stabilizer: float | None = None,
        **options: Unpack[LayerOptions],
    ) -> None:
        inner = 2 * hidden_size if inner_size is None else inner_size
        check_heads(inner, num_heads, "inner_size")
        if inner % projection_size:
            raise ValueError(
                f"projection_size must divide inner_size={inner}, got {projection_size}"
            )
        sizes = (hidden_size, inner, num_heads, projection_size, kernel_size)
        start = -math.inf if first_stabilizer is None else first_stabilizer
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            lambda _: _Mixer(
                sizes,
                num_layers,
                options["generator"],
                exponential_forget=exponential_forget,
                first_stabilizer=start,
            ),
            centered=True,
            **options,
        )


def check_heads(size: int, num_heads: int, name: str) -> None:
    """Check that heads divide a size; a head of one feature would be normalized to 0.

    Args:
        size: Number of features.
        num_heads: Number of heads.
        name: Name of the size.

    Raises:
        ValueError: If the heads do not divide it, or leave one feature.
    """
    if size % num_heads or size == num_heads:
        raise ValueError(
            f"num_heads must divide {name}={size} into 2 features or more, got {num_heads}"
        )


class _Mixer(Mixer):
    """The matrix memory between an up-projection and a down-projection.

    Args:
        sizes: Features outside and inside, heads, features of a block, steps of the convolution.
        num_layers: Number of blocks of the layer.
    """

    def __init__(
        self,
        sizes: tuple[int, int, int, int, int],
        num_layers: int,
        generator: torch.Generator | None,
        *,
        exponential_forget: bool,
        first_stabilizer: float,
    ) -> None:
        super().__init__()
        size, inner, self.num_heads, block, kernel_size = sizes
        self.inner_size = inner
        self.exponential_forget, self.first_stabilizer = exponential_forget, first_stabilizer
        self.up = normal_layer(size, 2 * inner, math.sqrt(2 / (5 * size)), generator)
        self.convolution = Convolution(inner, kernel_size, generator)
        self.query, self.key, self.value = (
            nn.Parameter(torch.empty(inner // block, block, block)) for _ in range(3)
        )
        for weight in (self.query, self.key, self.value):
            nn.init.normal_(weight, std=math.sqrt(2 / (5 * inner)), generator=generator)
        heads = self.num_heads
        self.input_weight = nn.Parameter(torch.zeros(heads, 3 * inner))
        self.input_bias = nn.Parameter(torch.empty(heads).normal_(0, 0.1, generator=generator))
        self.forget_weight = nn.Parameter(torch.zeros(heads, 3 * inner))
        self.forget_bias = nn.Parameter(torch.linspace(3.0, 6.0, heads))
        self.norm = HeadNorm(inner)
        self.skip = nn.Parameter(torch.ones(inner))
        self.down = normal_layer(inner, size, 2 / (num_layers * math.sqrt(size)), generator)

    def first_state(self, x: Tensor) -> State:
        batch, width = x.shape[1], self.inner_size // self.num_heads
        memory = wide_zeros(x, batch, self.num_heads, width, width)
        normalizer = memory.new_zeros(memory.shape[:-1])
        stabilizer = memory.new_full(memory.shape[:-2], self.first_stabilizer)
        return self.convolution.first_state(x), memory, normalizer, stabilizer

    def forward(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        before, *memory = state
        entering, gate = self.up(x).chunk(2, dim=-1)
        convolved, after = causal_convolution(
            entering, self.convolution.weight, self.convolution.bias, before
        )
        convolved = F.silu(convolved)
        query, key = block_linear(convolved, self.query), block_linear(convolved, self.key)
        value = block_linear(entering, self.value)
        gates = wide_linear(
            torch.cat([query, key, value], dim=-1),
            torch.cat([self.input_weight, self.forget_weight]),
            torch.cat([self.input_bias, self.forget_bias]),
            memory[0].dtype,
        )
        input_gate, forget_gate = gates.chunk(2, dim=-1)
        outputs, last = mlstm(
            by_head(query, self.num_heads),
            by_head(key, self.num_heads),
            by_head(value, self.num_heads),
            input_gate,
            forget_gate,
            MLSTMState(*memory),
            exponential_forget=self.exponential_forget,
        )
        outputs = (self.norm(outputs) + self.skip * convolved) * F.silu(gate)
        return self.down(outputs), (after.to(before.dtype), *last)
