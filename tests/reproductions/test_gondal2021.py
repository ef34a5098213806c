"""gondal2021 as claims: the published numbers, and the experiments behind them."""

from __future__ import annotations

import dataclasses
import functools

import pytest
import torch
from torch import Tensor

from farfield.core import stream
from farfield.experiments import Experiment, Spec
from farfield.nn import ContextNorm, FigureEncoder, PanelEncoder
from farfield.reproductions import TABLES, Budget, Claim, Unpublished
from farfield.tasks import RAVEN, FuzzyBoolean
from farfield.tasks._matrices._matrix_holdouts import HOLDOUTS
from farfield.training._networks import first_network
from farfield.training.internal import OneNetwork

TABLE_1 = {claim.row: claim for claim in TABLES["gondal2021/table-1"].claims}


def test_functions_are_scored_at_new_points() -> None:
    assert {claim.regime for claim in TABLE_1.values()} == {"new-points"}  # nothing chosen on it
    assert {claim.metric for claim in TABLE_1.values()} == {FuzzyBoolean.metric}


def with_few_points(experiment: Experiment) -> Experiment:
    """The experiment with few of the points that its functions are known at."""
    replace = dataclasses.replace
    task = replace(experiment.task, training_points=100, validation_points=100)
    return replace(experiment, task=task, recipe=replace(experiment.recipe, batch_size=8))


def functions_of(experiment: Experiment) -> list[int]:
    """Numbers of the functions that are learned."""
    sets = with_few_points(experiment).task.draw(stream(0, "problems"))
    return sets["corners"].latent["function"][0].tolist()


def test_functions_are_learned_for_the_epochs_of_print_and_never_those_adapted_to() -> None:
    first, *others = (claim.experiment for claim in TABLE_1.values())
    recipe, task = first.recipe, first.task
    assert recipe.steps * recipe.batch_size == 20 * task.training_points
    assert task.training_points + task.validation_points == 163_840
    learned = (
        with_few_points(first)
        .task.draw(stream(0, "problems"))["corners"]
        .latent["function"][0]
        .tolist()
    )
    assert len(set(learned)) == 20
    for other in others:
        assert other.starts_from.experiment == first
        assert other.recipe.steps * recipe.batch_size == 3 * task.training_points
        new = (
            with_few_points(other)
            .task.draw(stream(0, "problems"))["corners"]
            .latent["function"][0]
            .tolist()
        )
        assert len({*learned, *new}) == 30


def test_type_inference_takes_smaller_steps_than_the_tokens_beside_it() -> None:
    tokens = TABLE_1["CLS tokens"].experiment.recipe
    both = TABLE_1["CLS tokens + type inference"].experiment
    names = ["reader.tokens", "reader.core.scripts.0.typing.out.weight"]
    (players,) = both.turns
    last = [[player for player in players if player.trains(name)][-1] for name in names]
    rates = [player.learning_rate or both.recipe.learning_rate for player in last]
    assert rates[0] == pytest.approx(tokens.learning_rate, rel=1e-12)
    assert rates[1] == pytest.approx(rates[0] / 10, rel=1e-12)


@functools.cache
def adapted_from(experiment: Experiment) -> dict[str, Tensor]:
    """Weights of a network that has learned nothing."""
    return OneNetwork(experiment, 0).weights()[0]


@pytest.mark.parametrize(
    ("row", "moving"),
    [
        ("CLS tokens", ("tokens",)),
        ("CLS tokens + type inference", ("tokens", "typing", "signatures")),
        (
            "CLS tokens + type inference + the rest",
            ("tokens", "typing", "signatures", "codes", "lines", "heads", "encoder"),
        ),
    ],
)
def test_adaptation_moves_what_the_row_names(row: str, moving: tuple[str, ...]) -> None:
    experiment = with_few_points(TABLE_1[row].at(Budget.QUICK))
    before = adapted_from(experiment.starts_from.experiment)
    learner = OneNetwork(experiment, 0, start=before)
    start = {name: tensor.clone() for name, tensor in learner.weights()[0].items()}
    for name, tensor in start.items():
        assert name == "reader.tokens" or torch.equal(tensor, before[name]), name
    assert start["reader.tokens"].shape == (10, before["reader.tokens"].shape[1])
    learner.update(0)
    learner.update(1)
    moved = {n for n, tensor in learner.weights()[0].items() if not torch.equal(tensor, start[n])}
    for part in ("tokens", "typing", "signatures", "codes", "lines", "heads", "encoder"):
        named = {name for name in start if part in name.split(".")}
        assert bool(named & moved) == (part in moving), part


def cells(key: str) -> dict[str, Claim]:
    return dict(TABLES[f"gondal2021/{key}"].cells)


def test_table_2_needs_data() -> None:
    assert all(claim.data for claim in cells("table-2").values())


def test_matrices_of_our_own_never_stand_beside_published_numbers() -> None:
    own = cells("table-2-generated")
    assert all(isinstance(claim.published, Unpublished) for claim in own.values())
    assert {claim.experiment.task.name for claim in own.values()} == {"progressive-matrices"}
    recipes = [claim.experiment.recipe for claim in own.values()]
    assert len({(recipe.steps, recipe.batch_size) for recipe in recipes}) == 1  # the same budget
    goals = [claim for claim in cells("beyond").values() if claim.group == "extrapolation"]
    assert {claim.regime for claim in goals} == {"upper-half"}


def test_matrices_by_rule_are_balanced_and_rivals_read_the_same_panels() -> None:
    table = {name: c for name, c in cells("matrices-by-rule").items() if not c.is_by_hand}
    first, *others = [claim for claim in table.values() if claim.column == "test"]
    assert {claim.experiment.recipe for claim in table.values()} == {first.experiment.recipe}
    encoders = {claim.row: claim.experiment.model.encoder for claim in (first, *others)}
    learned = encoders.pop("SRAN on convolutions + TCN")
    assert learned == Spec(PanelEncoder)
    assert set(encoders.values()) == {Spec(FigureEncoder)}
    sizes = FigureEncoder(first.experiment.task.item_shape).set_sizes
    assert dict(first.experiment.model.scorer.options)["set_sizes"] == sizes
    for claim in table.values():
        (tested,) = (c for c in (first, *others) if c.row == claim.row)
        assert claim.experiment.model == tested.experiment.model
        assert isinstance(claim.experiment.task, RAVEN) or claim.experiment.task.balanced


def test_only_transformers_have_the_larger_step_size() -> None:
    rates = {c.row: c.experiment.recipe.learning_rate for c in cells("table-2-generated").values()}
    larger = {row for row, rate in rates.items() if rate == max(rates.values())}
    assert larger == {"ViT", "ViT + TCN"}
    assert len(set(rates.values())) == 2


def test_published_matrices_are_interpreted_as_often_as_in_print() -> None:
    row = cells("table-2")["neutral/ni/validation"]
    assert row.experiment.model.core.build({}, stream(0, "core")).num_iterations == 8


@pytest.mark.parametrize("row", ["ni+tcn", "vit+tcn"])
def test_small_networks_have_places_as_loud_as_the_panels_they_are_added_to(row: str) -> None:
    experiment = cells("table-2-generated")[f"extrapolation/{row}/upper-half"].experiment
    few = dataclasses.replace(experiment.task, training_problems=64, test_problems=1)
    network = experiment.model.build(few, stream(0, "weights"))
    problems = few.draw(stream(0))["training"]
    scorer, read = network.scorer, []
    scorer.embedding.register_forward_hook(lambda _, __, panels: read.append(panels))
    with torch.no_grad():
        index = problems.index
        network(problems.items.index_select(0, torch.arange(int(index.max()) + 1)), index)
    panels = torch.cat([each.flatten() for each in read]).std().item()
    assert scorer.places.std().item() == pytest.approx(panels, rel=0.2)


def test_only_small_networks_have_quiet_places_and_a_narrow_kernel() -> None:
    for key, std in (("table-2-generated", 0.35), ("table-2", 1.0)):
        networks = [
            c.experiment.model
            for c in cells(key).values()
            if c.row in {"NI", "NI + TCN", "ViT", "ViT + TCN"}
        ]
        assert {network.places_std for network in networks} == {std}
    small = cells("table-2-generated")["neutral/ni+tcn/validation"].experiment.model.core
    matching = small.build({}, stream(0, "core")).syntax.matching
    assert (matching.bandwidth, matching.truncation) == (0.3, 2.0)


def test_matrices_have_two_triples_where_pairs_are_withheld_and_one_elsewhere() -> None:
    own = {claim.group: claim.experiment.task for claim in cells("table-2-generated").values()}
    assert set(own) == set(HOLDOUTS)
    for holdout, task in own.items():
        assert task.holdout == holdout
        few = dataclasses.replace(task, training_problems=20, test_problems=20)
        numbers = {
            number
            for problems in few.draw(stream(0)).values()
            for number in problems.latent["num_triples"].tolist()
        }
        assert numbers == ({2} if holdout.endswith("pairs") else {1})


def test_every_matrix_of_our_own_is_trained_on_once() -> None:
    for claim in cells("table-2-generated").values():
        recipe = claim.experiment.recipe
        assert claim.experiment.task.training_problems == recipe.steps * recipe.batch_size


@pytest.mark.parametrize("row", ["NI", "ViT", "WReN", "SRAN", "CNN + LSTM"])
def test_normalized_rows_are_the_others_with_a_context(row: str) -> None:
    of_row = {claim.row: claim.experiment for claim in cells("table-2-generated").values()}
    plain, normalized = of_row[row], of_row[f"{row} + TCN"]
    assert plain.model.context is None
    assert normalized.model.context.cls is ContextNorm
    without = dataclasses.replace(normalized.model, context=None)
    assert dataclasses.replace(normalized, model=without) == plain


@pytest.mark.parametrize("row", ["NI", "ViT", "WReN", "SRAN", "CNN + LSTM"])
@pytest.mark.parametrize("normalized", ["", " + TCN"])
def test_every_row_answers_a_matrix(row: str, normalized: str) -> None:
    claims = cells("table-2-generated").values()
    claim = next(claim for claim in claims if claim.row == row + normalized)
    task = dataclasses.replace(claim.experiment.task, training_problems=3, test_problems=3)
    problems = task.draw(stream(0, "problems"))["training"]
    network = claim.experiment.model.build(task, stream(0, "weights"))
    assert network(problems.table(), problems.index).shape == (3, 8)


def test_networks_for_digits_have_the_size_of_the_paper_and_are_trained_alike() -> None:
    claims = cells("digits")
    ni, vit = (claims[f"{row}/validation"].experiment for row in ("ni", "vit"))
    assert (ni.task, ni.recipe, ni.objective) == (vit.task, vit.recipe, vit.objective)
    sizes = [
        sum(p.numel() for p in one.model.build(one.task, stream(0, "weights")).parameters())
        for one in (ni, vit)
    ]
    assert 0.60e6 < sizes[0] < 0.65e6
    assert 1.75e6 < sizes[1] < 1.85e6
    small = [claims[f"{row}-small/validation"].experiment for row in ("ni", "vit")]
    assert len({(one.task, one.recipe, one.objective) for one in small}) == 1


@pytest.mark.parametrize("size", ["", "-small"])
def test_interpreters_with_places_differ_from_those_without_in_nothing_else(size: str) -> None:
    plain, placed, rival = (
        cells("digits")[f"{row}{size}/validation"].experiment for row in ("ni", "ni-places", "vit")
    )
    assert (placed.task, placed.recipe) == (plain.task, plain.recipe)
    assert placed.model.core == plain.model.core
    assert placed.model.encoder == rival.model.encoder
    difference = {
        name
        for experiment, other in ((placed, plain), (plain, placed))
        for name in dict(experiment.model.encoder.options).items()
        - dict(other.model.encoder.options).items()
    }
    assert difference == {("positions", True)}
    assert dataclasses.replace(placed.model, encoder=plain.model.encoder) == plain.model


def taken(claim: Claim) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
    """The state of the network that is adapted, that it started from, and as it was drawn."""
    experiment = claim.experiment
    before = experiment.starts_from.experiment
    start = before.model.build(before.task, stream(1, "weights")).state_dict()
    drawn = experiment.model.build(experiment.task, stream(0, "weights")).state_dict()
    return first_network(experiment, 0, start).state_dict(), start, drawn


def test_what_adapts_keeps_all_but_token_and_head() -> None:
    for row in ("ni-small", "vit-small"):
        state, start, drawn = taken(cells("k-mnist")[f"samples-150/{row}/k-mnist"])
        for name, tensor in state.items():
            new = name.startswith(("reader.tokens", "reader.heads"))
            assert torch.equal(tensor, (drawn if new else start)[name]), name


def test_destroyed_functions_are_redraw_and_nothing_else() -> None:
    cell = cells("k-mnist")["samples-500/ni-functions-destroyed-small/k-mnist"]
    state, start, drawn = taken(cell)
    for name, tensor in state.items():
        new = name.endswith(("signatures", "codes", "tokens")) or "heads" in name
        assert torch.equal(tensor, (drawn if new else start)[name]), name


@pytest.mark.parametrize("functions", [5, 8])
def test_functions_are_added_behind_those_of_training_and_trained_alone(functions: int) -> None:
    cell = cells("k-mnist")[f"functions-{functions}/ni-functions-only-small/k-mnist"]
    state, start, drawn = taken(cell)
    for name in ("signatures", "codes"):
        own = next(key for key in state if key.endswith(name))
        assert len(state[own]) == functions
        assert torch.equal(state[own][:5], start[own])
        assert torch.equal(state[own][5:], drawn[own][5:])
    experiment = cell.experiment
    network = experiment.model.build(experiment.task, stream(0, "weights"))
    ((player,),) = experiment.turns
    learned = [name for name, _ in network.named_parameters() if player.trains(name)]
    ends = {name.rpartition(".")[2] for name in learned}
    assert ends == {"signatures", "codes", "tokens", "weight", "bias"}
    assert not any("lines" in name for name in learned)
