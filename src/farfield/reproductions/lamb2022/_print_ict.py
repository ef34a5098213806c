"""Published numbers of chapter 6 of lamb2022, Interpolation Consistency Training, as data."""

from __future__ import annotations

from typing import Final

Number = tuple[str, str | None]
"""A mean and its spread with the digits that the page gives them."""

RUNS: Final = 3
"""Trials behind each number (section 6.3.3); spreads are standard deviations over them."""

OURS: Final = ("Supervised", "Supervised (Mixup)", "Supervised (Manifold Mixup)", "ICT")
"""Rows that the authors trained themselves; all others are taken over from other papers, and the
text does not say of what their spread is, nor over how many networks."""

LABELS_CIFAR: Final = (1_000, 2_000, 4_000)
LABELS_SVHN: Final = (250, 500, 1_000)

TABLE_1: Final[dict[str, tuple[Number | None, Number | None, Number]]] = {
    "Supervised": (("39.95", "0.75"), ("31.16", "0.66"), ("21.75", "0.46")),
    "Supervised (Mixup)": (("36.48", "0.15"), ("26.24", "0.46"), ("19.67", "0.16")),
    "Supervised (Manifold Mixup)": (("34.58", "0.37"), ("25.12", "0.52"), ("18.59", "0.18")),
    "Π model": (("31.65", "1.20"), ("17.57", "0.44"), ("12.36", "0.31")),
    "TempEns": (("23.31", "1.01"), ("15.64", "0.39"), ("12.16", "0.24")),
    "Mean Teacher": (("21.55", "1.48"), ("15.73", "0.31"), ("12.31", "0.28")),
    "VAT": (None, None, ("11.36", None)),
    "VAT + Ent": (None, None, ("10.55", None)),
    "VAdD": (None, None, ("11.32", "0.11")),
    "SNTG": (("18.41", "0.52"), ("13.64", "0.32"), ("10.93", "0.14")),
    "MT + Fast SWA": (("15.58", None), ("11.02", None), ("9.05", None)),
    "ICT": (("15.48", "0.78"), ("9.26", "0.09"), ("7.29", "0.02")),
}
"""Table 1, CIFAR-10 with CNN-13: error in percent at 1,000, 2,000 and 4,000 labels."""

TABLE_2: Final[dict[str, tuple[Number | None, Number | None, Number]]] = {
    "Supervised": (("40.62", "0.95"), ("22.93", "0.67"), ("15.54", "0.61")),
    "Supervised (Mixup)": (("33.73", "1.79"), ("21.08", "0.61"), ("13.70", "0.47")),
    "Supervised (Manifold Mixup)": (("31.75", "1.39"), ("20.57", "0.63"), ("13.07", "0.53")),
    "Π model": (("9.93", "1.15"), ("6.65", "0.53"), ("4.82", "0.17")),
    "TempEns": (("12.62", "2.91"), ("5.12", "0.13"), ("4.42", "0.16")),
    "MT": (("4.35", "0.50"), ("4.18", "0.27"), ("3.95", "0.19")),
    "VAT": (None, None, ("5.42", None)),
    "VAT + Ent": (None, None, ("3.86", None)),
    "VAdD": (None, None, ("4.16", "0.08")),
    "SNTG": (("4.29", "0.23"), ("3.99", "0.24"), ("3.86", "0.27")),
    "ICT": (("4.78", "0.68"), ("4.23", "0.15"), ("3.89", "0.04")),
}
"""Table 2, SVHN with CNN-13: error in percent at 250, 500 and 1,000 labels."""

TABLE_3: Final[dict[str, tuple[Number, Number]]] = {
    "Supervised": (("20.26", "0.38"), ("12.83", "0.47")),
    "Mean-Teacher": (("15.87", "0.28"), ("5.65", "0.47")),
    "VAT": (("13.86", "0.27"), ("5.63", "0.20")),
    "VAT-EM": (("13.13", "0.39"), ("5.35", "0.19")),
    "ICT": (("7.66", "0.17"), ("3.53", "0.07")),
}
"""Table 3, WRN-28-2: error in percent on CIFAR-10 (4,000 labels) and SVHN (1,000)."""

WITHOUT_TEACHER: Final[tuple[Number, ...]] = (
    ("19.56", "0.56"),
    ("14.35", "0.15"),
    ("11.19", "0.14"),
)
"""Section 6.3.5: ICT without the mean teacher, as Table 1."""

WITHOUT_MIXUP: Final[tuple[Number, ...]] = (("14.86", "0.39"), ("9.02", "0.12"), ("8.23", "0.22"))
"""Section 6.3.5: ICT with a plain supervised loss, as Table 1."""

WEIGHTS_CIFAR: Final = (10.0, 100.0, 100.0)
"""Section 6.3.4: best largest consistency coefficient at each number of labels of Table 1."""
ALPHAS_CIFAR: Final = (0.2, 1.0, 1.0)
"""Section 6.3.4: best alpha at each number of labels of Table 1."""
WEIGHT_SVHN: Final = 100.0
ALPHA_SVHN: Final = 0.1
