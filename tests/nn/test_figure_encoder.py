"""The encoder of figures: its sets by loops over pixels, and panels whose contents are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from farfield.core import stream
from farfield.nn import FigureEncoder
from farfield.tasks import ProgressiveMatrices
from made import generator, unsettled
from oracles import figures as oracle

WHITE = 255


def square(panel: np.ndarray, place: int, side: int, shade: int) -> None:
    """Draw a square at the upper left of a cell of 24 pixels, within a margin of 4."""
    row, column = (4 + 24 * at + 5 for at in divmod(place, 3))
    panel[row : row + side, column : column + side] = shade


def blank(*shape: int) -> np.ndarray:
    return np.full(shape or (80, 80), WHITE, np.uint8)


def sets_of(encoder: FigureEncoder, *panels: np.ndarray) -> list[torch.Tensor]:
    found = encoder(torch.from_numpy(np.stack(panels)))
    return list(found.detach().split(encoder.set_sizes, dim=1))


def scenes() -> list[np.ndarray]:
    """Squares alike and unlike, of few pixels, under lines, with a spur; noise; nothing."""
    alike, lined, small, noise = blank(), blank(), blank(), blank()
    square(alike, 0, 12, 100)
    square(alike, 4, 12, 100)
    square(alike, 8, 9, 0)
    square(lined, 3, 10, 60)
    lined[40, 4:76], lined[4:76, 64] = 200, 50
    lined[15, 60:62] = 120
    small[10:13, 10:15], small[10:14, 34:38], small[60:62, 60:67] = 90, 90, 90
    small[16:28, 60:62], small[20, 62:68] = 30, 30
    noise[:] = np.random.default_rng(0).integers(0, 256, noise.shape)
    return [alike, lined, small, noise, blank()]


@pytest.mark.parametrize("turned", [False, True])
def test_sets_are_those_of_loops_over_pixels(turned: bool) -> None:
    panels = np.stack(scenes())
    encoder = FigureEncoder(num_kinds=4, hidden_size=3, generator=generator())
    if turned:
        panels = panels[:, :64, :56]
        encoder = FigureEncoder((64, 56), cells=4, num_kinds=4, hidden_size=3)
    encoder = unsettled(encoder)
    state = {name: tensor.detach().numpy() for name, tensor in encoder.state_dict().items()}
    for found, panel in zip(encoder(torch.from_numpy(panels)), panels, strict=True):
        expected = oracle.sets_of_figures(panel / WHITE, state, encoder.cells, encoder.margin)
        np.testing.assert_allclose(found.detach(), expected, rtol=1e-5, atol=1e-6)


def test_a_panel_is_sets_of_levels() -> None:
    panel = blank()
    for place, shade in ((0, 100), (4, 100), (8, 0)):
        square(panel, place, 12, shade)
    encoder = FigureEncoder(generator=generator())
    with torch.no_grad():
        for parameter in encoder.scale.parameters():
            parameter.zero_()
    cells, blocks, shades, sizes, kinds, lines = sets_of(encoder, panel)
    assert cells.nonzero()[:, 1].tolist() == [0, 4, 8]
    assert shades.nonzero()[:, 1].tolist() == [round((1 - 100 / WHITE) * 31), 31]
    assert sizes.argmax() == (12 / 24 - 1 / 4) * 32
    torch.testing.assert_close(kinds.sum(), torch.tensor(1.0))
    assert not blocks.any()
    assert not lines.any()


def test_kinds_tell_forms_and_not_sizes() -> None:
    encoder = unsettled(FigureEncoder(generator=generator()))
    small, large, corner = blank(), blank(), blank()
    square(small, 0, 8, 0)
    square(large, 0, 18, 0)
    square(corner, 0, 18, 0)
    corner[13:27, 13:27] = WHITE
    *_, kinds, _ = sets_of(encoder, small, large, corner)
    torch.testing.assert_close(kinds[0], kinds[1], rtol=0, atol=0.05)
    assert (kinds[0] - kinds[2]).abs().max() > 0.1


@pytest.mark.parametrize("regime", ["validation", "upper-half"])
def test_figures_of_matrices_are_found_under_lines(regime: str) -> None:
    task = ProgressiveMatrices(
        holdout="extrapolation", distractors=False, training_problems=1, test_problems=20
    )
    problems = task.draw(stream(0))[regime]
    rows = problems.index.flatten()
    latent = problems.items.latent[rows].long()
    encoder = FigureEncoder(generator=generator())
    cells, _, shades, *_ = encoder(problems.items.index_select(0, rows)).split(
        encoder.set_sizes, dim=1
    )
    kind, _, color = latent[:, :27].unflatten(1, (9, 3)).unbind(2)
    assert (cells.bool() & (kind == 0)).sum() == 0
    assert (cells.bool() == (kind > 0)).float().mean() > 0.97
    level = ((1 - 23 * (9 - color) / WHITE) * 31).round().long()
    shown = torch.zeros_like(shades).scatter_reduce(1, level, (kind > 0).float(), "amax")
    assert (shown == shades).float().mean() > 0.995


def test_values_beyond_white_and_black_are_white_and_black() -> None:
    panels = torch.from_numpy(np.stack(scenes())) / WHITE
    encoder = FigureEncoder(generator=generator())
    for white, black in [(3.0, -7.0), (math.inf, -math.inf), (1e30, -1e30)]:
        beyond = torch.where(panels == 1, white, torch.where(panels == 0, black, panels))
        torch.testing.assert_close(encoder(beyond), encoder(panels))
    assert encoder(panels[:0]).shape == (0, encoder.out_features)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_figures_are_the_same_in_low_precision(dtype: torch.dtype) -> None:
    panels = torch.from_numpy(np.stack(scenes()[:3]))
    made = FigureEncoder(generator=generator())
    narrow = FigureEncoder(generator=generator(), dtype=dtype)
    wide, low = (each(panels).split(made.set_sizes, dim=1) for each in (made, narrow))
    for number, (one, other) in enumerate(zip(wide, low, strict=True)):
        tolerance = 0.2 if number in (3, 4) else 0
        torch.testing.assert_close(other.float(), one, rtol=0, atol=tolerance)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((40, 40), {"margin": 3}, r"without a margin of 3 .* cells=3, got \(40, 40\)"),
        ((36, 36), {"margin": 0}, r"sides that are multiples of 8, got \(36, 36\)"),
        ((8, 8), {"margin": 0, "cells": 4}, r"cells must leave 14 pixels to each, got 4"),
    ],
)
def test_a_grid_fits_its_picture(shape: tuple[int, ...], options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FigureEncoder(shape, **options)


def test_margins_grow_with_panels_and_broken_pixels_are_no_white_ones() -> None:
    assert [FigureEncoder((side, side)).margin for side in (40, 80, 160)] == [2, 4, 8]
    panels = torch.ones(2, 80, 80)
    panels[1, 3, 70] = torch.nan
    assert FigureEncoder(generator=generator())(panels).isnan().all(1).tolist() == [False, True]
