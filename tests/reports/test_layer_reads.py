"""The picture of who reads whom: means of the traces of trained networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb

from farfield.analysis.internal import layer_reads_of
from farfield.core import stream
from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import Experiment, ItemNetwork, Recipe, Spec
from farfield.functional.internal import NFMRules
from farfield.models import PreActResNet, PreActResNetNFM
from farfield.records import Store
from farfield.reports import Figure, Quote, illustrate, tabulate
from farfield.reports._exhibits._routing import layer_reads
from farfield.reports.internal import LIGHT
from farfield.reproductions import Claim, Table, Unpublished, VerdictRule
from farfield.tasks import TRAINING
from farfield.training import trained_network
from farfield.training.internal import problems_of_run
from plain import Plain

SEEDS = (0, 1)
TASK = Plain(item_shape=(4, 4), length=1)
RULES = NFMRules(num_heads=2, key_size=2, value_size=2)


def experiment(core: Spec) -> Experiment:
    return Experiment(task=TASK, model=ItemNetwork(core=core), recipe=Recipe(steps=2))


READING = experiment(Spec(PreActResNetNFM, width=2, rules=RULES))
WITHOUT = experiment(Spec(PreActResNet, width=2))


def claim(row: str, what: Experiment) -> Claim:
    return Claim(
        paper="lamb2022",
        table="nfm",
        row=row,
        column="training",
        published=Unpublished(runs=2, selection="last", split="new"),
        experiment=what,
        rule=VerdictRule(),
        metric="accuracy",
        regime=TRAINING,
        quick=1,
        subject="Plain",
    )


def test_attention_is_that_of_the_traces(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    for own in (READING, WITHOUT):
        run([Job(experiment=own, seed=seed) for seed in SEEDS], store, Here())
    table = Table(
        key="lamb2022/nfm",
        title="Reads",
        claims=(claim("Reading", READING), claim("Without", WITHOUT)),
    )
    quote = Quote(of="reading/null", words="so the paper says")
    figure = Figure(table=table, exhibits=(layer_reads(regime=TRAINING),), says=(quote,))
    report = tabulate(table, lambda own: store.records(own.experiment.key))
    (plate,) = illustrate(figure, report, store)
    shares, above, nothing = [], [], []
    for seed in SEEDS:
        network = trained_network(READING, seed, store)
        reads = layer_reads_of(network, problems_of_run(TASK, seed)[TRAINING][:100])
        assert [read.reader for read in reads] == [(2, f"group{n}") for n in (1, 2, 3, 4)]
        means = [read.attention.mean((0, 1, 2, 3)).numpy() for read in reads]
        shares.append(np.array([[*own, *[np.nan] * (9 - len(own))] for own in means]))
        # The first pass has the columns 1 to 4.
        higher = sum(own[2 + place : 5].sum() for place, own in enumerate(means))
        above.append(100 * higher / sum(own[1:].sum() for own in means))
        nothing.append(100 * np.mean([own[0] for own in means]))
    assert [finding.what for finding in plate.findings] == [
        "Reading: of what is read, from layers above in a pass before",
        "Reading: attention to the null element",
    ]
    for finding, values in zip(plate.findings, (above, nothing), strict=True):
        error = np.std(values, ddof=1) / np.sqrt(2)
        assert finding.ours == f"{np.mean(values):.1f} ± {error:.1f} % (2 networks)"
    assert [finding.paper for finding in plate.findings] == ["", "so the paper says"]
    (axes,) = plate.draw(LIGHT).axes
    drawn = axes.images[0].get_array()
    color = 1 - np.array(to_rgb(LIGHT.models[0]))  # on white
    expected = np.nan_to_num(np.mean(shares, 0))[..., None] * color
    np.testing.assert_allclose(1 - drawn, expected, atol=1e-6)
    assert len(axes.texts) == 6 + 7 + 8 + 9


def test_a_network_that_does_not_read_has_no_reads() -> None:
    network = WITHOUT.model.build(TASK, stream(0))
    problems = problems_of_run(TASK, 0)[TRAINING]
    with pytest.raises(ValueError, match="must hold one MultiPass, got 0 in ItemModel"):
        layer_reads_of(network, problems)
    assert torch.is_grad_enabled()
