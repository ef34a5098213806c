"""A reasoner that reads with any layer over sequences and answers from its last state."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import uninitialized, xavier_normal_
from farfield.models._abilities import HasHiddenSize, width_of
from farfield.models._checks import check_sequence


@final
class LastState(nn.Module):
    """Read a sequence of embeddings with a layer over sequences, and answer from its last output.

    `SequenceModel` has its own encoder and no context; this one is a reasoner of `Relational`,
    behind a normalization over the problem, beside `LSTM`, which it is for any other layer.

    Args:
        in_features: Size of an embedding.
        num_outputs: Numbers in an answer.
        core: What makes the layer from the size of an embedding, with the axis of the batch first,
            e.g. `Spec(RIMs, hidden_size=60, batch_first=True)` in an experiment. It draws from
            the global generator, which an experiment seeds.
        generator: Where the first weights of the output layer are drawn from; None is torch's
            global generator.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        core: The layer.
        output: The linear output layer.

    Raises:
        TypeError: If the layer does not say how wide it answers.
        ValueError: If a size is below 1.

    Reference:
        webb2021, appendix A.3.4, with another layer in place of the LSTM.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        core: Callable[[int], nn.Module],
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.core = core(in_features)
        width = width_of("core", self.core, HasHiddenSize)
        self.output = xavier_normal_(uninitialized(nn.Linear, width, num_outputs), generator)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch."""
        check_sequence(z, self.in_features)
        return self.output(self.core(z)[0][:, -1])
