"""The LSTM with its gradient written out: one product for each weight matrix over all steps."""

from __future__ import annotations

from typing import Any

import torch
from einops import rearrange
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._gradient_of_gradient import Gradients, gradient_of_gradient
from farfield.functional._lstm_step import StepByHand, gradient_of_step, lstm_step, step_by_hand

_NUM_INPUTS = 5


def lstm_plain(
    inputs: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor, bias_hh: Tensor
) -> Tensor:
    """What `farfield.functional.lstm` computes, as autograd differentiates it."""
    projected = F.linear(inputs, weight_ih, bias_ih + bias_hh)
    cell = inputs.new_zeros(())
    states: list[Tensor] = []
    for step, gates in enumerate(projected.unbind(1)):
        total = gates + F.linear(states[-1], weight_hh) if step else gates
        state, cell = lstm_step(total, cell)
        states.append(state)
    return torch.stack(states, dim=1)


def lstm_by_hand(*arguments: Tensor) -> Tensor:
    """What `lstm_plain` computes, with a faster gradient."""
    # torch leaves `apply` untyped.
    states, *_ = _Recurrence.apply(*arguments)  # type: ignore[no-untyped-call]
    return states


class _Recurrence(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(
        inputs: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor, bias_hh: Tensor
    ) -> tuple[Tensor, ...]:
        bias = (bias_ih + bias_hh).unsqueeze(1)
        projected = torch.addmm(bias, weight_ih, _columns(inputs))
        steps: list[StepByHand] = []
        for total in projected.split(inputs.shape[0], dim=1):  # type: ignore[no-untyped-call]
            if steps:
                steps.append(
                    step_by_hand(torch.addmm(total, weight_hh, steps[-1].state), steps[-1].cell)
                )
            else:
                steps.append(step_by_hand(total.contiguous(), None))
        states = torch.stack([step.state for step in steps]).permute(2, 0, 1).contiguous()
        return (states, *(tensor for step in steps for tensor in step))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs, *output[1:])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> Gradients:
        if gradients[0] is None:
            return (None,) * _NUM_INPUTS
        return _Gradient.apply(gradients[0], *ctx.saved_tensors)  # type: ignore[no-untyped-call]


class _Gradient(torch.autograd.Function):
    """The gradient, as a function of its own so that it has a derivative too."""

    generate_vmap_rule = True

    @staticmethod
    def forward(gradient: Tensor, *saved: Tensor) -> Gradients:
        inputs, weight_ih, weight_hh, *_ = saved
        fields = len(StepByHand._fields)
        tape = saved[_NUM_INPUTS:]
        steps = [StepByHand(*tape[at : at + fields]) for at in range(0, len(tape), fields)]
        totals = _rewind(gradient, weight_hh, steps)
        columns = torch.cat(totals, dim=1)
        of_inputs = rearrange(
            columns.t() @ weight_ih, "(time batch) feature -> batch time feature", time=len(steps)
        )
        if len(steps) > 1:
            states = torch.cat([step.state for step in steps[:-1]], dim=1)
            of_weight_hh = torch.cat(totals[1:], dim=1) @ states.t()
        else:
            of_weight_hh = torch.zeros_like(weight_hh)
        bias = columns.sum(1)
        return of_inputs, columns @ _columns(inputs).t(), of_weight_hh, bias, bias.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Gradients) -> None:  # noqa: ARG004
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor | None) -> Gradients:
        gradient, *saved = ctx.saved_tensors
        found = gradient_of_gradient(lstm_plain, saved[:_NUM_INPUTS], gradient, upstream)
        return (*found, *(None for _ in saved[_NUM_INPUTS:]))


def _columns(inputs: Tensor) -> Tensor:
    """All inputs side by side, `(feature, time · batch)`."""
    return rearrange(inputs, "batch time feature -> feature (time batch)")


def _rewind(gradient: Tensor, weight_hh: Tensor, steps: list[StepByHand]) -> list[Tensor]:
    """Gradients of the gate inputs of all steps, from those of the states."""
    of_states = gradient.permute(1, 2, 0).unbind(0)
    state, cell = of_states[-1], None
    totals: list[Tensor] = []
    for step in range(len(steps) - 1, -1, -1):
        before = steps[step - 1].cell if step else None
        total, cell = gradient_of_step(steps[step], before, state, cell)
        totals.append(total)
        if step:
            state = (total.t() @ weight_hh).t() + of_states[step - 1]
    return totals[::-1]
