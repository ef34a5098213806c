"""The encoder of figures: what it says of panels whose contents are known."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.core import stream
from farfield.nn import FigureEncoder
from farfield.tasks import ProgressiveMatrices
from made import generator

WHITE = 255
"""Squares of 12 pixels in three of nine cells of 24, within a margin of 4."""
PLACES, SHADES = (0, 4, 8), (100, 100, 0)


def panel(*, lines: bool = False) -> np.ndarray:
    drawn = np.full((80, 80), WHITE, np.uint8)
    for place, shade in zip(PLACES, SHADES, strict=True):
        row, column = (4 + 24 * at + 6 for at in divmod(place, 3))
        drawn[row : row + 12, column : column + 12] = shade
    if lines:
        drawn[40, 4:76] = 200
        drawn[4:76, 64] = 50
    return drawn


def sets_of(encoder: FigureEncoder, *panels: np.ndarray) -> list[torch.Tensor]:
    found = encoder(torch.from_numpy(np.stack(panels)))
    return list(found.detach().split(encoder.set_sizes, dim=1))


def test_a_panel_is_sets_of_places_shades_sizes_and_lines() -> None:
    encoder = FigureEncoder(generator=generator())
    with torch.no_grad():
        encoder.scale[2].weight.zero_()
    for lines in (False, True):
        places, blocks, shades, sizes, _, line_shades = sets_of(encoder, panel(lines=lines))
        assert places.nonzero()[:, 1].tolist() == list(PLACES)
        expected = sorted({round((1 - shade / WHITE) * 31) for shade in SHADES})
        assert shades.nonzero()[:, 1].tolist() == expected
        assert sizes.argmax() == (12 / 24 - 1 / 4) * 32
        drawn = blocks.reshape(10, 10)
        crossed = torch.zeros(10, 10)
        if lines:
            crossed[5, :], crossed[:, 8] = 1, 1
        assert torch.equal(drawn, crossed)
        said = [round((1 - shade / WHITE) * 31) for shade in (200, 50)] if lines else []
        assert line_shades.nonzero()[:, 1].tolist() == said


def test_kinds_do_not_depend_on_size() -> None:
    encoder = FigureEncoder(generator=generator())
    small, large = (np.full((80, 80), WHITE, np.uint8) for _ in range(2))
    small[10:16, 10:16] = 0
    large[6:26, 6:26] = 0
    (*_, kinds, _) = sets_of(encoder, small, large)
    torch.testing.assert_close(kinds[0], kinds[1], rtol=0.05, atol=0.01)


@pytest.mark.parametrize("regime", ["validation", "upper-half"])
def test_figures_of_matrices_are_found_through_lines(regime: str) -> None:
    task = ProgressiveMatrices(
        holdout="extrapolation", distractors=False, training_problems=1, test_problems=20
    )
    problems = task.draw(stream(0))[regime]
    rows = problems.index.flatten()
    latent = problems.items.latent[rows].long()
    panels = problems.items.index_select(0, rows)
    places, _, shades, *_ = FigureEncoder(generator=generator())(panels).split(
        FigureEncoder().set_sizes, dim=1
    )
    kind, _, color = latent[:, :27].unflatten(1, (9, 3)).unbind(2)
    assert (places.bool() & (kind == 0)).sum() == 0
    assert (places.bool() == (kind > 0)).float().mean() > 0.97
    level = ((1 - 23 * (9 - color) / WHITE) * 31).round().long()
    shown = torch.zeros_like(shades).scatter_reduce(1, level, (kind > 0).float(), "amax")
    assert (shown == shades).float().mean() > 0.995


@pytest.mark.usefixtures("unchecked")
def test_a_grid_fits_its_picture() -> None:
    with pytest.raises(ValueError, match=r"without a margin of 3 .* cells=3, got \(40, 40\)"):
        FigureEncoder((40, 40), margin=3)
    with pytest.raises(ValueError, match=r"item_shape must be multiples of 8, got \(36, 36\)"):
        FigureEncoder((36, 36), margin=0)
