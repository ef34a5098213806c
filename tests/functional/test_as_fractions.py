"""Pixels as numbers."""

from __future__ import annotations

import pytest
import torch

from farfield.functional.internal import as_fractions


def test_bytes_are_fractions_and_integers_are_refused() -> None:
    pixels = torch.tensor([0, 51, 255], dtype=torch.uint8)
    torch.testing.assert_close(as_fractions(pixels), torch.tensor([0.0, 0.2, 1.0]))
    numbers = torch.tensor([0.5, -3.0], dtype=torch.float64)
    assert as_fractions(numbers) is numbers
    assert as_fractions(numbers, torch.float32).dtype == torch.float32
    with pytest.raises(ValueError, match=r"items must be uint8 .* or floating-point .*, got t.*64"):
        as_fractions(torch.arange(3))
