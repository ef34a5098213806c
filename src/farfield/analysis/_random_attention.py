"""Reads of neural function modules with attention drawn at random."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor, nn

from farfield.core import Problems, Stream, check_fields
from farfield.nn import MultiPass
from farfield.tasks import Regime


@final
@dataclass(frozen=True, kw_only=True)
class RandomAttention:
    """Attention of neural function modules that is drawn at random in a test: an ablation.

    The problems stay as they are. In place of the network a copy of it answers, in which every
    `MultiPass` attends by standard normal numbers, whatever its states: `MultiPass.randomized`.

    Args:
        of: Name of the regime whose problems are answered.

    Raises:
        ValueError: If it is no name; or, of a network without `MultiPass`, when it is scored.

    Reference:
        lamb2022, section 10.4.4.
    """

    of: str

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regime(self) -> Regime:
        """The regime of answers by a network whose attention is random."""
        return Regime(name=f"random-attention-{self.of}", distance=1.0, unit="random attention")

    def __call__(
        self,
        model: Callable[[Tensor, Tensor], Tensor],
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Problems:
        """The problems as they are.

        Args:
            model: Not used.
            problems: The problems.
            loss: Not used.
            stream: Not used.
        """
        del model, loss, stream
        return problems

    def network(self, model: nn.Module, stream: Stream) -> nn.Module:
        """A copy of a network whose attention is drawn.

        Args:
            model: The network.
            stream: Source of the attention.

        Raises:
            ValueError: If it has no `MultiPass`.
        """
        own = copy.deepcopy(model)
        found = [name for name, layer in own.named_modules() if isinstance(layer, MultiPass)]
        if not found:
            raise ValueError(
                f"model must have a MultiPass, whose attention is drawn, got {type(model).__name__}"
            )
        for name in found:
            drawn = _Randomized(own.get_submodule(name), stream.child(name).torch())
            own.set_submodule(name, drawn)
        return own


@final
class _Randomized(nn.Module):
    """A `MultiPass` with attention from a generator."""

    def __init__(self, passes: Any, generator: torch.Generator) -> None:
        super().__init__()
        self.passes, self.generator = passes, generator

    def forward(self, *inputs: Any) -> Any:
        return self.passes.randomized(*inputs, generator=self.generator)
