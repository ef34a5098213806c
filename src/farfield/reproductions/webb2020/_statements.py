"""Statements of webb2020 on its tables, with the cells that they are about."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._comparisons import Cells, Ratio
from farfield.reproductions._statements import Statement
from farfield.reproductions.webb2020._objects import CONDITIONS, TABLE_4
from farfield.reproductions.webb2020._tables import TABLE_1
from farfield.reproductions.webb2020._visual_analogies import TABLE_3

BEYOND_TRAINING: Final = "region-[2-6]"
"""Regions away from that of training."""
MARGIN: Final = 0.1
"""A tenth of an error more or less would not matter."""
TENFOLD_MARGIN: Final = 1.0
CONTEXTS: Final = tuple(
    row for row, condition in CONDITIONS.items() if condition.printed == "Context norm."
)
"""The readings of context normalization in Table 4."""


def _error(row: str) -> Cells:
    """Mean test error of a row of Table 1."""
    return Cells(claims=TABLE_1.select(f"{row}/{BEYOND_TRAINING}").claims, error=True)


def _analogies(row: str) -> Cells:
    return Cells(claims=TABLE_3.select(f"{row}/*").claims, error=True)


def _squares(row: str) -> Cells:
    claims = tuple(claim for claim in TABLE_4.claims if claim.row == row)
    return Cells(claims=claims, error=True)


def _over_context(
    row: str, name: str, about: str, quote: str, limits: tuple[float, float], margin: float
) -> list[Statement]:
    """A row's error over that of context normalization, by each reading of the latter."""
    return [
        Statement(
            paper="webb2020",
            name=f"{name}/{context.partition('(')[2].rstrip(')').replace(' ', '-')}",
            about=f"{about}, over {context}",
            quote=quote,
            where="section 5.3",
            comparison=Ratio(first=_squares(row), second=_squares(context)),
            low=limits[0],
            high=limits[1],
            margin=margin,
        )
        for context in CONTEXTS
    ]


STATEMENTS: Final = (
    Statement(
        paper="webb2020",
        name="error-below-sub-batch",
        about="Test error of context over sub-batch normalization, regions 2 to 6",
        quote="an overall decrease in test error of 42% relative to the next best method",
        where="section 5.1.1",
        comparison=Ratio(first=_error("context-norm"), second=_error("sub-batch-norm")),
        low=0.575,
        high=0.585,
        margin=MARGIN,
        note="means over the regions away from training; 42 % is what Table 1 gives for them",
    ),
    Statement(
        paper="webb2020",
        name="error-below-hill",
        about="Test error of context normalization over the baseline, visual analogies",
        quote="a 32% decrease in test error relative to the results of Hill et al. (2019)",
        where="section 5.2",
        comparison=Ratio(
            first=_analogies("context-norm-source-target"), second=_analogies("baseline*")
        ),
        low=0.675,
        high=0.685,
        margin=MARGIN,
    ),
    *_over_context(
        "Batch norm. (train stats)",
        "training-statistics",
        "Test error of batch normalization with statistics of training",
        "test error is nearly ten times as high as with context normalization",
        limits=(9.0, 10.0),
        margin=TENFOLD_MARGIN,
    ),
    *_over_context(
        "Batch norm.",
        "test-statistics",
        "Test error of batch normalization with statistics of the test",
        "the test error for batch normalization is 70% higher than context normalization",
        limits=(1.695, 1.705),
        margin=MARGIN,
    ),
    Statement(
        paper="webb2020",
        name="autoencoder-converged",
        about="Iterations until the autoencoder of dynamic objects has converged",
        quote="convergence was achieved after approximately 25,000 iterations",
        where="section 4.3",
        missing="what counts as convergence is not said",
    ),
    Statement(
        paper="webb2020",
        name="larger-lstms",
        about="Larger LSTMs on dynamic objects",
        quote="using larger LSTMs did not make a difference in this task",
        where="section 4.3",
        missing="how much larger is not said",
    ),
)
"""Numbers of the text."""
