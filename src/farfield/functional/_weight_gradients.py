"""Recurrences whose weights get their gradient from one product over all steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from farfield.functional._products import is_transformed, linear, product

Product = Callable[[Tensor], Tensor]
Recurrence = Callable[..., Tensor]


class Layer(NamedTuple):
    """A linear layer that every step of a recurrence applies.

    Attributes:
        weight: (out, in).
        bias: (out), or None.
    """

    weight: Tensor
    bias: Tensor | None = None


def recur(recurrence: Recurrence, layers: Sequence[Layer], *inputs: Tensor) -> Tensor:
    """What `recurrence(products, *inputs)` gives, with a faster gradient of the layers.

    Autograd makes a weight gradient at every step, a matrix as large as the weights, and adds
    them up. Here the gradients of all steps' outputs are gathered and multiplied once with all
    steps' inputs. Under the transformations of `torch.func`, when compiling and without gradients
    the recurrence runs as it stands.

    Args:
        recurrence: Takes one function per layer, to apply it with, and the inputs. It must
            depend on nothing else that gradients are wanted of.
        layers: What the steps share.
        inputs: The other tensors that gradients are wanted of.
    """
    if not torch.is_grad_enabled() or torch.compiler.is_compiling() or is_transformed():
        return _as_it_stands(recurrence, layers, inputs)
    shared = [tensor for layer in layers for tensor in layer]
    # torch leaves `apply` untyped.
    return _Recurrence.apply(recurrence, len(layers), *shared, *inputs)  # type: ignore[no-untyped-call]


def _as_it_stands(
    recurrence: Recurrence, layers: Sequence[Layer], inputs: Sequence[Tensor]
) -> Tensor:
    return recurrence([partial(linear, weight=w, bias=b) for w, b in layers], *inputs)


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, recurrence: Recurrence, num_layers: int, *tensors: Any) -> Tensor:
        layers, inputs = _sorted_out(num_layers, tensors)
        steps: list[list[tuple[Tensor, Tensor]]] = [[] for _ in layers]
        with torch.enable_grad():
            leaves = [tensor.detach().requires_grad_() for tensor in inputs]
            products = [_recorded(layer, taken) for layer, taken in zip(layers, steps, strict=True)]
            result = recurrence(products, *leaves)
        ctx.save_for_backward(*tensors)
        ctx.kept = (recurrence, leaves, steps, result)
        return result.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        recurrence, leaves, steps, result = ctx.kept
        saved = ctx.saved_tensors
        layers, inputs = _sorted_out(len(steps), saved)
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.
            again = _as_it_stands(recurrence, layers, inputs)
            return (None, None, *_differentiable(again, saved, gradient))
        outputs = [output for taken in steps for _, output in taken]
        found = torch.autograd.grad(
            result, [*leaves, *outputs], gradient, retain_graph=True, allow_unused=True
        )
        of_leaves, of_outputs = found[: len(leaves)], iter(found[len(leaves) :])
        of_layers = [
            _of_layer(layer, [(given, next(of_outputs)) for given, _ in taken])
            for layer, taken in zip(layers, steps, strict=True)
        ]
        return (None, None, *(own for pair in of_layers for own in pair), *of_leaves)


def _sorted_out(num_layers: int, tensors: Sequence[Any]) -> tuple[list[Layer], list[Tensor]]:
    layers = [Layer(*tensors[2 * n : 2 * n + 2]) for n in range(num_layers)]
    return layers, list(tensors[2 * num_layers :])


def _differentiable(
    result: Tensor, tensors: Sequence[Tensor | None], gradient: Tensor
) -> list[Tensor | None]:
    """Gradients of those tensors that want one, with a graph of their own."""
    wanted = {n: t for n, t in enumerate(tensors) if t is not None and t.requires_grad}
    found = torch.autograd.grad(
        result, list(wanted.values()), gradient, create_graph=True, allow_unused=True
    )
    by_number = dict(zip(wanted, found, strict=True))
    return [by_number.get(n) for n in range(len(tensors))]


def _recorded(layer: Layer, taken: list[tuple[Tensor, Tensor]]) -> Product:
    """The layer without gradients of its own, noting what goes in and what comes out."""
    weight = layer.weight.detach()
    bias = None if layer.bias is None else layer.bias.detach()

    def product(x: Tensor) -> Tensor:
        output = linear(x, weight, bias)
        taken.append((x.detach(), output))
        return output

    return product


def _of_layer(
    layer: Layer, steps: list[tuple[Tensor, Tensor | None]]
) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of weight and bias from the inputs and the outputs' gradients of all steps."""
    used = [(given.flatten(0, -2), own.flatten(0, -2)) for given, own in steps if own is not None]
    if not used:
        return None, None
    inputs, outputs = (torch.cat(rows) for rows in zip(*used, strict=True))
    return product(outputs.t(), inputs), None if layer.bias is None else outputs.sum(0)
