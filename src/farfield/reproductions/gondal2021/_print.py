"""Published numbers of gondal2021, as data: Tables 1 and 2."""

from __future__ import annotations

from typing import Final

NETWORKS: Final = 1
"""Trained networks behind each number; the text speaks of none but one."""
SELECTION: Final = "weights of the last step; which were published is not said"

R2_DECIMALS: Final = (4, 4)
FUZZY_SPLIT: Final = "points of validation; the published ± is between functions"
TABLE_1: Final[dict[str, float]] = {
    "Pre-training": 0.9983,
    "CLS tokens": 0.9202,
    "CLS tokens + type inference": 0.9857,
    "CLS tokens + type inference + the rest": 0.9953,
}
"""R² of each set of parameters that is trained."""
TABLE_1_DEVIATIONS: Final[dict[str, float]] = {
    "Pre-training": 0.0005,
    "CLS tokens": 0.0198,
    "CLS tokens + type inference": 0.0034,
    "CLS tokens + type inference + the rest": 0.0013,
}
"""Published numbers after ±: standard deviations over functions, not over networks."""
PRETRAINING_EPOCHS: Final = 20
ADAPTATION_EPOCHS: Final = 3

ACCURACY_DECIMALS: Final = (1, 1)
MATRICES_SPLIT: Final = "the published validation or test problems"
TABLE_2: Final[dict[str, dict[str, tuple[float, float]]]] = {
    "WReN": {
        "neutral": (63.0, 62.6),
        "interpolation": (79.0, 64.4),
        "attribute-pairs": (46.7, 27.2),
        "triple-pairs": (63.9, 41.9),
        "triples": (63.4, 19.0),
        "extrapolation": (69.3, 17.2),
    },
    "VAE-WReN": {
        "neutral": (64.8, 64.2),
        "attribute-pairs": (70.1, 36.8),
        "triple-pairs": (64.6, 43.6),
        "triples": (59.5, 24.6),
    },
    "MXGNet": {
        "neutral": (67.1, 66.7),
        "interpolation": (74.2, 65.4),
        "attribute-pairs": (68.3, 33.6),
        "triple-pairs": (67.1, 43.3),
        "triples": (63.7, 19.9),
        "extrapolation": (69.1, 18.9),
    },
    "ViT": {
        "neutral": (73.3, 72.7),
        "interpolation": (89.9, 67.7),
        "attribute-pairs": (69.4, 34.1),
        "triple-pairs": (67.6, 44.1),
        "triples": (73.8, 15.9),
        "extrapolation": (92.2, 16.4),
    },
    "NI": {
        "neutral": (77.3, 77.0),
        "interpolation": (87.9, 70.5),
        "attribute-pairs": (69.5, 36.6),
        "triple-pairs": (68.6, 45.2),
        "triples": (79.9, 20.0),
        "extrapolation": (91.8, 19.4),
    },
}
"""Accuracy in percent on validation and test problems, by the regime of the data set. The first
three rows are quoted from other papers; two regimes of VAE-WReN are not published."""
QUOTED: Final = ("WReN", "VAE-WReN", "MXGNet")
"""Rows of the state of the art before."""
