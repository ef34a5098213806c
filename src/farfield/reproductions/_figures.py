"""A figure, published or our own: its claims, what is measured for it, what the paper says."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import final

from farfield.reproductions._claims import Table


@final
@dataclass(frozen=True, kw_only=True)
class Saying:
    """What a paper says of a quantity, in its own words or numbers.

    Args:
        of: Names of the quantities; `*` stands for anything.
        words: What it says, and where.
    """

    of: str
    words: str


@final
@dataclass(frozen=True, kw_only=True)
class Generalization:
    """How low one row falls over all regimes, and how high the others rise in the hardest.

    The quantities bear the names `lowest` and `others`.

    Args:
        row: The row as printed, e.g. `"ESBN + TCN"`.
    """

    row: str


@final
@dataclass(frozen=True, kw_only=True)
class TimeCourses:
    """A metric of training problems against updates, and how many it takes to stay at a level.

    The quantities bear the names of the figure's cells.

    Args:
        level: What to reach: an accuracy in 0…1, or a loss.
        metric: `"accuracy"`, `"loss"`, or what else a run leaves of its training problems.
        falling: Whether training lowers the metric, as it does the loss.
    """

    level: float
    metric: str = "accuracy"
    falling: bool = False


@final
@dataclass(frozen=True, kw_only=True)
class KeysByPlace:
    """Principal components of the keys of an ESBN, and their overlap between places and sets.

    The quantities bear the names of the fields of `farfield.analysis.KeyOverlap`.
    """


@final
@dataclass(frozen=True, kw_only=True)
class EmbeddingsByDimension:
    """First principal component of the embeddings, against each dimension of what they show.

    A row's quantities bear the name of its cells without the regime, then `share` for the
    component's share of the variance and `linearity/` with the dimension for the R² of the
    straight line, e.g. `context-norm/share` and `context-norm/linearity/size`.
    """


@final
@dataclass(frozen=True, kw_only=True)
class PublishedTest:
    """A paired t-test of two rows over all conditions, as printed.

    Args:
        first: Row whose scores are reduced, e.g. `"ESBN (MLP)"`.
        second: Row whose scores are taken off.
        t: The statistic, in the digits of print.
        p: Its probability, in the digits of print.
    """

    first: str
    second: str
    t: str
    p: str

    @property
    def name(self) -> str:
        """The difference, e.g. `"ESBN (MLP) − ESBN (conv)"`."""
        return f"{self.first} − {self.second}"


@final
@dataclass(frozen=True, kw_only=True)
class PairedTests:
    """Differences between rows in every condition, a subject and a column each, and their tests.

    Args:
        tests: The tests printed.
    """

    tests: tuple[PublishedTest, ...]


@final
@dataclass(frozen=True, kw_only=True)
class ActivationOverTime:
    """Which mechanisms of RIMs are active at which step, and how two phases of sequences differ.

    The quantities bear the names of the fields of `farfield.analysis.PhaseDifference`.

    Args:
        regime: Whose sequences are shown.
        reading: First step of the phase of reading, and the one after its last.
        dormant: The same of the dormant phase.
    """

    regime: str
    reading: tuple[int, int]
    dormant: tuple[int, int]


@final
@dataclass(frozen=True, kw_only=True)
class DormantPhases:
    """What networks of the copying task recall after every length of the dormant phase.

    The quantities bear the names `least`, `most` and, of networks with slots, `remainder`.

    Args:
        lengths: The lengths, ascending.
        trained: That of training.
    """

    lengths: tuple[int, ...]
    trained: int


@final
@dataclass(frozen=True, kw_only=True)
class RollOuts:
    """Frames that networks go on with by themselves, and how far they lie from the true ones.

    The quantities bear the name of the cells without the row, then `cross-entropy` for the
    difference between the first row and another, or `position error`, e.g.
    `4-balls/balls-6-8/cross-entropy`.

    Args:
        shown: Which frames of a sequence are drawn, counted from 1.
    """

    shown: tuple[int, ...]


@final
@dataclass(frozen=True, kw_only=True)
class AgainstColumns:
    """Scores against the number that each column begins with, and how rows differ in pairs.

    The quantity bears the name `difference`.

    Args:
        label: What the columns count, e.g. `"training samples"`.
        pairs: Rows that are compared, the one whose scores are reduced first.
        apart_to: A goal of our own: the first of a pair is ahead in every column, and in those up
            to this number the 95 % intervals of both do not overlap. `None` for no goal.
    """

    label: str
    pairs: tuple[tuple[str, str], ...] = ()
    apart_to: int | None = None


@final
@dataclass(frozen=True, kw_only=True)
class ScoredMatrix:
    """A matrix with what each row makes of its candidates.

    The quantity bears the name `right`.

    Args:
        regime: Whose problems are shown.
    """

    regime: str


@final
@dataclass(frozen=True, kw_only=True)
class RoutingPaths:
    """The paths of elements through the functions of a Neural Interpreter.

    The quantity bears the name `similarity`.

    Args:
        regime: Whose problems are shown.
    """

    regime: str


@final
@dataclass(frozen=True, kw_only=True)
class TypesByIteration:
    """The types of elements in a Neural Interpreter, and how far they gather around functions.

    The quantities bear the names `first` and `last`, of the iterations.

    Args:
        regime: Whose problems are shown.
    """

    regime: str


@final
@dataclass(frozen=True, kw_only=True)
class IterationsAtTest:
    """What Neural Interpreters score with fewer function iterations than they were trained with.

    The quantity bears the name `half`.

    Args:
        numbers: Numbers of iterations, ascending, that of training last.
    """

    numbers: tuple[int, ...]


@final
@dataclass(frozen=True, kw_only=True)
class FunctionsRemoved:
    """What Neural Interpreters score after some of their functions have been removed.

    The quantity bears the name `step`.

    Args:
        numbers: Numbers of functions removed, ascending from 0.
    """

    numbers: tuple[int, ...]


OfInterpreters = RoutingPaths | TypesByIteration | IterationsAtTest | FunctionsRemoved
"""What is measured of Neural Interpreters alone."""

Analysis = (
    ActivationOverTime
    | AgainstColumns
    | DormantPhases
    | ScoredMatrix
    | OfInterpreters
    | Generalization
    | TimeCourses
    | KeysByPlace
    | EmbeddingsByDimension
    | PairedTests
    | RollOuts
)
"""What is measured for a figure beyond the scores of its claims."""


@final
@dataclass(frozen=True, kw_only=True)
class Figure:
    """A published figure, or one of our own.

    Args:
        table: The claims behind it, under the figure's key and title.
        analyses: What is measured beyond their scores, each with a picture of its own.
        says: What the paper says of the quantities; the first that fits a name counts.
        quick_networks: Networks of each cell in the quick budget.

    Raises:
        ValueError: If the number of networks is below 1.
    """

    table: Table
    analyses: tuple[Analysis, ...]
    says: tuple[Saying, ...] = ()
    quick_networks: int = 10

    def __post_init__(self) -> None:
        if self.quick_networks < 1:
            raise ValueError(f"quick_networks must be at least 1, got {self.quick_networks}")

    def words(self, quantity: str) -> str:
        """What the paper says of a quantity; empty if nothing.

        Args:
            quantity: Its name.
        """
        for saying in self.says:
            if fnmatch.fnmatchcase(quantity, saying.of):
                return saying.words
        return ""
