"""Sets of levels that the figures and lines of a panel show, pixel by pixel."""

from __future__ import annotations

from collections import Counter

import numpy as np

Array = np.ndarray
State = dict[str, Array]

SHADES, SIZES, BLOCK, FAINTEST = 32, 27, 8, 0.05
USUAL = (0.6, 0.95, 0.95, 0.0, 0.0, 0.07, 0.07, 0.0)
SPREAD = (0.2, 0.1, 0.1, 0.05, 0.05, 0.02, 0.02, 0.01)


def network(inputs: list[float], state: State, name: str) -> Array:
    hidden = state[f"{name}.0.weight"] @ np.array(inputs) + state[f"{name}.0.bias"]
    return state[f"{name}.2.weight"] @ np.maximum(hidden, 0) + state[f"{name}.2.bias"]


def is_thick(drawn: Array, row: int, column: int) -> bool:
    """True if a 2×2 with this pixel is drawn whole."""
    height, width = drawn.shape
    for top in (row - 1, row):
        for left in (column - 1, column):
            inside = 0 <= top < height - 1 and 0 <= left < width - 1
            if inside and drawn[top : top + 2, left : left + 2].all():
                return True
    return False


def form_of(pixels: list[tuple[int, int]]) -> tuple[float, list[float]]:
    """The longer side of the box of a figure, and the eight numbers of its form."""
    rows, columns = (np.array(each, float) for each in zip(*pixels, strict=True))
    height, width = np.ptp(rows) + 1, np.ptp(columns) + 1
    side = max(height, width)
    middle = (rows.min() + rows.max()) / 2, (columns.min() + columns.max()) / 2
    y, x = rows - rows.mean(), columns - columns.mean()
    return side, [
        len(pixels) / side**2,
        width / side,
        height / side,
        (columns.mean() - middle[1]) / side,
        (rows.mean() - middle[0]) / side,
        (x * x).mean() / side**2,
        (y * y).mean() / side**2,
        (x * y).mean() / side**2,
    ]


def sets_of_figures(panel: Array, state: State, cells: int, margin: int) -> Array:
    drawn, shade = 1 - panel > FAINTEST, np.round((1 - panel) * (SHADES - 1)).astype(int)
    height, width = ((side - 2 * margin) // cells for side in panel.shape)
    lines, kinds = drawn.copy(), len(state["kind.2.bias"])
    presence, shades, sizes, of_kind = (np.zeros(n) for n in (cells**2, SHADES, SIZES, kinds))
    for cell in range(cells**2):
        top, left = (
            margin + at * side
            for at, side in zip(divmod(cell, cells), (height, width), strict=True)
        )
        places = [(r, c) for r in range(top, top + height) for c in range(left, left + width)]
        thick = [place for place in places if is_thick(drawn, *place)]
        if not thick:
            continue
        counts = Counter(shade[place] for place in thick)
        common = min(counts, key=lambda level: (-counts[level], level))
        figure = [place for place in thick if shade[place] == common]
        side, form = form_of(figure)
        if len(figure) < 14 or len(figure) < 0.16 * side**2:
            continue
        for place in places:
            lines[place] &= shade[place] != common
        inputs = [(f - u) / s for f, u, s in zip(form, USUAL, SPREAD, strict=True)]
        size = side / max(height, width) * np.exp(network(inputs, state, "scale")[0])
        levels = np.array([0.25 + level / 32 for level in range(SIZES)])
        likely = np.exp(network(inputs, state, "kind"))
        presence[cell] = shades[common] = 1
        sizes = np.maximum(sizes, np.exp(-(((size - levels) * 24) ** 2)))
        of_kind = np.maximum(of_kind, likely / likely.sum())
    rows, columns = (side // BLOCK for side in panel.shape)
    blocks = [
        lines[r * BLOCK : (r + 1) * BLOCK, c * BLOCK : (c + 1) * BLOCK].any()
        for r in range(rows)
        for c in range(columns)
    ]
    of_lines = np.bincount(shade[lines], minlength=SHADES) >= 3
    return np.concatenate([presence, blocks, shades, sizes, of_kind, of_lines])
