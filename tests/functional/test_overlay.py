"""Convolutions of pictures that differ in one place are those of the whole pictures."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from farfield.functional.internal import Overlay, differing, overlay_convolution
from made import drawn, gradcheck


def laid(top: int, left: int, rows: int, columns: int) -> Overlay:
    return Overlay(drawn(1, 2, 11, 9), drawn(3, 2, rows, columns, seed=8), top, left)


@given(data=st.data())
def test_the_same_as_of_the_whole_maps(data: st.DataObject) -> None:
    top, left = data.draw(st.integers(0, 10)), data.draw(st.integers(0, 8))
    rows, columns = data.draw(st.integers(1, 11 - top)), data.draw(st.integers(1, 9 - left))
    kernel, stride = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
    padding = data.draw(st.integers(0, 2))
    maps, weight, bias = laid(top, left, rows, columns), drawn(4, 2, kernel, kernel), drawn(4)
    found = overlay_convolution(maps, weight, bias, stride=stride, padding=padding)
    expected = F.conv2d(maps.whole(), weight, bias, stride=stride, padding=padding)
    torch.testing.assert_close(found.whole(), expected, rtol=1e-9, atol=1e-11)


def test_what_lies_outside_is_convolved_once() -> None:
    found = overlay_convolution(laid(4, 4, 2, 2), drawn(4, 2, 3, 3), padding=1)
    assert found.base.shape == (1, 4, 11, 9)
    assert (found.window.shape, found.top, found.left) == ((3, 4, 4, 4), 3, 3)


def test_gradients() -> None:
    maps, weight = laid(3, 2, 4, 5), drawn(2, 2, 4, 4)

    def whole(base: torch.Tensor, window: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        first = overlay_convolution(Overlay(base, window, 3, 2), weight, stride=2, padding=1)
        return first.whole()

    inputs = (maps.base.requires_grad_(), maps.window.requires_grad_(), weight.requires_grad_())
    assert gradcheck(whole, inputs)


@pytest.mark.parametrize(
    "marked, window",
    [
        ([(2, 3), (4, 1)], (slice(2, 5), slice(1, 4))),
        ([(0, 0)], (slice(0, 1), slice(0, 1))),
        ([], (slice(0, 1), slice(0, 1))),
    ],
)
def test_the_window_of_what_is_marked(marked, window) -> None:
    places = torch.zeros(6, 5, dtype=torch.bool)
    for place in marked:
        places[place] = True
    assert differing(places) == window
