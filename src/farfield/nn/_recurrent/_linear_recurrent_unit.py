"""The linear recurrent unit, in blocks with a gated network behind it."""

from __future__ import annotations

import math
from typing import Unpack, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, Size, take_factory_arguments
from farfield.functional.internal import linear_recurrence, ring_spectrum, xavier_layer
from farfield.nn._recurrent._sequence_layer import LayerOptions, SequenceLayer
from farfield.nn._recurrent._states import State


@final
class LinearRecurrentUnit(SequenceLayer):
    r"""Linear recurrence of a complex state with one factor per element, mixed between blocks.

    $$h_t = \lambda h_{t-1} + \gamma B \, \mathrm{LN}(x_t), \qquad
      y_t = \mathrm{Re}(C h_t) + D \, \mathrm{LN}(x_t), \qquad
      x_t' = x_t + W \mathrm{GELU}(y_t) \cdot \sigma(V \mathrm{GELU}(y_t))$$

    in each block, behind a linear layer on the inputs, with
    $\lambda = \exp(-e^\nu + i e^\theta)$ inside the unit disk. No non-linearity lies between two
    steps, so that a gradient neither grows nor, where $|\lambda|$ is near 1, is lost on the
    way: with `radius=(0.9999, 0.99999)` the numbers keep a third to nine tenths of a past 10,000
    steps back. The factor $\gamma$, learned from $\sqrt{1 - |\lambda|^2}$ on, keeps the numbers
    of the size of the inputs.

    Args:
        hidden_size: Number of features inside, and of an output.
        num_layers: Number of blocks.
        state_size: Complex numbers that a block carries; None is `hidden_size`.
        radius: Between which moduli the first $\lambda$ are drawn (`ring_spectrum`).
        max_phase: The largest of their first phases, in radians; a small one is for slow changes.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state `(num_layers, batch, state_size,
        2)`, real and imaginary parts, in float32 at least. Out: `hidden_size` features, and the
        last state.

    Attributes:
        encode: The linear layer on the inputs.
        blocks: The blocks.

    Raises:
        ValueError: If a size is below 1, the radii are no ring, the phase is not positive, or the
            input or the state has another shape.

    Reference:
        orvieto2023, section 3 and table 8; here with layer normalization.
    """

    @take_factory_arguments(SequenceLayer)
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_layers: Depth = 2,
        state_size: Size | None = None,
        radius: tuple[float, float] = (0.9, 0.999),
        max_phase: float = 2 * math.pi,
        **options: Unpack[LayerOptions],
    ) -> None:
        generator = options["generator"]
        self.state_size = hidden_size if state_size is None else state_size
        super().__init__(input_size, hidden_size, **options)
        self.encode = xavier_layer(input_size, hidden_size, generator)
        blocks = []
        for _ in range(num_layers):
            spectrum = ring_spectrum(
                self.state_size, radius=radius, max_phase=max_phase, generator=generator
            )
            blocks.append(_Block(hidden_size, *spectrum, generator))
        self.blocks = nn.ModuleList(blocks)

    def _first_state(self, x: Tensor) -> State:
        wide = torch.promote_types(x.dtype, torch.float32)
        return (x.new_zeros(len(self.blocks), x.shape[1], self.state_size, 2, dtype=wide),)

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        x, last = self.encode(x), []
        for block, before in zip(self.blocks, state[0], strict=True):
            x, after = block(x, before)
            last.append(after)
        return x, (torch.stack(last),)


class _Block(nn.Module):
    """Residual block: the recurrence, then the gated network."""

    def __init__(
        self, size: int, nu: Tensor, theta: Tensor, generator: torch.Generator | None
    ) -> None:
        super().__init__()
        number = len(nu)
        self.norm = nn.LayerNorm(size)
        self.nu, self.theta = nn.Parameter(nu), nn.Parameter(theta)
        # log √(1 − |λ|²) without the difference
        self.gamma = nn.Parameter(0.5 * torch.log(-torch.expm1(-2 * nu.double().exp())).to(nu))
        self.enter = nn.Parameter(torch.empty(number, 2, size))
        self.leave = nn.Parameter(torch.empty(size, number, 2))
        self.skip = nn.Parameter(torch.empty(size))
        for parameter, spread in (
            (self.enter, 1 / math.sqrt(2 * size)),
            (self.leave, 1 / math.sqrt(number)),
            (self.skip, 1.0),
        ):
            nn.init.normal_(parameter, std=spread, generator=generator)
        self.gated = xavier_layer(size, 2 * size, generator)

    def forward(self, x: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        """Run the block on `(time, batch, feature)`; return its last complex state too."""
        normed = self.norm(x)
        states = linear_recurrence(
            self._entering(normed, before),
            self._decay(before),
            torch.complex(*before.unbind(-1)),  # A state that is given may be strided.
        )
        parts = torch.view_as_real(states)
        y = F.linear(parts.flatten(-2).to(x.dtype), self.leave.flatten(1)) + self.skip * normed
        return x + F.glu(self.gated(F.gelu(y))), parts[-1]

    def _entering(self, normed: Tensor, like: Tensor) -> Tensor:
        """Compute the inputs that each step adds to the complex state."""
        scaled = self.gamma.exp()[:, None, None] * self.enter
        parts = F.linear(normed, scaled.flatten(0, 1)).to(like.dtype)
        return torch.view_as_complex(torch.unflatten(parts, -1, (len(self.nu), 2)))

    def _decay(self, like: Tensor) -> Tensor:
        size = torch.exp(-self.nu.to(like.dtype).exp())
        phase = self.theta.to(like.dtype).exp()
        return torch.complex(size * phase.cos(), size * phase.sin())
