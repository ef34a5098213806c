"""Optional abilities of networks that several floors ask for, as protocols."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor, nn


@runtime_checkable
class EncodesItems(Protocol):
    """A model that encodes items one by one before it reads problems."""

    def encode(self, items: Tensor) -> Tensor:
        """From items `(item, *shape)` to embeddings `(item, *)`."""
        ...

    def answer(self, embeddings: Tensor, index: Tensor) -> Tensor:
        """From embeddings and index to outputs."""
        ...


@runtime_checkable
class EncodesWithPart(EncodesItems, Protocol):
    """A model that encodes items with one of its parts."""

    encoder: nn.Module


@runtime_checkable
class HasMixingLayers(Protocol):
    """A network with layers at which problems can be mixed.

    Each gives one tensor with a row for every problem, and everything behind it is computed from
    that tensor alone.
    """

    @property
    def mixing_layers(self) -> tuple[str, ...]:
        """Names of the layers, as in `named_modules`, from the first to the last."""
        ...
