"""Points on a circle and nearly normal numbers, the same bytes on every machine.

Sines and logarithms differ between machines in the last digit; sums, products, quotients and square
roots do not.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from jaxtyping import Float64, Int64

ANGLES: Final = 2**24
"""Different angles of a full turn."""
_TERMS: Final = 12
_BITS: Final = 48


def unit_vectors(angles: Int64[np.ndarray, " batch"]) -> Float64[np.ndarray, "batch 2"]:
    """Cosine and sine of angles, by turns of a half, a quarter, an eighth, … of a full turn.

    Args:
        angles: Numbers of `ANGLES` equal parts of a full turn.
    """
    across, up = np.ones(len(angles)), np.zeros(len(angles))
    cosine, sine = -1.0, 0.0
    bit = ANGLES // 2
    while bit:
        turned = across * cosine - up * sine, across * sine + up * cosine
        has_bit = (angles & bit) > 0
        across, up = np.where(has_bit, turned[0], across), np.where(has_bit, turned[1], up)
        # Half the angle: cos² = (1 + cos 2x) / 2, and sin = sin 2x / (2 cos) but for a half turn.
        half = math.sqrt((1 + cosine) / 2)
        cosine, sine = half, sine / (2 * half) if half else 1.0
        bit //= 2
    return np.stack([across, up], axis=1)


def nearly_normal(generator: np.random.Generator, count: int) -> Float64[np.ndarray, "batch 2"]:
    """Numbers of mean 0 and variance 1: sums of twelve uniform ones, less 6.

    Args:
        generator: Where the words come from.
        count: How many pairs.
    """
    words = generator.bit_generator.random_raw(2 * count * _TERMS).reshape(2 * count, _TERMS)
    # Of 48 bits each, so that a sum is an integer that float64 holds exactly.
    totals = (words >> np.uint64(64 - _BITS)).sum(1).astype(np.float64)
    return (totals * 2.0**-_BITS - _TERMS / 2).reshape(count, 2)
