"""Batches of problems by step, for one seed or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from farfield.core import Problems, Stream


@final
class Batches:
    """Shuffled epochs over a set of problems, addressed by the step.

    Every epoch goes once through all problems in a new order, drawn from the stream of that epoch;
    the last batch of an epoch may be smaller. The batch of a step does not depend on which steps
    were asked for before, so a run that stopped goes on with the batches it would have seen.

    Args:
        problems: The training problems.
        batch_size: Problems a batch.
        stream: Where the orders are drawn from.
        in_lanes: Take the problems in their order: from step to step, row b of a batch goes through
            the b-th of as many equal parts of the set as a batch has rows. The rest at the end is
            not read.
        by_domain: Take `batch_size` problems of each training domain, domain after domain. Every
            domain has separate epochs; the rest at the end of one is not read.
        same_shape: Give every batch of a size a table of the same number of items, as programs that
            are traced once need: all items of the set or all positions of the batch, whichever is
            fewer. Otherwise the table holds exactly the distinct items of the batch.

    Attributes:
        problems: The training problems, over a table without items that none of them shows.

    Raises:
        ValueError: If there are fewer problems than lanes, or a domain has fewer than a batch.
    """

    def __init__(
        self,
        problems: Problems,
        *,
        batch_size: int,
        stream: Stream,
        in_lanes: bool = False,
        by_domain: bool = False,
        same_shape: bool = False,
    ) -> None:
        if in_lanes and len(problems) < batch_size:
            raise ValueError(
                f"batch_size must be at most {len(problems)}, the number of problems that are read "
                f"in order, got {batch_size}"
            )
        self.problems = problems.compact()
        self._index = self.problems.index.cpu().numpy()
        self._batch_size = batch_size
        self._in_lanes = in_lanes
        self._same_shape = same_shape
        self._epochs = (
            _domains(problems, batch_size, stream)
            if by_domain
            else [_Epochs(np.arange(len(problems)), batch_size, self.steps_per_epoch, stream)]
        )

    @property
    def steps_per_epoch(self) -> int:
        """Batches in one pass over the problems."""
        if self._in_lanes:
            return len(self.problems) // self._batch_size
        return -(-len(self.problems) // self._batch_size)

    def numbers(self, step: int) -> Int64[np.ndarray, " batch"]:
        """Find the positions in the set of the problems of a batch.

        Args:
            step: Number of the step, counted from 0.
        """
        if self._in_lanes:
            position = step % self.steps_per_epoch
            return position + self.steps_per_epoch * np.arange(self._batch_size)
        return np.concatenate([epochs.numbers(step) for epochs in self._epochs])

    def rows(self, step: int) -> Int64[Tensor, " batch"]:
        """Return the same positions on the device of the problems.

        Args:
            step: Number of the step, counted from 0.
        """
        return torch.from_numpy(self.numbers(step)).to(self.problems.index.device)

    def __call__(self, step: int) -> Problems:
        """Return the batch of update `step`, counted from 0."""
        rows = self.numbers(step)
        problems = self.problems
        positions = self._index[rows]
        if not self._same_shape:
            table, inverse = np.unique(positions, return_inverse=True)
        elif len(problems.items) <= positions.size:
            table, inverse = np.arange(len(problems.items)), positions
        else:
            table, inverse = positions.reshape(-1), np.arange(positions.size)
        device = problems.items.device
        return Problems(
            items=problems.items.index_select(0, torch.from_numpy(table).to(device)),
            index=torch.from_numpy(inverse.reshape(positions.shape)).to(device),
            target=problems.target.index_select(0, torch.from_numpy(rows).to(device)),
        )


@final
class _Epochs:
    """Shuffled epochs over some rows of a set, in batches.

    Args:
        rows: The rows.
        batch_size: Problems a batch.
        steps: Batches of an epoch; a last one may be smaller, and rows behind it are not read.
        stream: Where the orders are drawn from.
    """

    def __init__(
        self, rows: Int64[np.ndarray, " item"], batch_size: int, steps: int, stream: Stream
    ) -> None:
        self._rows, self._batch_size = rows, batch_size
        self._steps, self._stream = steps, stream
        self._epoch, self._order = -1, rows

    def numbers(self, step: int) -> Int64[np.ndarray, " batch"]:
        """Find the rows of a batch.

        Args:
            step: Number of the step, counted from 0.
        """
        epoch, position = divmod(step, self._steps)
        if epoch != self._epoch:
            order = self._stream.child("order", epoch).numpy()
            self._epoch, self._order = epoch, self._rows[order.permutation(len(self._rows))]
        return self._order[position * self._batch_size : (position + 1) * self._batch_size]


def _domains(problems: Problems, batch_size: int, stream: Stream) -> list[_Epochs]:
    """Make the epochs of each training domain.

    Args:
        problems: Training problems, with the number of their domain.
        batch_size: Problems of each domain in a batch.
        stream: Where the orders are drawn from.

    Raises:
        ValueError: If a domain has fewer problems than a batch.
    """
    numbers = problems.latent["domain"].cpu().numpy()
    counts = np.bincount(numbers)
    if counts.min() < batch_size:
        raise ValueError(
            f"batch_size must be at most {counts.min()}, the number of training problems of domain "
            f"{counts.argmin()}, got {batch_size}"
        )
    return [
        _Epochs(
            np.flatnonzero(numbers == domain),
            batch_size,
            count // batch_size,
            stream.child("domain", domain),
        )
        for domain, count in enumerate(counts.tolist())
    ]


Part = dict[str, Tensor]
"""Items, index and target of a batch, and the rows of its set, by name."""


@final
class StackedBatches:
    """Batches of several seeds as one; each seed has separate problems and orders.

    Where the tables of all seeds are in memory and of one shape, they lie in one tensor, and the
    batch of a step is read from it at once: a GPU is sent one small tensor of rows, and nobody
    waits for it. Otherwise the batch of each seed is made by itself.

    Args:
        several: The batches of each seed, which give every batch a table of the same shape.
    """

    def __init__(self, several: Sequence[Batches]) -> None:
        self._several = several
        sets = [batches.problems for batches in several]
        self._whole: Part | None = None
        if all(isinstance(problems.items, Tensor) for problems in sets):
            parts = [_part(problems) for problems in sets]
            if len({tuple(tensor.shape for tensor in part.values()) for part in parts}) == 1:
                self._whole = stacked(parts)

    def __call__(self, step: int) -> tuple[Part, list[Problems]]:
        """Return the batches of update `step`, counted from 0: stacked, and one by one."""
        if self._whole is None:
            alone = [batches(step) for batches in self._several]
            pairs = zip(alone, self._several, strict=True)
            parts = [_part(batch) | {"rows": batches.rows(step)} for batch, batches in pairs]
            return stacked(parts), alone
        items, index, target = self._whole.values()
        numbers = torch.from_numpy(np.stack([one.numbers(step) for one in self._several]))
        rows = numbers.to(items.device)
        seed = torch.arange(len(rows), device=rows.device)[:, None]
        positions = index[seed, rows]
        if items.shape[1] > positions[0].numel():
            items = items[seed, positions.flatten(1)]
            order = torch.arange(positions[0].numel(), device=rows.device)
            positions = order.reshape(positions.shape[1:]).repeat(len(rows), 1, 1)
        targets = target[seed, rows]
        alone = [
            Problems(items=items[one], index=positions[one], target=targets[one])
            for one in range(len(rows))
        ]
        return {"items": items, "index": positions, "target": targets, "rows": rows}, alone


def _part(problems: Problems) -> Part:
    return {"items": problems.table(), "index": problems.index, "target": problems.target}


def stacked(parts: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """List the tensors of each seed, by name, as tensors with an axis of seeds.

    Args:
        parts: Those of each seed.
    """
    return {name: torch.stack([part[name] for part in parts]) for name in parts[0]}
