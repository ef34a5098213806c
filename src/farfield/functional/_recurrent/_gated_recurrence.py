"""A layer of gated units over a sequence, with one product for each distinct input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from farfield.functional._autograd._products import linear
from farfield.functional._autograd._unroll import unroll
from farfield.functional._autograd._weight_gradients import Layer, Product
from farfield.functional._recurrent._gated_dynamics import Dynamics, State
from farfield.functional._recurrent._indexed import Indexed


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
    """Hidden states after every step of a layer such as `torch.nn.LSTM` and `torch.nn.GRU`.

    The weights get their gradients from one product over all steps. Of an `Indexed` sequence the
    input weights are applied to the items alone, each once.

    Args:
        x: The inputs.
        parameters: The weights.
        state: What to begin with: the hidden state, and the cell where there is one.
        dynamics: What a step does: `lstm_dynamics` or `gru_dynamics`.

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
