"""The stable order: torch's sort, and what an export has in its place."""

from __future__ import annotations

import pytest
import torch

from farfield.functional._rims._rims_reading import stable_order
from made import generator


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("exporting", [False, True])
def test_an_export_sorts_as_torch_does(monkeypatch, exporting, dim, descending) -> None:
    x = torch.randint(3, (5, 4, 6), generator=generator()).float()  # so that many are equal
    monkeypatch.setattr(torch.compiler, "is_exporting", lambda: exporting)
    expected = torch.sort(x, dim=dim, descending=descending, stable=True).indices
    assert torch.equal(stable_order(x, dim=dim, descending=descending), expected)
