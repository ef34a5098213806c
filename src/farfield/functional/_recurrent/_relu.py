"""The rectifier, as a function that the description of an experiment can name."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor


def relu(z: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    r"""Rectify activations: $\max(0, z)$.

    It is `torch.relu`. Functions of torch belong to an experiment by their source, which differs
    from release to release; one of Farfield's by its name.

    Args:
        z: Activations.

    Reference:
        ren2017, section 4.2.
    """
    return z.relu()
