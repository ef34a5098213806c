"""Arrays of an original implementation, and how near ours must come to them in two precisions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, final

import numpy as np
import pytest
import torch
from torch import Tensor

FOLDER = Path(os.environ.get("FARFIELD_GOLDEN") or Path(__file__).parents[2] / "shared" / "golden")

OTHER_ORDER = 16
"""By how many times the difference between its own two precisions float32 here may differ from the
original's float32. Sums are taken in another order, on another processor, and of a single number
the measured difference is luck: kernels for AVX-512, AVX2 and SSE reach up to 12 times."""

precisions = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["64", "32"])


def cases(name: str) -> pytest.MarkDecorator:
    """All cases whose names begin so."""
    found = sorted(path.name for path in FOLDER.glob(f"{name}*")) or [name]
    return pytest.mark.parametrize("case", found)


@final
class Golden(Mapping[str, np.ndarray]):
    """A case, to be compared in one precision: `golden["out64.logits"]`.

    Args:
        case: Its name.
        arrays: Those of the fixture `golden`.
        dtype: float64 or float32.
    """

    def __init__(self, case: str, arrays: Mapping[str, np.ndarray], dtype: torch.dtype) -> None:
        self._arrays, self.dtype = arrays, dtype
        self.meta: dict[str, Any] = json.loads((FOLDER / case / "meta.json").read_text())
        self._measured = self.meta["float32_vs_float64"]

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def tensor(self, name: str, *, requires_grad: bool = False) -> Tensor:
        """The array in the precision of the comparison."""
        return torch.tensor(self[name], dtype=self.dtype, requires_grad=requires_grad)

    def check(self, found: Tensor, name: str, tolerance: float = 1e-9) -> None:
        """Compare a result with the original's of the same precision.

        Args:
            found: The result; axes of one may be missing.
            name: Without `out.`.
            tolerance: In float64, as a part of the magnitude.
        """
        if self.dtype == torch.float64:
            expected = self[f"out64.{name}"]
            within(found, expected, tolerance * max(np.abs(expected).max(), 1.0))
        else:
            self._in_float32(found, self[f"out.{name}"], self._measured["per_output_max_abs"][name])

    def check_gradient(self, found: Tensor, name: str) -> None:
        """Compare a gradient with the original's, which is float32.

        Args:
            found: The gradient; axes of one may be missing.
            name: With `grad.` or `gradin.`.
        """
        own = name.replace("gradin.", "in:").removeprefix("grad.")
        self.check_gradients(found, self[name], self._measured["per_gradient_max_abs"][own])

    def check_gradients(
        self, found: Tensor, expected: np.ndarray, measured: float | None = None
    ) -> None:
        """Compare with what is made of gradients of the original.

        Args:
            found: The gradient; axes of one may be missing.
            expected: That of the original.
            measured: Difference of its two precisions; if None, the largest of all gradients.
        """
        measured = self._measured["max_abs_over_gradients"] if measured is None else measured
        if self.dtype == torch.float64:
            within(found, expected, 1.5 * measured + 1e-9 * np.abs(expected).max())
        else:
            self._in_float32(found, expected, measured)

    def _in_float32(self, found: Tensor, expected: np.ndarray, measured: float) -> None:
        assert found.dtype == torch.float32
        rounding = torch.finfo(torch.float32).eps * np.abs(expected).max()
        within(found, expected, OTHER_ORDER * max(measured, rounding))


def within(found: Tensor, expected: np.ndarray, bound: float) -> None:
    """No number is farther away than the bound."""
    given = found.detach().numpy().reshape(expected.shape)
    np.testing.assert_allclose(given, expected, rtol=0, atol=bound)
