"""The normalizer that changes nothing, for penalties on networks without one."""

from __future__ import annotations

from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments


@final
class IdentityNorm(nn.Module):
    """Leave activations as they are, where a normalizer could stand.

    `farfield.objectives.CenteredL1` finds it by its method `center`, which subtracts no mean: the
    penalty is then the mean absolute activation, as in the baselines with L1 of ren2017.
    `torch.nn.Identity` has no such method.

    Args:
        num_features: Number of features, which plays no part.

    Shape:
        `(*batch, feature)` in and out.

    Raises:
        ValueError: If `num_features` is below 1.

    Reference:
        ren2017, table 7 (Baseline +L1).
    """

    @check_arguments
    def __init__(self, num_features: Size) -> None:
        super().__init__()
        self.num_features = num_features

    def forward(self, z: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch feature"]:
        """The activations."""
        return z

    def center(self, z: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch feature"]:
        """The activations."""
        return z

    def extra_repr(self) -> str:
        """The size, for `print`."""
        return str(self.num_features)
