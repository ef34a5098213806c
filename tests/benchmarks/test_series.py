"""Series under shifts: names of changes, scores, and the page."""

from __future__ import annotations

import numpy as np
from benchmarks.series import LENGTH, PAIRS, Series, changed, floor, markdown, score


def test_changes_have_the_names_of_the_page() -> None:
    time = np.arange(LENGTH)
    x = time.astype(np.float32)[None, None].repeat(3, 0)
    found = {name: values[0, 0] for name, values in changed(x).items()}
    np.testing.assert_allclose(found["amplitude × 2"], 2 * time)
    np.testing.assert_allclose(found["amplitude / 2"], time / 2)
    np.testing.assert_allclose(found["offset + 1"], time + 1)
    np.testing.assert_allclose(found["6 steps late"], np.maximum(time - 6, 0))
    np.testing.assert_allclose(found["speed × 1.5"], np.minimum(1.5 * time, LENGTH - 1))
    np.testing.assert_allclose(found["speed / 1.5"], time / 1.5, rtol=1e-6)
    assert 0.1 < (found["30 % of steps missing"] != time).mean() < 0.5


def test_scores_and_floors() -> None:
    x = np.zeros((4, 1, LENGTH), np.float32)
    classes = Series(
        name="a", x=x, y=np.array([0, 1, 1, 2]), test_x=x, test_y=np.array([1, 1, 0, 2])
    )
    assert score(classes, np.array([1, 0, 0, 2])) == 75
    assert floor(classes) == 50
    y = np.array([0, 1, 2, 3], np.float32)
    numbers = Series(name="b", x=x, y=y, test_x=x, test_y=y)
    assert score(numbers, y) == 100
    assert floor(numbers) == 0
    assert score(numbers, y + 100) == -100


def test_the_page_has_wins_losses_and_all_scores() -> None:
    kinds = {*PAIRS, *PAIRS.values()}
    even = {kind: {"unchanged": [50.0, 52.0]} for kind in sorted(kinds)}
    better = even | {
        "context norm": {"unchanged": [80.0, 82.0]},
        "rims": {"unchanged": [20.0, 22.0]},
    }
    lines = [
        {"name": name, "training": 9, "tested": 4, "floor": 25.0, "scores": scores}
        for name, scores in (("A", better), ("B", better))
    ]
    page = markdown(
        {"environment": {"python": "3"}, "settings": {"networks": 2, "tested": 4}, "lines": lines}
    )
    assert "| context norm, beside no norm | 2–0: +30.0 [+30.0, +30.0] |" in page
    assert "| rims, beside lstm | 0–2: -30.0 [-30.0, -30.0] |" in page
    assert "| A, unchanged | 9 | 4 | 25 |" in page
