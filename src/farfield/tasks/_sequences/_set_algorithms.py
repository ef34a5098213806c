"""Algorithms on sets of elements: minimum, search, median, sorting, shortest path."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, final

import numpy as np
from jaxtyping import Int64

from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._task import VECTOR, Count, Form
from farfield.tasks._sequences._ruled_sequences import Rows, Rule, RuledSequences

VALUES: Final = 32
"""Number of different values, and of answers."""
NODES: Final = 64
"""Number of different nodes of a graph."""
WEIGHTS: Final = 5
"""Number of different weights; an element of weight 0 is the question."""
MOST_ELEMENTS: Final = 2 * NODES - 1
"""Maximum number of elements of a graph."""


def _values(generator: np.random.Generator, rows: int, length: int) -> Rows:
    """Draw values, uniform between two bounds of each set."""
    low = integers(generator, VALUES // 2, rows)[:, None]
    high = VALUES // 2 + integers(generator, VALUES // 2, rows)[:, None]
    words = integers(generator, 2**40, rows * length).reshape(rows, length)
    return low + words % (high - low + 1)


def _shuffled(generator: np.random.Generator, symbols: Rows) -> Rows:
    """Order the elements of each set at random."""
    words = generator.bit_generator.random_raw(symbols.size).reshape(symbols.shape)
    return np.take_along_axis(symbols, np.argsort(words, axis=1, kind="stable"), axis=1)


def _values_and_query(generator: np.random.Generator, rows: int, length: int) -> Rows:
    """Draw values and a query, from the least value on."""
    symbols = _values(generator, rows, length)
    least = symbols[:, 1:].min(1) if length > 1 else np.zeros(rows, np.int64)
    words = integers(generator, 2**40, rows)
    symbols[:, 0] = VALUES + least + words % (VALUES - least)
    return _shuffled(generator, symbols)


def _graph(generator: np.random.Generator, rows: int, length: int) -> Rows:
    """Draw connected graphs of weighted edges, and two nodes whose distance is asked for.

    A random tree has ⌊n/2⌋ edges; the other edges join any two nodes.
    """
    nodes = length // 2 + 1
    names = np.argsort(
        generator.bit_generator.random_raw(rows * NODES).reshape(rows, NODES), axis=1, kind="stable"
    )
    words = integers(generator, 2**40, 3 * rows * length).reshape(3, rows, length)
    ends = words[:2] % nodes
    weights = 1 + words[2] % (WEIGHTS - 1)
    tree = np.arange(1, nodes)
    ends[0, :, 1:nodes], ends[1, :, 1:nodes] = tree, words[1, :, 1:nodes] % tree
    weights[:, 0] = 0
    first, second = (np.take_along_axis(names, part, axis=1) for part in ends)
    return _shuffled(generator, _edges(first, second, weights))


def _edges(first: Rows, second: Rows, weights: Rows) -> Int64[np.ndarray, "batch time"]:
    """Number edges by their two nodes and weights."""
    return (first * NODES + second) * WEIGHTS + weights


def _predecessor(symbols: list[int]) -> list[int]:
    """Find the largest value not above the query; the query without one."""
    queries = [symbol - VALUES for symbol in symbols if symbol >= VALUES]
    if len(queries) != 1:
        raise ValueError(f"strings must have one query, from {VALUES} on, got {symbols}")
    values = sorted(symbol for symbol in symbols if symbol < VALUES)
    below = bisect_right(values, queries[0])
    return [values[below - 1] if below else queries[0]]


def _distance(symbols: list[int]) -> list[int]:
    """Compute a distance, 31 at most, by all edges until no distance changes (Bellman–Ford)."""
    edges = [(*divmod(symbol // WEIGHTS, NODES), symbol % WEIGHTS) for symbol in symbols]
    questions = [(start, goal) for start, goal, weight in edges if weight == 0]
    if len(questions) != 1:
        raise ValueError(f"strings must have one question, of weight 0, got {questions}")
    start, goal = questions[0]
    both = [(u, v, weight) for u, v, weight in edges if weight]
    both += [(v, u, weight) for u, v, weight in both]
    distances, changed = {start: 0}, True
    while changed:
        changed = False
        for u, v, weight in both:
            found = distances.get(u, VALUES) + weight
            if found < distances.get(v, VALUES):
                distances[v], changed = found, True
    return [min(distances.get(goal, VALUES), VALUES - 1)]


ALGORITHMS: Final[dict[str, Rule]] = {
    "minimum": Rule(
        symbols=VALUES, answers=VALUES, draw=_values, answer=lambda s: [min(s)], floor=None
    ),
    "search": Rule(
        symbols=2 * VALUES,
        answers=VALUES,
        draw=_values_and_query,
        answer=_predecessor,
        floor=None,
        parts=(2, VALUES),
    ),
    "median": Rule(
        symbols=VALUES,
        answers=VALUES,
        draw=_values,
        answer=lambda s: [sorted(s)[(len(s) - 1) // 2]],
        floor=None,
    ),
    "sorting": Rule(
        symbols=VALUES,
        answers=VALUES,
        draw=_values,
        answer=sorted,
        slots=lambda length: length,
        floor=None,
    ),
    "shortest-path": Rule(
        symbols=NODES * NODES * WEIGHTS,
        answers=VALUES,
        draw=_graph,
        answer=_distance,
        floor=None,
        parts=(NODES, NODES, WEIGHTS),
    ),
}
"""Algorithms by name."""


@final
@dataclass(frozen=True, kw_only=True)
class SetAlgorithms(RuledSequences):
    r"""What does an algorithm answer to a set of elements in random order?

    **Task.** The elements of a set, one after another, then one mark for each symbol of the answer,
    which is read at the marks. The order of the elements changes nothing. The algorithms are five
    of those of the CLRS benchmark, with their answer and without their steps:

    | algorithm | elements | answer (positions) |
    |---|---|---|
    | `minimum` | values 0–31 | the least value (1) |
    | `search` | values, one of them marked as the query | the largest value not above it (1) |
    | `median` | values | the lower median (1) |
    | `sorting` | values | all values in ascending order (n) |
    | `shortest-path` | edges of weight 1–4, a pair of nodes | their distance, 31 at most (1) |

    **Worked example** (? is a mark of an answer, ' a query; a–b:w an edge, a–b a question).

    ```text
      minimum        7 4 9 4 ?                        → 4
      search         7 4 9 6' ?                       → 4
      median         7 4 9 4 ?                        → 4
      sorting        7 4 9 4 ? ? ? ?                  → 4 4 7 9
      shortest-path  3–9:2 9–5 3–5:1 9–5:4 ?          → 3
    ```

    **Regimes.** In `training` and, with new sets, in `validation` the number n of elements is
    uniform in `training_lengths`. The tests have more elements: 17 to 32 in `length-17-32`, and 100
    in `length-100`; the distance is the mean number less the largest of training. Values are
    uniform between two bounds, drawn for each set from 0…15 and 16…31. A query is uniform from the
    least value on. A graph of n − 1 edges has ⌊n/2⌋ + 1 nodes, named by any of 64; a random tree
    connects them, and all other edges are between any two nodes.

    **Score, floor and ceiling.** Share of right answer positions. The floor is the best answer that
    knows n alone, at each position the most frequent, as measured. The ceiling is 1.

    **Known shortcuts.** The largest distances are rare: most are near their mean. In large sets
    nearly all values between the bounds occur, so the least and the largest value tell most of
    `search`, `median` and `sorting`.

    **Source and deviations.** Farfield's own set, in the manner of the CLRS benchmark (Veličković
    et al., ICML 2022), whose steps in between are neither shown nor asked for.

    Args:
        algorithm: Name of the algorithm.
        training_lengths: Least and largest number of elements in training.
        test_lengths: Least and largest number of elements of each test, ascending, more than in
            training; 127 at most in `shortest-path`.
        training_strings: Number of training sets.
        validation_strings: Number of sets that models may be chosen on.
        test_strings: Number of sets of each test.

    Raises:
        ValueError: If a number is out of range, or lengths are not ascending.

    Reference:
        Veličković et al. 2022.
    """

    name: ClassVar[str] = "set-algorithms"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=VECTOR, arrangement="sequence", answer="everywhere")

    algorithm: Literal["minimum", "search", "median", "sorting", "shortest-path"] = "minimum"
    training_lengths: tuple[Count, Count] = (1, 16)
    test_lengths: tuple[tuple[Count, Count], ...] = ((17, 32), (100, 100))
    training_strings: Count = 50_000
    validation_strings: Count = 1_000
    test_strings: tuple[Count, ...] = (1_000, 1_000)

    def __post_init__(self) -> None:
        super().__post_init__()
        longest = max(high for _, high in (self.training_lengths, *self.test_lengths))
        if self.algorithm == "shortest-path" and longest > MOST_ELEMENTS:
            raise ValueError(
                f"test_lengths must end at {MOST_ELEMENTS} or less for shortest-path, got {longest}"
            )

    @property
    def rule_of(self) -> tuple[str, Rule]:
        """Name of the rule, and the rule."""
        return self.algorithm, ALGORITHMS[self.algorithm]
