"""What gondal2021 prints, as data: Tables 1 and 2."""

from __future__ import annotations

from typing import Final

NETWORKS: Final = 1
"""Trained networks behind each number; the text speaks of none but one."""
SELECTION: Final = "weights of the last step; which were printed is not said"

R2_DECIMALS: Final = (4, 4)
FUZZY_SPLIT: Final = "points of validation; what stands behind ± in print is between functions"
TABLE_1: Final[dict[str, float]] = {
    "Pre-training": 0.9983,
    "CLS tokens": 0.9202,
    "CLS tokens + type inference": 0.9857,
    "CLS tokens + type inference + the rest": 0.9953,
}
"""R² of each set of parameters that is trained. Printed behind ± are deviations over functions, not
over networks: 0.0005, 0.0198, 0.0034 and 0.0013."""
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
"""Accuracy in percent on validation and test problems, by the regime of the data set. The rows of
VAE-WReN and MXGNet, which the paper quotes, are not put to the test here."""
