"""Optional abilities of models and their parts, as protocols.

A module has an ability by having its members, a module of one's own too.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Generator, Tensor, nn

from farfield.core import Problems
from farfield.core.internal import EncodesItems


@runtime_checkable
class NeedsCalibration(EncodesItems, Protocol):
    """A model that keeps statistics of the training problems."""

    def calibrate(self, embeddings: Tensor, index: Tensor) -> None:
        """Compute and keep statistics of all training problems."""
        ...

    @property
    def wants_statistics(self) -> bool:
        """True if the model uses these statistics."""
        ...


@runtime_checkable
class KeepsStatistics(Protocol):
    """A context that can normalize by statistics of training in evaluation."""

    def calibrate(self, z: Tensor) -> None:
        """Keep the statistics of the embeddings of training problems."""
        ...

    @property
    def wants_statistics(self) -> bool:
        """True if the context uses these statistics."""
        ...


@runtime_checkable
class FitsAtOnce(Protocol):
    """A module that is computed from all training problems when its network is built."""

    def fit_at_once(self, problems: Problems, generator: Generator) -> None:
        """Compute its tensors from the training problems, with draws from `generator`."""
        ...


@runtime_checkable
class CarriesState(Protocol):
    """A model of sequences that may go on from the state after the sequences before."""

    @property
    def carries_state(self) -> bool:
        """True if its state does not grow with a sequence."""
        ...

    def continued(
        self, items: Tensor, index: Tensor, state: tuple[Tensor, ...] | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Map items, index and the state before to outputs and the state after."""
        ...


@runtime_checkable
class HasOutFeatures(Protocol):
    """An encoder with the width of its embeddings."""

    out_features: int


@runtime_checkable
class ReadsMemberships(Protocol):
    """A scorer of memberships of 0…1, which no context may normalize; its class says so."""

    reads_memberships: bool


@runtime_checkable
class EncodesToSets(Protocol):
    """An encoder that makes a set of elements of each item."""

    num_elements: int


@runtime_checkable
class HasHiddenSize(Protocol):
    """A layer over sequences with the width of its outputs."""

    hidden_size: int


@runtime_checkable
class TakesIndexed(Protocol):
    """A layer over sequences that may take `farfield.functional.Indexed`."""

    takes_indexed: bool


@runtime_checkable
class HasNumFeatures(Protocol):
    """A layer from set to set with the width of its elements."""

    num_features: int


@runtime_checkable
class TellsError(Protocol):
    """A reasoner that gives the reconstruction error of its memory."""

    def answer_and_error(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Map `(batch, time, feature)` to answers and errors."""
        ...


@runtime_checkable
class ScoresCandidates(Protocol):
    """A scorer that reads the premises of a problem once for all its candidates."""

    def score_candidates(self, premises: Tensor, candidates: Tensor) -> Tensor:
        """Score pairs of `(batch, premise, feature)` and `(batch, candidate, feature)`."""
        ...


def width_of(name: str, part: nn.Module, ability: type) -> int:
    """Return the width of a part of a model, by its attribute.

    Args:
        name: Name of the part, for the error.
        part: The part.
        ability: Protocol with the attribute: `HasOutFeatures`, `HasHiddenSize` or `HasNumFeatures`.

    Raises:
        TypeError: If the part does not say it.
    """
    (attribute,) = ability.__annotations__
    width = getattr(part, attribute, None)
    if not isinstance(width, int):
        raise TypeError(
            f"{name} must have an integer attribute {attribute}, its width; "
            f"{type(part).__name__} has {width!r}"
        )
    return width
