"""Samples of problems for the user's own training loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch

from farfield.core import Problems, Size, Stream, UnknownNameError, kind_of, stream
from farfield.tasks._protocol._draws import check_generator


@lru_cache(maxsize=8)
def _first_sets(draw: Callable[[Stream], dict[str, Problems]]) -> dict[str, Problems]:
    return draw(stream(0))


def resample(
    draw: Callable[[Stream], dict[str, Problems]],
    regime: str,
    n: int,
    generator: np.random.Generator,
) -> Problems:
    """`n` problems, with replacement, of the set of one regime that run 0 draws.

    The sets are those of `draw(stream(0))` whatever the generator, so that no call for training
    ever shows what a call for a test withholds.

    Args:
        draw: The method `draw` of the task.
        regime: Name of the regime.
        n: Number of problems, at least 1.
        generator: Draws the rows.

    Raises:
        UnknownNameError: If the task has no such regime.
        ValueError: If `n` is not an integer ≥ 1, or the generator is not NumPy's.
    """
    n = kind_of(Size).take("n", n)
    check_generator(generator)
    sets = _first_sets(draw)
    if regime not in sets:
        raise UnknownNameError("regime", regime, sets)
    problems = sets[regime]
    return problems[torch.from_numpy(generator.integers(len(problems), size=n))]
