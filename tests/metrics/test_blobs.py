"""The distance of the white blobs of two frames."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.metrics.internal import blob_distance
from oracles import bouncing_balls as oracle


def frames(seed: int, count: int, density: float) -> torch.Tensor:
    white = np.random.default_rng(seed).random((count, 6, 7)) < density
    return torch.from_numpy(white)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.05, 0.15]), st.floats(0.5, 9))
def test_it_is_that_of_the_best_matching(seed: int, density: float, cutoff: float) -> None:
    first, second = frames(seed, 3, density), frames(seed + 1, 3, 0.12)
    found = blob_distance(first, second, cutoff=cutoff)
    expected = [
        oracle.blob_distance(one.numpy(), other.numpy(), cutoff)
        for one, other in zip(first, second, strict=True)
    ]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)
    torch.testing.assert_close(blob_distance(second, first, cutoff=cutoff), found)


def test_equal_frames_are_at_zero_and_a_moved_blob_as_far_as_it_moved() -> None:
    white = torch.zeros(2, 3, 16, 16, dtype=torch.bool)
    white[:, :, 4:7, 5:7] = True
    assert torch.equal(blob_distance(white, white, cutoff=4.0), torch.zeros(2, 3).double())
    moved = white.roll((3, 1), dims=(2, 3))
    torch.testing.assert_close(
        blob_distance(white, moved, cutoff=4.0), torch.full((2, 3), 10.0).double().sqrt()
    )
    assert float(blob_distance(white, moved, cutoff=2.0).max()) == 2.0
    nothing = torch.zeros_like(white)
    assert torch.equal(blob_distance(white, nothing, cutoff=4.0), torch.full((2, 3), 4.0).double())
    assert torch.equal(blob_distance(nothing, nothing, cutoff=4.0), torch.zeros(2, 3).double())


def test_what_touches_at_a_corner_only_is_two() -> None:
    one = torch.tensor([[True, False], [False, True]])
    other = torch.tensor([[True, False], [False, False]])
    assert float(blob_distance(one, other, cutoff=5.0)) == 2.5


def test_bad_input_is_named(unchecked: None) -> None:
    white = torch.zeros(2, 4, 4, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"one shape, got \(2, 4, 4\) and \(1, 4, 4\)"):
        blob_distance(white, white[:1], cutoff=1.0)
    for cutoff in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="cutoff must be positive, got"):
            blob_distance(white, white, cutoff=cutoff)
