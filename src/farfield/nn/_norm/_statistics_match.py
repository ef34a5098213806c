"""Items brought to the mean and spread of training, before a trained model."""

from __future__ import annotations

from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from farfield.core.internal import check_arguments

LEAST_SPREAD = 1e-6
"""Least spread of an item; an item with less is only moved."""


@final
class StatisticsMatch(nn.Module):
    r"""Give each item the mean and spread that items of training have.

    $$x' = \frac{x - m(x)}{s(x)} \, \bar s + \bar m$$

    with mean $m$ and standard deviation $s$ of the item over `dims`. In front of a trained model,
    offset and scale of an item change nothing, without new training:
    `nn.Sequential(StatisticsMatch.of(training_items, dims), model)`. Where the level or the size of
    an item is the answer, do not use it.

    Args:
        mean: Mean $\bar m$ of training, which broadcasts to the items.
        scale: Mean standard deviation $\bar s$ of training, likewise.
        dims: Axes over which mean and standard deviation are taken, counted from the end, e.g.
            `(-2, -1)` for gray images and `(-2,)` for series `(batch, time, feature)`.

    Raises:
        ValueError: If an axis is not counted from the end, or twice.

    Reference:
        webb2020, whose normalization over a context this is, with the item as its context and the
        statistics of training put back.

    Example:
        >>> items = torch.tensor([[1.0, 3.0], [5.0, 7.0]])
        >>> StatisticsMatch.of(items, (-1,))(torch.tensor([[10.0, 40.0]]))
        tensor([[3., 5.]])
    """

    mean: Tensor
    scale: Tensor

    @check_arguments
    def __init__(
        self, mean: Float[Tensor, "*shape"], scale: Float[Tensor, "*shape"], dims: tuple[int, ...]
    ) -> None:
        super().__init__()
        if not dims or any(axis >= 0 for axis in dims) or len({*dims}) < len(dims):
            raise ValueError(f"dims must be axes below 0, each once, got {dims}")
        self.dims = dims
        self.register_buffer("mean", mean.detach().clone())
        self.register_buffer("scale", scale.detach().clone())

    @classmethod
    def of(cls, items: Float[Tensor, "item ..."], dims: tuple[int, ...]) -> StatisticsMatch:
        """Make the module from items of training.

        Args:
            items: Items of training.
            dims: Axes over which mean and standard deviation are taken, counted from the end.
        """
        mean, spread = _statistics(items, dims)
        return cls(mean.mean(0, keepdim=True), spread.mean(0, keepdim=True), dims)

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Bring items to mean and spread of training.

        Args:
            x: Items.
        """
        mean, spread = _statistics(x, self.dims)
        matched = (x - mean) / spread.clamp(min=LEAST_SPREAD) * self.scale + self.mean
        return matched.to(x.dtype)

    def extra_repr(self) -> str:
        """Say the axes."""
        return f"dims={self.dims}"


def _statistics(x: Tensor, dims: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Compute mean and standard deviation of each item over some axes, which stay with size 1."""
    mean = x.mean(dims, keepdim=True)
    return mean, (x - mean).square().mean(dims, keepdim=True).sqrt()
