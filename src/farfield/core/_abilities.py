"""Optional abilities of networks that several floors ask for, as protocols."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


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
