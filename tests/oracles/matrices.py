"""Progressive matrices set by set and pixel by pixel, after their description alone."""

from __future__ import annotations

import itertools

import numpy as np

from oracles.analogies import SHAPES, held, inside

TRIPLES = {
    "shape-number": ("progression", "consistent union"),
    "shape-type": ("progression", "XOR", "OR", "AND", "consistent union"),
    "shape-size": ("progression", "XOR", "OR", "AND", "consistent union"),
    "shape-colour": ("progression", "XOR", "OR", "AND", "consistent union"),
    "shape-position": ("XOR", "OR", "AND"),
    "line-type": ("XOR", "OR", "AND", "consistent union"),
    "line-colour": ("progression", "XOR", "OR", "AND", "consistent union"),
}
LINES = ("horizontal", "vertical", "falling", "rising", "diamond", "circle")
Sets = dict[str, set[int]]


def shown(panel: list[int]) -> Sets:
    """The levels that a panel shows of each attribute."""
    levels: Sets = {attribute: set() for attribute in TRIPLES}
    shapes = 0
    for cell in range(9):
        kind, size, color = panel[3 * cell : 3 * cell + 3]
        if kind:
            shapes += 1
            levels["shape-type"].add(kind - 1)
            levels["shape-size"].add(size)
            levels["shape-colour"].add(color)
            levels["shape-position"].add(cell)
    levels["shape-number"] = {shapes}
    for line, color in enumerate(panel[27:]):
        if color:
            levels["line-type"].add(line)
            levels["line-colour"].add(color - 1)
    return levels


def lines_of(matrix: list[Sets], direction: str) -> list[list[Sets]]:
    """The three rows or columns of a matrix of nine panels."""
    steps = (3, 1) if direction == "rows" else (1, 3)
    return [[matrix[steps[0] * line + steps[1] * place] for place in range(3)] for line in range(3)]


def agree(lines: list[list[Sets]], attribute: str, relation: str) -> bool:
    """Whether a relation holds along all of these lines in an attribute."""
    values = [[panel[attribute] for panel in line] for line in lines]
    if relation == "consistent union":
        unions = [{frozenset(value) for value in line} for line in values]
        one = unions[0]
        return len(one) == 3 and frozenset() not in one and all(union == one for union in unions)
    return all(relation in held(*line) for line in values)


def laws(context: list[Sets]) -> set[tuple[str, str, str]]:
    """Direction, relation and attribute of all that holds along both whole lines."""
    matrix = [*context, shown([0] * 33)]
    return {
        (direction, relation, attribute)
        for direction in ("rows", "columns")
        for attribute, relations in TRIPLES.items()
        for relation in relations
        if agree(lines_of(matrix, direction)[:2], attribute, relation)
    }


def fitting(context: list[Sets], candidates: list[Sets]) -> list[bool]:
    """Whether all that holds along the whole lines holds along the last with each candidate."""
    found = laws(context)
    return [
        all(
            agree(lines_of([*context, candidate], direction), attribute, relation)
            for direction, relation, attribute in found
        )
        for candidate in candidates
    ]


def ends(relation: str, levels: list[int], fewest: int, most: int) -> dict[frozenset, set]:
    """First two sets of every line by a relation, by the set that ends it."""
    sets = [
        set(chosen)
        for size in range(fewest, most + 1)
        for chosen in itertools.combinations(levels, size)
    ]
    found: dict[frozenset, set] = {}
    for first, second, third in itertools.product(sets, repeat=3):
        if relation in held(first, second, third):
            pair = frozenset(first), frozenset(second)
            found.setdefault(frozenset(third), set()).add(pair)
    return found


def on_line(line: str, x: int, y: int) -> bool:
    """Whether a pixel right of and below the center of a panel lies on a line."""
    away = x * x + y * y - 52 * 52
    return {
        "horizontal": abs(y) < 2 and abs(x) <= 72,
        "vertical": abs(x) < 2 and abs(y) <= 72,
        "falling": abs(x - y) < 2 and abs(x + y) <= 144,
        "rising": abs(x + y) < 2 and abs(x - y) <= 144,
        "diamond": 59 <= abs(x) + abs(y) <= 61,
        "circle": abs(away) <= 156,
    }[line]


def picture(panel: list[int]) -> np.ndarray:
    """The panel of 160×160: shapes in cells of 48, then its lines in order."""
    image = np.full((160, 160), 255, np.uint8)
    for row, column in itertools.product(range(160), repeat=2):
        cell = 3 * ((row - 8) // 48) + (column - 8) // 48
        if 8 <= min(row, column) and max(row, column) < 152 and panel[3 * cell]:
            kind, size, color = panel[3 * cell : 3 * cell + 3]
            x, y = (column - 8) % 48 - 23.5, (row - 8) % 48 - 23.5
            if inside(SHAPES[kind - 1], x, y, 16 + 3 * size):
                image[row, column] = 207 - 23 * color
        for line, color in zip(LINES, panel[27:], strict=True):
            if color and on_line(line, column - 80, row - 80):
                image[row, column] = 207 - 23 * (color - 1)
    return image
