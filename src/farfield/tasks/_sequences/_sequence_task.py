"""The members that tasks of long sequences have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from farfield.core import Problems, Stream
from farfield.tasks._protocol._task import Regime, check_number, check_regime

MOST = 10_000_000
"""Most sequences of a set, and most places of a sequence."""


class SequenceTask(ABC):
    """Sequences over one table of items, with a validation set of the training kind."""

    name: ClassVar[str]
    version: ClassVar[int]

    @property
    @abstractmethod
    def length(self) -> int:
        """Number of places of a training problem; those of a test may have more."""

    @property
    @abstractmethod
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, then the tests."""

    @property
    @abstractmethod
    def counts(self) -> Mapping[str, int]:
        """Number of problems of each set, by regime."""

    @abstractmethod
    def made(self, regime: str, count: int, generator: np.random.Generator) -> Problems:
        """`count` problems of a regime."""

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """One context: all places of a problem."""
        return (tuple(range(self.length)),)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by regime name.

        Args:
            stream: Stream of the run.
        """
        place = stream.child(self.name, f"v{self.version}")
        return {
            regime.name: self.made(
                regime.name, self.counts[regime.name], place.child(regime.name).numpy()
            )
            for regime in self.regimes
        }

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """`n` new problems of one regime.

        Args:
            regime: Name of the regime.
            n: Number of problems, at least 1.
            generator: Draws them.
        """
        check_regime(regime, self.regimes)
        check_number("n", n, 1, MOST)
        return self.made(regime, n, generator)
