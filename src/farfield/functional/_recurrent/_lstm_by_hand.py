"""The LSTM with its gradient written out: one product for each weight matrix over all steps."""

from __future__ import annotations

from typing import Any

import torch
from einops import rearrange
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._gradient_of_gradient import Gradients, gradient_of_gradient
from farfield.functional._autograd._products import add_product, product
from farfield.functional._recurrent._lstm_step import (
    StepByHand,
    gradient_of_step,
    lstm_step,
    step_by_hand,
)

_NUM_TENSORS = 5


def lstm_plain(
    inputs: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor, bias_hh: Tensor
) -> Tensor:
    """The values of `farfield.functional.lstm`, as autograd differentiates them."""
    projected = F.linear(inputs, weight_ih, bias_ih + bias_hh)
    cell = inputs.new_zeros(())
    states: list[Tensor] = []
    for step, gates in enumerate(projected.unbind(1)):
        total = gates + F.linear(states[-1], weight_hh) if step else gates
        state, cell = lstm_step(total, cell)
        states.append(state)
    return torch.stack(states, dim=1)


def lstm_unwatched(
    num_states: int,
    inputs: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> Tensor:
    """The last `num_states` states that `lstm_plain` gives, where no gradient is wanted."""
    bias = (bias_ih + bias_hh).unsqueeze(1)
    cell: Tensor | None = None
    states: list[Tensor] = []
    for columns in rearrange(inputs, "batch time feature -> time feature batch").unbind(0):
        gates = add_product(bias, weight_ih, columns)
        if states:
            gates = add_product(gates, weight_hh, states[-1])
        step = step_by_hand(gates, cell)
        cell = step.cell
        states.append(step.state)
    return rearrange(states[-num_states:], "time feature batch -> batch time feature").contiguous()


def lstm_by_hand(num_states: int, *arguments: Tensor) -> Tensor:
    """The last `num_states` states that `lstm_plain` gives, with a faster gradient."""
    # torch leaves `apply` untyped.
    states, *_ = _Recurrence.apply(num_states, *arguments)  # type: ignore[no-untyped-call]
    return states


class _Recurrence(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(
        num_states: int,
        inputs: Tensor,
        weight_ih: Tensor,
        weight_hh: Tensor,
        bias_ih: Tensor,
        bias_hh: Tensor,
    ) -> tuple[Tensor, ...]:
        bias = (bias_ih + bias_hh).unsqueeze(1)
        projected = add_product(bias, weight_ih, _columns(inputs))
        first, *later = rearrange(
            projected, "feature (time batch) -> time feature batch", batch=len(inputs)
        ).unbind(0)
        steps = [step_by_hand(first.contiguous(), None)]
        for gates in later:
            before = steps[-1]
            steps.append(step_by_hand(add_product(gates, weight_hh, before.state), before.cell))
        states = torch.stack([step.state for step in steps[-num_states:]])
        return (
            rearrange(states, "time feature batch -> batch time feature").contiguous(),
            *(tensor for step in steps for tensor in step),
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs[1:], *output[1:])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> Gradients:
        if gradients[0] is None:
            return (None,) * (1 + _NUM_TENSORS)
        found = _Gradient.apply(gradients[0], *ctx.saved_tensors)  # type: ignore[no-untyped-call]
        return (None, *found)


class _Gradient(torch.autograd.Function):
    """The gradient, as a function of its own so that it has a derivative too."""

    generate_vmap_rule = True

    @staticmethod
    def forward(gradient: Tensor, *saved: Tensor) -> Gradients:
        inputs, weight_ih, weight_hh, *_ = saved
        fields = len(StepByHand._fields)
        tape = saved[_NUM_TENSORS:]
        steps = [StepByHand(*tape[at : at + fields]) for at in range(0, len(tape), fields)]
        totals = torch.cat(_rewind(gradient, weight_hh, steps), dim=1)
        states = torch.cat([step.state for step in steps], dim=1)
        batch = len(inputs)
        bias = totals.sum(1)  # Σ da_t
        # dx_t = W_ihᵀ da_t, dW_ih = Σ da_t x_tᵀ, dW_hh = Σ da_t h_{t−1}ᵀ
        return (
            rearrange(
                product(totals.t(), weight_ih),
                "(time batch) feature -> batch time feature",
                batch=batch,
            ),
            product(totals, _columns(inputs).t()),
            product(totals[:, batch:], states[:, :-batch].t()),
            bias,
            bias.clone(),
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Gradients) -> None:  # noqa: ARG004
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor | None) -> Gradients:
        gradient, *saved = ctx.saved_tensors

        def plain(*arguments: Tensor) -> Tensor:
            return lstm_plain(*arguments)[:, -gradient.shape[1] :]

        found = gradient_of_gradient(plain, saved[:_NUM_TENSORS], gradient, upstream)
        return (*found, *(None for _ in saved[_NUM_TENSORS:]))


def _columns(inputs: Tensor) -> Tensor:
    """All inputs side by side, `(feature, time · batch)`."""
    return rearrange(inputs, "batch time feature -> feature (time batch)")


def _rewind(gradient: Tensor, weight_hh: Tensor, steps: list[StepByHand]) -> list[Tensor]:
    """Gradients of the gate inputs of all steps, from those of the last states."""
    *earlier, state = rearrange(gradient, "batch time feature -> time feature batch").unbind(0)
    state, cell = state.contiguous(), None
    transposed = weight_hh.t().contiguous()  # once, where products would each walk it crosswise
    totals: list[Tensor] = []
    for step in range(len(steps) - 1, -1, -1):
        before = steps[step - 1].cell if step else None
        total, cell = gradient_of_step(steps[step], before, state, cell)
        totals.append(total)
        state = product(transposed, total)  # W_hhᵀ da_t, and what h_{t−1} is given itself
        if earlier:
            state = state + earlier.pop()
    return totals[::-1]
