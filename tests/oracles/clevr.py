"""Sort-of-CLEVR in loops over objects and pixels.

A scene is a list of `(column, row, shape)` by color, `None` for a color that is absent.
"""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np

Thing = tuple[int, int, str]
Scene = list[Thing | None]

PAINTS = {
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "orange": (255, 156, 0),
    "gray": (128, 128, 128),
    "yellow": (255, 255, 0),
}
COLORS = list(PAINTS)


def answer(scene: Scene, color: int, kind: str, *, own_distance: int | None = None) -> str:
    """The answer to a question, in words.

    Args:
        scene: The scene.
        color: Number of the color that is asked about.
        kind: Kind of question.
        own_distance: Squared distance of an object to itself, if it may be its own closest.
    """
    column, row, shape = scene[color]
    if kind == "shape":
        return shape
    if kind == "left":
        return "yes" if column < 37.5 else "no"
    if kind == "top":
        return "yes" if row < 37.5 else "no"
    if kind == "count":
        return str(sum(1 for thing in scene if thing is not None and thing[2] == shape))
    best = None
    for number, thing in enumerate(scene):
        if thing is None:
            continue
        away = (thing[0] - column) ** 2 + (thing[1] - row) ** 2
        if number == color:
            if kind == "furthest" or own_distance is None:
                continue
            away = own_distance
        better = best is None or (away < best[0] if kind == "closest" else away > best[0])
        if better:
            best = (away, thing[2])
    return best[1]


def vector(color: int, kind: str) -> list[int]:
    """The eleven numbers of a question."""
    numbers = [0] * 11
    numbers[color] = 1
    numbers[6 if kind in ("shape", "left", "top") else 7] = 1
    subtype = {"shape": 0, "closest": 0, "left": 1, "furthest": 1, "top": 2, "count": 2}[kind]
    numbers[8 + subtype] = 1
    return numbers


def image(scene: Scene) -> np.ndarray:
    """Red, green and blue of every pixel."""
    shown = np.full((3, 75, 75), 255, np.uint8)
    for paint, thing in zip(PAINTS.values(), scene, strict=True):
        if thing is None:
            continue
        column, row, shape = thing
        for y in range(75):
            for x in range(75):
                dx, dy = abs(x - column), abs(y - row)
                inside = max(dx, dy) <= 5 if shape == "square" else (dx**2 + dy**2) ** 0.5 < 5.5
                if inside:
                    shown[:, y, x] = paint
    return shown


def best_guesses(allowed: list[tuple[str, ...]]) -> dict[str, Fraction]:
    """Share of right answers of the best answer to each question, over all shapes.

    Every other object is the closest equally often; a center is in 33 of 65 columns on the left.

    Args:
        allowed: The shapes that each color can have, all equally likely.
    """
    scenes = list(itertools.product(*allowed))
    found: dict[str, list[Fraction]] = {}
    for color in range(len(allowed)):
        counts: dict[str, Counter[str]] = {kind: Counter() for kind in ("shape", "near", "count")}
        for shapes in scenes:
            counts["shape"][shapes[color]] += 1
            counts["count"][str(shapes.count(shapes[color]))] += 1
            for number, shape in enumerate(shapes):
                counts["near"][shape] += number != color
        for kind, of in (
            ("shape", "shape"),
            ("closest", "near"),
            ("furthest", "near"),
            ("count", "count"),
        ):
            best = Fraction(max(counts[of].values()), counts[of].total())
            found.setdefault(kind, []).append(best)
    means = {kind: sum(parts, Fraction()) / len(parts) for kind, parts in found.items()}
    return means | {"left": Fraction(33, 65), "top": Fraction(33, 65)}
