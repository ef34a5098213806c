"""Language models as claims: every printed perplexity, and the experiments behind them."""

from __future__ import annotations

import torch

from each import each
from farfield.core import stream
from farfield.experiments import Experiment
from farfield.functional.internal import relu
from farfield.nn import DivisiveNorm1d, ImageBatchNorm, LayerNorm, PerProjection
from farfield.nn.internal import IdentityNorm
from farfield.objectives import CenteredL1, Supervised
from farfield.reproductions import TABLES
from farfield.reproductions._grid import Cell
from farfield.reproductions.lamb2022 import _modules as nfm
from farfield.reproductions.ren2017 import PAPER
from farfield.reproductions.ren2017 import _text as ptb

_, TABLE_4 = PAPER.numbers("ptb-table-4.tsv")
_, TABLE_7 = PAPER.numbers("ptb-table-7.tsv")


def test_rows_of_both_tables_are_one_experiment() -> None:
    first, second = (TABLES[f"ren2017/ptb-table-{n}"].cells for n in (4, 7))
    assert all(claim.experiment == second[name].experiment for name, claim in first.items())
    assert all(str(claim.published) == str(second[name].published) for name, claim in first.items())


def options(experiment: Experiment) -> dict[str, object]:
    return dict(experiment.model.core.options)


def made(row: str, core: str, *, released: bool = False) -> object:
    normalizer = options(ptb.experiment(row, core, released=released)).get("normalizer")
    return normalizer if normalizer is None else normalizer(400)


@each("core", [*ptb.CORES])
@each("row", [*TABLE_7])
def test_a_row_has_its_normalizer_smoothing_and_penalty(row: str, core: str) -> None:
    found, rule = made(row, core), ptb.experiment(row, core).objective.objective
    kinds = {"BN": ImageBatchNorm, "LN": LayerNorm, "DN": DivisiveNorm1d}
    assert isinstance(found, kinds.get(row[:2], IdentityNorm if "L1" in row else type(None)))
    if row[:2] in kinds:
        assert found.sigma == (1.0 if row in ("BN-s", "BN*", "LN-s", "LN*", "DN", "DN*") else 0.01)
        assert (found.weight is not None) == (row.startswith("BN") or row in ("LN", "LN +L1"))
    has_penalty = row.endswith(("L1", "*"))
    assert isinstance(rule, CenteredL1 if has_penalty else Supervised)


def test_sizes_windows_and_rates_are_those_of_the_text() -> None:
    lstm, plain = ptb.experiment("DN*", "lstm"), ptb.experiment("DN", "tanh-rnn")
    assert (options(lstm)["hidden_size"], options(plain)["hidden_size"]) == (200, 400)
    assert (made("DN", "lstm").window, made("DN", "relu-rnn").window) == (61, 121)
    assert options(ptb.experiment("LN", "relu-rnn"))["nonlinearity"] is relu
    rates = {
        (row, core): ptb.experiment(row, core).recipe.learning_rate
        for row in TABLE_7
        for core in ptb.CORES
    }
    slow = {cell for cell, rate in rates.items() if rate == 0.1}
    assert set(rates.values()) == {0.1, 1.0}
    assert slow == {
        (row, core)
        for row, core in rates
        if row.startswith("Baseline") or (row.startswith("BN") and core == "relu-rnn")
    }


def test_the_rate_is_halved_in_every_epoch_from_the_fifth() -> None:
    recipe = ptb.experiment("DN", "lstm").recipe
    middle = [epoch * ptb.EPOCH + ptb.EPOCH // 2 for epoch in range(13)]
    assert [recipe.rate(step) for step in middle] == [1.0] * 4 + [0.5**k for k in range(1, 10)]
    assert (recipe.steps, recipe.batch_size, recipe.clip_norm) == (30_212, 20, 5.0)


def test_classical_normalization_of_lstms_is_on_projections() -> None:
    places = {row: options(ptb.experiment(row, "lstm")).get("placement") for row in TABLE_7}
    apart = {row for row, placement in places.items() if placement == PerProjection()}
    assert apart == {"BN", "BN +L1", "BN-s", "BN*", "LN", "LN +L1"}
    tanh = options(ptb.experiment("LN", "tanh-rnn"))
    assert "placement" not in tanh


def test_the_released_code_differs_where_it_is_said_to() -> None:
    assert options(ptb.experiment("DN", "tanh-rnn", released=True))["hidden_size"] == 200
    assert made("DN", "lstm", released=True).window == 30
    assert ptb.experiment("Baseline", "lstm", released=True).recipe.learning_rate == 1.0
    assert options(ptb.experiment("LN", "lstm", released=True))["carry_normalized"] is True
    slipped = ptb.experiment("LN", "relu-rnn", released=True).objective.objective
    assert slipped == CenteredL1(weight=0.01)


def test_the_goal_is_for_the_published_lstm_without_more_parameters() -> None:
    def parameters(one: Experiment) -> int:
        network = one.model.build(one.task, stream(0))
        return sum(parameter.numel() for parameter in network.parameters())

    cells = TABLES["ren2017/ptb-beyond"].cells
    goals = {name: claim for name, claim in cells.items() if claim.published.goal}
    ((name, claim),) = goals.items()
    assert (claim.regime, claim.published.goal) == ("cache-test", 95.0)
    published = ptb.experiment("LN*", "lstm")
    assert claim.experiment.recipe == published.recipe
    assert claim.experiment.objective == published.objective
    assert options(claim.experiment) == {**options(published), "dropout": 0.2}
    assert parameters(claim.experiment) == parameters(published) - 10_000 * 200
    assert {c.experiment.recipe for c in cells.values()} == {published.recipe}


def test_every_other_row_has_one_part_less_or_another() -> None:
    rows = {claim.row: claim for claim in TABLES["ren2017/ptb-beyond"].claims}
    whole, *others = rows.values()
    changes = {}
    for claim in others:
        one, all_of_it = claim.experiment, whole.experiment
        changes[claim.row] = {
            "cache": claim.regime.startswith("cache") != whole.regime.startswith("cache"),
            "dropout": one.model.dropout == options(one).get("dropout", 0.0) == 0.0,
            "tied": one.model.tied != all_of_it.model.tied,
            "normalizer": options(one).get("normalizer") != options(all_of_it)["normalizer"],
        }
    assert changes == {
        row: {part: part == changed for part in ("cache", "dropout", "tied", "normalizer")}
        for row, changed in {
            "without the cache": "cache",
            "without dropout": "dropout",
            "without tied weights": "tied",
            "without a normalizer": "normalizer",
            "DN* for LN*": "normalizer",
        }.items()
    }


def test_reads_of_layers_add_no_parameter() -> None:
    cores = [
        nfm.language_model(Cell(model, "test", "mechanisms-2")).model.core.build(
            {"input_size": 6, "batch_first": True}, stream(0)
        )
        for model in ("No-NFM", "NFM")
    ]
    plain, reading = (dict(core.named_parameters()) for core in cores)
    assert {n: p.shape for n, p in plain.items()} == {n: p.shape for n, p in reading.items()}
    x = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
    assert not torch.allclose(cores[0](x)[0], cores[1](x)[0])
