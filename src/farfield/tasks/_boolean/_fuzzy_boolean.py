"""Fuzzy Boolean functions: many functions of the same few variables at once (gondal2021)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from farfield.core import Problems, Stream, stream
from farfield.core.internal import check_fields
from farfield.tasks._protocol._answers import check_outputs, interpolate
from farfield.tasks._protocol._draws import distinct, integers
from farfield.tasks._protocol._task import (
    TRAINING,
    VALIDATION,
    VECTOR,
    Form,
    Regime,
    SingleItem,
    check_number,
    check_regime,
    regimes_at,
)
from farfield.tasks._sequences._memory import MOST


def truth_tables(
    functions: Int64[np.ndarray, " function"], variables: int
) -> Bool[np.ndarray, "item function"]:
    """Compute the answers of Boolean functions, a row for each of the 2^N corners.

    Variable i is bit i of the number of a row, and the answer to row r bit r of the number of a
    function.

    Args:
        functions: Numbers of functions, 0 … 2^(2^N) − 1.
        variables: Number of variables, N.
    """
    rows = np.arange(2**variables)
    return (functions >> rows[:, None] & 1).astype(bool)


def minterms(x: Float64[np.ndarray, "batch value"]) -> Float64[np.ndarray, "batch item"]:
    r"""Compute the fuzzy and of a literal of each variable, for every row of a truth table.

    $$m_r(x) = \prod_i \begin{cases} x_i & \text{bit } i \text{ of } r \text{ is } 1 \\
      1 - x_i & \text{otherwise} \end{cases}$$

    At a corner one of them is 1 and all others are 0; everywhere they add up to 1.

    Args:
        x: Points of 0…1.
    """
    terms = np.ones((len(x), 1))
    for variable in x.T[:, :, None]:
        terms = np.concatenate([terms * (1 - variable), terms * variable], axis=1)
    return terms


def disjunctions(
    x: Float64[np.ndarray, "batch value"], tables: Bool[np.ndarray, "item function"]
) -> Float64[np.ndarray, "batch function"]:
    r"""Compute the fuzzy or of the minterms of every row whose answer is true.

    $$f(x) = 1 - \prod_{r : f(r) = 1} \left(1 - m_r(x)\right)$$

    It is the disjunctive normal form of a Boolean function, made of and, or and not alone.

    Args:
        x: Points of 0…1.
        tables: Answers of each function, row by row.
    """
    neither = np.ones((len(x), tables.shape[1]))
    for term, answers in zip(minterms(x).T, tables, strict=True):
        neither *= 1 - term[:, None] * answers
    return 1 - neither


def multilinear(
    x: Float64[np.ndarray, "batch value"], tables: Bool[np.ndarray, "item function"]
) -> Float64[np.ndarray, "batch function"]:
    r"""Add up the minterms of every row whose answer is true.

    $$f(x) = \sum_{r : f(r) = 1} m_r(x)$$

    It is the one function that is linear in every variable and has these answers at the corners:
    the chance that a Boolean function is true of independent variables that are true with chances
    x. An expression that has every variable once has the same values.

    Args:
        x: Points of 0…1.
        tables: Answers of each function, row by row.
    """
    total = np.zeros((len(x), tables.shape[1]))
    for term, answers in zip(minterms(x).T, tables, strict=True):
        total += term[:, None] * answers
    return total


NEW_POINTS: Final = "new-points"
CORNERS: Final = "corners"
MOST_VARIABLES: Final = 5
MOST_FUNCTIONS: Final = 1_000
"""Number of functions of a run that tasks can choose from; all are always drawn."""
FEWEST_POINTS: Final = 100
"""Points of a set over which the variance of a function means something."""
LEVELS: Final = 2**23
"""Different coordinates: the middles of as many equal parts of 0…1, exact in float32."""


@final
@dataclass(frozen=True, kw_only=True)
class FuzzyBoolean(SingleItem):
    r"""What are the values of many Boolean functions at a point whose coordinates lie in 0…1?

    **Task.** A point x of N = 5 numbers between 0 and 1 is shown. The answer is the value of each
    of 20 functions there. A function is a random Boolean function of N variables, written with
    and(a, b) = ab, not(a) = 1 − a and or(a, b) = a + b − ab: $f(x) = 1 - \prod_{r : f(r) = 1} (1 -
    m_r(x))$, the fuzzy or of the minterms m of all rows r of its truth table that are true, each
    the fuzzy and of a literal of every variable.

    **Worked example** (N = 2, exclusive or).

    ```text
      x = (0.9, 0.4)   and(x1, not(x2)) = 0.9 · 0.6 = 0.54
                       and(not(x1), x2) = 0.1 · 0.4 = 0.04   or = 1 − 0.46 · 0.96 = 0.5584
    ```

    **Regimes.** Points are uniform, each of the coordinates one of the 2²³ middles of equal parts
    of 0…1, in `training` and, with other points each, in `validation`, on which models may be
    chosen, and in the test `new-points`. `corners` are the 2^N points whose
    coordinates are 0 or 1: where a function is the Boolean one. The truth tables of a run are drawn
    once, each equally likely, no two the same and none of them constant; `first` and `functions`
    choose some of them. `FuzzyBoolean()` is for pre-training and
    `FuzzyBoolean(first=20, functions=10)` for adaptation, to ten functions that the first does
    not have.

    **Score, floor and ceiling.** The coefficient of determination R², averaged over functions.
    The score of a problem is the mean of $1 - (\hat y - y)^2 / \mathrm{Var}(y)$ over functions,
    with the variance of a function over all points of the set, so that the mean over the
    problems of a set is its R². It is at most 1, the ceiling; the floor is 0, the score of
    answering the mean of every function; a bad answer is below. R² of each function is recorded
    beside it (`r2/function-21`, numbered from 1), since the spread of Table 1 is one over
    functions.

    **Known shortcuts.** With many true rows of small minterms, functions have small slopes: a
    linear answer has a clearly positive R².

    **Source and deviations.** Gondal et al. 2021, section 4.1, with 163,840 points of which 80 %
    are for training. The print of or in equation 15 has lost its bars: it is meant that
    or(a, b) = not(and(not(a), not(b))). Appendix B, which says how the primitives are combined, is
    not in the text that we have. The disjunctive normal form is our reading of it: it is made of
    the three primitives and has a function for each of the 2^(2^N) truth tables. The sum of the
    minterms in place of their fuzzy or (`multilinear=True`) is the result of other readings:
    expressions that name every variable once. The paper has no points besides those of validation;
    the test and the corners are our own.

    Args:
        variables: Number of coordinates, N, at most 5.
        first: Number of functions of the run that are left out before those that are asked for.
        functions: Number of functions asked for.
        multilinear: Whether minterms are added instead of joined by fuzzy or.
        training_points: Number of training points.
        validation_points: Number of points that models may be chosen on, and of those of the test.

    Raises:
        ValueError: If a number is out of range, or there are fewer functions.

    Reference:
        gondal2021, section 4.1 and Table 1.
    """

    name: ClassVar[str] = "fuzzy-boolean"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=VECTOR, arrangement="single")
    metric: ClassVar[str] = "r2"
    training_scored: ClassVar[int] = 2_000

    variables: int = 5
    first: int = 0
    functions: int = 20
    multilinear: bool = False
    training_points: int = 131_072
    validation_points: int = 32_768

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("variables", self.variables, 1, MOST_VARIABLES)
        check_number("first", self.first, 0, self._kinds - 1)
        check_number("functions", self.functions, 1, self._kinds - self.first)
        for name in ("training_points", "validation_points"):
            check_number(name, getattr(self, name), FEWEST_POINTS, MOST)

    @property
    def _space(self) -> int:
        """Number of Boolean functions that are not constant."""
        return int(2 ** (2**self.variables)) - 2

    @property
    def _kinds(self) -> int:
        """Functions of a run."""
        return min(self._space, MOST_FUNCTIONS)

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Number of coordinates of a point."""
        return (self.variables,)

    @property
    def num_outputs(self) -> int:
        """Number of functions, each with a value."""
        return self.functions

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, new points, and the corners."""
        distances = {TRAINING: 0, VALIDATION: 0, NEW_POINTS: 0, CORNERS: self.variables}
        return regimes_at("coordinates that are 0 or 1", distances)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name."""
        functions = self._functions(stream)
        return {
            regime.name: self._problems(points, functions, _variances(targets), targets)
            for regime in self.regimes
            for points in [self._points(regime.name, stream)]
            for targets in [self._values(points, functions)]
        }

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """Sample `n` problems of a regime at new points, with functions and variances of run 0.

        Args:
            generator: Draws the points.
        """
        check_regime(regime, self.regimes)
        check_number("n", n, 1, MOST)
        if regime == CORNERS:
            points = self._corners()[integers(generator, 2**self.variables, n)]
        else:
            points = self._uniform(n, generator)
        functions = self._functions(stream(0))
        targets = self._values(points, functions)
        return self._problems(points, functions, _variances_of_run(self, regime), targets)

    def _branch(self, run: Stream) -> Stream:
        return run.child(self.name, f"v{self.version}", self.variables)

    def _functions(self, run: Stream) -> Int64[np.ndarray, " function"]:
        """Draw the numbers of the functions: the first of a run are the same for all tasks."""
        drawn = distinct(self._branch(run).child("functions").numpy(), (self._space,), self._kinds)
        return 1 + drawn[self.first : self.first + self.functions, 0]

    def _points(self, regime: str, run: Stream) -> Float64[np.ndarray, "batch value"]:
        """Draw the points of a set."""
        if regime == CORNERS:
            return self._corners()
        count = self.training_points if regime == TRAINING else self.validation_points
        return self._uniform(count, self._branch(run).child("points", self.first, regime).numpy())

    def _corners(self) -> Float64[np.ndarray, "batch value"]:
        """List all points of 0 and 1, in the order of the rows of a truth table."""
        rows = np.arange(2**self.variables)[:, None]
        return (rows >> np.arange(self.variables) & 1).astype(np.float64)

    def _uniform(
        self, count: int, generator: np.random.Generator
    ) -> Float64[np.ndarray, "batch value"]:
        """Draw points uniformly."""
        levels = integers(generator, LEVELS, count * self.variables)
        return ((2 * levels + 1) / (2 * LEVELS)).reshape(count, self.variables)

    def _values(
        self, points: Float64[np.ndarray, "batch value"], functions: Int64[np.ndarray, " function"]
    ) -> Float64[np.ndarray, "batch function"]:
        """Compute the values of functions at points."""
        tables = truth_tables(functions, self.variables)
        return (multilinear if self.multilinear else disjunctions)(points, tables)

    def _problems(
        self,
        points: Float64[np.ndarray, "batch value"],
        functions: Int64[np.ndarray, " function"],
        variances: Float64[np.ndarray, " function"],
        targets: Float64[np.ndarray, "batch function"],
    ) -> Problems:
        """Make a problem for each point; rows that are the same for all are in memory once."""
        latent = {"function": functions, "variance": variances}
        return Problems(
            items=torch.from_numpy(points.astype(np.float32)),
            index=torch.arange(len(points))[:, None],
            target=torch.from_numpy(targets.astype(np.float32)),
            latent={
                name: torch.from_numpy(row).expand(len(points), -1) for name, row in latent.items()
            },
        )

    def by_hand(self, problems: Problems, training: Problems) -> Float[Tensor, "batch value"]:
        """Return the outputs of a plane through the values of the nearest training points.

        Args:
            problems: Items and their index; without targets.
            training: Training problems of the run.
        """
        asked, known = (some.table()[some.index[:, 0]] for some in (problems, training))
        values = interpolate(asked.numpy(), known.numpy(), training.target.numpy())
        return torch.from_numpy(values).to(asked.dtype)

    def loss(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the squared error, averaged over functions.

        Args:
            outputs: Values as answered.

        Raises:
            ValueError: If `outputs` is not of `(batch, functions)`.
        """
        check_outputs(outputs, problems, self.functions)
        return (outputs - problems.target).square().mean(1)

    def score(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the contribution of each problem to R², averaged over functions: at most 1.

        Raises:
            ValueError: As `loss`.
        """
        return self._scores(outputs, problems).mean(1)

    def answer_scores(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> dict[str, Float[Tensor, " batch"]]:
        """Compute the contribution of each problem to the R² of each function, by function name.

        Args:
            outputs: Values as answered.

        Raises:
            ValueError: If `outputs` is not of `(batch, functions)`.
        """
        scores = self._scores(outputs, problems).unbind(1)
        return {f"function-{self.first + number + 1}": own for number, own in enumerate(scores)}

    def _scores(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, "batch value"]:
        """Compute one minus the squared error in units of the variance."""
        check_outputs(outputs, problems, self.functions)
        return 1 - (outputs - problems.target).square() / problems.latent["variance"]

    def chance(self, regime: str) -> float:
        """Return the R² of answering the mean of every function."""
        check_regime(regime, self.regimes)
        return 0.0

    def oracle(self, problems: Problems) -> Float[Tensor, "batch value"]:
        """Compute the values of the functions at the points shown."""
        points = problems.sequences()[:, 0].double().cpu().numpy()
        functions = problems.latent["function"][0].cpu().numpy()
        values = torch.from_numpy(self._values(points, functions))
        return values.to(problems.items.device, torch.float32)


def _variances(targets: Float64[np.ndarray, "batch function"]) -> Float64[np.ndarray, " function"]:
    """Compute the variance of each function over a set."""
    return np.square(targets - targets.mean(0)).mean(0)


@lru_cache
def _variances_of_run(task: FuzzyBoolean, regime: str) -> Float64[np.ndarray, " function"]:
    """Return the variance of each function over the set of run 0."""
    return task.draw(stream(0))[regime].latent["variance"][0].numpy()
