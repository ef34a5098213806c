"""Recall of a trained network after dormant phases of many lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import nn

from farfield.analysis._mean_score import mean_score
from farfield.core import Stream
from farfield.tasks import Copying, Task


def recall_by_length(
    network: nn.Module, task: Task, lengths: Sequence[int], sequences: int, place: Stream
) -> list[float]:
    """Share of symbols that a trained network recalls after dormant phases of each length.

    The same symbols are asked for after every length, so lengths alone tell scores apart.

    Args:
        network: A network for the task, e.g. from `trained_network`.
        task: The copying task that it was trained on.
        lengths: Lengths of the dormant phase, ascending; those of training or shorter too.
        sequences: Number of sequences.
        place: Where the symbols are drawn from.

    Raises:
        ValueError: If the task is another one, lengths are not ascending from 1, or the number of
            sequences is below 1.

    Reference:
        lamb2022, section 8.4.1.
    """
    if not isinstance(task, Copying):
        raise ValueError(f"task must be Copying, got {type(task).__name__}")
    asked = replace(
        task,
        dormant=min(lengths, default=0),
        test_dormant=tuple(lengths),
        test_sequences=(sequences,) * len(lengths),
    )
    found = []
    for regime in asked.regimes[2:]:
        problems = asked.made(regime.name, sequences, place.numpy())
        found.append(mean_score(network, asked, problems))
    return found
