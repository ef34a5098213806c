"""Context whitening: the embeddings of a problem made orthogonal wherever they differ."""

from __future__ import annotations

import math
from typing import Any, Final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from farfield.functional._autograd._segments import without_padding

_SMALLEST_EPS: Final = 1e-13
"""Least eigenvalue that float64 tells from the rounding of a spectrum whose mean is 1."""


def context_whiten(
    z: Float[Tensor, "*batch time feature"],
    *,
    eps: float = 1e-2,
    padding_mask: Bool[Tensor, "*batch time"] | None = None,
) -> Float[Tensor, "*batch time feature"]:
    r"""Whiten the embeddings of a problem over its positions.

    $$Y = \sqrt{D} \left(\tfrac{1}{s} Z Z^\top + \epsilon I\right)^{-1/2} \tfrac{1}{\sqrt s} Z,
      \qquad s = \tfrac{1}{T} \mathrm{tr}\, Z Z^\top$$

    with $T$ positions and $D$ features. Where the embeddings of different items are linearly
    independent, which $T \le D$ different ones nearly always are, the inner products of the result
    tell which positions are equal and nothing else: for $\epsilon \to 0$,

    $$y_i \cdot y_j = \begin{cases} D / n_i & z_i = z_j \\ 0 & \text{otherwise} \end{cases}$$

    with $n_i$ the number of positions that hold the item of position $i$. They are the same for any
    invertible linear map of the embeddings, and so for items never seen. `context_norm` takes out
    location and scale of every feature by itself; this takes out every correlation too.

    Args:
        z: Embeddings.
        eps: Added to the spectrum, relative to its mean: items whose difference is less than about
            its square root count as one. At least 1e-13; 1e-6 for items equal to the last bit.
        padding_mask: True at positions that hold padding: they count for nothing, and become 0.

    Returns:
        The whitened embeddings, in the dtype of `z`; the root is taken in float64. Where all
        embeddings are 0, they stay so; where one is not finite, all of its problem are nan.

    Raises:
        ValueError: If `z` is not `(*batch, time, feature)` with at least one position, `eps` is too
            small or not finite, or the mask of another shape.

    Reference:
        A mechanism of this library; Huang et al. 2018 (huang2018) whiten over a batch.
    """
    if z.ndim < 2 or 0 in z.shape[-2:] or not z.is_floating_point():
        raise ValueError(
            "z must be a floating-point tensor of (*batch, time, feature) with at least one "
            f"position, got {z.dtype} of shape {tuple(z.shape)}"
        )
    if not _SMALLEST_EPS <= eps < math.inf:
        raise ValueError(f"eps must be at least {_SMALLEST_EPS:g} and finite, got {eps}")
    wide, positions = z.double(), torch.full((), z.shape[-2], device=z.device)
    if padding_mask is not None:
        wide = without_padding(wide, padding_mask)
        positions = (~padding_mask).sum(-1)[..., None, None].clamp_min(1)
    scale = wide.square().sum((-2, -1), keepdim=True) / positions
    finite = scale.isfinite()
    # The root of a matrix with a nan fails, and that of all other problems with it.
    unit = torch.where(finite, wide * torch.where(scale > 0, scale, 1).rsqrt(), 0)
    identity = torch.eye(z.shape[-2], dtype=wide.dtype, device=z.device)
    matrix = unit @ unit.mT + eps * identity
    if torch.compiler.is_exporting() or torch.onnx.is_in_onnx_export():
        whitened = _inverse_root_by_products(matrix, eps / (1 + eps) / int(z.shape[-2])) @ unit
    else:
        # torch leaves `apply` untyped.
        root: Tensor = _Root.apply(matrix)  # type: ignore[no-untyped-call]
        whitened = torch.linalg.solve(root, unit)
    return torch.where(finite, whitened * math.sqrt(z.shape[-1]), math.nan).to(z.dtype)


def _inverse_root_by_products(matrix: Tensor, least: float) -> Tensor:
    r"""Compute $A^{-1/2}$ by Newton's iteration, for formats without eigenvectors.

    From $Y_0 = A / \mathrm{tr} A$ and $Z_0 = I$, with $W = \tfrac{1}{2} (3 I - Z Y)$, $Y \gets Y W$
    and $Z \gets W Z$ converge to root and inverse root. An eigenvalue far below 1 grows by 9 / 4 in
    an iteration, and the last few square the error.

    Args:
        matrix: $A$, positive.
        least: The least that an eigenvalue can be, as a part of the trace.
    """
    identity = torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    trace = matrix.diagonal(dim1=-2, dim2=-1).sum(-1)[..., None, None]
    root, inverse = matrix / trace, identity
    for _ in range(math.ceil(math.log(1 / least, 9 / 4)) + 8):
        step = (3 * identity - inverse @ root) / 2
        root, inverse = root @ step, step @ inverse
    return inverse * trace.rsqrt()


class _Root(torch.autograd.Function):
    r"""The root $B$ of a positive matrix $A = B B$.

    From $dA = dB\, B + B\, dB$ the gradient is a solution of the same equation; unlike the gradient
    of eigenvectors it is finite where eigenvalues are equal, which they are wherever items repeat.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(matrix: Tensor) -> Tensor:
        values, vectors = torch.linalg.eigh(matrix)
        return (vectors * values.clamp_min(0).sqrt().unsqueeze(-2)) @ vectors.mT

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:  # noqa: ARG004
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        found: Tensor = _Balance.apply(*ctx.saved_tensors, gradient)  # type: ignore[no-untyped-call]
        return found


class _Balance(torch.autograd.Function):
    """The solution X of B X + X B = C for a positive B: of itself the derivative it is made of."""

    generate_vmap_rule = True

    @staticmethod
    def forward(root: Tensor, right: Tensor) -> Tensor:
        values, vectors = torch.linalg.eigh(root)
        turned = vectors.mT @ right @ vectors
        return vectors @ (turned / (values.unsqueeze(-1) + values.unsqueeze(-2))) @ vectors.mT

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        root, solution = ctx.saved_tensors
        back: Tensor = _Balance.apply(root, gradient)  # type: ignore[no-untyped-call]
        return -(back @ solution.mT + solution.mT @ back), back
