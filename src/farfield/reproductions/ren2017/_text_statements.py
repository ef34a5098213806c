"""Statements of ren2017 on its experiments with Penn Treebank."""

from __future__ import annotations

import math
from typing import Final

from farfield.reproductions._comparisons import Cells, Gap, Ratio, Wins
from farfield.reproductions._statements import Statement
from farfield.reproductions.ren2017._print_text import CORES
from farfield.reproductions.ren2017._text import PTB_TABLE_7

COMPARABLE: Final = 0.05
"""How far apart two perplexities are that are read as comparable, in parts of one."""


def _of(rows: tuple[str, ...], *cores: str) -> Cells:
    """The cells of some rows and cores."""
    return Cells(claims=tuple(c for c in PTB_TABLE_7.claims if c.row in rows and c.column in cores))


def _losses(pairs: tuple[tuple[str, str], ...]) -> Wins:
    """In how many cores the first row of each pair has the larger perplexity."""
    return Wins(
        contests=tuple(
            (_of((worse,), core), _of((better,), core)) for worse, better in pairs for core in CORES
        )
    )


TEXT_STATEMENTS: Final = (
    Statement(
        paper="ren2017",
        name="ptb-vanilla-rnn",
        about="perplexity of the ReLU RNN with DN* over that without a normalizer",
        quote="we can improve the vanilla RNN perplexity by 20%",
        where="section 4.2",
        comparison=Ratio(first=_of(("DN*",), "ReLU RNN"), second=_of(("Baseline",), "ReLU RNN")),
        low=0.795,
        high=0.805,
        margin=0.02,
        note="the text does not say of which networks; by the table it is 17 % for the tanh RNN "
        "with DN*, and 13 % and 21 % with LN*",
    ),
    Statement(
        paper="ren2017",
        name="ptb-vanilla-rnn-as-lstm",
        about="perplexity of the ReLU RNN with DN* over that of the LSTM without a normalizer",
        quote="comparable to an LSTM baseline with the same hidden dimension",
        where="section 4.2",
        comparison=Ratio(first=_of(("DN*",), "ReLU RNN"), second=_of(("Baseline",), "LSTM")),
        low=1 - COMPARABLE,
        high=1 + COMPARABLE,
        note="comparable is read as less than 5 % apart; dimensions are the same in the released "
        "code, and 400 and 200 in the text",
    ),
    Statement(
        paper="ren2017",
        name="ptb-without-smoothing",
        about="perplexities, by core: BN and LN above the baseline",
        quote="BN and LN alone do not improve the final performance relative to the baseline",
        where="section 4.2",
        comparison=_losses((("BN", "Baseline"), ("LN", "Baseline"))),
        low=5,
        high=6,
        note="in the table BN improves the tanh RNN",
    ),
    Statement(
        paper="ren2017",
        name="ptb-batch-outperformed",
        about="perplexities, by core: BN* above LN* and DN*",
        quote="BN* on RNN is outperformed by both LN* and DN",
        where="section 4.2",
        comparison=_losses((("BN*", "LN*"), ("BN*", "DN*"))),
        low=5,
        high=6,
        note="in the table the tanh RNN with LN* is 0.7 above that with BN*",
    ),
    Statement(
        paper="ren2017",
        name="ptb-smoothing-above-l1",
        about="perplexity with the L1 penalty alone less that with smoothing alone, means over BN "
        "and LN and all cores",
        quote="has a much more dramatic effect on the performance than the L1 regularizer",
        where="section 4.4",
        comparison=Gap(
            first=_of(("BN +L1", "LN +L1"), *CORES), second=_of(("BN-s", "LN-s"), *CORES)
        ),
        low=0.0,
        high=math.inf,
        note="the table has 18.5",
    ),
)
