"""White squares on black: base of their tasks, sampling of sizes and positions, and frames."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import LazyItems
from farfield.tasks._protocol._draws import check_generator
from farfield.tasks._protocol._task import (
    TRAINING,
    VALIDATION,
    OneContext,
    Regime,
    check_number,
    check_regime,
    regimes_at,
)


class SquaresTask(OneContext):
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
    def counts(self) -> tuple[int, int, int]:
        """Number of training problems, of problems of each test, and of validation problems."""

    @abstractmethod
    def paths(self, regime: str, count: int, generator: np.random.Generator) -> Squares:
        """Draw the squares of `count` problems of a regime."""

    @abstractmethod
    def wanted(self, problems: Problems) -> Float[Tensor, "batch ..."]:
        """Return the frames that answers are scored against."""

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Height and width of a frame."""
        return (SIDE, SIDE)

    @property
    def num_outputs(self) -> int:
        """Pixels of a frame."""
        return SIDE**2

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation where it is asked for, then the tests by growing size."""
        training, *tests = regimes_of(
            self.training_sizes, self.test_sizes, circumradius=self.circumradius
        )
        held_out = {VALIDATION: 0} if self.counts[2] else {}
        return (training, *regimes_at(training.unit, held_out), *tests)

    def drawn(
        self, regime: str, count: int, generator: np.random.Generator
    ) -> Float64[np.ndarray, "batch 3"]:
        """Draw single squares of the sizes of a regime: center along X and Y, and width."""
        as_trained = regime in (TRAINING, VALIDATION)
        known = [one for one in self.regimes if one.name != VALIDATION]
        sizes = sizes_of(
            TRAINING if as_trained else regime, known, self.training_sizes, self.test_sizes
        )
        return drawn(generator, count, sizes, circumradius=self.circumradius)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name."""
        branch = stream.child(self.name, f"v{self.version}")
        training, test, validation = self.counts
        counts = {TRAINING: training, VALIDATION: validation}
        return problems_over_one_table(
            {
                name: self.paths(name, counts.get(name, test), branch.child(name).numpy())
                for name in (regime.name for regime in self.regimes)
            }
        )

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """Sample `n` new problems of a regime.

        Args:
            n: Number of problems.
        """
        check_regime(regime, self.regimes)
        check_number("n", n, 1, 10_000_000)
        check_generator(generator)
        return problems_over_one_table({regime: self.paths(regime, n, generator)})[regime]

    def loss(
        self, outputs: Float[Tensor, "batch ..."], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the mean squared error of the pixels, as the score.

        Args:
            outputs: The frames as answered.
        """
        return self.score(outputs, problems)

    def score(
        self, outputs: Float[Tensor, "batch ..."], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the mean squared error of the pixels; lower is better.

        Args:
            outputs: The frames as answered.
        """
        wanted = self.wanted(problems)
        check_outputs(outputs, tuple(wanted.shape))
        return (outputs - wanted).square().flatten(1).mean(1)


SIDE: Final = 64
"""Height and width of a frame, pixels."""
CENTERS: Final = (16.0, 48.0)
"""Range of centers along either axis, pixels."""
Squares = Float64[np.ndarray, "batch time 3"]
"""Center along X and Y and width of the square in each frame, pixels."""


def regimes_of(
    training_sizes: tuple[float, float], test_sizes: Sequence[float], *, circumradius: bool
) -> tuple[Regime, ...]:
    """List training, and a test for each two adjacent sizes.

    Args:
        training_sizes: Smallest and largest size in training.
        test_sizes: Ends of the tests' sizes, ascending.
        circumradius: Whether sizes are radii.
    """
    word = "radius" if circumradius else "width"
    tests = {
        f"{word}-{low:g}-{high:g}": max(0.0, high - training_sizes[1])
        for low, high in itertools.pairwise(test_sizes)
    }
    return regimes_at(f"pixels of {word} beyond training", {TRAINING: 0.0} | tests)


def sizes_of(
    regime: str,
    regimes: Sequence[Regime],
    training_sizes: tuple[float, float],
    test_sizes: Sequence[float],
) -> tuple[float, float]:
    """Return the smallest and the largest size of a regime.

    Args:
        regimes: Regimes of `regimes_of`.
        training_sizes: Smallest and largest size in training.
        test_sizes: Ends of the tests' sizes, ascending.
    """
    index = [known.name for known in regimes].index(regime)
    return training_sizes if index == 0 else (test_sizes[index - 1], test_sizes[index])


def check_sizes(training_sizes: Sequence[float], test_sizes: Sequence[float]) -> None:
    """Raise `ValueError` unless sizes are positive, finite and ascending."""
    for name, sizes in (("training_sizes", training_sizes), ("test_sizes", test_sizes)):
        ascending = all(low < high for low, high in itertools.pairwise(sizes))
        if len(sizes) < 2 or not ascending or not 0 < sizes[0] <= sizes[-1] < math.inf:
            raise ValueError(
                f"{name} must be two or more positive sizes, each larger than the one before, "
                f"got {tuple(sizes)}"
            )


def drawn(
    generator: np.random.Generator, count: int, sizes: tuple[float, float], *, circumradius: bool
) -> Float64[np.ndarray, "batch 3"]:
    """Draw center and width of squares, all numbers uniform and independent.

    Args:
        generator: Generator of the words; the same words give the same numbers on every machine.
        count: Number of squares.
        sizes: Smallest and largest size.
        circumradius: Whether sizes are radii of the circle around the square, not widths.
    """
    words = np.atleast_1d(generator.bit_generator.random_raw(3 * count)).reshape(count, 3)
    shares = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    ends = np.array([CENTERS, CENTERS, sizes])
    squares = ends[:, 0] + shares * (ends[:, 1] - ends[:, 0])
    squares[:, 2] *= math.sqrt(2) if circumradius else 1.0
    return squares


def spans(centers: Tensor, widths: Tensor) -> Tensor:
    """Return the mask of the pixels that a square covers along one axis: `(*)` to `(*, 64)`.

    Args:
        centers: Middles of the squares, pixels from the edge of the frame.
        widths: Widths of the squares, pixels.
    """
    middles = torch.arange(SIDE, dtype=centers.dtype) + 0.5
    return ((middles - centers.unsqueeze(-1)).abs() <= widths.unsqueeze(-1) / 2).float()


def frames(squares: Tensor) -> Tensor:
    """Draw frames of squares: a pixel is white if its middle lies in the square or on its edge.

    Args:
        squares: Center and width, `(item, 3)`.

    Returns:
        `(item, 64, 64)`, rows along Y; 0 is black and 1 is white.
    """
    x, y, width = squares.unbind(-1)
    return spans(y, width).unsqueeze(-1) * spans(x, width).unsqueeze(-2)


def problems_over_one_table(sets: Mapping[str, Squares]) -> dict[str, Problems]:
    """Make problems of every regime, over one table of frames that is drawn when asked for.

    Args:
        sets: Squares of each frame, by regime.
    """
    every = np.concatenate([squares.reshape(-1, 3) for squares in sets.values()])
    items = LazyItems(latent=torch.from_numpy(every), draw=frames)
    made, start = {}, 0
    for regime, squares in sets.items():
        count, length, _ = squares.shape
        index = torch.arange(start, start + count * length).reshape(count, length)
        start += count * length
        made[regime] = Problems(
            items=items,
            index=index,
            target=torch.zeros(count, dtype=torch.int64),
            latent={"squares": torch.from_numpy(squares)},
        )
    return made


def check_outputs(outputs: Tensor, shape: tuple[int, ...]) -> None:
    """Raise `ValueError` unless outputs are frames of the right number."""
    if tuple(outputs.shape) != shape:
        raise ValueError(
            f"outputs must be frames of shape {shape} for these problems, "
            f"got {tuple(outputs.shape)}"
        )
