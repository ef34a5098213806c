"""Published numbers of webb2020 on VAEC, as data: Tables 1, 2 and S1."""

from __future__ import annotations

from typing import Final

Cells = tuple[tuple[float, float], ...]
"""Mean and standard error as published, in percent, column by column."""

RUNS: Final = 8
BATCH_SIZE: Final = 32
STEPS: Final = 10_000
LONG_STEPS: Final = 500_000
"""Steps of networks with layer normalization and of those without any (section 4.2)."""
LEARNING_RATE: Final = 5e-4
SLOWER_LEARNING_RATE: Final = 1e-4
"""Of networks without normalization (section 4.2)."""
DROPOUT: Final = 0.5
LAYER_SIGMA: Final = 1e-4
"""Root of what is added to the variance in layer normalization of the embeddings, 1e-8."""

SELECTION: Final = "weights of the last step, no validation"
SPLIT: Final = "all problems of the region or scale; those of the first are the training problems"

TABLE_1: Final[dict[str, Cells]] = {
    "Context norm.": (
        (99.1, 0.6),
        (77.0, 5.8),
        (73.2, 6.4),
        (72.5, 5.1),
        (71.7, 5.5),
        (61.6, 4.9),
    ),
    "Sub-batch norm.": (
        (83.4, 3.3),
        (56.1, 1.5),
        (51.7, 1.7),
        (50.5, 2.2),
        (47.0, 2.7),
        (46.3, 1.5),
    ),
    "Sliding context norm.": (
        (68.2, 8.2),
        (44.8, 1.6),
        (35.4, 2.6),
        (34.8, 2.7),
        (36.7, 4.0),
        (36.6, 4.1),
    ),
    "Batch + context norm.": (
        (98.0, 0.5),
        (42.5, 1.4),
        (33.6, 5.0),
        (37.0, 6.3),
        (36.7, 6.5),
        (36.5, 6.2),
    ),
    "Layer norm. (recurrent)": (
        (100.0, 0.0),
        (52.1, 8.0),
        (44.5, 7.5),
        (35.7, 6.1),
        (27.4, 3.9),
        (23.3, 3.7),
    ),
    "Misaligned context norm.": (
        (55.3, 4.9),
        (41.5, 2.0),
        (35.4, 1.0),
        (33.3, 1.6),
        (31.6, 1.6),
        (31.6, 1.8),
    ),
    "Batch norm.": (
        (99.5, 0.1),
        (29.0, 2.2),
        (26.8, 2.4),
        (28.0, 2.6),
        (29.0, 2.7),
        (30.8, 1.7),
    ),
    "Batch norm. + dropout": (
        (99.0, 0.1),
        (27.5, 2.4),
        (22.6, 1.8),
        (24.4, 2.3),
        (26.0, 1.6),
        (26.8, 1.7),
    ),
    "Layer norm.": (
        (99.0, 0.2),
        (25.2, 2.6),
        (22.9, 2.3),
        (22.4, 2.3),
        (21.6, 2.2),
        (17.2, 1.9),
    ),
    "No norm.": (
        (94.8, 3.3),
        (23.9, 2.6),
        (23.4, 2.4),
        (19.1, 1.9),
        (17.8, 1.7),
        (16.7, 1.4),
    ),
    "Batch norm. (train stats)": (
        (99.9, 0.0),
        (33.5, 4.0),
        (19.1, 6.4),
        (10.2, 4.9),
        (13.5, 7.7),
        (6.3, 4.3),
    ),
}
"""Accuracy in regions 1 (training) to 6, by row."""

TABLE_2: Final[dict[str, Cells]] = {
    "Context norm.": (
        (98.8, 0.7),
        (77.8, 1.8),
        (61.2, 3.8),
        (54.4, 3.3),
        (51.2, 2.5),
        (48.7, 2.2),
    ),
    "Layer norm. (recurrent)": (
        (100.0, 0.0),
        (44.1, 5.0),
        (28.1, 2.4),
        (23.4, 1.6),
        (20.2, 1.2),
        (18.3, 0.8),
    ),
    "Batch norm. (train stats)": (
        (99.9, 0.0),
        (40.2, 1.2),
        (25.7, 1.7),
        (21.2, 1.2),
        (21.3, 0.8),
        (19.9, 0.8),
    ),
    "Batch norm.": (
        (99.2, 0.2),
        (18.3, 0.3),
        (17.7, 0.5),
        (18.4, 0.4),
        (20.1, 0.8),
        (21.2, 1.0),
    ),
    "No norm.": (
        (94.4, 3.5),
        (20.9, 1.0),
        (17.6, 0.7),
        (17.6, 0.6),
        (16.7, 0.7),
        (16.7, 0.6),
    ),
}
"""Accuracy at scales 1 (training) to 6, by row."""

TABLE_S1: Final[dict[str, Cells]] = {
    "Size": (
        (97.5, 1.9),
        (81.1, 5.3),
        (79.8, 8.4),
        (79.4, 8.7),
        (80.7, 10.0),
        (77.0, 11.0),
    ),
    "Brightness": (
        (99.0, 0.6),
        (97.4, 1.6),
        (97.1, 1.2),
        (93.4, 2.1),
        (90.0, 4.6),
        (87.0, 8.0),
    ),
    "Location (X)": (
        (99.9, 0.1),
        (55.4, 12.2),
        (43.9, 9.6),
        (47.5, 9.6),
        (50.7, 10.2),
        (37.3, 7.2),
    ),
    "Location (Y)": (
        (100.0, 0.0),
        (74.3, 9.7),
        (73.2, 11.7),
        (64.8, 11.3),
        (61.4, 10.5),
        (56.5, 9.9),
    ),
}
"""Accuracy of the networks of `Context norm.` in Table 1, by the dimension that varies."""
