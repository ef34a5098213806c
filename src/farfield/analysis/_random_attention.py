"""Networks whose neural function modules attend at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from torch import Tensor, nn

from farfield.analysis._attacks import Loss, Model
from farfield.analysis._layer_reads import multi_pass_of
from farfield.core import Problems, Stream, check_fields
from farfield.tasks import Regime


@final
@dataclass(frozen=True, kw_only=True)
class RandomAttention:
    """An ablation of a trained network: its modules read with attention drawn at random.

    The problems stay as they are; they are answered as by `MultiPass.randomized`, with weights of
    attention that are standard normal numbers.

    Args:
        of: Name of the regime whose problems are answered so.

    Raises:
        ValueError: If a field is of another type.

    Reference:
        lamb2022, section 10.4.4.
    """

    of: str

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regime(self) -> Regime:
        """The regime of such answers."""
        name = f"random-attention-{self.of}"
        return Regime(name=name, distance=1.0, unit="standard deviation of attention")

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """The problems as they are.

        Args:
            model: Not used.
            problems: The problems.
            loss: Not used.
            stream: Not used.
        """
        del model, loss, stream
        return problems

    def ablated(self, model: nn.Module, stream: Stream) -> Callable[[Tensor, Tensor], Tensor]:
        """The network with attention drawn at random, from `(items, index)` to outputs.

        Args:
            model: The network, which stays as it is.
            stream: Source of the attention.

        Raises:
            ValueError: If the network has no `MultiPass`, or several.
        """
        part, generator = multi_pass_of(model), stream.torch()

        def answer(items: Tensor, index: Tensor) -> Tensor:
            hook = part.register_forward_hook(
                lambda *call: part.randomized(*call[1], generator=generator)
            )
            try:
                found: Tensor = model(items, index)
            finally:
                hook.remove()
            return found

        return answer
