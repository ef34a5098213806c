"""The compositional relational network."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import (
    kaiming_normal_,
    relation_matrix,
    uninitialized,
    xavier_normal_,
)
from farfield.models._checks import check_length, check_sequence


@final
class CoRelNet(nn.Module):
    r"""Answer from the similarities of the embeddings, and from nothing else.

    $$y = W \, \mathrm{ReLU}(V \, \mathrm{flatten}(R) + b), \qquad
      R = \mathrm{softmax}(Z Z^\top)$$

    with a softmax in each row. Like `ESBN` it knows embeddings by their inner products alone, but
    has neither recurrence nor memory: the simplest model that keeps relations apart from what is
    related.

    Args:
        in_features: Size of an embedding.
        num_outputs: Numbers in an answer.
        length: Number of places of a sequence; the matrix has its square.
        hidden_size: Units of the hidden layer.
        causal: Whether each place is compared with places up to its own alone, and only that
            triangle of the matrix is used, as in the released code.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, length, in_features)` to `(batch, num_outputs)`.

    Attributes:
        hidden: The hidden layer, of ReLU units.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1, or a sequence has another length.

    Reference:
        Kerg et al. 2022 (kerg2022), section 3. Initialized like the output networks of webb2021,
        appendix A.3.9.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        length: Size,
        *,
        hidden_size: Size = 256,
        causal: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.length = length
        self.causal = causal
        entries = length * (length + 1) // 2 if causal else length**2
        self.hidden = kaiming_normal_(uninitialized(nn.Linear, entries, hidden_size), generator)
        self.output = xavier_normal_(uninitialized(nn.Linear, hidden_size, num_outputs), generator)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch."""
        check_sequence(z, self.in_features)
        check_length(z, self.length)
        relations = relation_matrix(z, causal=self.causal)
        if self.causal:
            row, column = torch.tril_indices(self.length, self.length, device=z.device)
            entries = relations[:, row, column]
        else:
            entries = relations.flatten(1)
        return self.output(torch.relu(self.hidden(entries)))
