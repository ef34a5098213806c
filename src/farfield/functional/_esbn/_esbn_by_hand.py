"""The recurrence of the ESBN as a function with a gradient by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from farfield.functional._autograd._gradient_of_gradient import Gradients, gradient_of_gradient
from farfield.functional._esbn._esbn_plain import ESBNParameters, esbn_plain
from farfield.functional._esbn._esbn_rewind import rewind
from farfield.functional._esbn._esbn_tape import record, unflatten

_NUM_INPUTS = len(ESBNParameters._fields) + 2


def esbn_by_hand(weights: Tensor, confidence: Tensor | None, parameters: ESBNParameters) -> Tensor:
    """`esbn_plain` for at least two positions, with a faster gradient."""
    # torch leaves `apply` untyped.
    state, *_ = _Recurrence.apply(weights, confidence, *parameters)  # type: ignore[no-untyped-call]
    return state


class _Recurrence(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(weights: Tensor, confidence: Tensor | None, *parameters: Any) -> tuple[Tensor, ...]:
        tape = record(weights, confidence, ESBNParameters(*parameters))
        return (tape.steps[-1].state.t().contiguous(), *tape.flat())

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
    def forward(gradient: Tensor, *saved: Any) -> Gradients:
        weights, confidence, *rest = saved
        parameters = ESBNParameters(*rest[: len(ESBNParameters._fields)])
        tape = unflatten(rest[len(parameters) :], weights.shape[1] + 1)
        return rewind(gradient.t().contiguous(), weights, confidence, parameters, tape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Gradients) -> None:  # noqa: ARG004
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor | None) -> Gradients:
        gradient, *saved = ctx.saved_tensors

        def plain(weights: Tensor, confidence: Tensor | None, *parameters: Any) -> Tensor:
            return esbn_plain(weights, confidence, ESBNParameters(*parameters))

        found = gradient_of_gradient(plain, saved[:_NUM_INPUTS], gradient, upstream)
        return (*found, *(None for _ in saved[_NUM_INPUTS:]))
