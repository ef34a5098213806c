"""Supervised learning with an L1 penalty on outputs or inputs of layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, ClassVar, final

import torch
from torch import Tensor, nn

from farfield.core import tap_layers
from farfield.core.internal import Checked, NonNegativeFloat, check_fields
from farfield.objectives._objective import Objective, Tensors, Update

AbsoluteMean = tuple[Tensor, int]
"""Mean absolute value and number of the elements of one call."""


def absolute_mean(x: Tensor) -> AbsoluteMean:
    """Compute the mean absolute value and number of the elements of a tensor.

    Args:
        x: Input of a module in one call.
    """
    return x.abs().mean(), x.numel()


def over_calls(means: Sequence[AbsoluteMean], *, mean: bool) -> Tensor:
    """Compute the mean absolute values of all calls of one module, summed up, or their mean.

    Args:
        means: Of each call; at least one.
        mean: Whether it is the mean, in which every number counts the same.
    """
    if not mean:
        return torch.stack([each for each, _ in means]).sum()
    numbers = sum(count for _, count in means)
    return torch.stack([each * (count / numbers) for each, count in means]).sum()


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
        weight: Weight of the penalty, $\alpha$.
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
        """Compute the mean loss and the weighted penalty.

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


@final
@dataclass(frozen=True, kw_only=True)
class CenteredL1(Checked, Objective):
    r"""The mean of the task's loss, and the mean absolute centered input of the normalizers.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b)
      + \alpha \sum_{l, t} \frac{1}{N_l} \sum_{n, j} \left|v^{(l)}_{tnj}\right|$$

    with $\ell$ the loss of the task, $f$ the model and $B$ the number of problems of the batch.
    $v^{(l)}_t$ is the input of normalizer $l$ in its call $t$, less the mean that this normalizer
    subtracts, before it divides; $N_l$ is how many numbers that is, problems times units. Where a
    normalizer is called once there is one $t$. In a recurrent cell it is called at each step, and
    the steps are summed up: so equation 5 has it, whose mean is over problems and units alone, and
    so does the released code. Over $T$ steps `mean_over_steps` makes the penalty $T$ times smaller.

    Normalizers are the parts of the model with a method `center`, from the input of the part
    to $v$. They are watched while the model runs, and nothing stays in it. `ActivationL1` is the
    same for named layers without a normalizer.

    Args:
        weight: Weight of the penalty, $\alpha$; ren2017 uses $10^{-4}$ to
            $10^{-1}$.
        mean_over_steps: Whether the calls of a normalizer are averaged and not summed up.

    Raises:
        ValueError: If a field is of another type, or the weight is negative.

    Reference:
        ren2017, equation 5.
    """

    version: ClassVar[int] = 2  # the first one averaged steps
    weight: NonNegativeFloat = 0.01
    mean_over_steps: bool = False

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss and the weighted penalty.

        Args:
            update: The step, of a model with normalizers among its parts.

        Raises:
            TypeError: If the model has no normalizer, or calls none.
        """
        model = update.network.module
        normalizers: list[Any] = [
            part for part in model.modules() if callable(getattr(part, "center", None))
        ]
        seen: dict[nn.Module, list[AbsoluteMean]] = {}

        def see(part: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
            seen.setdefault(part, []).append(absolute_mean(part.center(*inputs, **options)))

        with ExitStack() as hooks:
            for part in normalizers:
                hook = part.register_forward_pre_hook(see, with_kwargs=True)
                hooks.callback(hook.remove)
            outputs = update.outputs()
        if not seen:
            raise TypeError(
                "model must run parts with a method center, as farfield.nn.ContextNorm has, "
                f"got {type(model).__name__} with {len(normalizers)} and none called; "
                "ActivationL1 takes any layers by name"
            )
        penalty = sum(over_calls(means, mean=self.mean_over_steps) for means in seen.values())
        total = update.task_loss(outputs, update.problems).mean() + self.weight * penalty
        return total, update.state
