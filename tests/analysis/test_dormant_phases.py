"""Recall after dormant phases of many lengths, of networks that are known to recall after some."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.analysis.internal import recall_by_length
from farfield.core import stream
from farfield.tasks import Copying, FuzzyBoolean

TASK = Copying(dormant=5, test_dormant=(7,), test_sequences=(3,))
PLACE = stream(0, "symbols")


class EveryFourth(nn.Module):
    """Recalls everything where the length leaves a remainder of 2 by 4, else half of the places."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[Tensor] = []

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        symbols = index[:, :10]
        self.read.append(symbols)
        if (index.shape[1] - 20) % 4 != 2:
            symbols = torch.cat((symbols[:, :5], torch.zeros_like(symbols[:, :5])), 1)
        blanks = torch.zeros(len(index), index.shape[1] - 10, dtype=torch.long)
        return F.one_hot(torch.cat((blanks, symbols), 1), 9).float()


def test_every_length_is_asked_for_with_the_same_symbols() -> None:
    network = EveryFourth()
    assert recall_by_length(network, TASK, (2, 3, 5, 6, 70), 4, PLACE) == [1, 0.5, 0.5, 1, 1]
    first, *others = network.read
    assert first.shape == (4, 10)
    assert all(torch.equal(first, other) for other in others)


@pytest.mark.parametrize("lengths", [(), (3, 2), (0, 1), (2, 2)])
def test_lengths_that_do_not_ascend_are_refused(lengths: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="dormant"):
        recall_by_length(EveryFourth(), TASK, lengths, 4, PLACE)


def test_another_task_is_refused() -> None:
    with pytest.raises(ValueError, match="task must be Copying, got FuzzyBoolean"):
        recall_by_length(EveryFourth(), FuzzyBoolean(), (2, 3), 4, PLACE)
