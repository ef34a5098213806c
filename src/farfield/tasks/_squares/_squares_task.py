"""The members that both tasks of moving squares have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Float64
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.tasks._protocol._task import TRAINING, Regime, check_regime
from farfield.tasks._squares import _squares as squares


class SquaresTask(ABC):
    """Frames of a white square, which are to be predicted pixel by pixel."""

    name: ClassVar[str]
    version: ClassVar[int]

    training_sizes: tuple[float, float]
    """Smallest and largest size in training, pixels."""
    test_sizes: tuple[float, ...]
    """Ends of the sizes of the tests, ascending, pixels."""
    circumradius: bool
    """True if sizes are radii of the circle around the square; otherwise widths."""

    @property
    @abstractmethod
    def length(self) -> int:
        """Number of frames of a problem."""

    @property
    @abstractmethod
    def counts(self) -> tuple[int, int]:
        """Number of training problems, and of problems of each test."""

    @abstractmethod
    def paths(self, regime: str, count: int, generator: np.random.Generator) -> squares.Squares:
        """Squares of `count` problems of a regime."""

    @abstractmethod
    def wanted(self, problems: Problems) -> Float[Tensor, "batch ..."]:
        """The frames that answers are scored against."""

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Height and width of a frame."""
        return (squares.SIDE, squares.SIDE)

    @property
    def num_outputs(self) -> int:
        """Pixels of a frame."""
        return squares.SIDE**2

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """One context: all frames of a problem."""
        return (tuple(range(self.length)),)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, then the tests by growing size."""
        return squares.regimes_of(
            self.training_sizes, self.test_sizes, circumradius=self.circumradius
        )

    def drawn(
        self, regime: str, count: int, generator: np.random.Generator
    ) -> Float64[np.ndarray, "batch 3"]:
        """Single squares of the sizes of a regime: center along X and Y, and width."""
        sizes = squares.sizes_of(regime, self.regimes, self.training_sizes, self.test_sizes)
        return squares.drawn(generator, count, sizes, circumradius=self.circumradius)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by regime name.

        Args:
            stream: Stream of the run.
        """
        place = stream.child(self.name, f"v{self.version}")
        return squares.problems_over_one_table(
            {
                regime.name: self.paths(
                    regime.name,
                    self.counts[regime.name != TRAINING],
                    place.child(regime.name).numpy(),
                )
                for regime in self.regimes
            }
        )

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """`n` new problems of one regime.

        Args:
            regime: Name of the regime.
            n: Number of problems.
            generator: Draws them.
        """
        check_regime(regime, self.regimes)
        return squares.problems_over_one_table({regime: self.paths(regime, n, generator)})[regime]

    def loss(
        self, outputs: Float[Tensor, "batch ..."], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Mean squared error of the pixels, as the score.

        Args:
            outputs: The frames as answered.
            problems: The problems.
        """
        return self.score(outputs, problems)

    def score(
        self, outputs: Float[Tensor, "batch ..."], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Mean squared error of the pixels; lower is better.

        Args:
            outputs: The frames as answered.
            problems: The problems.
        """
        wanted = self.wanted(problems)
        squares.check_outputs(outputs, tuple(wanted.shape))
        return (outputs - wanted).square().flatten(1).mean(1)
