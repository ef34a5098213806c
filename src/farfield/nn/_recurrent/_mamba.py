"""Mamba, a selective state space."""

from __future__ import annotations

import math
from typing import Unpack, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, Size, take_factory_arguments
from farfield.functional.internal import (
    causal_convolution,
    default_layer,
    inverse_softplus_,
    selective_scan,
    uninitialized,
)
from farfield.nn._recurrent._residual_blocks import Convolution, Mixer, ResidualLayer, wide_zeros
from farfield.nn._recurrent._sequence_layer import LayerOptions, SequenceLayer
from farfield.nn._recurrent._states import State


@final
class Mamba(ResidualLayer):
    r"""Diagonal recurrence whose step size, inputs and outputs depend on the sequence.

    $$(u, g) = W x, \quad c = \mathrm{SiLU}(\mathrm{conv}(u)), \quad
      (\rho, B, C) = W_x c, \quad \Delta = \mathrm{softplus}(W_\Delta \rho + b_\Delta), \quad
      A = -e^{A'}$$
    $$h_t = e^{\Delta_t A} \odot h_{t-1} + A^{-1} (e^{\Delta_t A} - 1) B_t^\top \odot c_t, \quad
      y_t = W_o ((h_t C_t + D \odot c_t) \odot \mathrm{SiLU}(g_t))$$

    with `state_size` numbers for each of `inner_size` features, in residual blocks. The factors of
    a `LinearRecurrentUnit` are fixed; here inputs decide at each step how much is kept.
    Its state is 32 times `hidden_size`, and its steps follow each other.

    Args:
        hidden_size: Number of features of an output.
        num_layers: Number of blocks.
        inner_size: Number of features of $u$; None is twice `hidden_size`.
        state_size: Numbers that a feature carries.
        rank: Features of $\rho$; None is `hidden_size` / 16, rounded up.
        kernel_size: Number of steps that the convolution reads.
        negative_eigenvalues: True for factors $2 e^{\Delta A} - 1$, in [−1, 1], with which
            parity is possible.
        euler: True for inputs times $\Delta B$, as in the released code; False for the zero-order
            hold above.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of two parts: inputs of the
        convolution `(num_layers, batch, kernel_size - 1, inner_size)`, and $h$ `(num_layers, batch,
        inner_size, state_size)`, in float32 at least. Out: `hidden_size` features, and the last
        state.

    Attributes:
        encode: The linear layer on the inputs.
        blocks: The blocks, each with its `mixer`. Weight decay should leave out `log_rate` and
            `skip` of each.
        norm: The last normalization.

    Raises:
        ValueError: If a size is below 1, or the input or the state has another shape.

    Reference:
        gu2023, section 3 and equation 4; grazzi2025, section 4, for eigenvalues in [−1, 1].
    """

    @take_factory_arguments(SequenceLayer)
    def __init__(  # noqa: PLR0913 — six are torch's
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_layers: Depth = 2,
        inner_size: Size | None = None,
        state_size: Size = 16,
        rank: Size | None = None,
        kernel_size: Size = 4,
        negative_eigenvalues: bool = False,
        euler: bool = False,
        **options: Unpack[LayerOptions],
    ) -> None:
        inner = 2 * hidden_size if inner_size is None else inner_size
        steps = -(-hidden_size // 16) if rank is None else rank
        sizes = (hidden_size, inner, state_size, steps, kernel_size)
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            lambda _: _Mixer(
                sizes, num_layers, options["generator"], negative=negative_eigenvalues, euler=euler
            ),
            centered=False,
            **options,
        )


class _Mixer(Mixer):
    """The selective state space between two linear layers.

    Args:
        sizes: Features outside and inside, numbers of state, rank of step sizes, steps of the
            convolution.
        num_layers: Number of blocks; the last weights are divided by its root.
    """

    def __init__(
        self,
        sizes: tuple[int, int, int, int, int],
        num_layers: int,
        generator: torch.Generator | None,
        *,
        negative: bool,
        euler: bool,
    ) -> None:
        super().__init__()
        size, self.inner_size, self.state_size, self.rank, kernel_size = sizes
        self.negative, self.euler = negative, euler
        inner, numbers = self.inner_size, self.state_size
        self.up = default_layer(size, 2 * inner, generator, bias=False)
        self.convolution = Convolution(inner, kernel_size, generator)
        self.select = default_layer(inner, self.rank + 2 * numbers, generator, bias=False)
        self.step = uninitialized(nn.Linear, self.rank, inner)
        bound = self.rank**-0.5
        nn.init.uniform_(self.step.weight, -bound, bound, generator=generator)
        inverse_softplus_(self.step.bias, generator)
        self.log_rate = nn.Parameter(torch.arange(1.0, numbers + 1).log().repeat(inner, 1))
        self.skip = nn.Parameter(torch.ones(inner))
        self.out = default_layer(inner, size, generator, bias=False)
        with torch.no_grad():
            self.out.weight.div_(math.sqrt(num_layers))

    def first_state(self, x: Tensor) -> State:
        states = wide_zeros(x, x.shape[1], self.inner_size, self.state_size)
        return self.convolution.first_state(x), states

    def forward(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        before, states = state
        entering, gate = self.up(x).chunk(2, dim=-1)
        convolved, after = causal_convolution(
            entering, self.convolution.weight, self.convolution.bias, before
        )
        convolved = F.silu(convolved)
        sizes = (self.rank, self.state_size, self.state_size)
        steps, enter, leave = self.select(convolved).split_with_sizes(sizes, dim=-1)
        rate = -self.log_rate.to(states.dtype).exp()
        outputs, last = selective_scan(
            convolved,
            F.softplus(self.step(steps)),
            rate,
            enter,
            leave,
            states,
            negative_eigenvalues=self.negative,
            euler=self.euler,
        )
        outputs = (outputs + self.skip * convolved) * F.silu(gate)
        return self.out(outputs), (after.to(before.dtype), last)
