"""Steps of a recurrence, and gradients of the weights that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from farfield.functional._autograd._products import (
    as_table,
    is_rewritten,
    linear,
    linear_by_group,
    product,
)

Product = Callable[[Tensor], Tensor]


Recurrence = Callable[..., Tensor]


Recurrences = Callable[..., tuple[Tensor, ...]]


class Layer(NamedTuple):
    """A linear layer that every step of a recurrence applies, or one for each of several groups.

    Attributes:
        weight: (out, in); by group (group, out, in), applied to (group, row, in).
        bias: (out), or (group, out); or None.
    """

    weight: Tensor
    bias: Tensor | None = None


State = tuple[Tensor, ...]
"""Parts of a state, each with the batch on its first axis."""

Several = Sequence[Tensor]

Step = Callable[[Sequence[Product], Several, State, Several], tuple[Tensor, State]]
"""Function from the layers, the inputs of one step, the state and shared values to the
output, `(batch, feature)`, and the state after."""


def products_of(layers: Sequence[Layer]) -> list[Product]:
    """Bind each layer, or its layers by group, to the function that applies it.

    Args:
        layers: The layers.
    """
    return [
        partial(linear if w.ndim == 2 else linear_by_group, weight=w, bias=b) for w, b in layers
    ]


def _steps(
    products: Sequence[Product], *tensors: Tensor, step: Step, numbers: tuple[int, int]
) -> tuple[Tensor, ...]:
    first, second = numbers[0], sum(numbers)
    state, shared, outputs = tensors[first:second], tensors[second:], []
    for inputs in zip(*(tensor.unbind(0) for tensor in tensors[:first]), strict=True):
        output, state = step(products, inputs, state, shared)
        outputs.append(output)
    return torch.stack(outputs), *state


def unroll(
    step: Step,
    layers: Sequence[Layer],
    inputs: Several,
    state: State,
    shared: Several = (),
) -> tuple[Tensor, State]:
    """Unroll a recurrence over time, with one gradient product for each weight.

    Args:
        step: Function of a step.
        layers: The linear layers of the steps; `recur_all` says how their gradients are made.
        inputs: Inputs of the steps, each `(time, batch, …)`.
        state: The state to begin with, each part `(batch, …)`.
        shared: Other tensors of the steps that gradients are wanted of.

    Returns:
        The outputs, `(time, batch, feature)`, and the last state.
    """
    steps = partial(_steps, step=step, numbers=(len(inputs), len(state)))
    outputs, *last = recur_all(steps, layers, *inputs, *state, *shared)
    return outputs, tuple(last)


def recur(
    recurrence: Recurrence,
    layers: Sequence[Layer],
    *inputs: Tensor,
    plain: Recurrence | None = None,
) -> Tensor:
    """Run `recurrence(products, *inputs)`, with a faster gradient of the layers.

    Autograd makes a weight gradient at every step, a matrix as large as the weights, and adds
    them up. Here the gradients of all steps' outputs are gathered and multiplied once with all
    steps' inputs. Under the transformations of `torch.func`, under `torch.autocast`, when compiling
    and without gradients the recurrence runs unchanged.

    Args:
        recurrence: Takes one function per layer, to apply it with, and the inputs. It must
            depend on nothing else that gradients are wanted of.
        layers: Layers that the steps share.
        inputs: The other tensors that gradients are wanted of.
        plain: Function of equal values that has a second derivative, where the recurrence has none.
    """

    def alone(one: Recurrence) -> Recurrences:
        return lambda products, *given: (one(products, *given),)

    twice = None if plain is None else alone(plain)
    return recur_all(alone(recurrence), layers, *inputs, plain=twice)[0]


def recur_all(
    recurrence: Recurrences,
    layers: Sequence[Layer],
    *inputs: Tensor,
    plain: Recurrences | None = None,
) -> tuple[Tensor, ...]:
    """Run `recur` for a recurrence that returns several tensors.

    Args:
        recurrence: As in `recur`.
        layers: Layers that the steps share.
        inputs: The other tensors that gradients are wanted of.
        plain: As in `recur`.
    """
    if is_rewritten() or not torch.is_grad_enabled():
        return recurrence(products_of(layers), *inputs)
    shared = [tensor for layer in layers for tensor in layer]
    # torch leaves `apply` untyped.
    found: tuple[Tensor, ...] = _Recurrence.apply(  # type: ignore[no-untyped-call]
        recurrence, plain or recurrence, len(layers), *shared, *inputs
    )
    return found


def differentiable_gradients(
    plain: Callable[..., Tensor | tuple[Tensor, ...]],
    primals: Sequence[Tensor | None],
    gradients: Sequence[Tensor],
) -> list[Tensor | None]:
    """Compute differentiable gradients of the primals that require a gradient.

    Args:
        plain: The function, of `primals`.
        primals: Where the gradients are taken; None for arguments left out.
        gradients: One for each of the function's results.
    """
    # One primal may be computed from another; views of them are not computed from each other.
    views = [None if tensor is None else tensor.view_as(tensor) for tensor in primals]
    wanted = {n: t for n, t in enumerate(views) if t is not None and t.requires_grad}
    found = torch.autograd.grad(
        plain(*views), list(wanted.values()), gradients, create_graph=True, allow_unused=True
    )
    by_number = dict(zip(wanted, found, strict=True))
    return [by_number.get(number) for number in range(len(primals))]


# 1.06 to 1.12 times as fast as autograd for an NTM of 512 units, 0.99 to 1.04 for other layers; the
# sums of autograd would round otherwise.
class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, recurrence: Recurrences, plain: Recurrences, num_layers: int, *tensors: Any
    ) -> tuple[Tensor, ...]:
        walk = _walked(recurrence, num_layers, tensors)
        ctx.save_for_backward(*tensors, _carrier(walk))
        ctx.recurrence, ctx.plain, ctx.num_layers = recurrence, plain, num_layers
        return tuple(result.detach() for result in walk.results)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        recurrence, num_layers = ctx.recurrence, ctx.num_layers
        *saved, carrier = ctx.saved_tensors
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.

            def plain(*given: Tensor) -> tuple[Tensor, ...]:
                layers, inputs = _split(num_layers, given)
                found: tuple[Tensor, ...] = ctx.plain(products_of(layers), *inputs)
                return found

            return (None, None, None, *differentiable_gradients(plain, saved, gradients))
        walk = _carried(carrier) or _walked(recurrence, num_layers, saved)
        layers, _ = _split(num_layers, saved)
        outputs = [output for taken in walk.steps for _, output in taken]
        found = torch.autograd.grad(
            walk.results,
            [*walk.leaves, *outputs],
            gradients,
            retain_graph=True,
            allow_unused=True,
        )
        of_leaves, of_outputs = found[: len(walk.leaves)], iter(found[len(walk.leaves) :])
        of_layers = [
            _of_layer(layer, [(given, next(of_outputs)) for given, _ in taken])
            for layer, taken in zip(layers, walk.steps, strict=True)
        ]
        return (None, None, None, *(own for pair in of_layers for own in pair), *of_leaves)


class _Walk(NamedTuple):
    """The graph of a recurrence whose layers stand still.

    Attributes:
        leaves: The inputs, where the graph begins.
        steps: By layer the inputs and outputs of each application.
        results: Where the graph ends.
    """

    leaves: list[Tensor]
    steps: list[list[tuple[Tensor, Tensor]]]
    results: tuple[Tensor, ...]


def _walked(recurrence: Recurrences, num_layers: int, tensors: Sequence[Any]) -> _Walk:
    layers, inputs = _split(num_layers, tensors)
    steps: list[list[tuple[Tensor, Tensor]]] = [[] for _ in layers]
    with torch.enable_grad():
        leaves = [tensor.detach().requires_grad_() for tensor in inputs]
        products = [_recorded(layer, taken) for layer, taken in zip(layers, steps, strict=True)]
        return _Walk(leaves, steps, recurrence(products, *leaves))


def _carrier(walk: _Walk) -> Tensor:
    """Allocate an empty tensor that carries the graph, to be saved for backward.

    A saved tensor is freed with the backward pass; an attribute of the context would stay for as
    long as an output does. Activation checkpointing lets go of it and makes another; other hooks
    on saved tensors may bring back a copy, which has no graph.
    """
    carrier = torch.empty(0)
    vars(carrier)["walk"] = walk
    return carrier


def _carried(carrier: Tensor) -> _Walk | None:
    walk: _Walk | None = vars(carrier).get("walk")
    return walk


def _split(num_layers: int, tensors: Sequence[Any]) -> tuple[list[Layer], list[Tensor]]:
    layers = [Layer(*tensors[2 * n : 2 * n + 2]) for n in range(num_layers)]
    return layers, list(tensors[2 * num_layers :])


def _recorded(layer: Layer, taken: list[tuple[Tensor, Tensor]]) -> Product:
    """Bind a layer without gradients of its parameters, and record its inputs and outputs."""
    weight, bias = layer
    (apply,) = products_of([Layer(weight.detach(), None if bias is None else bias.detach())])

    def product(x: Tensor) -> Tensor:
        output = apply(x)
        taken.append((x.detach(), output))
        return output

    return product


def _of_layer(
    layer: Layer, steps: list[tuple[Tensor, Tensor | None]]
) -> tuple[Tensor | None, Tensor | None]:
    """Compute gradients of weight and bias from inputs and outputs' gradients of all steps."""
    used = [pair for pair in steps if pair[1] is not None]
    if not used:
        return None, None
    by_group = layer.weight.ndim == 3
    inputs, outputs = (
        torch.cat(tensors if by_group else [as_table(each) for each in tensors], dim=-2)
        for tensors in zip(*used, strict=True)
    )
    if by_group:
        pairs = zip(outputs.unbind(0), inputs.unbind(0), strict=True)
        of_weight = torch.stack([product(output.t(), given) for output, given in pairs])
    else:
        of_weight = product(outputs.t(), inputs)
    return of_weight, None if layer.bias is None else outputs.sum(-2)


def has_memory(gradient: Tensor) -> bool:
    """Tell whether a gradient has memory; many at once (`is_grads_batched`) have none to show.

    Args:
        gradient: The gradient.
    """
    try:
        gradient.data_ptr()
    except RuntimeError:
        return False
    return True
