"""Items that are made when they are asked for, so that a table of them takes no memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import torch
from torch import Tensor


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnItems:
    """A table of items that exist only as what they are made from.

    It stands in the place of a tensor of items: `index_select` and indexing give tensors, drawn at
    that moment. A hundred thousand images so take the memory of their descriptions.

    Args:
        latent: What each item is made from, `(item, *)`: levels, coordinates, the number of a row
            of a file. Kept on the CPU.
        draw: From rows of `latent` to as many items, `(item, *shape)`, on the CPU. A pure
            function that takes no rows as well as many.
        device: Where drawn items are put.
        cast: Floating-point type of drawn items that are of one; `None` leaves it as drawn.

    Raises:
        ValueError: If `latent` has no axis of items, or `draw` does not give one item a row.
    """

    latent: Tensor
    draw: Callable[[Tensor], Tensor]
    device: torch.device | str = "cpu"
    cast: torch.dtype | None = None

    def __post_init__(self) -> None:
        if self.latent.ndim == 0:
            raise ValueError("latent must have one row per item, got a single number")
        if self._nothing.ndim == 0 or len(self._nothing):
            raise ValueError(
                "draw must give as many items as it is given rows, "
                f"got shape {tuple(self._nothing.shape)} for none"
            )

    @cached_property
    def _nothing(self) -> Tensor:
        """No items: what shape and type the others would have."""
        return self.draw(self.latent[:0])

    def __len__(self) -> int:
        return len(self.latent)

    @property
    def shape(self) -> torch.Size:
        """Number of items and shape of each."""
        return torch.Size([len(self), *self._nothing.shape[1:]])

    @property
    def dtype(self) -> torch.dtype:
        """Type of the items."""
        return self.cast if self.cast and self.is_floating_point() else self._nothing.dtype

    def is_floating_point(self) -> bool:
        """Whether the items are of a floating-point type."""
        return self._nothing.is_floating_point()

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """The items at `rows`.

        Args:
            dim: The axis of items, 0.
            rows: Which items, `(number,)`, integers.

        Raises:
            ValueError: If `dim` is another axis.
        """
        if dim != 0:
            raise ValueError(f"dim must be 0, the axis of items, got {dim}")
        return self.draw(self.latent[rows.cpu()]).to(device=self.device, dtype=self.dtype)

    def __getitem__(self, index: Tensor | slice | int) -> Tensor:
        """The items at places of any shape; each distinct one is drawn once.

        Args:
            index: Which items, `(*)`, integers; or a slice, or a mask over all of them.
        """
        if isinstance(index, Tensor) and index.dtype == torch.bool:
            index = torch.arange(len(self))[index.cpu()]
        if isinstance(index, slice):
            index = torch.arange(len(self))[index]
        rows, places = torch.unique(torch.as_tensor(index), return_inverse=True)
        return self.index_select(0, rows)[places.to(self.device)]

    def only(self, rows: Tensor) -> DrawnItems:
        """A table of the items at `rows`, not drawn yet.

        Args:
            rows: Which items, `(number,)`, integers.
        """
        return dataclasses.replace(self, latent=self.latent[rows.cpu()])

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> DrawnItems:
        """The same table, its items drawn onto `device` and as `dtype`.

        Args:
            device: Where drawn items are put.
            dtype: Type of items of a floating-point type; `None` leaves it.
        """
        return dataclasses.replace(self, device=device, cast=dtype or self.cast)
