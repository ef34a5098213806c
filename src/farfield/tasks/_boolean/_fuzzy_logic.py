"""Boolean functions of variables between 0 and 1 (gondal2021, equation 15)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float64, Int64


def truth_tables(
    functions: Int64[np.ndarray, " function"], variables: int
) -> Bool[np.ndarray, "item function"]:
    """Answers of Boolean functions, a row for each of the 2^N corners.

    Variable i is bit i of the number of a row, and the answer to row r bit r of the number of a
    function.

    Args:
        functions: Numbers of functions, 0 … 2^(2^N) − 1.
        variables: How many variables they have, N.
    """
    rows = np.arange(2**variables)
    return (functions >> rows[:, None] & 1).astype(bool)


def minterms(x: Float64[np.ndarray, "batch value"]) -> Float64[np.ndarray, "batch item"]:
    r"""The fuzzy and of a literal of each variable, for every row of a truth table.

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
    r"""The fuzzy or of the minterms of every row whose answer is true.

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
    r"""The sum of the minterms of every row whose answer is true.

    $$f(x) = \sum_{r : f(r) = 1} m_r(x)$$

    It is the one function that is linear in every variable and has these answers at the corners:
    the chance that a Boolean function is true of independent variables that are true with chances
    x. An expression in which every variable stands once has the same values.

    Args:
        x: Points of 0…1.
        tables: Answers of each function, row by row.
    """
    total = np.zeros((len(x), tables.shape[1]))
    for term, answers in zip(minterms(x).T, tables, strict=True):
        total += term[:, None] * answers
    return total
