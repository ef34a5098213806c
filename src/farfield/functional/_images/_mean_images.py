"""The mean of all images of a data set."""

from __future__ import annotations

from typing import NamedTuple, final

from jaxtyping import Float
from torch import Tensor


@final
class MeanImages(NamedTuple):
    """Means over images, pixel by pixel, as fractions 0…1 (ren2017, section 4.1).

    Args:
        training: Mean of all training images.
        with_test: Mean of training and test images together, as in the released code.
    """

    training: Float[Tensor, "channel height width"]
    with_test: Float[Tensor, "channel height width"]
