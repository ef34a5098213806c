"""The encoder of objects shown by direction: the map, candidates, the fit, profiles."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.core import stream
from farfield.nn import DirectionEncoder
from farfield.nn._encoders._direction_encoder import relative_direction
from farfield.tasks._vaec._direction_pictures import draw_directions, layout


def striped(centers: list[tuple[float, float]], width: float, turn: float = 0.0) -> torch.Tensor:
    """Squares of vertical stripes on a ground of horizontal ones."""
    row, column = np.mgrid[:96, :96]
    inside = np.zeros((96, 96), bool)
    for x, y in centers:
        across = (column - x) * np.cos(turn) + (row - y) * np.sin(turn)
        down = (row - y) * np.cos(turn) - (column - x) * np.sin(turn)
        inside |= np.maximum(abs(across), abs(down)) <= width / 2
    waves = np.where(inside, np.sin(column * 1.9), np.sin(row * 1.9))
    return torch.from_numpy(np.rint(128 + 60 * waves).astype(np.uint8))[None]


def candidates(encoder: DirectionEncoder, pictures: torch.Tensor) -> torch.Tensor:
    return encoder(pictures).reshape(len(pictures), encoder.num_objects, -1)


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_the_best_candidate_is_the_square(turn: float) -> None:
    encoder = DirectionEncoder(num_objects=4)
    for x, y, width in ((40.0, 50.0, 24.0), (30.5, 61.0, 31.0)):
        (found,) = candidates(encoder, striped([(x, y)], width, turn))
        assert found.shape == (4, encoder.candidate_features)
        best = found[found[:, 3].argmax()]
        assert (best[:3] * 10 - torch.tensor([x, y, width - 0.5])).abs().max() < 1
        assert best[3] > 1.5


def test_candidates_move_with_the_picture() -> None:
    encoder = DirectionEncoder(num_objects=1)
    here, there = (
        candidates(encoder, striped([(x, y)], 24.0))[0, 0] for x, y in ((40, 40), (50, 52))
    )
    assert torch.allclose((there - here)[:2] * 10, torch.tensor([10.0, 12.0]), atol=0.2)
    assert (there - here)[2:].abs().max() < 0.1


def test_profiles_tell_squares_from_disks_in_every_turn() -> None:
    encoder = DirectionEncoder(num_objects=1)
    waves = [
        candidates(encoder, striped([(48, 48)], 28.0, turn))[0, 0, 12:].reshape(8, 5)[4:6]
        for turn in (0.0, 0.25, 0.7)
    ]
    for sizes in waves:
        assert sizes[:, 3].min() > 3 * sizes[:, [0, 1, 2]].max()  # four waves, for four corners


def test_the_map_is_that_of_the_objects() -> None:
    latent = torch.tensor([[400, 450, 300, number] for number in range(6)])
    maps = relative_direction(draw_directions(latent).double() / 255)
    for number, found in enumerate(maps):
        shapes = layout(400, 450, 300, stream(number, "direction-picture").numpy())
        covered = np.logical_or.reduce([shape.covers() for shape in shapes])
        assert ((found > 0).numpy() == covered).mean() > 0.975
        assert found.abs().max() <= 1


def test_touching_squares_of_the_task_are_among_the_candidates() -> None:
    latent = torch.tensor([[400, 450, 300, number] for number in range(12)])
    found = candidates(DirectionEncoder(), draw_directions(latent))[..., :3]
    apart = (found - torch.tensor([4.0, 4.5, 2.9])).abs().amax(2).amin(1)
    assert (apart < 0.2).float().mean() > 0.9


@pytest.mark.usefixtures("unchecked")
def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"item_shape must have even sides, got \(9, 8\)"):
        DirectionEncoder((9, 8))
    with pytest.raises(ValueError, match=r"widest must be above narrowest \(9.0\), got 8.0"):
        DirectionEncoder(narrowest=9.0, widest=8.0)
    with pytest.raises(ValueError, match=r"items must be \(item, "):
        DirectionEncoder((32, 32))(torch.zeros(1, 32, 30))
