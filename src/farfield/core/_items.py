"""Tables of items that are rendered on demand, or of several shapes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import torch
from torch import Tensor


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class LazyItems:
    """A table of items that are rendered from their latent description on demand.

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
        """An empty table, which gives the shape and type of the items."""
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
        """True if the items are of a floating-point type."""
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

    def only(self, rows: Tensor) -> LazyItems:
        """A table of the items at `rows`, not drawn yet.

        Args:
            rows: Which items, `(number,)`, integers.
        """
        return dataclasses.replace(self, latent=self.latent[rows.cpu()])

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> LazyItems:
        """The same table, its items drawn onto `device` and as `dtype`.

        Args:
            device: Where drawn items are put.
            dtype: Type of items of a floating-point type; `None` leaves it.
        """
        return dataclasses.replace(self, device=device, cast=dtype or self.cast)


@final
@dataclass(frozen=True, eq=False)
class RaggedItems:
    """Items of different shapes, e.g. images of several sizes: a tensor each.

    It stands in the place of a tensor of items, or of targets. What is done with several at once
    needs those of one shape: `Problems.by_shape` gives them.

    Args:
        tensors: The items, all of one type.

    Raises:
        ValueError: If there are no items, or their types differ.
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        found = tuple(tensors)
        kinds = {str(tensor.dtype) for tensor in found}
        if len(kinds) != 1:
            given = ", ".join(sorted(kinds)) or "none"
            raise ValueError(f"tensors must be one or more of one type, got {given}")
        object.__setattr__(self, "tensors", found)

    def __len__(self) -> int:
        return len(self.tensors)

    @property
    def ndim(self) -> int:
        """Number of axes, that of the items among them."""
        return 1 + self.tensors[0].ndim

    @property
    def shape(self) -> torch.Size:
        """Number of items, and the largest size along each axis."""
        return torch.Size([len(self), *map(max, zip(*self.shapes, strict=True))])

    @property
    def dtype(self) -> torch.dtype:
        """Type of the items."""
        return self.tensors[0].dtype

    @property
    def device(self) -> torch.device:
        """Device of the items."""
        return self.tensors[0].device

    @property
    def shapes(self) -> tuple[torch.Size, ...]:
        """Shape of each item."""
        return tuple(tensor.shape for tensor in self.tensors)

    def is_floating_point(self) -> bool:
        """True if the items are of a floating-point type."""
        return self.tensors[0].is_floating_point()

    def only(self, rows: Tensor) -> RaggedItems:
        """A table of the items at `rows`.

        Args:
            rows: Which items, `(number,)`, integers.
        """
        return RaggedItems(self.tensors[row] for row in rows.tolist())

    def __getitem__(self, rows: Tensor | slice) -> Any:
        """A table of the items at `rows`.

        Args:
            rows: Which items, integers; or a slice, or a mask over all of them.
        """
        return self.only(torch.arange(len(self))[rows.cpu() if isinstance(rows, Tensor) else rows])

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """The items at `rows` as one tensor.

        Args:
            dim: The axis of items, 0.
            rows: Which items, `(number,)`, integers.

        Raises:
            ValueError: If `dim` is another axis, or the shapes of these items differ.
        """
        if dim != 0:
            raise ValueError(f"dim must be 0, the axis of items, got {dim}")
        some = [self.tensors[row] for row in rows.tolist()]
        shapes = sorted({tuple(tensor.shape) for tensor in some})
        if len(shapes) > 1:
            raise ValueError(
                f"items must be of one shape to be read together, got {shapes[0]} and {shapes[1]}; "
                "take the problems apart with by_shape()"
            )
        return torch.stack(some)

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> RaggedItems:
        """The same items on `device` and, where they are of a floating-point type, as `dtype`.

        Args:
            device: Where they are put.
            dtype: Type of items of a floating-point type; `None` leaves it.
        """
        wanted = dtype if self.is_floating_point() else None
        return RaggedItems(tensor.to(device, dtype=wanted) for tensor in self.tensors)
