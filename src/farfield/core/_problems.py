"""Problems: a drawn set, as a table of items and integer indices into it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import torch
from torch import Tensor

from farfield.core._items import LazyItems, RaggedItems

TRAINING: Final = "training"
"""Name of the set that a model learns from."""

UNASKED: Final = -1
"""Class of an answer that is not asked for, since it only fills up a row."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Problems:
    """A set of problems over one table of items.

    Each distinct item (an image, a vector, a symbol) stands in the table once; a problem is a row
    of integers that says which item stands at which place. A model can so embed each distinct
    item once, however many problems show it.

    Args:
        items: Table of distinct items, `(item, *shape)`: a tensor, items to be drawn, or items of
            different shapes.
        index: Which item stands at which place of which problem, `(batch, time)`, integers.
        target: What is asked, a tensor `(batch, *)`, or `RaggedItems` of different shapes.
        latent: What the problems were made from, tensors of `(batch, *)`. Never shown to a model.

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
        """The problems at `rows`, over the same table."""
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
        """The same problems on `device`, floating-point items as `dtype`."""
        wanted = dtype if self.items.is_floating_point() else None
        return Problems(
            items=self.items.to(device, dtype=wanted),
            index=self.index.to(device),
            target=self.target.to(device),
            latent={name: tensor.to(device) for name, tensor in self.latent.items()},
        )

    def sequences(self) -> Tensor:
        """The items in place, `(batch, time, *shape)`: what a model without a table reads."""
        return self.items[self.index]

    def unshared(self) -> Problems:
        """The same problems over a table in which no two positions share an item."""
        return self.with_items(self.items.index_select(0, self.index.reshape(-1)))

    def with_items(self, items: Tensor | LazyItems | RaggedItems) -> Problems:
        """The same problems with an item of its own at each position.

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
        """All items as one tensor; lazy items are rendered.

        Raises:
            ValueError: If the items are of different shapes.
        """
        if isinstance(self.items, Tensor):
            return self.items
        return self.items.index_select(0, torch.arange(len(self.items)))

    def by_shape(self) -> list[tuple[Tensor, Problems]]:
        """The problems as sets in which all items, and all targets, are of one shape each.

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
        """The same problems over a table of only the items that occur in them.

        Raises:
            ValueError: If an index points outside the table.
        """
        self.check_index()
        rows, inverse = torch.unique(self.index, return_inverse=True)
        items = self.items
        return Problems(
            items=items.index_select(0, rows) if isinstance(items, Tensor) else items.only(rows),
            index=inverse,
            target=self.target,
            latent=self.latent,
        )


def _as_tensors(problems: Problems) -> Problems:
    """The same problems with items and targets as tensors."""
    small = problems.compact()
    every = torch.arange(len(problems), device=small.index.device)
    target = small.target.index_select(0, every)
    return dataclasses.replace(small, items=small.table(), target=target)


def joined(parts: Sequence[Problems]) -> Problems:
    """Several sets of problems, each with a table of its own, as one.

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
