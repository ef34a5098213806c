"""Penn Treebank with the LSTM of ren2017 and no more parameters: our own goal.

The paper's best LSTM has a perplexity of 101.7. The goal is one below 95 by the same cells, steps
and learning rates, with what adds no parameter: dropout, an output layer with the weights of the
encoder, and a cache of recent words. Each row takes one part away; the part to leave out, if any,
is to be chosen by the validation text. A text of another kind, in the same words, is never learned.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.analysis import NeuralCache
from farfield.experiments import Experiment, SequenceNetwork, Spec
from farfield.nn import WordEncoder
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.ren2017 import _text as ptb
from farfield.tasks import VALIDATION, WordText

GOAL: Final = 95.0
DROPOUT: Final = 0.2
OTHER: Final = "wikitext2"
REGIMES: Final = (VALIDATION, "test", OTHER)
QUICK: Final = 1 / 13
"""An epoch: about 12 minutes of one core."""
EVERYTHING: Final = "LN*, dropout, tied weights, cache"


def experiment(row: str = "LN*", *, dropout: float = DROPOUT, tied: bool = True) -> Experiment:
    """The LSTM of a row of Table 4 with further parts, by the recipe of LN*.

    Args:
        row: The row.
        dropout: Probability of dropout in front of, between and behind the layers.
        tied: Whether the output layer has the weights of the encoder.
    """
    core = ptb.core_of(row, "LSTM", released=False)
    return dataclasses.replace(
        ptb.experiment(row, "LSTM"),
        task=WordText(sum_over_steps=True, other=OTHER),
        model=SequenceNetwork(
            core=Spec(core.cls, core.options, dropout=dropout),
            encoder=Spec(WordEncoder),
            dropout=dropout,
            core_bound=ptb.BOUND,
            tied=tied,
        ),
        recipe=ptb.experiment("LN*", "LSTM").recipe,
        perturbations=tuple(NeuralCache(of=regime) for regime in REGIMES),
    )


ROWS: Final[dict[str, tuple[Experiment, str]]] = {
    EVERYTHING: (experiment(), "cache-"),
    "without the cache": (experiment(), ""),
    "without dropout": (experiment(dropout=0.0), "cache-"),
    "without tied weights": (experiment(tied=False), "cache-"),
    "without a normalizer": (experiment("Baseline"), "cache-"),
    "DN* for LN*": (experiment("DN*"), "cache-"),
}
"""By row the experiment, and what the names of its regimes begin with."""


def _claim(row: str, regime: str) -> Claim:
    """A cell; the goal is that of the first row on the test text."""
    trained, beginning = ROWS[row]
    return Claim(
        paper="ren2017",
        table="ptb-beyond",
        row=row,
        column=regime,
        published=Unpublished(
            runs=2,
            selection="weights of the last epoch",
            split=f"{regime} text, in one pass",
            unit="fraction",
            goal=GOAL if (row, regime) == (EVERYTHING, "test") else None,
        ),
        experiment=trained,
        rule=VerdictRule(),
        metric="perplexity",
        regime=beginning + regime,
        quick=QUICK,
        subject="Penn Treebank",
        data="Penn Treebank and WikiText-2 as words, in FARFIELD_DATA",
    )


PTB_BEYOND: Final = Table(
    key="ren2017/ptb-beyond",
    title="Goal: the LSTM of 200 units below a perplexity of 95 on Penn Treebank",
    tuned="nothing was tuned; the validation text decides which part to leave out, if any",
    claims=tuple(_claim(row, regime) for row in ROWS for regime in REGIMES),
)
