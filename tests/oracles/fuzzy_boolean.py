"""Fuzzy Boolean functions from truth tables, one point at a time in float64."""

from __future__ import annotations

import itertools


def conjunction(a: float, b: float) -> float:
    return a * b


def negation(a: float) -> float:
    return 1 - a


def disjunction(a: float, b: float) -> float:
    return negation(conjunction(negation(a), negation(b)))


def literals(row: tuple[int, ...], x: list[float]) -> list[float]:
    return [value if bit else negation(value) for bit, value in zip(row, x, strict=True)]


def normal_form(function: int, x: list[float]) -> float:
    """The disjunction of the conjunctions of all rows that are true, gate by gate."""
    answer = 0.0
    for row in itertools.product((0, 1), repeat=len(x)):
        if function >> number(row) & 1:
            term = 1.0
            for literal in literals(row, x):
                term = conjunction(term, literal)
            answer = disjunction(answer, term)
    return answer


def chance_of_truth(function: int, x: list[float]) -> float:
    """Chance that the function is true of independent variables, true with chances x."""
    answer = 0.0
    for row in itertools.product((0, 1), repeat=len(x)):
        chance = 1.0
        for literal in literals(row, x):
            chance *= literal
        answer += chance * (function >> number(row) & 1)
    return answer


def number(row: tuple[int, ...]) -> int:
    """Number of a row: variable i is bit i."""
    return sum(bit * 2**place for place, bit in enumerate(row))


def determination(answers: list[float], values: list[float]) -> float:
    """One less the sum of squared errors over that around the mean."""
    mean = sum(values) / len(values)
    errors = sum((a - v) ** 2 for a, v in zip(answers, values, strict=True))
    return 1 - errors / sum((v - mean) ** 2 for v in values)
