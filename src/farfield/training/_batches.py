"""Batches of problems by step, each distinct item once."""

from __future__ import annotations

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
            the b-th of as many equal parts of the set as a batch has rows. What is left over at
            the end is not read.
        same_shape: Give every batch of a size a table of the same number of items, as programs that
            are traced once need: all items of the set or all places of the batch, whichever is
            fewer. Otherwise the table holds exactly the distinct items of the batch.

    Attributes:
        problems: The training problems, over a table without items that none of them shows.

    Raises:
        ValueError: If there are fewer problems than lanes.
    """

    def __init__(
        self,
        problems: Problems,
        *,
        batch_size: int,
        stream: Stream,
        in_lanes: bool = False,
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
        self._stream = stream
        self._in_lanes = in_lanes
        self._same_shape = same_shape
        self._epoch = -1
        self._order = np.zeros(0, dtype=np.int64)

    @property
    def steps_per_epoch(self) -> int:
        """Batches in one pass over the problems."""
        if self._in_lanes:
            return len(self.problems) // self._batch_size
        return -(-len(self.problems) // self._batch_size)

    def numbers(self, step: int) -> Int64[np.ndarray, " batch"]:
        """Positions in the set of the problems of a batch.

        Args:
            step: Number of the step, counted from 0.
        """
        epoch, position = divmod(step, self.steps_per_epoch)
        if self._in_lanes:
            return position + self.steps_per_epoch * np.arange(self._batch_size)
        if epoch != self._epoch:
            order = self._stream.child("order", epoch).numpy()
            self._epoch, self._order = epoch, order.permutation(len(self.problems))
        return self._order[position * self._batch_size : (position + 1) * self._batch_size]

    def rows(self, step: int) -> Int64[Tensor, " batch"]:
        """The same positions, on the device of the problems.

        Args:
            step: Number of the step, counted from 0.
        """
        return torch.from_numpy(self.numbers(step)).to(self.problems.index.device)

    def __call__(self, step: int) -> Problems:
        """The batch of update `step`, counted from 0."""
        rows = self.numbers(step)
        problems = self.problems
        places = self._index[rows]
        if not self._same_shape:
            table, inverse = np.unique(places, return_inverse=True)
        elif len(problems.items) <= places.size:
            table, inverse = np.arange(len(problems.items)), places
        else:
            table, inverse = places.reshape(-1), np.arange(places.size)
        device = problems.items.device
        return Problems(
            items=problems.items.index_select(0, torch.from_numpy(table).to(device)),
            index=torch.from_numpy(inverse.reshape(places.shape)).to(device),
            target=problems.target.index_select(0, torch.from_numpy(rows).to(device)),
        )
