"""Table 8 of chapter 10 of lamb2022: neural function modules in a Transformer language model.

The text says that there are 15 epochs and no parameters more, and nothing else. Here the network
has four blocks of 200 units; the number of mechanisms is that of the heads of attention and of the
heads that read layers; queries, keys and values of these reads are the states themselves. Windows
are 35 words, in any order and each from a fresh state, embeddings and outputs are dropped at 0.2,
and Adam has a learning rate of 0.0005.

The published perplexities are not those of words: see the deviations.
"""

from __future__ import annotations

from typing import Final

from farfield.experiments import Adam, Experiment, Recipe, SequenceNetwork, Spec
from farfield.nn import CausalTransformer, WordEncoder
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published
from farfield.reproductions._rule import VerdictRule
from farfield.tasks import WordText

TABLE_8: Final[dict[tuple[str, int], str]] = {
    ("No-NFM", 2): "31.12",
    ("NFM", 2): "30.78",
    ("No-NFM", 4): "31.50",
    ("NFM", 4): "31.05",
}
"""Perplexity on WikiText-2, by model and number of mechanisms. No spread is published."""
EPOCHS: Final = 15
EPOCH: Final = 2_984
"""Updates of an epoch: 59,676 windows of 35 words in batches of 20."""
QUICK: Final = 1 / 100
"""Share of the steps in the quick budget: a seventh of an epoch."""


def experiment(model: str, mechanisms: int) -> Experiment:
    """A cell of the table.

    Args:
        model: `"NFM"` or `"No-NFM"`.
        mechanisms: Number of heads.
    """
    core = Spec(
        CausalTransformer,
        hidden_size=200,
        num_layers=4,
        num_heads=mechanisms,
        layer_heads=mechanisms if model == "NFM" else None,
    )
    return Experiment(
        task=WordText(data_set="wikitext2", steps=35),
        model=SequenceNetwork(core=core, encoder=Spec(WordEncoder), dropout=0.2),
        recipe=Recipe(
            steps=EPOCHS * EPOCH,
            learning_rate=5e-4,
            batch_size=20,
            clip_norm=0.25,
            optimizer=Adam(),
        ),
    )


def _claim(model: str, mechanisms: int, number: str) -> Claim:
    return Claim(
        paper="lamb2022",
        table="nfm-table-8",
        row=model,
        column=f"{mechanisms} mechanisms",
        published=Published(
            mean=float(number),
            spread=None,
            spread_kind="standard deviation",
            runs=1,
            decimals=(len(number.partition(".")[2]), 0),
            unit="fraction",
            selection="weights after 15 epochs; published: not said",
            split="test text of WikiText-2; published: not said",
            runs_assumed=True,
        ),
        experiment=experiment(model, mechanisms),
        rule=VerdictRule(),
        metric="perplexity",
        regime="test",
        quick=QUICK,
        subject="WikiText-2",
        group=f"mechanisms-{mechanisms}",
        data="WikiText-2 as words, in FARFIELD_DATA",
    )


NFM_TABLE_8: Final = Table(
    key="lamb2022/nfm-table-8",
    title="Neural function modules in a language model of WikiText-2",
    claims=tuple(_claim(*cell, number) for cell, number in TABLE_8.items()),
)
