"""Supervised learning with a price on what normalizers receive."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Problems, Stream
from farfield.objectives._watching import Share, for_this_call, joined, share_of, watched


@final
@dataclass(frozen=True, kw_only=True)
class CentredL1:
    r"""The mean of the task's loss, and the mean size of what the normalizers divide.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b)
      + \alpha \sum_l \frac{1}{N_l} \sum_{n, j} \left|v^{(l)}_{nj}\right|$$

    with $\ell$ the loss of the task, $f$ the model and $B$ the number of problems of the batch.
    $v^{(l)}$ is what normalizer $l$ received, less the mean that this normalizer takes off, before
    it divides; $N_l$ is how many numbers that is. A normalizer called several times, as at each
    step of a recurrent cell, counts once, with the numbers of all its calls.

    Normalizers are the parts of the model with a method `centre`, from what the part is called on
    to $v$. They are watched while the model runs, and nothing stays in it. `ActivationL1` is the
    same for named layers without a normalizer.

    Args:
        weight: What the penalty counts beside the loss, $\alpha$; ren2017 uses $10^{-4}$ to
            $10^{-1}$.

    Raises:
        ValueError: If the weight is negative or not finite.

    Reference:
        ren2017, equation 5.
    """

    weight: float = 0.01

    def __post_init__(self) -> None:
        check_weight(self.weight)

    def __call__(
        self,
        model: nn.Module,
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Float[Tensor, ""]:
        """The mean loss and the weighted penalty; `stream` is not drawn from.

        Args:
            model: From `(items, index)` to outputs, with normalizers among its parts.
            problems: The batch.
            loss: The task's loss, one number per problem.
            stream: Not used: the rule draws nothing.

        Raises:
            TypeError: If the model has no normalizer, or calls none.
        """
        del stream
        normalizers: list[Any] = [
            part for part in watched(model).modules() if callable(getattr(part, "centre", None))
        ]
        seen: dict[nn.Module, list[Share]] = {}

        def see(part: Any, inputs: tuple[Tensor, ...]) -> None:
            seen.setdefault(part, []).append(share_of(part.centre(inputs[0])))

        with for_this_call(part.register_forward_pre_hook(see) for part in normalizers):
            outputs = model(problems.items, problems.index)
        if not seen:
            raise TypeError(
                "model must run parts with a method centre, as farfield.nn.ContextNorm has, "
                f"got {type(watched(model)).__name__} with {len(normalizers)} and none called; "
                "ActivationL1 takes any layers by name"
            )
        penalty = sum(joined(shares) for shares in seen.values())
        return loss(outputs, problems).mean() + self.weight * penalty


def check_weight(weight: float) -> None:
    """Refuse a weight that is none.

    Args:
        weight: What a penalty counts beside the loss.

    Raises:
        ValueError: If it is negative or not finite.
    """
    if not 0 <= weight < math.inf:
        raise ValueError(f"weight must be at least 0 and finite, got {weight}")
