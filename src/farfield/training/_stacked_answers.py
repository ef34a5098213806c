"""Answers of networks of several seeds, as one program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.nn.utils.rnn import pad_sequence

from farfield.core import Problems, RaggedItems
from farfield.models import EncodesItems
from farfield.objectives import Bound
from farfield.tasks import Consecutive, ProblemTask, SetScores
from farfield.training._evaluate import (
    CHUNK,
    ITEMS,
    Answered,
    chunk_of,
    repeats,
    wants_statistics,
)


@final
@dataclass(frozen=True)
class Together:
    """Networks of several seeds, called as one.

    Args:
        module: One of them, in evaluation mode.
        tensors: Parameters and buffers of all, by name, with an axis of networks before.
    """

    module: nn.Module
    tensors: Mapping[str, Tensor]

    def call(self, method: str, *inputs: Tensor) -> Tensor:
        """Results of a method of every network, with an axis of networks before.

        Args:
            method: Name of the method, e.g. `"forward"`.
            inputs: Its arguments, likewise.
        """

        def one(tensors: dict[str, Tensor], *own: Tensor) -> Tensor:
            found: Tensor = Bound(module=self.module, parameters=tensors).call(method, *own)
            return found

        return vmap(one)(dict(self.tensors), *inputs)

    def answered(self, several: Sequence[Problems]) -> Iterator[Answered]:
        """The problems with the outputs, some of every network at a time.

        Items that come again are encoded once. Tables of different lengths are filled with zeros.

        Args:
            several: The problems of each network, `can_be_together`.
        """
        several = [problems.compact() for problems in several]
        chunk, embeddings = chunk_of(several[0], len(several)), None
        if isinstance(self.module, EncodesItems) and all(map(repeats, several)):
            items = pad_sequence([problems.table() for problems in several], batch_first=True)
            found = [self.call("encode", some) for some in torch.split(items, ITEMS, dim=1)]
            embeddings, chunk = torch.cat(found, dim=1), CHUNK
        for start in range(0, len(several[0]), chunk):
            parts = [problems[start : start + chunk] for problems in several]
            if embeddings is None:
                parts = [part.unshared() for part in parts]
                method, read = "forward", torch.stack([part.table() for part in parts])
            else:
                method, read = "answer", embeddings
            outputs = self.call(method, read, torch.stack([part.index for part in parts]))
            rows = torch.arange(start, start + len(parts[0]))
            yield rows, list(zip(outputs.unbind(), parts, strict=True))


def can_be_together(model: nn.Module, task: ProblemTask, several: Sequence[Problems]) -> bool:
    """True if networks of several seeds can answer their problems as one, each by itself.

    Args:
        model: One of the networks.
        task: What is asked.
        several: The problems of each.
    """
    shapes = {problems.index.shape for problems in several}
    kinds = (part for problems in several for part in (problems.items, problems.target))
    return not (
        len(shapes) > 1
        or isinstance(task, Consecutive)
        or isinstance(model, SetScores)
        or wants_statistics(model)
        or any(isinstance(kind, RaggedItems) for kind in kinds)
    )
