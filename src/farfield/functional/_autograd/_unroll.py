"""A recurrence over time as outputs of every step and the state after the last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from farfield.functional._autograd._weight_gradients import Layer, Product, recur_all

State = tuple[Tensor, ...]
"""Parts of a state, each with the batch on its first axis."""

Several = Sequence[Tensor]

Step = Callable[[Sequence[Product], Several, State, Several], tuple[Tensor, State]]
"""Function from the layers, the inputs of one step, the state and shared values to the
output, `(batch, feature)`, and the state after."""


def unroll(
    step: Step,
    layers: Sequence[Layer],
    inputs: Several,
    state: State,
    shared: Several = (),
) -> tuple[Tensor, State]:
    """Unroll a recurrence over time, with one gradient product for each weight.

    Args:
        step: What happens in a step.
        layers: The linear layers of the steps; `recur_all` says how their gradients are made.
        inputs: What comes in, each `(time, batch, …)`.
        state: The state to begin with, each part `(batch, …)`.
        shared: Other tensors of the steps that gradients are wanted of.

    Returns:
        The outputs, `(time, batch, feature)`, and the last state.
    """
    steps = partial(_steps, step=step, numbers=(len(inputs), len(state)))
    outputs, *last = recur_all(steps, layers, *inputs, *state, *shared)
    return outputs, tuple(last)


def _steps(
    products: Sequence[Product], *tensors: Tensor, step: Step, numbers: tuple[int, int]
) -> tuple[Tensor, ...]:
    first, second = numbers[0], sum(numbers)
    state, shared, outputs = tensors[first:second], tensors[second:], []
    for inputs in zip(*(tensor.unbind(0) for tensor in tensors[:first]), strict=True):
        output, state = step(products, inputs, state, shared)
        outputs.append(output)
    return torch.stack(outputs), *state
