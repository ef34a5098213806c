"""Context normalization with its gradient written out, a block of problems at a time.

What it costs is memory traffic. Every operation runs over a block of problems that the processor's
cache holds, so that each number comes from memory once forward and twice backward, and goes there
once.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import torch
from torch import Tensor

from farfield._machine import on_cpu
from farfield.functional._autograd._gradient_of_gradient import differentiable_gradients

_BLOCK: Final = 2**18
"""Numbers in a block."""


def context_norm_plain(
    z: Tensor, weight: Tensor | None, bias: Tensor | None, smoothing: Tensor, correction: int
) -> Tensor:
    """Normalize `(batch, time, feature)` over time, as autograd differentiates it."""
    centered = z - z.mean(1, keepdim=True)
    variance = centered.square().sum(1, keepdim=True) / (z.shape[1] - correction)
    scaled = centered * (variance + smoothing).rsqrt()
    if weight is not None:
        scaled = scaled * weight
    return scaled if bias is None else scaled + bias


def context_norm_unrolled(
    z: Tensor, weight: Tensor | None, bias: Tensor | None, smoothing: Tensor, correction: int
) -> Tensor:
    """The same, place by place: a compiler makes one pass of it, and several of sums over time."""
    places = z.unbind(1)
    mean = sum(places[1:], places[0]) / len(places)
    centered = [place - mean for place in places]
    squares = sum([v.square() for v in centered[1:]], centered[0].square())
    gain = (squares / (len(places) - correction) + smoothing).rsqrt()
    if weight is not None:
        gain = gain * weight
    shift = 0.0 if bias is None else bias
    return torch.stack([v * gain + shift for v in centered], dim=1)


class ContextNormByHand(torch.autograd.Function):
    """The values of `context_norm_plain`; not for the transformations of `torch.func`."""

    @staticmethod
    def forward(
        ctx: Any,
        z: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        smoothing: Tensor,
        correction: int,
    ) -> Tensor:
        batch, time, feature = z.shape
        out = torch.empty_like(z, memory_format=torch.contiguous_format)
        means, roots = z.new_empty(2, batch, 1, feature)
        rows = _rows(z)
        centered, squares = z.new_empty(2, rows, time, feature)
        for block, result, mean, root in _blocks(rows, z, out, means, roots):
            v, vv = centered[: len(block)], squares[: len(block)]
            _sum_over_time(block, mean, 1 / time)
            torch.sub(block, mean, out=v)
            torch.sum(torch.mul(v, v, out=vv), 1, keepdim=True, out=root)
            torch.add(smoothing, root, alpha=1 / (time - correction), out=root).rsqrt_()
            gain = root if weight is None else root * weight
            if bias is None:
                torch.mul(v, gain, out=result)
            else:
                torch.addcmul(bias, v, gain, out=result)
        ctx.save_for_backward(z, weight, bias, smoothing, means, roots)
        ctx.correction = correction
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        z, weight, bias, smoothing, means, roots = ctx.saved_tensors
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.
            plain = partial(context_norm_plain, correction=ctx.correction)
            primals = (z, weight, bias, smoothing)
            again = differentiable_gradients(plain, primals, [gradient])
            return (*again, None)
        of_z = torch.empty_like(z, memory_format=torch.contiguous_format)
        sums, products = torch.empty_like(means), torch.empty_like(means)
        of_rows = (gradient, z, of_z, means, roots, sums, products)
        _gradient_of_rows(of_rows, weight, ctx.correction)
        of_scale = None
        if ctx.needs_input_grad[3]:
            each = products if weight is None else products * weight
            # dε = −½ Σ γ r² Σ g y
            of_scale = (each * roots.square()).sum().mul(-0.5)
        # dγ = Σ g y, dβ = Σ g
        return (
            of_z,
            None if weight is None else products.sum((0, 1)),
            None if bias is None else sums.sum((0, 1)).mul_(-z.shape[1]),
            of_scale,
            None,
        )


def _gradient_of_rows(tensors: tuple[Tensor, ...], weight: Tensor | None, correction: int) -> None:
    r"""Write the gradient of each problem, and what those of gain and shift are made of.

    With $g$ the gradient of the result, $y = v r$ the normalized embeddings and $a = \gamma r$,

    $$\partial z = a \left(g - \tfrac{1}{T} \sum g - \tfrac{1}{T - c}\, y \sum g y\right)$$

    Args:
        tensors: Gradient, embeddings, their gradient to be written, means, reciprocal roots, and
            the sums of $-g/T$ and of $g y$ to be written.
        weight: The gain.
        correction: What is subtracted from the number of places in the variance.
    """
    time, rows = tensors[1].shape[1], _rows(tensors[1])
    buffers = tensors[1].new_empty(2, rows, *tensors[1].shape[1:])
    for g, block, result, mean, root, total, product in _blocks(rows, *tensors):
        v, gv = buffers[:, : len(block)]
        _sum_over_time(g, total, -1 / time)  # −Σ g / T
        torch.sub(block, mean, out=v)
        torch.sum(torch.mul(g, v, out=gv), 1, keepdim=True, out=product)
        product.mul_(root)  # Σ g y = r Σ g v
        gain = root if weight is None else root * weight
        torch.addcmul(total * gain, g, gain, out=gv)  # a (g − Σ g / T)
        along = (product * gain).mul_(root)  # a r Σ g y, and y = r v
        torch.addcmul(gv, v, along, value=-1 / (time - correction), out=result)


def _rows(z: Tensor) -> int:
    """Number of problems in a block: on other devices than a processor all of them."""
    return max(1, _BLOCK // max(1, z[0].numel())) if on_cpu(z) and len(z) else max(1, len(z))


def _blocks(rows: int, *tensors: Tensor) -> zip[tuple[Tensor, ...]]:
    return zip(*(torch.split(tensor, rows) for tensor in tensors), strict=True)


def _sum_over_time(block: Tensor, out: Tensor, factor: float) -> None:
    """The sum over axis 1, times a factor, of numbers that still lie in memory."""
    if on_cpu(block) and torch.get_float32_matmul_precision() == "highest":
        # A product streams them three times as fast as torch's sum over such an axis.
        ones = block.new_full((1, 1, block.shape[1]), factor)
        torch.bmm(ones.expand(len(block), -1, -1), block, out=out)
    else:
        torch.sum(block, 1, keepdim=True, out=out).mul_(factor)
