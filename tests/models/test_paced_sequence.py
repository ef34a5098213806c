"""The model that reads what repeats itself at one pace."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import stream
from farfield.functional.internal import find_rows, periods
from farfield.models import PacedSequence
from farfield.models.internal import ItemModel, SequenceModel
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
    found = PacedSequence(model, pace=8, whole_periods=True)(ITEMS, index)
    assert torch.equal(found, expected)


@pytest.mark.parametrize("whole_periods", [True, False])
def test_what_does_not_repeat_itself_is_read_as_it_is(whole_periods: bool) -> None:
    model = inner()
    index = torch.cat(
        [
            torch.randint(6, (1, 40), generator=generator(5)),
            repeating(10, 4),
            torch.zeros(1, 40, dtype=torch.int64),
            repeating(5, 8),
        ]
    )
    paced = PacedSequence(model, pace=6, whole_periods=whole_periods)
    found = paced(ITEMS, index)
    torch.testing.assert_close(found[::2], model(ITEMS, index[::2]))
    for row in (1, 3):
        alone = paced(ITEMS, index[row : row + 1])
        torch.testing.assert_close(found[row : row + 1], alone)
        assert not torch.allclose(alone, model(ITEMS, index[row : row + 1]))


def test_every_place_gets_the_answer_of_the_nearest_step_that_was_read() -> None:
    model, index = inner(answers_everywhere=True), repeating(5, 10)
    places = [5 * r + c for r in nearest(10, 8) for c in nearest(5, 8)]
    read = model(ITEMS, index[:, places])[0]
    answers = [8 * r + c for r in nearest(8, 10) for c in nearest(8, 5)]
    found = PacedSequence(model, pace=8, whole_periods=True)(ITEMS, index)[0]
    assert torch.equal(found, read[answers])


def test_wrong_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"pace must be an int 1….*, got 0"):
        PacedSequence(inner(), pace=0)
    with pytest.raises(ValueError, match="whole_periods must be False with jitter"):
        PacedSequence(inner(), pace=4, whole_periods=True, jitter=0.1)
    with pytest.raises(ValueError, match="x must have 16 steps or more, got 15"):
        PacedSequence(ItemModel(nn.Flatten()), pace=4)(ITEMS, torch.zeros(1, 15, dtype=torch.int64))


def figure(height: int, width: int) -> Tensor:
    """An upright ring in the middle of a picture, of item 1 on a ground of item 0."""
    down, across = torch.meshgrid(
        *((torch.arange(side) + 0.5) / side - 0.5 for side in (height, width)), indexing="ij"
    )
    apart = torch.hypot(down / 0.35, across / 0.25)
    return ((apart < 1) & (apart > 0.5)).long().flatten()


BLANKS = [(0, 0), (1, 0), (0, 1), (13, 0), (0, 13), (24, 0), (0, 24), (7, 9), (-1, 0), (0, -11)]


@pytest.mark.parametrize("height, width", [(24, 24), (24, 20), (20, 27)])
@pytest.mark.parametrize("before, after", BLANKS)
def test_blanks_and_missing_steps_change_little(
    height: int, width: int, before: int, after: int
) -> None:
    sequence = F.pad(figure(height, width), (before, after))[None]
    read: list[Tensor] = []
    core = nn.Flatten()
    core.register_forward_hook(lambda _, shown, __: read.append(shown[0]))
    PacedSequence(ItemModel(core), pace=12)(torch.eye(2), sequence)
    expected = figure(12, 12).view(12, 12).float()
    assert (read[0][0, 1] - expected).abs().mean() < 0.08  # 0.2 where a row has one step less
    lengths: list[int] = []
    model = inner()
    model.core.register_forward_hook(lambda _, shown, __: lengths.append(shown[0].shape[1]))
    PacedSequence(model, pace=8)(ITEMS, sequence)
    assert sum(lengths) == 64


def test_every_position_gets_the_answer_of_the_nearest_pixel() -> None:
    sequence = F.pad(figure(16, 16), (5, 0))[None]
    paced = PacedSequence(inner(answers_everywhere=True), pace=16)
    places: list[Tensor] = []
    paced.inner.core.register_forward_hook(lambda _, __, given: places.append(given[0]))
    answers = paced(ITEMS, sequence)[0]
    (given,) = places
    expected = paced.inner.output(given[0])
    assert answers.shape == (261, 2)
    torch.testing.assert_close(answers[5 + 16 * 3 + 2], expected[16 * 3 + 2])
    torch.testing.assert_close(answers[0], expected[11])  # before the first row: its column


def test_jitter_is_drawn_in_training_alone() -> None:
    paced = PacedSequence(inner(), pace=8, jitter=0.2)
    sequence = figure(24, 24)[None]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        first, second = paced(ITEMS, sequence), paced(ITEMS, sequence)
        paced.eval()
        assert torch.equal(paced(ITEMS, sequence), paced(ITEMS, sequence))
    assert not torch.equal(first, second)


@pytest.mark.skipif(not is_at_hand(SequentialMNIST()), reason="needs FARFIELD_DATA")
@pytest.mark.parametrize(
    "regime, period, most, fewest", [("training", 14, 0.6, 0.4), ("side-24", 24, 1.0, 0.95)]
)
def test_the_rows_of_digits_are_found(regime: str, period: int, most: float, fewest: float) -> None:
    task = SequentialMNIST(validation_images=300, test_images=300)
    found = periods(task.sample(regime, 300, stream(0).numpy()).sequences())
    assert fewest <= (found == period).float().mean().item() <= most


@pytest.mark.skipif(not is_at_hand(SequentialMNIST()), reason="needs FARFIELD_DATA")
@pytest.mark.parametrize("regime, side, fewest", [("training", 14, 0.94), ("side-24", 24, 0.97)])
def test_rows_of_digits_are_found_to_within_a_step(regime: str, side: int, fewest: float) -> None:
    task = SequentialMNIST(validation_images=300, test_images=300)
    pixels = task.sample(regime, 300, stream(0).numpy()).index
    for before, after in ((0, 0), (5, 0), (0, 13), (-9, 0), (0, -9)):
        found = find_rows(torch.eye(2)[F.pad(pixels, (before, after))]).length
        assert ((found - side).abs() <= 1).float().mean() > fewest
