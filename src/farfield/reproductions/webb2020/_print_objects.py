"""Published numbers of webb2020 on dynamic object prediction, as data: Table 4."""

from __future__ import annotations

from typing import Final

NETWORKS: Final = 3
"""Networks behind each number; two test sets each, so that its spread is over six numbers."""
DECIMALS: Final = (4, 5)
BATCH_SIZE: Final = 32
LEARNING_RATE: Final = 5e-4
AUTOENCODER_STEPS: Final = 200_000
PREDICTOR_STEPS: Final = 20_000
SAMPLE: Final = 500
"""Training sequences behind the statistics of batch normalization (section 4.3)."""

SELECTION: Final = "weights of the last step, no validation"
SPLIT: Final = "new sequences of squares larger than in training (published: two sets a network)"

TABLE_4: Final[dict[str, tuple[float, float]]] = {
    "Context norm.": (0.0056, 0.00010),
    "Batch norm.": (0.0095, 0.00008),
    "Batch norm. (train stats)": (0.0507, 0.00162),
    "No norm.": (0.0675, 0.00275),
}
"""Mean squared error and its standard error."""
