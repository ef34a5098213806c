"""Supervised learning with an L1 penalty on the centered inputs of normalizers."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, ClassVar, final

from torch import Tensor, nn

from farfield.core import NonNegativeFloat, check_fields
from farfield.objectives._objective import Objective, Tensors, Update
from farfield.objectives._watching import AbsoluteMean, absolute_mean, over_calls


@final
@dataclass(frozen=True, kw_only=True)
class CenteredL1(Objective):
    r"""The mean of the task's loss, and the mean absolute centered input of the normalizers.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b)
      + \alpha \sum_{l, t} \frac{1}{N_l} \sum_{n, j} \left|v^{(l)}_{tnj}\right|$$

    with $\ell$ the loss of the task, $f$ the model and $B$ the number of problems of the batch.
    $v^{(l)}_t$ is what normalizer $l$ received in its call $t$, less the mean that this normalizer
    takes off, before it divides; $N_l$ is how many numbers that is, problems times units. Where a
    normalizer is called once there is one $t$. In a recurrent cell it is called at each step, and
    the steps are summed up: so equation 5 has it, whose mean is over problems and units alone, and
    so does the released code. Over $T$ steps `mean_over_steps` makes the penalty $T$ times smaller.

    Normalizers are the parts of the model with a method `center`, from what the part is called on
    to $v$. They are watched while the model runs, and nothing stays in it. `ActivationL1` is the
    same for named layers without a normalizer.

    Args:
        weight: What the penalty counts beside the loss, $\alpha$; ren2017 uses $10^{-4}$ to
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

    def __post_init__(self) -> None:
        check_fields(self)

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss and the weighted penalty.

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
