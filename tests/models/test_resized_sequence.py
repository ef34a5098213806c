"""The model that reads squares of any size at one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.models import ResizedSequence
from farfield.models.internal import SequenceModel
from farfield.nn import LinearEncoder, NormalizedGRU
from made import generator


def inner(*, answers_everywhere: bool = False) -> SequenceModel:
    encoder = LinearEncoder((3,), out_features=4, generator=generator())
    core = NormalizedGRU(4, 5, batch_first=True, generator=generator(1))
    return SequenceModel(encoder, core, num_outputs=2, answers_everywhere=answers_everywhere)


def squares(side: int) -> tuple[torch.Tensor, torch.Tensor]:
    items = torch.randn(6, 3, generator=generator(2))
    return items, torch.randint(6, (2, side * side), generator=generator(3))


def test_at_its_own_side_nothing_changes() -> None:
    model = inner()
    items, index = squares(4)
    assert torch.equal(ResizedSequence(model, side=4)(items, index), model(items, index))


@pytest.mark.parametrize("shown", [1, 3, 5, 7, 12])
def test_it_reads_the_nearest_places(shown: int) -> None:
    model = inner()
    items, index = squares(shown)
    centers = (np.arange(4) + 0.5) * shown / 4
    places = [
        int(np.floor(row)) * shown + int(np.floor(column)) for row in centers for column in centers
    ]
    expected = model(items, index[:, places])
    assert torch.equal(ResizedSequence(model, side=4)(items, index), expected)


def test_every_place_gets_the_answer_of_the_nearest_one_that_was_read() -> None:
    model = inner(answers_everywhere=True)
    items, index = squares(6)
    read = ResizedSequence(model, side=4)(items, index)
    at = [int((row + 0.5) * 4 / 6) * 4 + int((column + 0.5) * 4 / 6)
          for row in range(6) for column in range(6)]  # fmt: skip
    small = [int((row + 0.5) * 6 / 4) * 6 + int((column + 0.5) * 6 / 4)
             for row in range(4) for column in range(4)]  # fmt: skip
    assert torch.equal(read, model(items, index[:, small])[:, at])


def test_a_picture_that_was_enlarged_is_read_as_it_was() -> None:
    """Each place three by three times: nothing is lost and nothing moves."""
    model = inner()
    items, index = squares(4)
    large = index.reshape(2, 4, 4).repeat_interleave(3, 1).repeat_interleave(3, 2).flatten(1)
    assert torch.equal(ResizedSequence(model, side=4)(items, large), model(items, index))


def test_what_is_no_square_is_refused() -> None:
    items, index = squares(4)
    with pytest.raises(ValueError, match="square number of positions, got 15"):
        ResizedSequence(inner(), side=4)(items, index[:, 1:])
    with pytest.raises(ValueError, match=r"side must be an int 1….*, got 0"):
        ResizedSequence(inner(), side=0)
