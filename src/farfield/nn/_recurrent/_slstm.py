"""sLSTM, the scalar memory of xLSTM."""

from __future__ import annotations

import math
from typing import Unpack, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, Size, take_factory_arguments
from farfield.functional.internal import (
    SLSTMState,
    block_linear,
    causal_convolution,
    slstm,
)
from farfield.nn._recurrent._mlstm import check_heads
from farfield.nn._recurrent._residual_blocks import (
    Convolution,
    HeadNorm,
    Mixer,
    ResidualLayer,
    Units,
    by_head,
    wide_zeros,
)
from farfield.nn._recurrent._sequence_layer import LayerOptions, SequenceLayer
from farfield.nn._recurrent._states import State


@final
class SLSTM(ResidualLayer):
    r"""LSTM with exponential gates and a normalizer; recurrent weights stay inside a head.

    $$c_t = f_t c_{t-1} + i_t \tanh \tilde z_t, \quad n_t = f_t n_{t-1} + i_t, \quad
      h_t = \sigma(\tilde o_t) \frac{c_t}{n_t}, \quad i_t = e^{\tilde i_t}, \quad
      f_t = \sigma(\tilde f_t), \quad \tilde g_t = W_g x_t + R_g h_{t-1} + b_g$$

    with block-diagonal $W$ and $R$, in residual blocks: $\tilde i$ and $\tilde f$ read the inputs
    behind a causal convolution and a SiLU, $\tilde z$ and $\tilde o$ the inputs themselves; a layer
    normalization by head and a network with a GELU gate follow. In `torch.nn.LSTM` an input gate
    cannot outweigh the stored cell, here it can. Gates read the outputs before, so that the steps
    follow each other.

    Args:
        hidden_size: Number of features inside, and of an output.
        num_layers: Number of blocks.
        num_heads: Number of heads; must divide `hidden_size` and leave 2 features or more.
        kernel_size: Number of steps that the convolution reads.
        exponential_forget: True for $f_t = e^{\tilde f_t}$.
        feedforward_size: Hidden units of the network behind; None is 4/3 of `hidden_size`, 0 for
            none. The released code has 1.3 times `hidden_size`, rounded up to a multiple of 64.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of five parts: inputs of the
        convolution `(num_layers, batch, kernel_size - 1, hidden_size)`, then in float32 at least
        `(num_layers, batch, num_heads, hidden_size / num_heads)` of $h$, $c e^{-m}$, $n e^{-m}$ and
        $m$, the logarithm of the scale, −∞ at first. Out: `hidden_size` features, and the last
        state.

    Attributes:
        encode: The linear layer on the inputs.
        blocks: The blocks, each with its `mixer`.
        norm: The last normalization.

    Raises:
        ValueError: If a size is below 1, the heads do not divide it, or the input or the state has
            another shape.

    Reference:
        beck2024, section 2.2, figure 10 and appendix A.
    """

    @take_factory_arguments(SequenceLayer)
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_layers: Depth = 2,
        num_heads: Size = 4,
        kernel_size: Size = 4,
        exponential_forget: bool = False,
        feedforward_size: Units | None = None,
        **options: Unpack[LayerOptions],
    ) -> None:
        check_heads(hidden_size, num_heads, "hidden_size")
        units = 4 * hidden_size // 3 if feedforward_size is None else feedforward_size
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            lambda number: _Mixer(
                hidden_size,
                num_heads,
                kernel_size,
                number / max(1, num_layers - 1),
                options["generator"],
                exponential_forget=exponential_forget,
            ),
            centered=True,
            feedforward_size=units,
            gelu=True,
            **options,
        )


class _Mixer(Mixer):
    """The recurrence behind a convolution, with a normalization by head.

    Args:
        depth: Position of the block, 0…1 from first to last, which decides the forget biases.
    """

    def __init__(
        self,
        size: int,
        num_heads: int,
        kernel_size: int,
        depth: float,
        generator: torch.Generator | None,
        *,
        exponential_forget: bool,
    ) -> None:
        super().__init__()
        self.size, self.num_heads, self.exponential_forget = size, num_heads, exponential_forget
        width = size // num_heads
        self.convolution = Convolution(size, kernel_size, generator)
        self.input, self.forget, self.cell, self.output = (
            nn.Parameter(torch.empty(num_heads, width, width)) for _ in range(4)
        )
        for weight in (self.input, self.forget, self.cell, self.output):
            nn.init.normal_(weight, std=math.sqrt(2 / (5 * size)), generator=generator)
        self.recurrent = nn.Parameter(torch.zeros(num_heads, 4 * width, width))
        bias = torch.zeros(num_heads, 4, width)
        along = torch.linspace(0, 1, width, dtype=torch.float64)
        bias[:, 1] = 5 - 12 * along ** (0.3 + 1.3 * depth)
        self.bias = nn.Parameter(bias.flatten(1))
        self.norm = HeadNorm(size)

    def first_state(self, x: Tensor) -> State:
        zeros = wide_zeros(x, x.shape[1], self.num_heads, self.size // self.num_heads)
        stabilizer = zeros.new_full(zeros.shape, -math.inf)
        return self.convolution.first_state(x), zeros, zeros, zeros, stabilizer

    def forward(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        before, *memory = state
        convolved, after = causal_convolution(
            x, self.convolution.weight, self.convolution.bias, before
        )
        outputs, last = slstm(
            self.gates(x, F.silu(convolved)),
            self.recurrent,
            SLSTMState(*memory),
            exponential_forget=self.exponential_forget,
        )
        return self.norm(outputs), (after.to(before.dtype), *last)

    def gates(self, x: Tensor, convolved: Tensor) -> Tensor:
        """Compute the contributions of the inputs to the gates, `(time, batch, head, gate)`.

        Args:
            x: The inputs.
            convolved: The inputs behind the convolution and the SiLU.
        """
        early = torch.cat([self.input, self.forget], dim=1)
        late = torch.cat([self.cell, self.output], dim=1)
        parts = (block_linear(convolved, early), block_linear(x, late))
        joined = torch.cat([by_head(part, self.num_heads) for part in parts], dim=-1)
        return joined + self.bias
