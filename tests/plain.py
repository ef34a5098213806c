"""A task of one's own that says nothing of its form: are the first and the last item the same?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.tasks import TRAINING, Regime
from farfield.tasks._protocol._answers import AnswerTask, binary_outputs


@dataclass(frozen=True, kw_only=True)
class Plain(AnswerTask):
    """Items of noise, of any shape, in problems of any length."""

    name: ClassVar[str] = "plain"
    version: ClassVar[int] = 1
    num_outputs = 2
    regimes = (Regime(name=TRAINING, distance=0, unit="items"),)

    item_shape: tuple[int, ...] = (16,)
    length: int = 6

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        return (tuple(range(self.length)),)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        generator = stream.torch()
        items = torch.rand(20, *self.item_shape, generator=generator)
        index = torch.randint(20, (64, self.length), generator=generator)
        index[::2, -1] = index[::2, 0]
        target = (index[:, 0] == index[:, -1]).long()
        return {TRAINING: Problems(items=items, index=index, target=target)}

    def oracle(self, problems: Problems) -> Tensor:
        return binary_outputs(problems.target == 1, 2)
