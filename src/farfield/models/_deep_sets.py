"""Sets of embeddings, pooled: the floor of models that compare."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import kaiming_normal_, uninitialized, xavier_normal_
from farfield.models._checks import check_sequence


@final
class DeepSets(nn.Module):
    r"""Answer from one layer of each embedding, pooled over positions.

    $$y = W \, \mathrm{pool}_t \, \mathrm{ReLU}(V z_t + b) + c$$

    with the mean or the maximum over positions t. It compares nothing and knows no order: what it
    solves needs no relation.

    Args:
        in_features: Size of an embedding.
        num_outputs: Numbers in an answer.
        hidden_size: Units of the hidden layer.
        maximum: Whether the maximum is pooled, not the mean.
        generator: Source of the first weights; `None` for torch's global generator.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        hidden: The hidden layer, of ReLU units.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        Zaheer et al. 2017 (zaheer2017), section 3. Initialized like the output networks of
        webb2021, appendix A.3.9.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        hidden_size: Size = 256,
        maximum: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.maximum = maximum
        self.hidden = kaiming_normal_(uninitialized(nn.Linear, in_features, hidden_size), generator)
        self.output = xavier_normal_(uninitialized(nn.Linear, hidden_size, num_outputs), generator)

    def extra_repr(self) -> str:
        """Options that differ from the defaults."""
        return f"maximum={self.maximum}"

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch."""
        check_sequence(z, self.in_features)
        hidden = torch.relu(self.hidden(z))
        return self.output(hidden.amax(1) if self.maximum else hidden.mean(1))
