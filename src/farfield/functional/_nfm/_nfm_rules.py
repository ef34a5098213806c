"""Options of neural function modules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from farfield.core.internal import Dropout, Size, check_fields


@final
@dataclass(frozen=True, kw_only=True)
class NFMRules:
    r"""Options of a read of neural function modules; the text's by default.

    The numbers are those of sections 10.4.2 to 10.4.4. Section 10.4.1 has `key_size=32` and
    `value_size=32`, 10.4.5 these and `top_k=4`; table 9 varies them.

    Args:
        num_heads: Number of heads.
        key_size: Numbers in a query or key of one head, $d_k$.
        value_size: Numbers in a value of one head, $d_v$.
        top_k: How many entries a head attends to, the null element among them; None for all.
        subtract_next: Whether the largest weights of a softmax over all entries are lowered by the
            next one and divided by their sum, as in the released code, or the softmax is over the
            `top_k` largest scores.
        sqrt_scale: Whether scores are divided by $\sqrt{d_k}$, as in the released code, or by
            $d_k$, as published.
        null_first: Whether the null element is before all others, or behind them, as in the
            released code; of scores that tie the first are read.
        space_to_depth: Whether a reader chooses among all positions of a larger state that fall on
            one position of the reader, or sees one of them, as in the released code.
        bias: Whether queries, keys, values and the output network have biases, as in the released
            code.
        kernel_size: Side of the kernels of the output network; odd. 3 in the released code.
        residual_input: Whether the output network is also given the reader's state, as in the
            released generator.
        dropout: Probability that an attention weight is dropped in training; drawn from torch's
            global generator. 0.1 in the released generator.

    Raises:
        ValueError: If a size is below 1, `kernel_size` even, or `dropout` no probability.

    Reference:
        lamb2022, section 10.3.2.
    """

    num_heads: Size = 4
    key_size: Size = 16
    value_size: Size = 16
    top_k: Size | None = 5
    subtract_next: bool = False
    sqrt_scale: bool = False
    null_first: bool = True
    space_to_depth: bool = True
    bias: bool = False
    kernel_size: Size = 1
    residual_input: bool = False
    dropout: Dropout = 0.0

    def __post_init__(self) -> None:
        """Check every part."""
        check_fields(self)
        if self.kernel_size % 2 == 0:
            raise ValueError(f"kernel_size must be odd, got {self.kernel_size}")

    @classmethod
    def released(cls) -> NFMRules:
        """Return the rules of the authors' released classifier, where it differs from the text.

        Whatever number its constructor is given, three entries are read.
        """
        return cls(
            top_k=3,
            subtract_next=True,
            sqrt_scale=True,
            null_first=False,
            space_to_depth=False,
            bias=True,
            kernel_size=3,
        )

    @property
    def temperature(self) -> float:
        """Divisor of the scores."""
        return math.sqrt(self.key_size) if self.sqrt_scale else self.key_size
