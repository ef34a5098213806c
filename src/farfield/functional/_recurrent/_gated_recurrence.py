"""Groups of gated recurrent units over a whole sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import linear
from farfield.functional._autograd._unroll import Layer, Product, unroll
from farfield.functional._recurrent._lstm import lstm_step


@final
@dataclass(frozen=True, eq=False)
class Indexed:
    """A sequence of few recurring items: `items[index]`, not yet gathered.

    Layers that take one apply the computations that no state enters once to each item, and not once
    to each position.

    Args:
        items: The distinct items, each on the first axis.
        index: Item at each position: (time, batch), or in the order of axes that a layer takes.
    """

    items: Float[Tensor, "item ..."]
    index: Int[Tensor, "*position"]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the sequence as one tensor."""
        return (*self.index.shape, *self.items.shape[1:])

    @property
    def repeats(self) -> bool:
        """True if the items are fewer than the positions, so that something is gained."""
        return len(self.items) < self.index.numel()

    def at(self, index: Int[Tensor, "*position"]) -> Indexed:
        """Put the items at other positions.

        Args:
            index: Item at each position.
        """
        return Indexed(self.items, index)

    def gathered(self) -> Float[Tensor, "*place_and_feature"]:
        """Gather the items at all positions: the sequence as one tensor."""
        rows = F.embedding(self.index, self.items.flatten(1))
        return torch.unflatten(rows, -1, self.items.shape[1:])


State = tuple[Tensor, ...]
"""Hidden state, and the cell where there is one."""

Dynamics = Callable[[Tensor, Tensor, State], State]
"""Function from the gates' inputs and the state before to the state after."""


def lstm_dynamics(
    inputs: Float[Tensor, "*batch gate"], hidden: Float[Tensor, "*batch gate"], state: State
) -> State:
    """Compute a step of an LSTM: hidden state and cell.

    Args:
        inputs: Contributions of the input to the gates, in the order input, forget, candidate,
            output.
        hidden: Contributions of the state before.
        state: Hidden state and cell before.

    Reference:
        lamb2022, section 8.2.3; Hochreiter and Schmidhuber 1997.
    """
    return lstm_step(inputs + hidden, state[1])


def gru_dynamics(
    inputs: Float[Tensor, "*batch gate"], hidden: Float[Tensor, "*batch gate"], state: State
) -> State:
    """Compute a step of a gated recurrent unit: its hidden state.

    Args:
        inputs: Contributions of the input to the gates, in the order reset, update, candidate.
        hidden: Contributions of the state before; the candidate gets its part times the reset gate.
        state: The hidden state before.

    Reference:
        lamb2022, section 8.2.3; Chung et al. 2015.
    """
    size = state[0].shape[-1]
    gates = torch.sigmoid(inputs[..., : 2 * size] + hidden[..., : 2 * size])
    reset, keep = gates.chunk(2, dim=-1)
    new = torch.tanh(torch.addcmul(inputs[..., 2 * size :], reset, hidden[..., 2 * size :]))
    return (new + keep * (state[0] - new),)


class GatedParameters(NamedTuple):
    """Weights of a layer of H units with as many gates as its dynamics has, G numbers together.

    Attributes:
        weight_ih: From an input of D numbers: (G, D).
        weight_hh: From the hidden state: (G, H).
        bias_ih: (G), or None for none.
        bias_hh: (G), or None.

    Reference:
        Hochreiter and Schmidhuber 1997; Cho et al. 2014; rivals in lamb2022, section 8.4.
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor | None = None
    bias_hh: Tensor | None = None


def gated_recurrence(
    x: Float[Tensor, "time batch feature"] | Indexed,
    parameters: GatedParameters,
    state: State,
    dynamics: Dynamics,
) -> tuple[Float[Tensor, "time batch unit"], State]:
    """Run a layer such as `torch.nn.LSTM` or `torch.nn.GRU`: hidden states after every step.

    The weights get their gradients from one product over all steps. Of an `Indexed` sequence the
    input weights are applied to the items alone, each once.

    Args:
        x: The inputs.
        parameters: The weights.
        state: Initial state: the hidden state, and the cell where there is one.
        dynamics: Function of a step: `lstm_dynamics` or `gru_dynamics`.

    Returns:
        The hidden states, and the last state.

    Raises:
        ValueError: If the inputs are not (time, batch, D).

    Reference:
        Hochreiter and Schmidhuber 1997; Cho et al. 2014; rivals in lamb2022, section 8.4.
    """
    features = parameters.weight_ih.shape[1]
    if len(x.shape) != 3 or x.shape[-1] != features:
        raise ValueError(f"x must be (time, batch, {features}), got shape {tuple(x.shape)}")

    def step(
        products: Sequence[Product], inputs: Sequence[Tensor], before: State, _: Sequence[Tensor]
    ) -> tuple[Tensor, State]:
        after = dynamics(inputs[0], products[0](before[0]), before)
        return after[0], after

    weight_ih, weight_hh, bias_ih, bias_hh = parameters
    if isinstance(x, Indexed):
        inputs = Indexed(linear(x.items, weight_ih, bias_ih), x.index).gathered()
    else:
        inputs = linear(x, weight_ih, bias_ih)
    return unroll(step, (Layer(weight_hh, bias_hh),), (inputs,), state)
