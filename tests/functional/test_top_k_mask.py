"""The largest of several scores, also of equal ones."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from farfield.functional.internal import top_k_mask

scores = arrays(np.float64, (3, 5), elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0]))


@given(scores=scores, k=st.integers(1, 3), dim=st.sampled_from([0, 1, -1]))
def test_the_largest_and_of_equal_ones_the_first(scores: np.ndarray, k: int, dim: int) -> None:
    found = np.moveaxis(top_k_mask(torch.tensor(scores), k, dim).numpy(), dim, -1)
    for row, chosen in zip(np.moveaxis(scores, dim, -1), found, strict=True):
        order = sorted(range(len(row)), key=lambda i: (-row[i], i))
        assert {int(i) for i in np.flatnonzero(chosen)} == set(order[:k])


@pytest.mark.parametrize("k", [0, 4])
def test_as_many_as_there_are(k: int) -> None:
    with pytest.raises(ValueError, match=f"k must be 1…3, the number of competitors, got {k}"):
        top_k_mask(torch.zeros(2, 3), k)
