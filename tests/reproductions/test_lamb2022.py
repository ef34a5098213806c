"""Chapter 8 of lamb2022 as claims: the published numbers, and the experiments behind them."""

from __future__ import annotations

import re

import pytest

from farfield.core import stream
from farfield.models import ResizedSequence
from farfield.models.internal import RollOut, SequenceModel
from farfield.nn import Communication, HoldingRNN, RIMs, Wiring
from farfield.reports import FIGURES
from farfield.reproductions import TABLES
from farfield.tasks import Adding, Copying, SequentialMNIST

KEYS = (
    "table-1-copying",
    "table-1-digits",
    "copying",
    "dispute",
    "ablations",
    "ablations-digits",
    "adding",
    "bouncing-balls",
    "beyond",
)


def test_losses_are_over_the_symbols_in_training_and_test() -> None:
    tasks = {claim.experiment.task for claim in cells("table-1-copying")}
    assert tasks == {Copying(recalled_only=True)}
    (task,) = tasks
    assert task.no_memory_loss("dormant-200") == pytest.approx(2.0794, abs=1e-4)


def test_recall_and_loss_are_of_the_same_networks() -> None:
    of = {claim.row: claim.experiment.key for claim in cells("table-1-copying")}
    for claim in cells("copying"):
        assert of.get(claim.row, claim.experiment.key) == claim.experiment.key


def test_mechanisms_are_as_many_as_the_row_says() -> None:
    for claim in cells("table-1-copying"):
        if claim.row.startswith("RIMs"):
            core = claim.experiment.model.build(claim.experiment.task, stream(0, "weights")).core
            assert isinstance(core, RIMs)
            told = f"RIMs ({core.num_mechanisms}, {core.num_active}, {core.hidden_size})"
            assert told == claim.row


WIRINGS = {
    "RIMs (6, 4)": Wiring(),
    "RIMs, all active": Wiring(),
    "RIMs, no input attention": Wiring(input_attention=None),
    "RIMs, no communication": Wiring(communication=None),
    "RIMs, sparse communication": Wiring(communication=Communication(top_k=2)),
    "RIMs, as released": Wiring.released(),
    "RIMs (6, 4, 600), script": Wiring.released(),
    "RIMs (6, 4, 600), script, second user": Wiring.released(),
    "RIMs (5, 3, 510), answer": Wiring.released(),
}
"""What a step of each row is made of; the text's for rows that are not named."""
ACTIVE = {
    "RIMs, one active": 1,
    "RIMs, five active": 5,
    "RIMs, all active": 6,
    "RIMs, no input attention": 6,
}
"""How many of six are active in a row; four in those whose name does not say it."""


@pytest.mark.parametrize("key", [key for key in KEYS if key not in {"adding", "beyond"}])
def test_mechanisms_are_wired_as_the_row_says(key: str) -> None:
    for claim in cells(key):
        if claim.row.startswith("RIMs"):
            core = claim.experiment.model.build(claim.experiment.task, stream(0, "weights")).core
            assert isinstance(core, RIMs)
            silent = Wiring(communication=None)
            text = silent if claim.row.endswith(", no communication") else Wiring()
            assert core.wiring == WIRINGS.get(claim.row, text)
            named = re.search(r"\((\d+), (\d+)", claim.row)
            active = int(named[2]) if named else ACTIVE.get(claim.row, 4)
            assert (core.num_mechanisms, core.num_active) == (int(named[1]) if named else 6, active)


def test_networks_of_the_dispute_are_set_up_as_the_released_scripts_are() -> None:
    rates = set()
    for claim in cells("dispute"):
        experiment = claim.experiment
        assert experiment.model.dropout == 0.5
        assert (experiment.recipe.batch_size, experiment.recipe.clip_norm) == (64, 1.0)
        rates.add((claim.group, claim.row, experiment.recipe.learning_rate))
        network = experiment.model.build(experiment.task, stream(0, "weights"))
        assert network.encoder.out_features == (300 if "300" in claim.row else 600)
        if claim.group == "digits":
            assert experiment.recipe.steps * 64 == 20 * experiment.task.training_images
    assert rates == {
        ("digits", "RIMs (6, 4, 600), script", 7e-4),
        ("digits", "RIMs (6, 4, 600), script, second user", 7e-4),
        ("digits", "RIMs (5, 3, 510), answer", 1e-3),
        ("digits", "LSTM (600), script", 7e-4),
        ("copying", "RIMs (6, 4, 600), script", 1e-3),
        ("copying", "LSTM (300), script", 1e-3),
        ("copying", "LSTM (600), script", 1e-3),
    }


def test_losses_of_the_dispute_are_over_all_places() -> None:
    task = next(claim.experiment.task for claim in cells("dispute") if claim.group == "copying")
    assert task.no_memory_loss("training") == pytest.approx(0.2971, abs=1e-4)
    assert task.no_memory_loss("dormant-200") == pytest.approx(0.0945, abs=1e-4)


def test_who_reads_at_the_side_of_training_is_told_apart() -> None:
    for claim in cells("beyond"):
        if claim.group == "digits" and not claim.is_by_hand:
            model = claim.experiment.model.build(SequentialMNIST(), stream(0, "weights"))
            assert isinstance(
                model, ResizedSequence if claim.row.endswith("read at 14") else SequenceModel
            )


def test_what_beats_the_paper_never_sees_a_test_in_training() -> None:
    for claim in cells("beyond"):
        assert claim.experiment.task.length in (70, 196)
    copying = next(claim for claim in cells("beyond") if claim.group == "copying")
    assert copying.experiment.model.core.cls is HoldingRNN


def test_new_sequences_are_as_many_as_the_updates_take() -> None:
    (claim,) = (
        claim
        for claim in cells("beyond")
        if claim.row.endswith("new sequences") and claim.regime == "dormant-10000"
    )
    recipe = claim.experiment.recipe
    assert claim.experiment.task.counts["training"] == recipe.steps * recipe.batch_size


def test_rows_with_a_least_update_have_one() -> None:
    for claim in cells("beyond"):
        if claim.group == "copying" and claim.row.startswith("Holding RNN"):
            min_update = dict(claim.experiment.model.core.options).get("min_update", 0.0)
            assert (min_update > 0) == ("least move" in claim.row)


def test_adding_is_an_error() -> None:
    assert {claim.metric for claim in cells("adding")} == {Adding.metric}
    assert {claim.published.unit for claim in cells("adding")} == {"fraction"}


def test_figure_2_looks_at_the_dormant_places_of_a_sequence_as_long_as_in_training() -> None:
    figure = FIGURES["lamb2022/figure-2"]
    (analysis,) = figure.exhibits
    assert analysis.name == "activation_over_time"
    problems = Copying().draw(stream(0, "problems"))[analysis.options["regime"]]
    shown = problems.index[0]
    assert (shown[slice(*analysis.options["reading"])] > 0).all()
    assert (shown[slice(*analysis.options["dormant"])] == 0).all()
    assert shown[analysis.options["dormant"][1]] == 9
    assert all(claim.row.startswith("RIMs") for claim in figure.table.claims)


def test_balls_are_rolled_out_from_as_many_frames_as_in_print() -> None:
    for claim in cells("bouncing-balls"):
        task = claim.experiment.task
        assert (task.num_frames, task.given, claim.metric) == (51, 15, "cross-entropy")
        model = claim.experiment.model.build(task, stream(0, "weights"))
        assert isinstance(model, RollOut)
        assert model.given == 15
        assert claim.published.goal is None  # curves are printed, and no number
        assert task.balls == ((6, 8) if claim.group == "6-8-balls" else (4, 4))


def test_figure_3_has_the_four_plots_of_bouncing_balls() -> None:
    figure = FIGURES["lamb2022/figure-3"]
    assert [claim.cell for claim in figure.table.claims] == [
        f"{group}/{row}/{regime}"
        for group, regime in (
            ("4-balls", "balls-4"),
            ("4-balls", "balls-6-8"),
            ("6-8-balls", "balls-4"),
            ("4-balls", "curtain"),
        )
        for row in ("rims-6-4-240", "lstm-256", "lstm-512")
    ]
    (analysis,) = figure.exhibits
    assert analysis.name == "roll_outs"
    assert min(analysis.options["shown"]) == 15  # the last frame given, then its own
    assert max(analysis.options["shown"]) == 51


def cells(key: str) -> list:
    return list(TABLES[f"lamb2022/{key}"].claims)
