"""Published numbers of chapter 10 of lamb2022 on images of several objects, as data."""

from __future__ import annotations

from typing import Final

Number = tuple[str, str]
"""A mean and its spread with the digits that the page gives them."""

RUNS: Final = 3
"""Trials behind Tables 6 and 7 (section 10.4.3); taken for Table 5 and for the numbers of section
10.4.7, which do not say."""
WITH_KIND: Final = ("table-6", "table-7")
"""Tables whose spread is a standard deviation (section 10.4.3). Table 5 and section 10.4.7 do not
say what theirs is."""

TABLE_5: Final[dict[tuple[int, int], dict[int, tuple[Number, Number]]]] = {
    (1, 3): {
        1: (("99.27", "0.05"), ("99.23", "0.03")),
        3: (("87.83", "0.02"), ("87.78", "0.46")),
        2: (("76.7", "1.34"), ("88.36", "0.85")),
        4: (("62.57", "0.04"), ("66.12", "1.86")),
        5: (("24.27", "1.02"), ("29.48", "3.12")),
    },
    (1, 5): {
        1: (("99.22", "0.09"), ("99.16", "0.04")),
        5: (("68.87", "4.25"), ("71.76", "2.79")),
        2: (("74.69", "2.88"), ("84.01", "6.06")),
        3: (("57.11", "3.57"), ("66.58", "5.24")),
        4: (("75.90", "2.48"), ("79.04", "2.37")),
    },
}
"""Table 5, stacked MNIST: accuracy in percent of the baseline and with NFM, by the numbers of
digits in training and that of the test."""

RELATIONAL: Final = "relational"
NON_RELATIONAL: Final = "non-relational"

TABLE_6: Final[dict[str, tuple[Number, Number]]] = {
    RELATIONAL: (("68.26", "0.61"), ("74.95", "1.58")),
    NON_RELATIONAL: (("71.78", "9.3"), ("79.37", "2")),
}
"""Table 6, Sort-of-CLEVR: accuracy in percent of the CNN and with NFM, by sort of question."""

COLUMNS_7: Final = ("CNN", "Relation networks", "NFM(CNN)")

TABLE_7: Final[dict[tuple[int, str], tuple[Number, Number, Number]]] = {
    (1, RELATIONAL): (("57.67", "0.47"), ("50.67", "0.94"), ("54.67", "1.7")),
    (1, NON_RELATIONAL): (("57", "1.63"), ("48", "0.82"), ("59", "0.81")),
    (2, RELATIONAL): (("47", "3.27"), ("45", "3.56"), ("46", "1.41")),
    (2, NON_RELATIONAL): (("54.33", "0.47"), ("43.33", "7.31"), ("57", "1.63")),
    (3, RELATIONAL): (("20.66", "3"), ("40.67", "1.7"), ("38.33", "3.3")),
    (3, NON_RELATIONAL): (("42.33", "1.25"), ("46", "3.56"), ("49.67", "3.3")),
}
"""Table 7, Sort-of-CLEVR without N pairs of color and shape in training: accuracy in percent."""

AVERAGES_7: Final = ("46.99", "45.61", "50.78")
"""Last row of Table 7. The means of the columns are 46.50, 45.61 and 50.78."""

ONE_PASS: Final[Number] = ("73.07", "1.17")
"""Section 10.4.7: relational questions with K = 1."""
DENSE_NET: Final[Number] = ("66.7", "3.5")
"""Section 10.4.7: the same with a DenseNet of depth 16."""
DOUBLED: Final[dict[str, Number]] = {"NFM(CNN)": ("76.5", "1.1"), "CNN": ("69.21", "1.36")}
"""Section 10.4.7: the same with twice the channels and layers."""

RANDOM: Final[dict[str, str]] = {NON_RELATIONAL: "50", RELATIONAL: "39"}
"""Section 10.4.3: accuracy in percent of random answers."""
