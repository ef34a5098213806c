"""Attention scores for the relative positions of patches."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import linear


class RelativePositionParameters(NamedTuple):
    """Weights of the relative positions of patches, of rows and of columns alike.

    Attributes:
        row_embedding: One for every distance between rows: (2 · height − 1, key).
        column_embedding: One for every distance between columns: (2 · width − 1, key).
        row_head: (head, key).
        column_head: (head, key).
        row_code: (head, code).
        column_code: (head, code).

    Reference:
        gondal2021, section 4.2, after the released code.
    """

    row_embedding: Tensor
    column_embedding: Tensor
    row_head: Tensor
    column_head: Tensor
    row_code: Tensor
    column_code: Tensor


def relative_position_scores(
    codes: Float[Tensor, "function code"],
    parameters: RelativePositionParameters,
    num_leading: int = 0,
) -> Float[Tensor, "function head item item"]:
    r"""Scores added to the attention from patch $i$ to patch $j$ for their relative position.

    $$r_{uhij} = a_h \cdot R_{\rho_j - \rho_i} + \alpha_h \cdot c_u
      + b_h \cdot K_{\kappa_j - \kappa_i} + \beta_h \cdot c_u$$

    for patches in rows $\rho$ and columns $\kappa$, row by row; 0 from and to leading elements that
    are no patches. What the code $c_u$ adds separates patches from those: among patches it is the
    same for all, and attention does not see it.

    Args:
        codes: $c$.
        parameters: $R$, $K$, $a$, $b$, $\alpha$ and $\beta$, in this order.
        num_leading: How many elements stand before the patches.

    Reference:
        gondal2021, section 4.2, after the released code.
    """
    sides = []
    for embedding, head, code in (
        (parameters.row_embedding, parameters.row_head, parameters.row_code),
        (parameters.column_embedding, parameters.column_head, parameters.column_code),
    ):
        size = (len(embedding) + 1) // 2
        place = torch.arange(size, device=codes.device)
        distance = place - place.unsqueeze(-1) + size - 1  # of key (second) from query (first)
        by_head = linear(head, embedding)[:, distance]
        sides.append(by_head + linear(codes, code)[:, :, None, None])
    rows, columns = sides
    scores = rows[:, :, :, None, :, None] + columns[:, :, None, :, None, :]
    return F.pad(scores.flatten(4, 5).flatten(2, 3), (num_leading, 0, num_leading, 0))
