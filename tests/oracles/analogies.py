"""Visual analogies set by set and pixel by pixel, after their description alone."""

from __future__ import annotations

import itertools
import math

import numpy as np

DOMAINS = (
    "shape-number",
    "shape-type",
    "shape-size",
    "shape-colour",
    "shape-position",
    "line-type",
    "line-colour",
)
RELATIONS = ("progression", "XOR", "OR", "AND")
SHAPES = (
    "triangle",
    "diamond",
    "square",
    "circle",
    "ring",
    "crescent",
    "corner",
    "plus",
    "saltire",
    "hourglass",
)


def held(first: set[int], second: set[int], third: set[int]) -> list[str]:
    """Names of the relations between three sets of levels."""
    names = []
    for step in range(-9, 10):
        moved = {level + step for level in first}, {level + step for level in second}
        if step and first and moved == (second, third):
            names.append("progression")
    if first & second and first - second and second - first:
        made = {"XOR": (first | second) - (first & second), "OR": first | second}
        names += [name for name, levels in made.items() if levels == third]
        names += ["AND"] if first & second == third else []
    return names


def small_sets(levels: int) -> list[set[int]]:
    return [
        set(chosen) for size in (1, 2, 3) for chosen in itertools.combinations(range(levels), size)
    ]


def rows(relation: str, levels: int) -> set[tuple[frozenset[int], ...]]:
    """All rows by a relation: first two sets of up to three levels, four different ones in all."""
    thirds = [
        set(chosen)
        for size in range(1, 5)
        for chosen in itertools.combinations(range(levels), size)
    ]
    return {
        (frozenset(first), frozenset(second), frozenset(third))
        for first, second in itertools.product(small_sets(levels), repeat=2)
        if len(first | second) <= 4
        for third in thirds
        if relation in held(first, second, third)
    }


def shown(panel: list[int]) -> dict[str, set[int]]:
    """The levels that a panel shows in each domain."""
    levels: dict[str, set[int]] = {domain: set() for domain in DOMAINS}
    for cell in range(9):
        number, kind, size, color = panel[4 * cell : 4 * cell + 4]
        if number:
            for domain, level in zip(DOMAINS, (number - 1, kind, size, color, cell), strict=False):
                levels[domain].add(level)
    for line in range(4):
        kind, color = panel[36 + 2 * line : 38 + 2 * line]
        if kind:
            levels["line-type"].add(kind - 1)
            levels["line-colour"].add(color)
    return levels


def obeyed(row: list[list[int]]) -> list[tuple[str, str]]:
    """Domain and relation of everything that holds in a row of three panels."""
    first, second, third = (shown(panel) for panel in row)
    return [
        (domain, relation)
        for domain in DOMAINS
        for relation in held(first[domain], second[domain], third[domain])
    ]


def inside(shape: str, x: float, y: float, side: float) -> bool:
    """Whether a point right of and below the center of a shape lies in it; all in pixels."""
    half = side / 2
    box = max(abs(x), abs(y)) <= half
    circle = x * x + y * y <= half * half
    return {
        "triangle": abs(y) <= half and abs(x) <= (y + half + 1) / 2,
        "diamond": abs(x) + abs(y) <= half,
        "square": max(abs(x), abs(y)) <= half * 7 / 8,
        "circle": circle,
        "ring": circle and x * x + y * y >= half * half / 4,
        "crescent": circle and (x - half / 2) ** 2 + y * y >= half * half * 3 / 4,
        "corner": box and (6 * x <= -side or 6 * y >= side),
        "plus": box and 6 * min(abs(x), abs(y)) <= side,
        "saltire": box and 2 * abs(abs(x) - abs(y)) <= half,
        "hourglass": abs(y) <= half and abs(x) <= abs(y),
    }[shape]


def places(number: int) -> list[tuple[float, float]]:
    """Centers of the shapes in a cell of 48×48, right of and below its corner."""
    if number == 1:
        return [(24, 24)]
    return [(6 + 12 * (place % 4), 8 + 16 * (place // 4)) for place in range(number)]


def picture(panel: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The panel of 160×160 without its lines, and the grey that is there (255 where none)."""
    image = np.full((160, 160), 255, np.uint8)
    for cell in range(9):
        number, kind, size, color = panel[4 * cell : 4 * cell + 4]
        top, left = 8 + 48 * (cell // 3), 8 + 48 * (cell % 3)
        side = 16 + 3 * size if number == 1 else 8 + size // 3
        for row, column in itertools.product(range(48), repeat=2):
            for right, down in places(number) if number else []:
                if inside(SHAPES[kind], column + 0.5 - right, row + 0.5 - down, side):
                    image[top + row, left + column] = 207 - 23 * color
    return image, lines(panel)


def lines(panel: list[int]) -> np.ndarray:
    """Grey of the topmost line at each point; −1 where there is none, −2 on the rim of one."""
    found = np.full((160, 160), -1)
    for line in range(4):
        kind, color = panel[36 + 2 * line : 38 + 2 * line]
        angle = math.pi * (kind - 1) / 10
        for row, column in itertools.product(range(160), repeat=2) if kind else []:
            x, y = column - 80, row - 80
            away = abs(math.cos(angle) * y + math.sin(angle) * x)
            if abs(away - 1.5) < 0.05 or abs(math.hypot(x, y) - 72) < 0.05:
                found[row, column] = -2
            elif away < 1.5 and math.hypot(x, y) < 72:
                found[row, column] = 207 - 23 * color
    return found
