"""Relative positions of the patches of an image, for each head and function."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Size, check_arguments
from farfield.functional import RelativePositionParameters, relative_position_scores


@final
class RelativePosition(nn.Module):
    r"""Scores for the way from one patch to another, rows and columns apart.

    $$r_{uhij} = a_h \cdot R_{\rho_j - \rho_i} + \alpha_h \cdot c_u
      + b_h \cdot K_{\kappa_j - \kappa_i} + \beta_h \cdot c_u$$

    where $R$ and $K$ are embeddings of distances between rows and between columns. Elements before
    the patches, such as CLS tokens, have 0 from and to all.

    Args:
        grid: Rows and columns of patches.
        num_heads: Number of heads.
        key_size: Numbers in an embedding of a distance.
        code_size: Numbers in a code.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from, embeddings from a normal distribution and
            the others as torch's linear layers do; None is torch's global generator.

    Shape:
        Codes `(function, code_size)` to `(function, num_heads, item, item)`.

    Attributes:
        row_embedding: $R$: `(2 · rows − 1, key_size)`.
        column_embedding: $K$: `(2 · columns − 1, key_size)`.
        row_head: $a$: `(num_heads, key_size)`.
        column_head: $b$: `(num_heads, key_size)`.
        row_code: $\alpha$: `(num_heads, code_size)`.
        column_code: $\beta$: `(num_heads, code_size)`.

    Raises:
        ValueError: If a size is below 1, or there are fewer elements than patches.

    Reference:
        gondal2021, section 4.2, after the released code.
    """

    @check_arguments
    def __init__(
        self,
        grid: tuple[Size, Size],
        num_heads: Size,
        key_size: Size,
        code_size: Size,
        *,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        rows, columns = self.grid = grid

        def drawn(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(shape).normal_(generator=generator))

        def linear(inputs: int) -> nn.Parameter:
            bound = inputs**-0.5
            made = torch.empty(num_heads, inputs)
            return nn.Parameter(made.uniform_(-bound, bound, generator=generator))

        self.row_embedding = drawn(2 * rows - 1, key_size)
        self.column_embedding = drawn(2 * columns - 1, key_size)
        self.row_head, self.column_head = linear(key_size), linear(key_size)
        self.row_code, self.column_code = linear(code_size), linear(code_size)
        self.to(device=device, dtype=dtype)

    def forward(
        self, codes: Float[Tensor, "function code"], num_items: int
    ) -> Float[Tensor, "function head item item"]:
        """Scores among so many elements, of which the last are the patches, row by row."""
        rows, columns = self.grid
        if num_items < rows * columns:
            raise ValueError(
                f"x must have at least {rows * columns} elements, the patches of a grid of {rows} "
                f"× {columns}, and others before them; got {num_items}"
            )
        parameters = RelativePositionParameters(
            self.row_embedding,
            self.column_embedding,
            self.row_head,
            self.column_head,
            self.row_code,
            self.column_code,
        )
        return relative_position_scores(codes, parameters, num_items - rows * columns)

    def extra_repr(self) -> str:
        """The grid, for `print`."""
        return f"grid={self.grid}"
