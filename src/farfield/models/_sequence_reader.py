"""Base of networks that read a sequence of embeddings, and the check of a sequence."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn


class SequenceReader(nn.Module):
    """Base of networks that read a sequence of embeddings and answer by a linear layer.

    A subclass makes the layer, `output`, and reads the features that it gets, `_read`.

    Args:
        length: Number of positions of a sequence; None for any of at least 1.
    """

    output: nn.Linear

    def __init__(self, in_features: int, length: int | None = None) -> None:
        super().__init__()
        self.in_features, self.length = in_features, length

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch."""
        check_sequence(z, self.in_features, self.length)
        return self.output(self._read(z))

    def _read(self, z: Tensor) -> Tensor:
        """Return the features of every problem from which the linear layer answers."""
        raise NotImplementedError


def check_sequence(z: Tensor, in_features: int, length: int | None = None) -> None:
    """Raise `ValueError` unless `z` is a sequence of the right width, and length if given."""
    if z.ndim != 3 or z.shape[1] == 0:
        raise ValueError(
            f"z must be (batch, time, feature) with at least one step, got shape {tuple(z.shape)}"
        )
    if z.shape[-1] != in_features:
        raise ValueError(f"z must have in_features={in_features} features, got {z.shape[-1]}")
    if length is not None and z.shape[1] != length:
        raise ValueError(
            f"z must have the length={length} steps that the model was made for, got {z.shape[1]}"
        )
