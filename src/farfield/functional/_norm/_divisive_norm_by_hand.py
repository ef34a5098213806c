"""Divisive normalization with its gradient written out, a block of images at a time.

The windows slide over maps of one channel, the mean of all; what costs is the passes over all
channels. They run over a block of images that the processor's cache holds, in the order in which
the images lie in memory, channels first or last. A compiler makes few passes by itself, over the
whole batch.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor

from farfield._machine import on_cpu
from farfield.functional._autograd._gradient_of_gradient import differentiable_gradients
from farfield.functional._norm._box_sum import box_product, box_sum

_BLOCK: Final = 2**19
"""Numbers in a block."""


class Windows(NamedTuple):
    """The fields of a unit.

    Attributes:
        summation: Height and width of the window whose mean is taken out.
        suppression: Height and width of the window whose squares are summed.
        suppression_size: What this sum is divided by, beside the number of channels.
    """

    summation: tuple[int, int]
    suppression: tuple[int, int]
    suppression_size: int


def divisive_norm_plain(z: Tensor, smoothing: Tensor, windows: Windows) -> Tensor:
    """Normalize `(batch, channel, height, width)`, as autograd differentiates it."""
    centered = z - local_mean(z, windows)
    squares = _box(centered.square().mean(1, keepdim=True), windows.suppression)
    return centered * (squares / windows.suppression_size + smoothing).rsqrt()


def local_mean(z: Tensor, windows: Windows) -> Tensor:
    """The mean of the summation field, `(batch, 1, height, width)`."""
    height, width = windows.summation
    return _box(z.mean(1, keepdim=True), windows.summation) / (height * width)


class DivisiveNormByHand(torch.autograd.Function):
    """The values of `divisive_norm_plain`; not for the transformations of `torch.func`."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, smoothing: Tensor, windows: Windows) -> Tensor:
        out = torch.empty_like(z, memory_format=_format(z))
        offsets, means, roots = z.new_empty(3, len(z), 1, *z.shape[2:])
        rows = _rows(z)
        buffers = _buffers(z, rows)
        area = windows.summation[0] * windows.summation[1]
        for block, result, offset, mean, root in _blocks(rows, z, out, offsets, means, roots):
            v, vv = (buffer[: len(block)] for buffer in buffers)
            average = _mean_of_channels(block)
            torch.div(_box(average, windows.summation), area, out=mean)
            # The mean of the centered activations, which the gradient needs.
            torch.sub(average, mean, out=offset)
            torch.sub(block, mean, out=v)
            squares = _mean_of_channels(torch.mul(v, v, out=vv))
            summed = _box(squares, windows.suppression)
            torch.add(smoothing, summed, alpha=1 / windows.suppression_size, out=root).rsqrt_()
            torch.mul(v, root, out=result)
        ctx.save_for_backward(z, smoothing, offsets, means, roots)
        ctx.windows = windows
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        z, smoothing, offsets, means, roots = ctx.saved_tensors
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.
            plain = partial(divisive_norm_plain, windows=ctx.windows)
            again = differentiable_gradients(plain, (z, smoothing), [gradient])
            return (*again, None)
        of_z = torch.empty_like(z, memory_format=_format(z))
        products = torch.empty_like(roots)
        of_rows = (gradient, z, of_z, offsets, means, roots, products)
        _gradient_of_rows(of_rows, ctx.windows)
        of_smoothing = None
        if ctx.needs_input_grad[1]:
            # dε = −½ Σ r³ Σ_c g v
            of_smoothing = (products * roots.pow(3)).sum().mul(-0.5 * z.shape[1])
        return of_z, of_smoothing, None


class DivisiveNormCompiled(torch.autograd.Function):
    """The same for a compiler, which does not differentiate twice.

    Of the gradient that autograd writes, the mean over channels waits for all of it, which is two
    passes more.
    """

    @staticmethod
    def forward(ctx: Any, z: Tensor, smoothing: Tensor, windows: Windows) -> Tensor:
        average = z.mean(1, keepdim=True)
        mean = _box(average, windows.summation) / (windows.summation[0] * windows.summation[1])
        squares = _box((z - mean).square().mean(1, keepdim=True), windows.suppression)
        root = (squares / windows.suppression_size + smoothing).rsqrt()
        ctx.save_for_backward(z, average - mean, mean, root)
        ctx.windows = windows
        return (z - mean) * root

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        z, offset, mean, root = ctx.saved_tensors
        v = z - mean
        product = (gradient * v).mean(1, keepdim=True) * root.pow(3)
        along = _box(product, ctx.windows.suppression, adjoint=True) / -ctx.windows.suppression_size
        of_mean = gradient.mean(1, keepdim=True) * root + along * offset
        area = ctx.windows.summation[0] * ctx.windows.summation[1]
        shift = _box(of_mean, ctx.windows.summation, adjoint=True) / -area
        of_smoothing = product.sum() * (-0.5 * z.shape[1]) if ctx.needs_input_grad[1] else None
        return gradient * root + v * along + shift, of_smoothing, None


def _gradient_of_rows(tensors: tuple[Tensor, ...], windows: Windows) -> None:
    r"""Write the gradient of each image, and what that of the constant is made of.

    With $g$ the gradient of the result, $r$ the reciprocal root, $C$ channels, and the adjoint
    $\mathcal{B}^*$ of the suppression field's mean,

    $$\partial v = g r - v\, \mathcal{B}^*[r^3 \textstyle\sum_c g v] / C, \qquad
      \partial z = \partial v - \mathcal{A}^*[\textstyle\sum_c \partial v] / C$$

    Args:
        tensors: Gradient, activations, their gradient to be written, channel means of the centered
            activations, local means, reciprocal roots, and the channel means of $g v$ to be
            written.
        windows: Both fields.
    """
    z = tensors[1]
    rows = _rows(z)
    buffers = _buffers(z, rows)
    area = windows.summation[0] * windows.summation[1]
    for g, block, result, offset, mean, root, product in _blocks(rows, *tensors):
        v, gv = (buffer[: len(block)] for buffer in buffers)
        torch.sub(block, mean, out=v)
        product.copy_(_mean_of_channels(torch.mul(g, v, out=gv)))
        along = _box(product * root.pow(3), windows.suppression, adjoint=True)
        along.div_(-windows.suppression_size)  # ∂v = g r + v along
        of_mean = _mean_of_channels(g).mul_(root).addcmul_(along, offset)
        # ∂z = ∂v + shift, by the mean of ∂v over channels
        shift = _box(of_mean, windows.summation, adjoint=True).div_(-area)
        torch.addcmul(shift, g, root, out=gv)
        torch.addcmul(gv, v, along, out=result)


def _box(maps: Tensor, window: tuple[int, int], *, adjoint: bool = False) -> Tensor:
    """Sums over the window around every place of maps `(batch, 1, height, width)`."""
    for axis, side in ((-1, window[1]), (-2, window[0])):
        if side > 1:
            sums = box_product if torch.compiler.is_compiling() else box_sum
            maps = sums(maps, side, axis, side // 2 if adjoint else None)
    return maps.clone() if window == (1, 1) else maps


def _rows(z: Tensor) -> int:
    """Number of images in a block: on other devices than a processor all of them."""
    return max(1, _BLOCK // max(1, z[0].numel())) if on_cpu(z) and len(z) else max(1, len(z))


def _format(z: Tensor) -> torch.memory_format:
    """The order in memory of results: channels last for activations that have them there."""
    if not z.is_contiguous() and z.is_contiguous(memory_format=torch.channels_last):
        return torch.channels_last
    return torch.contiguous_format


def _buffers(z: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """Two blocks of so many images."""
    first = torch.empty(
        (rows, *z.shape[1:]), dtype=z.dtype, device=z.device, memory_format=_format(z)
    )
    return first, torch.empty_like(first)


def _blocks(rows: int, *tensors: Tensor) -> zip[tuple[Tensor, ...]]:
    return zip(*(torch.split(tensor, rows) for tensor in tensors), strict=True)


def _mean_of_channels(block: Tensor) -> Tensor:
    """The mean over axis 1 as a map of one channel."""
    channels = block.shape[1]
    if channels > 1 and on_cpu(block) and torch.get_float32_matmul_precision() == "highest":
        # A product streams them several times as fast as torch's sum over such an axis.
        if _format(block) is torch.channels_last:
            weights = block.new_full((channels,), 1 / channels)
            pixels = block.movedim(1, -1)
            return torch.mv(pixels.flatten(0, 2), weights).view(pixels.shape[:3]).unsqueeze(1)
        ones = block.new_full((1, 1, channels), 1 / channels)
        maps = block.new_empty(len(block), 1, *block.shape[2:])
        torch.bmm(ones.expand(len(block), -1, -1), block.flatten(2), out=maps.flatten(2))
        return maps
    return block.mean(1, keepdim=True)
