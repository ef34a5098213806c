"""Foreign text and numbers before they are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from farfield._text import fixed
from farfield.core.internal import excerpt, printable


@pytest.mark.parametrize(
    "text, shown",
    [
        ("plain – ±, Щ 漢 'quoted' \\", "plain – ±, Щ 漢 'quoted' \\"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("one\r\ntwo\ttabbed", "one\\r\\ntwo\\ttabbed"),
        ("gpj.\u202egnp", "gpj.\\u202egnp"),
        ("\u2066a\u2069 \u200f\u200b\ufeff", "\\u2066a\\u2069 \\u200f\\u200b\\ufeff"),
        ("a\u2028b\u2029c\x85d", "a\\u2028b\\u2029c\\x85d"),
        ("no text: \udcff", "no text: \\udcff"),
        ("tag \U000e0041", "tag \\U000e0041"),
    ],
)
def test_what_moves_or_colors_or_turns_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert excerpt(text) == shown
    assert printable(text).isprintable()


def test_a_path_is_text() -> None:
    assert printable(Path("a\x1bb") / "c") == "a\\x1bb/c"
    assert printable(ValueError("\x1b")) == "\\x1b"


def test_an_excerpt_keeps_both_ends() -> None:
    shown = excerpt("a" * 10_000 + "z")
    assert len(shown) < 410
    assert shown.startswith("aaa")
    assert shown.endswith("az")
    assert excerpt("a" * 400) == "a" * 400


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (12.25, 1, "12.3"),  # a half that binary numbers hold: to even it would be 12.2
        (100 * 0.2035, 1, "20.4"),  # 20.349999999999998: to the nearest it would be 20.3
        (-20.35, 1, "-20.4"),
        (0.125, 2, "0.13"),
        (2.5, 0, "3"),
        (20.3499, 1, "20.3"),
        (3.0, 2, "3.00"),
        (1e300, 1, f"{1e300:.1f}"),
        (float("nan"), 1, "nan"),
    ],
)
def test_halves_are_rounded_away_from_zero(value: float, digits: int, shown: str) -> None:
    assert fixed(value, digits) == shown
