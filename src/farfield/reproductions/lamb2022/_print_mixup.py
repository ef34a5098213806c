"""Published numbers of chapter 4 of lamb2022, Manifold Mixup, as data."""

from __future__ import annotations

from typing import Final

Number = tuple[str, str | None]
"""A mean and its spread with the digits that the page gives them, e.g. `("4.83", "0.066")`."""

RUNS: Final = 5
"""Repetitions behind Tables 1 and 2 (their captions). No other table says how many it has."""
WITH_RUNS: Final = ("table-1a", "table-1b", "table-2")
"""Tables that say so, rows of other papers left out."""
WITH_KIND: Final = ("table-1a", "table-1b")
"""Tables whose caption calls the spread a standard deviation. That of Table 2, and the text, do
not say what it is."""

NO_MIXUP: Final = "No Mixup"
INPUT_MIXUP: Final = "Input Mixup"
MANIFOLD_MIXUP: Final = "Manifold Mixup"
TABLE_1A: Final[dict[str, dict[str, tuple[Number, Number | None]]]] = {
    "PreActResNet18": {
        NO_MIXUP: (("4.83", "0.066"), ("0.190", "0.003")),
        "AdaMix": (("3.52", None), None),
        "Input Mixup, quoted": (("4.20", None), None),
        INPUT_MIXUP: (("3.82", "0.048"), ("0.186", "0.004")),
        MANIFOLD_MIXUP: (("2.95", "0.046"), ("0.137", "0.003")),
    },
    "PreActResNet34": {
        NO_MIXUP: (("4.64", "0.072"), ("0.200", "0.002")),
        INPUT_MIXUP: (("2.88", "0.043"), ("0.176", "0.002")),
        MANIFOLD_MIXUP: (("2.54", "0.047"), ("0.118", "0.002")),
    },
    "WRN-28-10": {
        NO_MIXUP: (("3.99", "0.118"), ("0.162", "0.004")),
        INPUT_MIXUP: (("2.92", "0.088"), ("0.173", "0.001")),
        MANIFOLD_MIXUP: (("2.55", "0.024"), ("0.111", "0.001")),
    },
}
"""Table 1a, CIFAR-10: error in percent and negative log-likelihood, by network and regularizer."""

TABLE_1B: Final[dict[str, dict[str, tuple[Number, Number | None]]]] = {
    "PreActResNet18": {
        NO_MIXUP: (("24.01", "0.376"), ("1.189", "0.002")),
        "AdaMix": (("20.97", None), None),
        "Input Mixup, quoted": (("21.10", None), None),
        INPUT_MIXUP: (("22.11", "0.424"), ("1.055", "0.006")),
        MANIFOLD_MIXUP: (("20.34", "0.525"), ("0.912", "0.002")),
    },
    "PreActResNet34": {
        NO_MIXUP: (("23.55", "0.399"), ("1.189", "0.002")),
        INPUT_MIXUP: (("20.53", "0.330"), ("1.039", "0.045")),
        MANIFOLD_MIXUP: (("18.35", "0.360"), ("0.877", "0.053")),
    },
    "WRN-28-10": {
        NO_MIXUP: (("21.72", "0.117"), ("1.023", "0.004")),
        INPUT_MIXUP: (("18.89", "0.111"), ("0.927", "0.031")),
        MANIFOLD_MIXUP: (("18.04", "0.171"), ("0.809", "0.005")),
    },
}
"""Table 1b, CIFAR-100, as Table 1a."""

TABLE_2: Final[dict[str, dict[str, tuple[Number, Number | None]]]] = {
    "PreActResNet18": {
        NO_MIXUP: (("2.89", "0.224"), ("0.136", "0.001")),
        INPUT_MIXUP: (("2.76", "0.014"), ("0.212", "0.011")),
        MANIFOLD_MIXUP: (("2.27", "0.011"), ("0.122", "0.006")),
    },
    "PreActResNet34": {
        NO_MIXUP: (("2.97", "0.004"), ("0.165", "0.003")),
        INPUT_MIXUP: (("2.67", "0.020"), ("0.199", "0.009")),
        MANIFOLD_MIXUP: (("2.18", "0.004"), ("0.137", "0.008")),
    },
    "WRN-28-10": {
        NO_MIXUP: (("2.80", "0.044"), ("0.143", "0.002")),
        INPUT_MIXUP: (("2.68", "0.103"), ("0.184", "0.022")),
        MANIFOLD_MIXUP: (("2.06", "0.068"), ("0.126", "0.008")),
    },
}
"""Table 2, SVHN, as Table 1a."""

TABLE_3: Final[dict[tuple[str, float | None], tuple[str, str]]] = {
    (NO_MIXUP, None): ("55.52", "71.04"),
    (INPUT_MIXUP, 0.2): ("56.47", "71.74"),
    (INPUT_MIXUP, 0.5): ("55.49", "71.62"),
    (INPUT_MIXUP, 1.0): ("52.65", "70.70"),
    (INPUT_MIXUP, 2.0): ("44.18", "68.26"),
    (MANIFOLD_MIXUP, 0.2): ("58.70", "73.59"),
    (MANIFOLD_MIXUP, 0.5): ("57.24", "73.48"),
    (MANIFOLD_MIXUP, 1.0): ("56.83", "73.75"),
    (MANIFOLD_MIXUP, 2.0): ("48.14", "71.69"),
}
"""Table 3, Tiny-ImageNet: top-1 and top-5 accuracy in percent, by regularizer and alpha."""

COLUMNS_4: Final[tuple[tuple[str, float | None], ...]] = (
    (NO_MIXUP, None),
    (INPUT_MIXUP, 1.0),
    (INPUT_MIXUP, 2.0),
    (MANIFOLD_MIXUP, 2.0),
)
"""Columns of Table 4: regularizer and alpha."""

TABLE_4: Final[dict[str, tuple[str, str, str, str]]] = {
    "rotation-20": ("52.96", "55.55", "56.48", "60.08"),
    "rotation-40": ("33.82", "37.73", "36.78", "42.13"),
    "shear-28.6": ("55.92", "58.16", "60.01", "62.85"),
    "shear-57.3": ("35.66", "39.34", "39.7", "44.27"),
    "zoom-0.6": ("12.68", "13.75", "13.12", "11.49"),
    "zoom-0.8": ("47.95", "52.18", "50.47", "52.70"),
    "zoom-1.2": ("43.18", "60.02", "61.62", "63.59"),
    "zoom-1.4": ("19.34", "41.81", "42.02", "45.29"),
}
"""Table 4, CIFAR-100 deformed, PreActResNet34: accuracy in percent. Zoom in is 60 and 80 % rescale,
zoom out is 120 and 140 %."""

TABLE_5: Final[dict[tuple[int, ...], tuple[str, str]]] = {
    (0, 1, 2): ("97.23", "79.60"),
    (0, 1): ("96.94", "78.93"),
    (0, 1, 2, 3): ("96.92", "80.18"),
    (1, 2): ("96.35", "78.69"),
    (0,): ("96.73", "78.15"),
    (1, 2, 3): ("96.51", "79.31"),
    (1,): ("96.10", "78.72"),
    (2, 3): ("95.32", "76.46"),
    (2,): ("95.19", "76.50"),
    (): ("95.27", "76.40"),
}
"""Table 5, eligible layers: accuracy in percent on CIFAR-10 and CIFAR-100; 0 is the input."""

TABLE_6: Final[dict[float, tuple[str, str]]] = {
    0.5: ("96.68", "96.76"),
    1.0: ("96.75", "97.00"),
    1.2: ("96.72", "97.03"),
    1.5: ("96.84", "97.10"),
    1.8: ("96.80", "97.15"),
    2.0: ("96.73", "97.23"),
}
"""Table 6, CIFAR-10: accuracy in percent of Input Mixup and Manifold Mixup, by alpha."""

TABLE_7: Final[dict[str, dict[str, str]]] = {
    "cifar10": {
        NO_MIXUP: "36.32",
        INPUT_MIXUP: "71.51",
        MANIFOLD_MIXUP: "77.50",
        "PGD training": "56.10",
    },
    "cifar100": {INPUT_MIXUP: "40.7", MANIFOLD_MIXUP: "44.96"},
    "svhn": {
        NO_MIXUP: "21.49",
        INPUT_MIXUP: "56.98",
        MANIFOLD_MIXUP: "65.91",
        "PGD training": "72.80",
    },
}
"""Table 7: accuracy in percent under the fast gradient sign method, whose size is not said."""

REGULARIZERS: Final[dict[str, tuple[str, str]]] = {
    NO_MIXUP: ("4.96", "0.19"),
    "Dropout": ("5.09", "0.09"),
    "Cutout": ("4.77", "0.38"),
    INPUT_MIXUP: ("4.25", "0.11"),
    MANIFOLD_MIXUP: ("3.77", "0.18"),
}
"""Section 4.5.1: error in percent of PreActResNet50 on CIFAR-10 after 600 epochs."""

ZEROED: Final = "4.33"
"""Section 4.5.1: error in percent where no gradient passes below the mixture, CIFAR-10."""

NEIGHBORS: Final[dict[str, str]] = {NO_MIXUP: "6.09", INPUT_MIXUP: "5.54", MANIFOLD_MIXUP: "5.16"}
"""Section 4.5.1: error in percent of nearest neighbors on features, CIFAR-10."""

SINGULAR_VALUES: Final[dict[str, tuple[str, str]]] = {
    NO_MIXUP: ("51.73", "78.67"),
    "Weight decay": ("33.76", "73.36"),
    "Dropout": ("28.83", "77.47"),
    INPUT_MIXUP: ("33.46", "66.89"),
    MANIFOLD_MIXUP: ("31.65", "40.98"),
}
"""Section 4.3.2, MNIST, first hidden layer: largest singular value, and sum of all others."""
