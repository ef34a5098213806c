"""Items get mean and spread of training; their offset and scale change nothing."""

import pytest
import torch

from farfield.nn import StatisticsMatch

ITEMS = torch.rand(50, 6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("dims", [(-1,), (-2,), (-2, -1)])
def test_offset_and_scale_of_an_item_go_out(dims: tuple[int, ...]) -> None:
    match = StatisticsMatch.of(ITEMS, dims)
    plain = match(ITEMS)
    assert torch.allclose(match(3 * ITEMS - 7), plain)
    assert torch.allclose(plain.mean(dims), match.mean.mean(dims).expand_as(plain.mean(dims)))
    spread = plain.std(dims, correction=0)
    assert torch.allclose(spread, match.scale.mean(dims).expand_as(spread))


def test_by_hand_and_an_item_without_spread() -> None:
    match = StatisticsMatch(torch.tensor([4.0]), torch.tensor([0.5]), (-1,))
    assert match(torch.tensor([[1.0, 3.0], [9.0, 9.0]])).tolist() == [[3.5, 4.5], [4.0, 4.0]]


@pytest.mark.parametrize("dims", [(), (1,), (-1, -1)])
def test_axes_are_counted_from_the_end(dims: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="dims must be axes below 0, each once, got"):
        StatisticsMatch(torch.zeros(1), torch.ones(1), dims)
