"""Supervised learning with a price on what named layers give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Problems, Stream, check_flags
from farfield.objectives._centred_l1 import check_weight
from farfield.objectives._watching import Share, for_this_call, joined, share_of, watched


@final
@dataclass(frozen=True, kw_only=True)
class ActivationL1:
    r"""The mean of the task's loss, and the mean size of what named layers give.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b)
      + \alpha \sum_{l, t} \frac{1}{N_l} \sum_{n, j} \left|z^{(l)}_{tnj}\right|$$

    with $\ell$ the loss of the task, $f$ the model, $B$ the number of problems of the batch and
    $z^{(l)}_t$ the $N_l$ numbers that layer $l$ gives in its call $t$. It is the baseline of
    `CentredL1` for networks without normalizers, where there is no mean to take off.

    Args:
        layers: Names of the layers, as in `model.named_modules()`, e.g. `("encoder.conv1",)`.
        weight: What the penalty counts beside the loss, $\alpha$.
        mean_over_steps: Whether the calls of a layer are averaged and not summed up.

    Raises:
        ValueError: If no layer is named, the weight is negative or not finite, or the flag none.

    Reference:
        ren2017, equation 5 with $z$ for $v$, as in its released code.
    """

    version: ClassVar[int] = 2  # the first one averaged steps
    layers: tuple[str, ...]
    weight: float = 0.01
    mean_over_steps: bool = False

    def __post_init__(self) -> None:
        check_flags(self)
        check_weight(self.weight)
        if not self.layers:
            raise ValueError("layers must name at least one layer; Supervised needs none")

    def __call__(
        self,
        model: nn.Module,
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Float[Tensor, ""]:
        """The mean loss and the weighted penalty; `stream` is not drawn from.

        Args:
            model: From `(items, index)` to outputs, with layers of those names.
            problems: The batch.
            loss: The task's loss, one number per problem.
            stream: Not used: the rule draws nothing.

        Raises:
            ValueError: If the model has no layer of a name, does not call it, or gets more than a
                tensor from it.
        """
        del stream
        parts = dict(watched(model).named_modules())
        seen: dict[nn.Module, list[Share]] = {}

        def see(part: nn.Module, inputs: object, outputs: object) -> None:
            del inputs
            if not isinstance(outputs, Tensor):
                raise ValueError(
                    f"layers must each give one tensor, got {type(outputs).__name__} from a "
                    f"{type(part).__name__}; name a layer inside or after it"
                )
            seen.setdefault(part, []).append(share_of(outputs))

        chosen = [parts[name] for name in self.layers if name in parts]
        with for_this_call(part.register_forward_hook(see) for part in chosen):
            outputs = model(problems.items, problems.index)
        missing = [name for name in self.layers if parts.get(name) not in seen]
        if missing:
            raise ValueError(
                f"layers must be parts that the model calls, got {missing}; it has {[*parts]}"
            )
        penalty = sum(joined(shares, mean=self.mean_over_steps) for shares in seen.values())
        return loss(outputs, problems).mean() + self.weight * penalty
