"""Singular values of the representations of each class: how flat a class is."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F


class ClassSpectra(NamedTuple):
    """Singular values of the representations of each class.

    Attributes:
        classes: The classes, ascending.
        values: Their singular values, the largest first, as many as features.
    """

    classes: Int[Tensor, " class"]
    values: Float[Tensor, "class value"]

    @property
    def largest(self) -> Float[Tensor, " class"]:
        """Largest singular value of each class."""
        return self.values[:, 0]

    @property
    def others(self) -> Float[Tensor, " class"]:
        """Sum of all other singular values of each class: small where a class is flat."""
        return self.values[:, 1:].sum(1)


def class_spectra(
    representations: Float[Tensor, "batch feature"],
    classes: Int[Tensor, " batch"],
    *,
    centered: bool = False,
) -> ClassSpectra:
    r"""Singular values of the matrix of representations of each class, in float64.

    They are not divided by the number of examples, with whose square root they grow. Without
    centering, the largest is mostly that of the mean of the class, and the others tell how far its
    examples are spread around that; the paper's words name no centering and set the largest apart.
    Centered, the number of values above 0 is the number of dimensions in which a class varies.

    Args:
        representations: Of examples, e.g. from `representations_of`.
        classes: The class of each example.
        centered: Whether the mean of each class is subtracted.

    Raises:
        ValueError: If there is no example, or not a class for each.

    Reference:
        lamb2022, section 4.3.
    """
    if not 0 < len(representations) == len(classes):
        raise ValueError(
            "classes must be one for each of at least one representation, "
            f"got {len(classes)} for {len(representations)}"
        )
    known = torch.unique(classes)
    points, features = representations.double(), representations.shape[1]
    spectra = []
    for one in known:
        own = points[classes == one]
        values = torch.linalg.svdvals(own - own.mean(0) if centered else own)
        spectra.append(F.pad(values, (0, features - len(values))))
    return ClassSpectra(classes=known, values=torch.stack(spectra))
