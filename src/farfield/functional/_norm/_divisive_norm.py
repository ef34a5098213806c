"""Divisive normalization: its formula, then its gradient by hand."""

from __future__ import annotations

from functools import lru_cache, partial
from numbers import Integral
from typing import Any, Final, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield._machine import on_cpu
from farfield.functional._autograd._products import is_recorded, is_transformed
from farfield.functional._autograd._segments import scalar_like
from farfield.functional._autograd._unroll import differentiable_gradients


class Windows(NamedTuple):
    """The fields of a unit.

    Attributes:
        summation: Height and width of the window whose mean is taken out.
        suppression: Height and width of the window whose squares are summed.
        suppression_size: Divisor of this sum, beside the number of channels.
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
    """Compute the mean of the summation field, `(batch, 1, height, width)`."""
    height, width = windows.summation
    return _box(z.mean(1, keepdim=True), windows.summation) / (height * width)


# A vector of a few hundred numbers is too short for sums by halves: a product with ones around the
# diagonal calculates more in two operations where those take twenty.
# As fast as maps of one row times 2.8 at 20 × 200, 0.7 at 128 × 400, where it stays for its bits.
def normalized_vectors(
    z: Tensor, smoothing: Tensor, window: int, suppression_window: int
) -> Tensor:
    """Center vectors `(*batch, feature)` and divide them by the root of their local power.

    Args:
        z: The vectors.
        smoothing: Added to the power.
        window: Number of units in the summation field.
        suppression_window: Number of units in the suppression field.
    """
    v = centered_vectors(z, window)
    power = v.square() @ window_mean(z, suppression_window)
    return v * (power + smoothing).rsqrt()


def centered_vectors(z: Tensor, window: int) -> Tensor:
    """Subtract the mean of the window around each unit from vectors.

    Args:
        z: The vectors.
        window: Number of units in a window.
    """
    return z - z @ window_mean(z, window)


def box_sum(x: Tensor, window: int, axis: int, before: int | None = None) -> Tensor:
    """Sum over `window` neighbors along an axis, with zeros beyond both ends.

    Sums of 1, 2, 4, … neighbors are made of each other and put together: as many additions as
    the window's number has binary digits, and no difference of large sums as with cumulative ones.

    Args:
        x: Numbers to sum.
        window: Number of neighbors.
        axis: Counted from the end, -1 or -2.
        before: Number of them before the position itself; None is half of the others, one
            less than after it where their number is odd. `window // 2` is the adjoint of that.
    """
    first = (window - 1) // 2 if before is None else before
    ends = (0, 0) * (-axis - 1) + (first, window - 1 - first)
    sums, length = F.pad(x, ends), x.shape[axis]
    total, start, width = None, 0, 1
    while True:
        if window & width:
            part = sums.narrow(axis, start, length)
            total = part if total is None else total + part
            start += width
        if 2 * width > window:
            return x if total is None else total
        left = sums.shape[axis] - width
        sums = sums.narrow(axis, 0, left) + sums.narrow(axis, width, left)
        width *= 2


# Compiled training is 2.1 to 2.4 times as fast as with `box_sum`, eager inference 0.5 to 1.1 times.
def box_product(x: Tensor, window: int, axis: int, before: int | None = None) -> Tensor:
    """Compute the same sum as a product with a band matrix, 1 around its diagonal.

    More to calculate, but a compiler leaves a product alone, while it would fuse the additions into
    everything that uses their result and repeat them there.

    Args:
        x: Numbers to sum.
        window: Number of neighbors.
        axis: Counted from the end, -1 or -2.
        before: As of `box_sum`.
    """
    position = torch.arange(x.shape[axis], device=x.device)
    behind = position.unsqueeze(0) - position.unsqueeze(1)  # column less row
    first = (window - 1) // 2 if before is None else before
    band = ((behind >= -first) & (behind < window - first)).to(x.dtype)
    return band @ x if axis == -2 else x @ band.transpose(0, 1)


def divisive_norm_2d(
    z: Float[Tensor, "batch channel height width"],
    window: int,
    *,
    suppression_window: int | None = None,
    sigma: float | Float[Tensor, ""] = 1.0,
    released_suppression: bool = False,
) -> Float[Tensor, "batch channel height width"]:
    r"""Normalize every unit of an image by the units around it, over all channels.

    $$v = z - \mathbb{E}_{\mathcal{A}}[z], \qquad
      y = \frac{v}{\sqrt{\sigma^2 + \mathbb{E}_{\mathcal{B}}[v^2]}}$$

    with the mean over all channels of a square window around the unit, whose side is `window` for
    the summation field $\mathcal{A}$ and `suppression_window` for the suppression field
    $\mathcal{B}$. Beyond the border there are zeros, and means are divided by the full window, so
    that they shrink there. A window of even side reaches one further after the unit than before.
    `torch.nn.functional.local_response_norm` divides by a window over channels, and centers
    nothing.

    Args:
        z: Activations.
        window: Side of the summation field, pixels; the paper's radius R is 2 R + 1 here.
        suppression_window: Side of the suppression field, pixels. None is `window`.
        sigma: The constant $\sigma$, whose square is added; a tensor gets a gradient.
        released_suppression: Divide the sum over the suppression field by the size of the summation
            field, as the released code does by mistake; with equal windows nothing changes.

    Returns:
        The normalized activations, in the dtype of `z`; statistics are taken in at least float32.

    Raises:
        ValueError: If `z` is not a batch of images, or a window is not an integer ≥ 1.

    Reference:
        ren2017, equations 3 and 4, table 1.
    """
    side = window if suppression_window is None else suppression_window
    size = window**2 if released_suppression else side**2
    windows = _checked(z, Windows((window, window), (side, side), size))
    return _normalized(z, windows, sigma)


def divisive_norm_1d(
    z: Float[Tensor, "*batch feature"],
    window: int,
    *,
    suppression_window: int | None = None,
    sigma: float | Float[Tensor, ""] = 1.0,
) -> Float[Tensor, "*batch feature"]:
    r"""Normalize every unit of a vector by the units beside it.

    $$v_j = z_j - \frac{1}{n} \sum_{i \in W_j} z_i, \qquad
      y_j = \frac{v_j}{\sqrt{\sigma^2 + \frac{1}{n} \sum_{i \in W_j} v_i^2}}$$

    with the window $W_j$ of $n$ units around $j$. Beyond both ends there are zeros, and sums are
    divided by the full window. An even window reaches one further after the unit than before.

    Args:
        z: Activations.
        window: Number of units in the summation field; the paper's radius R is 2 R + 1 here.
        suppression_window: Number of units in the suppression field. None is `window`.
        sigma: The constant $\sigma$, whose square is added; a tensor gets a gradient.

    Returns:
        The normalized activations, in the dtype of `z`; statistics are taken in at least float32.

    Raises:
        ValueError: If `z` has no feature, or a window is not an integer ≥ 1.

    Reference:
        ren2017, equations 6 and 7.
    """
    maps = _maps(z)
    side = window if suppression_window is None else suppression_window
    windows = _checked(maps, Windows((1, window), (1, side), side))
    if z.shape[-1] > LONGEST:
        return _normalized(maps, windows, sigma).reshape(z.shape)
    wide = _wide(z)
    smoothing = scalar_like(sigma, wide).square()
    return normalized_vectors(wide, smoothing, window, side).to(z.dtype)


LONGEST: Final = 1024
"""Most numbers of a vector whose windows are summed by a product."""


def divisive_center_2d(
    z: Float[Tensor, "batch channel height width"], window: int
) -> Float[Tensor, "batch channel height width"]:
    r"""Subtract the mean of its summation field from every unit, the $v$ of `divisive_norm_2d`.

    Args:
        z: Activations.
        window: Side of the summation field, pixels.

    Raises:
        ValueError: If `z` is not a batch of images, or the window is not an integer ≥ 1.

    Reference:
        ren2017, equations 3 and 5.
    """
    return _centered(z, _checked(z, Windows((window, window), (1, 1), 1)))


def divisive_center_1d(
    z: Float[Tensor, "*batch feature"], window: int
) -> Float[Tensor, "*batch feature"]:
    r"""Subtract the mean of its summation field from every unit, the $v$ of `divisive_norm_1d`.

    Args:
        z: Activations.
        window: Number of units in the summation field.

    Raises:
        ValueError: If `z` has no feature, or the window is not an integer ≥ 1.

    Reference:
        ren2017, equations 5 and 6.
    """
    maps = _maps(z)
    windows = _checked(maps, Windows((1, window), (1, 1), 1))
    if z.shape[-1] > LONGEST:
        return _centered(maps, windows).reshape(z.shape)
    return centered_vectors(_wide(z), window).to(z.dtype)


def _maps(z: Tensor) -> Tensor:
    """View vectors as images of one channel and one row."""
    if z.ndim < 1 or z.shape[-1] == 0 or not z.is_floating_point():
        raise ValueError(
            "z must be a floating-point tensor of (*batch, feature) with at least one feature, "
            f"got {z.dtype} of shape {tuple(z.shape)}"
        )
    return z.reshape(-1, 1, 1, z.shape[-1])


def _checked(z: Tensor, windows: Windows) -> Windows:
    """Check and return the fields, and check the activations that they are put over."""
    if z.ndim != 4 or 0 in z.shape[1:] or not z.is_floating_point():
        raise ValueError(
            "z must be a floating-point tensor of (batch, channel, height, width), "
            f"got {z.dtype} of shape {tuple(z.shape)}"
        )
    sides = (windows.summation[1], windows.suppression[1])
    if not all(isinstance(side, Integral) for side in sides) or min(sides) < 1:
        raise ValueError(
            "window and suppression_window must be integers of at least 1, "
            f"got {sides[0]} and {sides[1]}"
        )
    return windows


def _wide(z: Tensor) -> Tensor:
    return z.to(torch.promote_types(z.dtype, torch.float32))


def _centered(z: Tensor, windows: Windows) -> Tensor:
    wide = _wide(z)
    return (wide - local_mean(wide, windows)).to(z.dtype)


def _normalized(z: Tensor, windows: Windows, sigma: float | Tensor) -> Tensor:
    wide = _wide(z)
    smoothing = scalar_like(sigma, wide).square()
    if is_transformed() or is_recorded():
        return divisive_norm_plain(wide, smoothing, windows).to(z.dtype)
    # torch leaves `apply` untyped.
    found: Tensor = DivisiveNormByHand.apply(wide, smoothing, windows)  # type: ignore[no-untyped-call]
    return found.to(z.dtype)


_BLOCK: Final = 2**19
"""Numbers in a block."""


# The windows slide over maps of one channel, the mean of all; the cost is in the passes over all
# channels. They run over a block of images that the processor's cache holds, in the order in which
# the images lie in memory, channels first or last. A compiler makes few passes of the formula by
# itself.
# 1.9 times as fast as the formula at 100 × 32 × 32 × 32, 1.5 times at 100 × 64 × 16 × 16.
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


def _gradient_of_rows(tensors: tuple[Tensor, ...], windows: Windows) -> None:
    r"""Write the gradient of each image, and the summands of the gradient of the constant.

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
    for g, block, result, offset, mean, root, multiple in _blocks(rows, *tensors):
        v, gv = (buffer[: len(block)] for buffer in buffers)
        torch.sub(block, mean, out=v)
        multiple.copy_(_mean_of_channels(torch.mul(g, v, out=gv)))
        along = _box(multiple * root.pow(3), windows.suppression, adjoint=True)
        along.div_(-windows.suppression_size)  # ∂v = g r + v along
        of_mean = _mean_of_channels(g).mul_(root).addcmul_(along, offset)
        # ∂z = ∂v + shift, by the mean of ∂v over channels
        shift = _box(of_mean, windows.summation, adjoint=True).div_(-area)
        torch.addcmul(shift, g, root, out=gv)
        torch.addcmul(gv, v, along, out=result)


def _box(maps: Tensor, window: tuple[int, int], *, adjoint: bool = False) -> Tensor:
    """Sum over the window around every position of maps `(batch, 1, height, width)`."""
    for axis, side in ((-1, window[1]), (-2, window[0])):
        if side > 1:
            sums = box_product if torch.compiler.is_compiling() else box_sum
            maps = sums(maps, side, axis, side // 2 if adjoint else None)
    return maps.clone() if window == (1, 1) else maps


def _rows(z: Tensor) -> int:
    """Choose the number of images in a block: all of them, except on a CPU."""
    return max(1, _BLOCK // max(1, z[0].numel())) if on_cpu(z) and len(z) else max(1, len(z))


def _format(z: Tensor) -> torch.memory_format:
    """Choose the order in memory of results: channels last for activations that have them there."""
    if not z.is_contiguous() and z.is_contiguous(memory_format=torch.channels_last):
        return torch.channels_last
    return torch.contiguous_format


def _buffers(z: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """Allocate two blocks of so many images."""
    first = torch.empty(
        (rows, *z.shape[1:]), dtype=z.dtype, device=z.device, memory_format=_format(z)
    )
    return first, torch.empty_like(first)


def _blocks(rows: int, *tensors: Tensor) -> zip[tuple[Tensor, ...]]:
    return zip(*(torch.split(tensor, rows) for tensor in tensors), strict=True)


def _mean_of_channels(block: Tensor) -> Tensor:
    """Compute the mean over axis 1 as a map of one channel."""
    channels = block.shape[1]
    if channels > 1 and on_cpu(block) and torch.get_float32_matmul_precision() == "highest":
        # 0.9 to 1.06 times as fast as torch's mean, which would round otherwise.
        if _format(block) is torch.channels_last:
            weights = block.new_full((channels,), 1 / channels)
            pixels = block.movedim(1, -1)
            return torch.mv(pixels.flatten(0, 2), weights).view(pixels.shape[:3]).unsqueeze(1)
        ones = block.new_full((1, 1, channels), 1 / channels)
        maps = block.new_empty(len(block), 1, *block.shape[2:])
        torch.bmm(ones.expand(len(block), -1, -1), block.flatten(2), out=maps.flatten(2))
        return maps
    return block.mean(1, keepdim=True)


def window_mean(z: Tensor, window: int) -> Tensor:
    """Make the matrix whose columns are the windows, for vectors on the left."""
    made = _mean_matrix.__wrapped__ if is_recorded() else _mean_matrix
    return made(z.shape[-1], window, z.dtype, z.device)


@lru_cache(maxsize=16)
def _mean_matrix(size: int, window: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Make a matrix that is 1 in the window of each column, else 0."""
    with torch.inference_mode(False):
        unit = torch.arange(size, device=device)
        behind = unit.unsqueeze(1) - unit.unsqueeze(0)  # row less column
        first = (window - 1) // 2
        inside = (behind >= -first) & (behind < window - first)
        return inside.to(dtype) / window
