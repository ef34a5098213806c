"""Batches of problems of several seeds, as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np
import torch
from torch import Tensor

from farfield.core import Problems
from farfield.training._batches import Batches

Part = dict[str, Tensor]
"""Items, index and target of a batch, and the rows of its set, by name."""


@final
class StackedBatches:
    """Batches of several seeds, each of its own problems in its own order, as one.

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
        """The batches of update `step`, counted from 0: stacked, and one by one."""
        if self._whole is None:
            alone = [batches(step) for batches in self._several]
            pairs = zip(alone, self._several, strict=True)
            parts = [_part(batch) | {"rows": batches.rows(step)} for batch, batches in pairs]
            return stacked(parts), alone
        items, index, target = self._whole.values()
        numbers = torch.from_numpy(np.stack([one.numbers(step) for one in self._several]))
        rows = numbers.to(items.device)
        seed = torch.arange(len(rows), device=rows.device)[:, None]
        places = index[seed, rows]
        if items.shape[1] > places[0].numel():
            items = items[seed, places.flatten(1)]
            order = torch.arange(places[0].numel(), device=rows.device)
            places = order.reshape(places.shape[1:]).repeat(len(rows), 1, 1)
        targets = target[seed, rows]
        alone = [
            Problems(items=items[place], index=places[place], target=targets[place])
            for place in range(len(rows))
        ]
        return {"items": items, "index": places, "target": targets, "rows": rows}, alone


def _part(problems: Problems) -> Part:
    return {"items": problems.table(), "index": problems.index, "target": problems.target}


def stacked(parts: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Tensors of each seed, by name, as tensors with an axis of seeds.

    Args:
        parts: Those of each seed.
    """
    return {name: torch.stack([part[name] for part in parts]) for name in parts[0]}
