"""Figures S1–S8 of webb2020: claims, exhibits and quotes from the supplement."""

from __future__ import annotations

from typing import Final

from farfield.reports._exhibits._exhibit import Figure, figure
from farfield.reports._exhibits._representations import embeddings_by_dimension
from farfield.reports._exhibits._time_courses import time_courses
from farfield.reproductions import Claim
from farfield.reproductions.webb2020 import PAPER

LOSS: Final = 0.2
"""Loss at which a network counts as converged: a tenth of ln 7, the loss of guessing. The
supplement shows curves and names no level."""

QUICK_NETWORKS: Final = 2


def _rows(regime: str, *rows: str) -> list[Claim]:
    """Select rows of Table 1, in one regime."""
    claims = PAPER.tables["table-1"].claims
    return [claim for claim in claims if claim.regime == regime and claim.row in rows]


FIGURE_S1: Final = figure(
    "webb2020/figure-s1",
    "Training loss of models with context or batch normalization",
    _rows("training", "Context norm.", "Batch norm."),
    time_courses(level=LOSS, metric="loss", falling=True),
    says={"*": "“considerably faster” than with layer or no normalization (supplement 3)"},
    quick_networks=QUICK_NETWORKS,
)

FIGURE_S2: Final = figure(
    "webb2020/figure-s2",
    "Training loss of models with layer or no normalization",
    _rows("training", "Layer norm.", "No norm."),
    time_courses(level=LOSS, metric="loss", falling=True),
    says={"*": "slower: “note the difference in scale of the X axes” (supplement 3)"},
    quick_networks=QUICK_NETWORKS,
)

SHARES: Final = {
    f"{row}/share": f"{share} % on average over the networks (supplement 5)"
    for row, share in (("context-norm", 80), ("batch-norm", 62), ("no-norm", 90))
}
TRAINED: Final = {
    "context-norm/*": "“closely tracked a linear function of the underlying values” (supplement 5)",
    "batch-norm/*": "“only weakly matched a linear fit” (supplement 5)",
    "no-norm/*": "“a non-monotonic relationship” (supplement 5)",
}
ELSEWHERE: Final = {
    "context-norm/*": "“a considerable degree of similarity” to the training region (supplement 5)",
    "batch-norm/*": "“a greater degree of variability” between regions (supplement 5)",
    "no-norm/*": "the non-monotonic function of training “completely absent” (supplement 5)",
}


def _embeddings(region: int) -> Figure:
    """Build the figure of the embeddings in one region, counted from 1."""
    number, trained = region + 2, region == 1
    regime = "training" if trained else f"region-{region}"
    return figure(
        f"webb2020/figure-s{number}",
        f"Embeddings against drawn levels, region {region}{' (training)' * trained}",
        _rows(regime, "Context norm.", "Batch norm.", "No norm."),
        embeddings_by_dimension(),
        says=SHARES | (TRAINED if trained else ELSEWHERE),
        quick_networks=QUICK_NETWORKS,
    )


FIGURE_S3: Final = _embeddings(1)
FIGURE_S4: Final = _embeddings(2)
FIGURE_S5: Final = _embeddings(3)
FIGURE_S6: Final = _embeddings(4)
FIGURE_S7: Final = _embeddings(5)
FIGURE_S8: Final = _embeddings(6)

FIGURES: Final = (
    FIGURE_S1,
    FIGURE_S2,
    FIGURE_S3,
    FIGURE_S4,
    FIGURE_S5,
    FIGURE_S6,
    FIGURE_S7,
    FIGURE_S8,
)
"""Figures of the supplement, in order."""
