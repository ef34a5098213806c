"""Rules of the 15 tasks of the Chomsky hierarchy: draws of symbols, and answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from typing import Final

import numpy as np
from jaxtyping import Int64

from farfield.tasks._protocol._draws import integers
from farfield.tasks._sequences._ruled_sequences import Draw, Rows, Rule

MODULUS: Final = 5
END: Final = 2
"""Symbol between two binary numbers, and after the answers of the three tasks with an end mark."""
POP: Final = 2
"""Symbol that takes the top of a stack away; symbols below are the stack at first."""
PUSH: Final = 3
"""Symbol that puts 0 on a stack; the next symbol puts 1."""
BRACKETS: Final = "01234+-*()="
"""Characters of the symbols of bracketed arithmetic, in the order of their numbers."""
EQUATION: Final = "01234+-()x="
"""Characters of the symbols of an equation."""
SIMPLE: Final = "01234+-* "
"""Characters of the symbols of arithmetic without brackets; the blank is never drawn."""
LEAVES: Final = ("d", "-d", "(d)", "(-d)")
"""Expressions without an operation, by length; d is a digit."""
MISSING: Final = 2
"""Symbol in the position of a missing symbol."""
FILLER: Final = 3
"""Last symbol of a repeated string of odd length."""


def _uniform(symbols: int) -> Draw:
    """Build the draw of uniform, independent symbols."""
    return lambda generator, rows, length: _symbols(generator, rows, length, symbols)


def _symbols(generator: np.random.Generator, rows: int, length: int, symbols: int) -> Rows:
    """Draw uniform, independent symbols."""
    return integers(generator, symbols, rows * length).reshape(rows, length)


def _numbers(
    generator: np.random.Generator, lengths: Int64[np.ndarray, " batch"], width: int, refused: int
) -> Rows:
    """Draw bits of numbers, zeros behind each; numbers whose bits are all `refused` are not drawn.

    Args:
        lengths: Number of bits of each number.
        width: Number of columns.
        refused: A bit.
    """
    shown = np.arange(width) < lengths[:, None]
    bits = _symbols(generator, len(lengths), width, 2)
    while (wrong := np.flatnonzero(~((bits != refused) & shown).any(1))).size:
        bits[wrong] = _symbols(generator, len(wrong), width, 2)
    return np.where(shown, bits, 0)


def _two_numbers(generator: np.random.Generator, rows: int, length: int) -> Rows:
    """Draw two positive numbers with the mark between them; one number at lengths 1 and 2."""
    if length < 3:
        return _numbers(generator, np.full(rows, length), length, refused=1)
    first = 1 + integers(generator, length - 2, rows)
    left = _numbers(generator, first, length, refused=0)
    right = _numbers(generator, length - 1 - first, length, refused=0)
    behind = np.arange(length) - first[:, None] - 1
    moved = np.take_along_axis(right, np.maximum(behind, 0), axis=1)
    return np.where(behind == -1, END, np.where(behind < 0, left, moved))


def _positive_number(generator: np.random.Generator, rows: int, length: int) -> Rows:
    """Draw a number from 1 to the largest of its length."""
    return _numbers(generator, np.full(rows, length), length, refused=0)


def _repeated(generator: np.random.Generator, rows: int, length: int) -> Rows:
    """Draw a string twice with one symbol missing, and a filler at the end of an odd length."""
    if length == 1:
        return np.ones((rows, 1), np.int64)
    string = _symbols(generator, rows, length // 2, 2)
    symbols = np.concatenate([string, string, np.full((rows, length % 2), FILLER)], axis=1)
    symbols[np.arange(rows), integers(generator, 2 * (length // 2), rows)] = MISSING
    return symbols


def _actions(generator: np.random.Generator, rows: int, length: int) -> Rows:
    """Draw a stack of any height, the lowest symbol first, and actions up to the length."""
    height = 1 + integers(generator, max(1, length - 1), rows)
    stack = _symbols(generator, rows, length, 2)
    actions = POP + _symbols(generator, rows, length, 3)
    return np.where(np.arange(length) < height[:, None], stack, actions)


def _terms(generator: np.random.Generator, rows: int, length: int) -> Rows:
    """Draw digits with operations between them; an even length loses its last symbol."""
    symbols = _symbols(generator, rows, length - (length + 1) % 2, MODULUS)
    symbols[:, 1::2] = MODULUS + _symbols(generator, rows, symbols.shape[1] // 2, 3)
    return symbols


def _bracketed(generator: np.random.Generator, rows: int, length: int) -> Rows:
    """Draw expressions with +, − and ×."""
    words = iter(generator.bit_generator.random_raw(rows * (length + 1)).tolist())
    return _numbered(["".join(_expression(length, "+-*", words)) for _ in range(rows)], BRACKETS)


def _equations(generator: np.random.Generator, rows: int, length: int) -> Rows:
    """Draw expressions with + and −, of which one digit is unknown, and their values."""
    if length < 3:
        return np.zeros((rows, length), np.int64)
    words = iter(generator.bit_generator.random_raw(rows * length).tolist())
    texts: list[str] = []
    for _ in range(rows):
        parts = _expression(length - 2, "+-", words)
        digits = [number for number, part in enumerate(parts) if part.isdecimal()]
        value = _value("".join(parts))
        parts[digits[next(words) % len(digits)]] = "x"
        texts.append(f"{''.join(parts)}={value}")
    return _numbered(texts, EQUATION)


def _expression(length: int, operations: str, words: Iterator[int]) -> list[str]:
    """Draw an expression of a length: a bracket around every operation of two parts.

    Args:
        length: Number of symbols.
        operations: Characters of the operations, equally likely.
        words: Random words of 64 bits, one for a symbol or fewer.
    """
    if length <= len(LEAVES):
        return [*LEAVES[length - 1].replace("d", str(next(words) % MODULUS))]
    left = 1 + next(words) % (length - 4)
    operation = operations[next(words) % len(operations)]
    parts = (_expression(part, operations, words) for part in (left, length - 3 - left))
    return ["(", *next(parts), operation, *next(parts), ")"]


def _numbered(texts: list[str], characters: str) -> Rows:
    """Convert texts of one length to the numbers of their characters."""
    numbers = {character: number for number, character in enumerate(characters)}
    return np.array([[numbers[character] for character in text] for text in texts])


def _value(text: str) -> int:
    """Compute the value of an expression modulo 5: digits, + − ×, a minus before a part, brackets.

    Raises:
        ValueError: If the text is no expression.
    """
    outer: list[tuple[int, int]] = []
    total, term, complete = 0, 1, False
    for character in text:
        if character == "(":
            outer.append((total, term))
            total, term, wrong = 0, 1, complete
        elif character == ")" and outer:
            value, wrong = total + term, not complete
            total, term = outer.pop()
            term = term * value % MODULUS
        elif character == "*":
            complete, wrong = False, not complete
        elif character in "+-":
            wrong = not complete and character == "+"
            if complete:
                total, term, complete = total + term, 1, False
            term = -term if character == "-" else term
        else:
            wrong = complete or not character.isdecimal()
            term, complete = term * int(character) % MODULUS if not wrong else 0, True
        if wrong:
            break
    else:
        if complete and not outer:
            return (total + term) % MODULUS
    raise ValueError(f"strings must be arithmetic expressions, got {text!r}")


def _arithmetic(symbols: list[int], characters: str) -> list[int]:
    """Compute the value of an expression, from the numbers of its characters."""
    return [_value("".join(characters[symbol] for symbol in symbols))]


def _unknown(symbols: list[int]) -> list[int]:
    """Solve a linear equation for x, modulo 5; equations below three symbols have the answer 0."""
    if len(symbols) < 3:
        return [0]
    text = "".join(EQUATION[symbol] for symbol in symbols)
    left, equal, right = text.partition("=")
    if not equal or left.count("x") != 1:
        raise ValueError(f"strings must be equations with one x, got {text!r}")
    constant, with_one = (_value(left.replace("x", digit)) for digit in "01")
    return [(_value(right) - constant) * (with_one - constant) % MODULUS]  # the factor is 1 or −1


def _stack(symbols: list[int]) -> list[int]:
    """Run the actions on the stack, and read the stack from its top, with the end mark."""
    stack: list[int] = []
    for symbol in symbols:
        if symbol != POP:
            stack.append(symbol if symbol < POP else symbol - PUSH)
        elif stack:
            stack.pop()
    return [*reversed(stack), END]


def _missing(symbols: list[int]) -> list[int]:
    """Find the missing symbol of a repeated string; the single symbol of length 1."""
    half = len(symbols) // 2
    if half and symbols.count(MISSING) != 1:
        raise ValueError(f"strings must have one missing symbol, {MISSING}, got {symbols}")
    return [symbols[(symbols.index(MISSING) + half) % (2 * half)] if half else symbols[0]]


def _bits(number: int) -> list[int]:
    """List the bits of a number, the lowest first."""
    return [int(bit) for bit in f"{number:b}"[::-1]]


def _number(bits: list[int]) -> int:
    """Compute the number of bits, the lowest first; no bit is 0."""
    return int("".join(map(str, reversed(bits))) or "0", 2)


def _operands(symbols: list[int]) -> tuple[int, int]:
    """Read the two numbers at the sides of the mark; below three symbols the second is 0."""
    marks = symbols.count(END)
    if marks != (len(symbols) > 2):
        raise ValueError(f"strings must have one mark, {END}, between two numbers, got {symbols}")
    middle = symbols.index(END) if marks else len(symbols)
    return _number(symbols[:middle]), _number(symbols[middle + 1 :])


def _sum(symbols: list[int]) -> list[int]:
    """Add two numbers, and put the end mark behind the sum."""
    return [*_bits(sum(_operands(symbols))), END]


def _product(symbols: list[int]) -> list[int]:
    """Multiply two numbers, and put the end mark behind the product: 0 in as many bits as fit."""
    product = math.prod(_operands(symbols))
    return [*(_bits(product) if product else [0] * (len(symbols) > 1)), END]


def _root(symbols: list[int]) -> list[int]:
    """Round down the square root of a number, the highest bit first, in half as many bits."""
    root = math.isqrt(_number(symbols[::-1]))
    return [int(bit) for bit in f"{root:0{(len(symbols) + 1) // 2}b}"]


def _cycle_floor(length: int) -> float:
    """Compute the share of the most frequent position on a circle of five after random steps."""
    angles = 2 * np.pi * np.arange(MODULUS) / MODULUS
    waves = ((1 + 2 * np.cos(angles)) / 3) ** length
    return float((np.cos(np.outer(np.arange(MODULUS), angles)) @ waves).max() / MODULUS)


# The values of random arithmetic modulo 5 are 0, or all others equally often. Their one Fourier
# coefficient c = (5 P(0) − 1) / 4 is 0 for a digit; that of a sum or a difference is the product of
# two coefficients, and P(0) of a product follows from P(0) of its parts.


MOST_DIGITS: Final = 256
"""Number of digits from which all values of arithmetic without brackets are equally frequent."""


@cache
def _terms_floors() -> tuple[float, ...]:
    """Compute the share of the most frequent value of arithmetic, by number of digits from 0 on."""
    products = 1 - 1.25 * 0.8 ** np.arange(1, MOST_DIGITS + 1)
    sums = np.eye(1, MOST_DIGITS + 1)[0]
    for digits in range(1, MOST_DIGITS + 1):
        first = np.arange(digits)
        chances = (1 / 3) ** first * np.where(first < digits - 1, 2 / 3, 1)
        sums[digits] = (chances * products[:digits] * sums[digits - 1 :: -1]).sum()
    return tuple(map(_most_frequent, sums.tolist()))


@cache
def _bracketed_floors(longest: int) -> tuple[float, ...]:
    """Compute the share of the most frequent value of bracketed arithmetic, by length from 0 on."""
    found = np.zeros(longest + 1)
    for length in range(len(LEAVES) + 1, longest + 1):
        left, right = found[1 : length - 3], found[length - 4 : 0 : -1]
        products = 0.2 + 0.8 * (left + right) - 0.8 * left * right
        found[length] = (2 * left * right + products).mean() / 3
    return tuple(map(_most_frequent, found.tolist()))


def _most_frequent(coefficient: float) -> float:
    """Compute the share of the most frequent value, 0 or another, from the coefficient."""
    return max((1 + 4 * coefficient) / MODULUS, (1 - coefficient) / MODULUS)


RULES: Final[dict[str, Rule]] = {
    "even-pairs": Rule(
        symbols=2,
        answers=2,
        draw=_uniform(2),
        answer=lambda symbols: [int(symbols[0] != symbols[-1])],
        floor=lambda length: 0.5 if length > 1 else 1.0,
    ),
    "modular-arithmetic": Rule(
        symbols=len(SIMPLE),
        answers=MODULUS,
        draw=_terms,
        answer=partial(_arithmetic, characters=SIMPLE),
        floor=lambda length: _terms_floors()[min((length + 1) // 2, MOST_DIGITS)],
    ),
    "parity-check": Rule(
        symbols=2, answers=2, draw=_uniform(2), answer=lambda symbols: [sum(symbols) % 2]
    ),
    "cycle-navigation": Rule(
        symbols=3,
        answers=MODULUS,
        draw=_uniform(3),
        answer=lambda symbols: [sum(symbol - 1 for symbol in symbols) % MODULUS],
        floor=_cycle_floor,
    ),
    "stack-manipulation": Rule(
        symbols=5,
        answers=3,
        draw=_actions,
        answer=_stack,
        slots=lambda length: length + 1,
        floor=None,
    ),
    "reverse-string": Rule(
        symbols=2,
        answers=2,
        draw=_uniform(2),
        answer=lambda symbols: symbols[::-1],
        slots=lambda length: length,
    ),
    "modular-arithmetic-brackets": Rule(
        symbols=len(BRACKETS),
        answers=MODULUS,
        draw=_bracketed,
        answer=partial(_arithmetic, characters=BRACKETS),
        floor=lambda length: _bracketed_floors(1 << length.bit_length())[length],
    ),
    "solve-equation": Rule(
        symbols=len(EQUATION),
        answers=MODULUS,
        draw=_equations,
        answer=_unknown,
        floor=lambda length: 1 / MODULUS if length > 2 else 1.0,
    ),
    "duplicate-string": Rule(
        symbols=2,
        answers=2,
        draw=_uniform(2),
        answer=lambda symbols: symbols + symbols,
        slots=lambda length: 2 * length,
    ),
    "missing-duplicate-string": Rule(
        symbols=4,
        answers=2,
        draw=_repeated,
        answer=_missing,
        floor=lambda length: 0.5 if length > 1 else 1.0,
    ),
    "odds-first": Rule(
        symbols=2,
        answers=2,
        draw=_uniform(2),
        answer=lambda symbols: symbols[1::2] + symbols[::2],
        slots=lambda length: length,
    ),
    "binary-addition": Rule(
        symbols=3,
        answers=3,
        draw=_two_numbers,
        answer=_sum,
        slots=lambda length: length + 1,
        floor=None,
    ),
    "binary-multiplication": Rule(
        symbols=3,
        answers=3,
        draw=_two_numbers,
        answer=_product,
        slots=lambda length: length,
        floor=None,
    ),
    "compute-sqrt": Rule(
        symbols=2,
        answers=2,
        draw=_positive_number,
        answer=_root,
        slots=lambda length: (length + 1) // 2,
        floor=None,
    ),
    "bucket-sort": Rule(
        symbols=MODULUS,
        answers=MODULUS,
        draw=_uniform(MODULUS),
        answer=sorted,
        slots=lambda length: length,
        floor=None,
    ),
}
"""Rules by name: four regular, four of stacks, seven that are context-sensitive."""
