"""Supervised learning with an L1 penalty on the outputs of named layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

from torch import Tensor

from farfield.core import NonNegativeFloat, check_fields, tap_layers
from farfield.objectives._objective import Objective, Tensors, Update
from farfield.objectives._watching import AbsoluteMean, absolute_mean, over_calls


@final
@dataclass(frozen=True, kw_only=True)
class ActivationL1(Objective):
    r"""The mean of the task's loss, and the mean absolute output of named layers.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b)
      + \alpha \sum_{l, t} \frac{1}{N_l} \sum_{n, j} \left|z^{(l)}_{tnj}\right|$$

    with $\ell$ the loss of the task, $f$ the model, $B$ the number of problems of the batch and
    $z^{(l)}_t$ the $N_l$ numbers that layer $l$ gives in its call $t$. It is the baseline of
    `CenteredL1` for networks without normalizers, where no mean is subtracted.

    Args:
        layers: Names of the layers, as in `model.named_modules()`, e.g. `("encoder.conv1",)`.
        weight: What the penalty counts beside the loss, $\alpha$.
        mean_over_steps: Whether the calls of a layer are averaged and not summed up.

    Raises:
        ValueError: If a field is of another type, no layer is named, or the weight is negative.

    Reference:
        ren2017, equation 5 with $z$ for $v$, as in its released code.
    """

    version: ClassVar[int] = 2  # the first one averaged steps
    layers: tuple[str, ...]
    weight: NonNegativeFloat = 0.01
    mean_over_steps: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.layers:
            raise ValueError("layers must name at least one layer; Supervised needs none")

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss and the weighted penalty.

        Args:
            update: The step, of a model with layers of those names.

        Raises:
            ValueError: If the model has no layer of a name, does not call it, or gets more than a
                tensor from it.
        """
        seen: dict[str, list[AbsoluteMean]] = {}

        def see(name: str) -> Callable[[Tensor], Tensor]:
            def tap(output: Tensor) -> Tensor:
                seen.setdefault(name, []).append(absolute_mean(output))
                return output

            return tap

        with tap_layers(update.network.module, {name: see(name) for name in self.layers}):
            outputs = update.outputs()
        if missing := [name for name in self.layers if name not in seen]:
            raise ValueError(f"layers must be layers that the model calls, got {missing}")
        penalty = sum(over_calls(means, mean=self.mean_over_steps) for means in seen.values())
        total = update.task_loss(outputs, update.problems).mean() + self.weight * penalty
        return total, update.state
