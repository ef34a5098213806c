"""The model that reads what repeats itself at one pace."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.core import stream
from farfield.functional.internal import periods
from farfield.models import PacedSequence, SequenceModel
from farfield.nn import LinearEncoder, NormalizedGRU
from farfield.tasks import SequentialMNIST, is_at_hand
from made import generator

ITEMS = torch.randn(6, 3, generator=generator(2))


def inner(*, answers_everywhere: bool = False) -> SequenceModel:
    encoder = LinearEncoder((3,), out_features=4, generator=generator())
    core = NormalizedGRU(4, 5, batch_first=True, generator=generator(1))
    return SequenceModel(encoder, core, num_outputs=2, answers_everywhere=answers_everywhere)


def repeating(period: int, count: int, seed: int = 3) -> Tensor:
    return torch.randint(6, (1, period), generator=generator(seed)).repeat(1, count)


def nearest(shown: int, read: int) -> np.ndarray:
    return np.floor((np.arange(read) + 0.5) * shown / read).astype(int)


@pytest.mark.parametrize("period, count", [(5, 10), (10, 5), (8, 8), (4, 4), (12, 6)])
def test_it_reads_the_nearest_steps_of_the_nearest_periods(period: int, count: int) -> None:
    model, index = inner(), repeating(period, count)
    places = [period * r + c for r in nearest(count, 8) for c in nearest(period, 8)]
    expected = model(ITEMS, index[:, places])
    assert torch.equal(PacedSequence(model, pace=8)(ITEMS, index), expected)


def test_what_does_not_repeat_itself_is_read_as_it_is() -> None:
    model = inner()
    index = torch.cat(
        [
            torch.randint(6, (1, 40), generator=generator(5)),
            repeating(10, 4),
            torch.zeros(1, 40, dtype=torch.int64),
            repeating(5, 8),
        ]
    )
    found = PacedSequence(model, pace=6)(ITEMS, index)
    torch.testing.assert_close(found[::2], model(ITEMS, index[::2]))
    for row in (1, 3):
        alone = PacedSequence(model, pace=6)(ITEMS, index[row : row + 1])
        torch.testing.assert_close(found[row : row + 1], alone)
        assert not torch.allclose(alone, model(ITEMS, index[row : row + 1]))


def test_every_place_gets_the_answer_of_the_nearest_step_that_was_read() -> None:
    model, index = inner(answers_everywhere=True), repeating(5, 10)
    places = [5 * r + c for r in nearest(10, 8) for c in nearest(5, 8)]
    read = model(ITEMS, index[:, places])[0]
    answers = [8 * r + c for r in nearest(8, 10) for c in nearest(8, 5)]
    assert torch.equal(PacedSequence(model, pace=8)(ITEMS, index)[0], read[answers])


def test_wrong_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"pace must be an int 1….*, got 0"):
        PacedSequence(inner(), pace=0)


@pytest.mark.skipif(not is_at_hand(SequentialMNIST()), reason="needs FARFIELD_DATA")
@pytest.mark.parametrize(
    "regime, period, most, fewest", [("training", 14, 0.6, 0.4), ("side-24", 24, 1.0, 0.95)]
)
def test_the_rows_of_digits_are_found(regime: str, period: int, most: float, fewest: float) -> None:
    task = SequentialMNIST(validation_images=300, test_images=300)
    found = periods(task.sample(regime, 300, stream(0).numpy()).sequences())
    assert fewest <= (found == period).float().mean().item() <= most
