"""Published perplexities of ren2017 on Penn Treebank, as data."""

from __future__ import annotations

from typing import Final

CORES: Final = ("LSTM", "TanH RNN", "ReLU RNN")
"""Columns of Table 4, and the last three of Table 7."""

TABLE_4: Final[dict[str, tuple[str, str, str]]] = {
    "Baseline": ("115.720", "149.357", "147.630"),
    "BN": ("123.245", "148.052", "164.977"),
    "LN": ("119.247", "154.324", "149.128"),
    "BN*": ("116.920", "129.155", "138.947"),
    "LN*": ("101.725", "129.823", "116.609"),
    "DN*": ("102.238", "123.652", "117.868"),
}
"""Table 4: perplexity of the test, by normalizer and core. No spread is published."""

TABLE_7: Final[dict[str, tuple[str, str, str]]] = {
    "Baseline": ("115.720", "149.357", "147.630"),
    "Baseline +L1": ("111.885", "143.965", "148.572"),
    "BN": ("123.245", "148.052", "164.977"),
    "BN +L1": ("123.736", "152.777", "166.658"),
    "BN-s": ("123.243", "131.719", "139.159"),
    "BN*": ("116.920", "129.155", "138.947"),
    "LN": ("119.247", "154.324", "149.128"),
    "LN +L1": ("116.964", "152.100", "147.937"),
    "LN-s": ("102.492", "133.812", "118.786"),
    "LN*": ("101.725", "129.823", "116.609"),
    "DN": ("103.714", "132.143", "118.789"),
    "DN*": ("102.238", "123.652", "117.868"),
}
"""Table 7, the three columns on Penn Treebank, with and without smoothing and L1."""
