"""Problems: a drawn set, as a table of items and integer indices into it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, final

import torch
from torch import Tensor


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class LazyItems:
    """A table of items that are rendered from their latent description on demand.

    It replaces a tensor of items: `index_select` and indexing give tensors, drawn at
    that moment. A hundred thousand images so take the memory of their descriptions.

    Args:
        latent: Description of each item, `(item, *)`: levels, coordinates, the number of a row
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
                "draw must give one item for each row, "
                f"got shape {tuple(self._nothing.shape)} for none"
            )

    @cached_property
    def _nothing(self) -> Tensor:
        """Empty table, with the shape and type of the items."""
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
        """Tell if the items are of a floating-point type."""
        return self._nothing.is_floating_point()

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """Draw the items at `rows`.

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
        """Look up the items at indices of any shape; each distinct item is drawn once.

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
        """Select the items at `rows`, without drawing them.

        Args:
            rows: Which items, `(number,)`, integers.
        """
        return dataclasses.replace(self, latent=self.latent[rows.cpu()])

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> LazyItems:
        """Move the table: its items are drawn onto `device` and as `dtype`.

        Args:
            device: Where drawn items are put.
            dtype: Type of items of a floating-point type; `None` leaves it.
        """
        return dataclasses.replace(self, device=device, cast=dtype or self.cast)


@final
@dataclass(frozen=True, eq=False)
class RaggedItems:
    """Items of different shapes, e.g. images of several sizes: a tensor each.

    It replaces a tensor of items, or of targets. Work on several items at once needs items of one
    shape: `Problems.by_shape` gives them.

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
        """Number of axes, with the axis of the items."""
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
        """Tell if the items are of a floating-point type."""
        return self.tensors[0].is_floating_point()

    def only(self, rows: Tensor) -> RaggedItems:
        """Select the items at `rows`.

        Args:
            rows: Which items, `(number,)`, integers.
        """
        return RaggedItems(self.tensors[row] for row in rows.tolist())

    def __getitem__(self, rows: Tensor | slice) -> Any:
        """Select the items at `rows`.

        Args:
            rows: Which items, integers; or a slice, or a mask over all of them.
        """
        return self.only(torch.arange(len(self))[rows.cpu() if isinstance(rows, Tensor) else rows])

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """Stack the items at `rows` into one tensor.

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
        """Move the items to `device` and, if they are of a floating-point type, to `dtype`.

        Args:
            device: Where they are put.
            dtype: Type of items of a floating-point type; `None` leaves it.
        """
        wanted = dtype if self.is_floating_point() else None
        return RaggedItems(tensor.to(device, dtype=wanted) for tensor in self.tensors)


TRAINING: Final = "training"
"""Name of the set that a model learns from."""

UNASKED: Final = -1
"""Class of an answer that is not asked for, since it only fills up a row."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Problems:
    """A set of problems over one table of items.

    Each distinct item (an image, a vector, a symbol) is in the table once; a problem is a row of
    integers, the index of the item at each position. A model can so embed each distinct item once,
    however many problems show it.

    Args:
        items: Table of distinct items, `(item, *shape)`: a tensor, items to be drawn, or items of
            different shapes.
        index: Index of the item at each position of each problem, `(batch, time)`, integers.
        target: Answers, a tensor `(batch, *)`, or `RaggedItems` of different shapes.
        latent: Descriptions of the problems, tensors of `(batch, *)`. Never shown to a model.

    Raises:
        ValueError: If the leading sizes disagree. Whether the index points into the table is asked
            by `check_index`, which reads the numbers and so waits for the device.

    Example:
        >>> problems = Problems(
        ...     items=torch.eye(3),
        ...     index=torch.tensor([[0, 1, 0], [2, 2, 1]]),
        ...     target=torch.tensor([1, 0]),
        ... )
        >>> len(problems), problems.sequences().shape
        (2, torch.Size([2, 3, 3]))
        >>> problems[:1].compact().table()
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """

    items: Tensor | LazyItems | RaggedItems
    index: Tensor
    target: Any
    latent: Mapping[str, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.index.ndim != 2 or self.index.dtype != torch.int64:
            raise ValueError(
                "index must be an int64 tensor of (batch, time), "
                f"got {self.index.dtype} of shape {tuple(self.index.shape)}"
            )
        for name, tensor in {"target": self.target, **self.latent}.items():
            if tensor.ndim == 0 or len(tensor) != len(self.index):
                raise ValueError(
                    f"{name} must have one row per problem ({len(self.index)}), "
                    f"got shape {tuple(tensor.shape)}"
                )

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, rows: slice | Tensor) -> Problems:
        """Select the problems at `rows`, over the same table."""
        return Problems(
            items=self.items,
            index=self.index[rows],
            target=self.target[rows],
            latent={name: tensor[rows] for name, tensor in self.latent.items()},
        )

    @property
    def asked(self) -> Tensor:
        """True for each answer that is asked for, in the shape of `target`."""
        return self.target != UNASKED

    def check_index(self) -> None:
        """Raise `ValueError` if an index points outside the table."""
        if self.index.numel() and not (
            0 <= int(self.index.min()) and int(self.index.max()) < len(self.items)
        ):
            raise ValueError(
                f"index must lie in 0…{len(self.items) - 1} (the table of items), "
                f"got {int(self.index.min())}…{int(self.index.max())}"
            )

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> Problems:
        """Move the problems to `device`, floating-point items to `dtype`."""
        wanted = dtype if self.items.is_floating_point() else None
        return Problems(
            items=self.items.to(device, dtype=wanted),
            index=self.index.to(device),
            target=self.target.to(device),
            latent={name: tensor.to(device) for name, tensor in self.latent.items()},
        )

    def sequences(self) -> Tensor:
        """Look up the items by position, `(batch, time, *shape)`, for models without a table."""
        return self.items[self.index]

    def unshared(self) -> Problems:
        """Copy the problems, over a table in which no two positions share an item."""
        return self.with_items(self.items.index_select(0, self.index.reshape(-1)))

    def with_items(self, items: Tensor | LazyItems | RaggedItems) -> Problems:
        """Copy the problems, with a separate item at each position.

        Args:
            items: The items, problem by problem and position by position, `(batch · time, *shape)`.

        Raises:
            ValueError: If they are not as many as positions.
        """
        if len(items) != self.index.numel():
            raise ValueError(
                f"items must be one for each of {self.index.numel()} positions, got {len(items)}"
            )
        index = torch.arange(len(items), device=self.index.device).reshape(self.index.shape)
        return dataclasses.replace(self, items=items, index=index)

    def table(self) -> Tensor:
        """Stack all items into one tensor; lazy items are rendered.

        Raises:
            ValueError: If the items are of different shapes.
        """
        if isinstance(self.items, Tensor):
            return self.items
        return self.items.index_select(0, torch.arange(len(self.items)))

    def by_shape(self) -> list[tuple[Tensor, Problems]]:
        """Split the problems into sets in which all items, and all targets, are of one shape each.

        Returns:
            For each set its rows among these problems, and the set.
        """
        items = self.items.shapes if isinstance(self.items, RaggedItems) else ()
        targets = self.target.shapes if isinstance(self.target, RaggedItems) else ()
        if not (items or targets):
            return [(torch.arange(len(self)), self)]
        groups: dict[tuple[torch.Size, ...], list[int]] = {}
        for row, positions in enumerate(self.index.tolist()):
            shown = (items[position] for position in positions if items)
            shapes = (*shown, *targets[row : row + 1])
            groups.setdefault(shapes, []).append(row)
        return [(rows := torch.tensor(some), _as_tensors(self[rows])) for some in groups.values()]

    def compact(self) -> Problems:
        """Copy the problems, over a table of only the items that occur in them.

        Raises:
            ValueError: If an index points outside the table.
        """
        self.check_index()
        items = self.items
        occurs = torch.zeros(len(items), dtype=torch.bool, device=self.index.device)
        occurs[self.index.reshape(-1)] = True
        if bool(occurs.all()):
            return self
        (rows,) = occurs.nonzero(as_tuple=True)
        return Problems(
            items=items.index_select(0, rows) if isinstance(items, Tensor) else items.only(rows),
            index=(occurs.cumsum(0) - 1)[self.index],
            target=self.target,
            latent=self.latent,
        )


def _as_tensors(problems: Problems) -> Problems:
    """Copy the problems, with items and targets as tensors."""
    small = problems.compact()
    every = torch.arange(len(problems), device=small.index.device)
    target = small.target.index_select(0, every)
    return dataclasses.replace(small, items=small.table(), target=target)


def joined(parts: Sequence[Problems]) -> Problems:
    """Join several sets of problems, each with a separate table.

    Args:
        parts: At least one set; their items are tensors of one shape.
    """
    sizes = [len(part.items) for part in parts]
    starts = [sum(sizes[:number]) for number in range(len(parts))]
    index = [part.index + start for part, start in zip(parts, starts, strict=True)]
    return Problems(
        items=torch.cat([part.table() for part in parts]),
        index=torch.cat(index),
        target=torch.cat([part.target for part in parts]),
        latent={name: torch.cat([part.latent[name] for part in parts]) for name in parts[0].latent},
    )
