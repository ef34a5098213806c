"""Images of several digits, laid over each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
import torch
from jaxtyping import Int64, UInt8
from numpy.lib.stride_tricks import sliding_window_view
from torch import Tensor

CANVAS: Final = 64
"""Height and width of an image, pixels."""
SMALL: Final = 28
"""The same of one digit."""
ABSENT: Final = -1
"""In place of the number of a digit that an image does not have."""


@final
@dataclass(frozen=True, eq=False)
class StackedImages:
    """Renderer of images of several digits, for `farfield.core.LazyItems`.

    Args:
        originals: All images of a file; 0 is paper.
    """

    originals: UInt8[np.ndarray, "item 28 28"]

    def __call__(self, latent: Int64[Tensor, "item slot 3"]) -> UInt8[Tensor, "item 64 64"]:
        """Images of several digits; where they overlap, the larger value of a pixel is shown.

        Args:
            latent: Number in the file of each digit, and row and column of its upper left corner.
        """
        shown = np.zeros((len(latent), CANVAS, CANVAS), np.uint8)
        windows = sliding_window_view(shown, (SMALL, SMALL), axis=(1, 2), writeable=True)
        for slot in latent.numpy().transpose(1, 0, 2):
            rows = np.flatnonzero(slot[:, 0] != ABSENT)
            number, row, column = slot[rows].T
            windows[rows, row, column] = np.maximum(
                windows[rows, row, column], self.originals[number]
            )
        return torch.from_numpy(shown)
