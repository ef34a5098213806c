"""Matrix products of float32 on a CPU, by the faster of torch's kernels.

Where a processor has AVX-512, oneDNN's products take about half the time of those that torch calls
(MKL's, on a processor that is not Intel's), and sum in float32 as they do. The operator is not one
that torch promises to keep: where it is missing or gives another result, and for all that it is not
made for, torch's own product is taken.
"""

from __future__ import annotations

import functools
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield._machine import takes

_WORTHWHILE = 2**21
"""Multiplications from which on the operator makes up for its slower start."""


def product(first: Tensor, second: Tensor) -> Tensor:
    """Multiply two matrices. Not differentiable: for gradients written by hand.

    Args:
        first: (row, inner).
        second: (inner, column).
    """
    if not _is_faster(first, second.t()):
        return first @ second
    if _is_better_turned(first, second):
        return _by_onednn(second.t(), first).t()
    return _by_onednn(first, second.t())


def add_product(added: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Add the product of two matrices to `added`. Not differentiable.

    Args:
        added: (row, column), or a shape that broadcasts to it.
        first: (row, inner).
        second: (inner, column).
    """
    if _is_faster(first, second.t()):
        return _by_onednn(first, second.t()).add_(added)
    return torch.addmm(added, first, second)


def linear(
    inputs: Float[Tensor, "*batch _"],
    weight: Float[Tensor, "_ _"],
    bias: Float[Tensor, " _"] | None = None,
) -> Float[Tensor, "*batch _"]:
    """Apply `torch.nn.functional.linear` by the faster of torch's kernels.

    It is differentiable as often as torch's, and is torch's wherever that one is not slower: for
    small products, other types than float32, other devices than a CPU with AVX-512, and under
    `torch.func` and `torch.compile`. Sums are taken in another order, so float32 rounds otherwise.

    Args:
        inputs: `(*batch, in)`.
        weight: `(out, in)`.
        bias: `(out)`, or None for zeros.
    """
    if not (_is_faster(inputs, weight) and _fit(inputs, weight, bias)):
        return F.linear(inputs, weight, bias)
    if torch.is_grad_enabled():
        # On rows, since the output of a `Function` that is a view may not be changed in place;
        # torch leaves `apply` untyped.
        rows: Tensor = _Linear.apply(as_table(inputs), weight, bias)  # type: ignore[no-untyped-call]
        return rows.view(*inputs.shape[:-1], len(weight))
    return _by_onednn(inputs, weight, bias)


def linear_by_group(
    inputs: Float[Tensor, "group row _"],
    weight: Float[Tensor, "group _ _"],
    bias: Float[Tensor, "group _"] | None = None,
) -> Float[Tensor, "group row _"]:
    """Apply a separate linear layer to each of several groups, as one batched product.

    Args:
        inputs: (group, row, in).
        weight: (group, out, in).
        bias: (group, out), or None for zeros.
    """
    if bias is None:
        return torch.bmm(inputs, weight.transpose(1, 2))
    return torch.baddbmm(bias.unsqueeze(1), inputs, weight.transpose(1, 2))


class _Linear(torch.autograd.Function):
    """Rows times a matrix; made of `linear` backward too, so that its gradient has a gradient."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        return _by_onednn(inputs, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight = ctx.saved_tensors
        of_inputs, of_weight, of_bias = ctx.needs_input_grad
        return (
            linear(gradient, weight.t()) if of_inputs else None,
            _of_weight(gradient, inputs) if of_weight else None,
            gradient.sum(0) if of_bias else None,
        )


def as_table(x: Tensor) -> Tensor:
    """Flatten all axes except the last; works in batched gradients, unlike `flatten`.

    Args:
        x: (…, feature).
    """
    return x.reshape(-1, x.shape[-1])


def _of_weight(gradient: Tensor, inputs: Tensor) -> Tensor:
    """Compute the gradient of a weight, (out, in), from (row, out) and (row, in)."""
    if _is_better_turned(gradient.t(), inputs):
        return linear(inputs.t(), gradient.t()).t()
    return linear(gradient.t(), inputs.t())


def _is_better_turned(first: Tensor, second: Tensor) -> bool:
    """Tell whether a product is faster as the transpose of the product of the transposes.

    The operator copies a first operand whose rows do not stand together: the smaller one is better.
    """
    return not first.is_contiguous() and first.shape[0] > second.shape[1]


def _is_faster(inputs: Tensor, weight: Tensor) -> bool:
    """Tell whether to use the operator for `linear(inputs, weight)`."""
    return (
        not is_rewritten()  # asked first: a program may be for any number of inputs
        and takes("onednn", inputs.numel() * weight.shape[0] >= _WORTHWHILE and _works())
        and inputs.numel() * weight.shape[0] > 0
        and inputs.dtype == weight.dtype == torch.float32
        and inputs.is_cpu
        and weight.is_cpu
        and cast("bool", torch.backends.mkldnn.enabled)
        and _exists()
    )


def _fit(inputs: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    """Check for rows, a matrix and a bias per output; torch handles all other shapes."""
    return (
        inputs.ndim > 1
        and weight.ndim == 2
        and inputs.shape[-1] == weight.shape[1]
        and (
            bias is None
            or (bias.shape == weight.shape[:1] and bias.dtype == weight.dtype and bias.is_cpu)
        )
    )


def is_transformed() -> bool:
    """Tell whether `torch.func` is active, or this torch does not say."""
    tell = getattr(torch._C, "_are_functorch_transforms_active", None)  # noqa: SLF001
    return tell is None or bool(tell())


def is_rewritten() -> bool:
    """Tell whether torch decomposes or casts operations, so that it must know all of them."""
    return is_recorded() or is_transformed() or is_autocast()


def is_recorded() -> bool:
    """Tell whether torch traces a program, to be run on other inputs too."""
    # torch leaves `is_tracing` untyped.
    traced: bool = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    return traced or torch.compiler.is_compiling()


def is_autocast() -> bool:
    """Tell whether `torch.autocast` is active, on a CPU or a GPU."""
    return torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")


def _works() -> bool:
    """Tell whether the operator exists and was measured to be faster on this processor."""
    return torch.backends.cpu.get_cpu_capability() == "AVX512" and _exists()


@functools.cache
def _exists() -> bool:
    """Tell whether the operator exists and gives correct products."""
    first, second = torch.eye(3)[1:], torch.arange(15.0).reshape(5, 3)
    try:
        return torch.equal(_by_onednn(first, second, torch.ones(5)), second.t()[1:] + 1)
    except (AttributeError, NotImplementedError, RuntimeError, TypeError):
        return False


def _by_onednn(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    # A matrix cut from a wider one would fall to a kernel that is hundreds of times slower; of a
    # bias the operator reads as many numbers as there are outputs from the address of the first.
    if not (weight.is_contiguous() or weight.t().is_contiguous()):
        weight = weight.contiguous()
    if bias is not None:
        bias = bias.contiguous()
    found: Tensor = torch.ops.mkldnn._linear_pointwise(  # noqa: SLF001
        inputs, weight, bias, "none", [], ""
    )
    return found
