"""Context normalization over a window that slides along the problems of a batch."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional._norm._field_norm import in_sequence, out_of_sequence


def sliding_context_norm(
    z: Float[Tensor, "batch *candidate time feature"],
    weight: Float[Tensor, " feature"] | None = None,
    bias: Float[Tensor, " feature"] | None = None,
    *,
    length: int = 4,
    include_self: bool = True,
    eps: float | Float[Tensor, ""] = 1e-8,
) -> Float[Tensor, "batch *candidate time feature"]:
    r"""Normalize every embedding over itself and the embeddings before it, of any problem.

    The problems of a batch are put one behind the other, for every candidate by itself:

    $$y_j = \gamma \frac{z_j - \mu_j}{\sqrt{\sigma_j^2 + \epsilon}} + \beta, \qquad
      \mu_j = \frac{1}{n} \sum_{i \in W_j} z_i, \qquad
      \sigma_j^2 = \frac{1}{n} \sum_{i \in W_j} (z_i - \mu_j)^2$$

    with the window $W_j$ of the embeddings $j - n + 1, …, j$. The text leaves open the
    beginning, where nothing comes before: the window wraps round to the end of the batch, as it
    does in the released code.

    Args:
        z: Embeddings.
        weight: Gain $\gamma$ of each feature. None is one.
        bias: Shift $\beta$ of each feature. None is zero.
        length: Number of embeddings in a window, $n$.
        include_self: Whether the window ends with the embedding itself, as the text has it, or
            just before it, $j - n, …, j - 1$, as the released code has it.
        eps: Added to the variance; a tensor gets a gradient.

    Returns:
        The normalized embeddings, in the dtype of `z`; statistics are taken in at least float32.

    Raises:
        ValueError: If a shape does not fit or `length` is below 1.

    Reference:
        webb2020, section 4.2.
    """
    rows, around = _windows(z, length, include_self)
    mean = torch.stack(around).mean(0)
    variance = torch.stack([(row - mean).square() for row in around]).mean(0)
    scaled = (rows - mean) * (variance + eps).rsqrt()
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != z.shape[-1:]:
            raise ValueError(
                f"{name} must have one number per feature ({z.shape[-1]}), "
                f"got shape {tuple(parameter.shape)}"
            )
    if weight is not None:
        scaled = scaled * weight
    if bias is not None:
        scaled = scaled + bias
    return out_of_sequence(scaled, z).to(z.dtype)


def sliding_context_center(
    z: Float[Tensor, "batch *candidate time feature"],
    *,
    length: int = 4,
    include_self: bool = True,
) -> Float[Tensor, "batch *candidate time feature"]:
    r"""Subtract the mean of its window from every embedding, $z_j - \mu_j$.

    Args:
        z: Embeddings.
        length: Number of embeddings in a window.
        include_self: Whether the window ends with the embedding itself or just before it.

    Raises:
        ValueError: If `z` is not a batch of sequences or `length` is below 1.

    Reference:
        webb2020, section 4.2; ren2017, equation 5.
    """
    rows, around = _windows(z, length, include_self)
    return out_of_sequence(rows - torch.stack(around).mean(0), z).to(z.dtype)


def _windows(z: Tensor, length: int, include_self: bool) -> tuple[Tensor, list[Tensor]]:
    """Lay all problems in sequence, and move the sequence on to each position of the window."""
    if z.ndim < 3 or 0 in z.shape[1:] or not z.is_floating_point():
        raise ValueError(
            "z must be a floating-point tensor of (batch, *candidate, time, feature), none of the "
            f"last two 0, got {z.dtype} of shape {tuple(z.shape)}"
        )
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    rows = in_sequence(z.to(torch.promote_types(z.dtype, torch.float32)))
    first = 0 if include_self else 1
    if len(z) == 0:
        return rows, [rows]
    return rows, [rows.roll(turn, 1) for turn in range(first, first + length)]
