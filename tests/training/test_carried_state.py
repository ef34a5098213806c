"""State carried from window to window, in training and in evaluation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.experiments import SGD, Experiment, Recipe, SequenceNetwork, Spec
from farfield.models import _sequence_model as sequence_model
from farfield.nn import LayerNorm, NormalizedLSTM, NormalizedRNN, WordEncoder
from farfield.objectives import (
    Bound,
    CarriedState,
    CenteredL1,
    MeanTeacher,
    Objective,
    Update,
)
from farfield.tasks import WordText
from farfield.training import evaluate
from farfield.training._batches import Batches
from farfield.training.internal import OneNetwork, Stack
from learners import check_resumed, check_together
from oracles import texts
from small import SMALL_LSTM, small_experiment

STEPS = 3
LANES = 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    numbers = stream(0, "text").numpy()
    for name, lines in (("train", 8), ("valid", 2), ("test", 3)):
        rows = [" ".join("abcdef"[k] for k in numbers.integers(6, size=5)) for _ in range(lines)]
        (tmp_path / f"{name}.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def experiment_of(folder: Path, rule: Objective | None = None, *, tied: bool = False) -> Experiment:
    normalizer = Spec(LayerNorm, sigma=1.0)
    core = Spec(NormalizedLSTM, hidden_size=6, num_layers=2, normalizer=normalizer)
    words = Spec(WordEncoder, out_features=6)
    return Experiment(
        task=WordText(folder=str(folder), steps=STEPS, sum_over_steps=True),
        model=SequenceNetwork(core=core, encoder=words, core_bound=0.5, tied=tied),
        objective=rule or CarriedState(objective=CenteredL1(weight=0.1)),
        recipe=Recipe(steps=5, learning_rate=0.5, batch_size=LANES, optimizer=SGD()),
    )


def training_set(experiment: Experiment) -> Problems:
    return experiment.task.draw(stream(0))[TRAINING]


def test_a_lane_goes_through_its_part_of_the_text_in_order(folder: Path) -> None:
    problems = training_set(experiment_of(folder))
    batches = Batches(problems, batch_size=LANES, stream=stream(0), in_lanes=True)
    epoch = batches.steps_per_epoch
    assert epoch == len(problems) // LANES
    rows = np.stack([batches.rows(step).numpy() for step in range(2 * epoch)])
    for lane in range(LANES):
        part = list(range(lane * epoch, (lane + 1) * epoch))
        assert rows[:, lane].tolist() == part + part
    shown = [batches(step).table()[batches(step).index][0] for step in range(3)]
    whole = problems.items[problems.index].reshape(-1)
    assert torch.cat(shown).flatten().tolist() == whole[: 3 * STEPS].tolist()


def test_fewer_problems_than_lanes_are_refused(folder: Path) -> None:
    problems = training_set(experiment_of(folder))[:3]
    with pytest.raises(ValueError, match=r"batch_size must be at most 3, .* got 4"):
        Batches(problems, batch_size=LANES, stream=stream(0), in_lanes=True)


def unlearning(experiment: Experiment) -> Experiment:
    """The same without a change of the weights, to compare losses over windows."""
    recipe = dataclasses.replace(experiment.recipe, learning_rate=1e-30)
    return dataclasses.replace(experiment, recipe=recipe)


def test_losses_in_training_are_those_of_each_lane_as_one_sequence(folder: Path) -> None:
    experiment = unlearning(experiment_of(folder, CarriedState()))
    learner = OneNetwork(experiment, 0, dtype=torch.float64)
    problems = training_set(experiment)
    epoch = len(problems) // LANES
    found = [float(learner.update(step)) for step in range(2 * epoch)]
    with torch.no_grad():
        lanes = problems.index[: LANES * epoch].reshape(LANES, -1)
        logits = learner.model(problems.items, lanes).reshape(LANES, epoch, STEPS, -1)
    target = problems.target[: LANES * epoch].reshape(LANES, epoch, STEPS)
    for step in range(epoch):
        each = texts.losses(logits[:, step].numpy(), target[:, step].numpy())
        np.testing.assert_allclose(found[step], sum(each) / LANES, rtol=1e-9)
    np.testing.assert_allclose(found[epoch:], found[:epoch], rtol=1e-9)  # begun afresh


def steps_from(
    experiment: Experiment, learner: OneNetwork, source: list[int]
) -> tuple[float, float]:
    """Loss of the second batch, each row from the state of a row of the first; −1 for zeros."""
    problems = training_set(experiment)
    rows = torch.arange(LANES) * (len(problems) // LANES)
    with torch.no_grad():
        first, state = learner.model.continued(problems.items, problems.index[rows], None)
        begun = [torch.cat([part, torch.zeros_like(part[:, :1])], 1)[:, source] for part in state]
        second, _ = learner.model.continued(problems.items, problems.index[rows + 1], (*begun,))
    losses = [
        float(experiment.task.loss(outputs, problems[rows + step]).mean())
        for step, outputs in enumerate((first, second))
    ]
    return losses[0], losses[1]


def test_with_state_passing_each_row_goes_on_from_another_one(folder: Path) -> None:
    rule = CarriedState(from_other_rows=True)
    learner = OneNetwork(unlearning(experiment_of(folder, rule)), 0, dtype=torch.float64)
    found = [float(learner.update(step)) for step in range(2)]
    own, *others = (
        steps_from(experiment_of(folder, rule), learner, [(row + by) % LANES for row in range(4)])
        for by in range(LANES)
    )
    assert found[0] == pytest.approx(own[0], rel=1e-9)
    assert found[1] in [pytest.approx(one[1], rel=1e-9) for one in others]
    assert found[1] != pytest.approx(own[1], rel=1e-9)


def test_without_a_probability_each_batch_begins_afresh(folder: Path) -> None:
    experiment = unlearning(experiment_of(folder, CarriedState(probability=0.0)))
    learner = OneNetwork(experiment, 0, dtype=torch.float64)
    found = [float(learner.update(step)) for step in range(2)]
    assert found == pytest.approx(steps_from(experiment, learner, [-1] * LANES), rel=1e-9)


def test_rows_go_on_as_often_as_the_probability_says(folder: Path) -> None:
    batches = {TRAINING: training_set(experiment_of(folder))[:LANES]}
    rule = CarriedState(probability=0.3, from_other_rows=True)
    drawn = [rule.draw(batches, stream(0, step))["carried.source"] for step in range(2000)]
    source = torch.stack(drawn)
    passed = source >= 0
    assert abs(passed.double().mean() - 0.3) < 4 * (0.3 * 0.7 / source.numel()) ** 0.5
    distance = (source - torch.arange(LANES))[passed] % LANES
    counts = torch.bincount(distance, minlength=LANES)
    assert counts[0] == 0
    assert (counts[1:] / counts.sum() - 1 / 3).abs().max() < 0.05
    assert CarriedState().draw(batches, stream(0)) == {}


def test_one_row_has_no_other(folder: Path) -> None:
    batches = {TRAINING: training_set(experiment_of(folder))[:1]}
    with pytest.raises(ValueError, match=r"batch_size must be at least 2 for .*, got 1"):
        CarriedState(from_other_rows=True).draw(batches, stream(0))


def test_a_state_without_an_axis_of_rows_is_refused() -> None:
    update = Update(
        network=Bound(module=torch.nn.Linear(1, 1)),
        batches={},
        task_loss=lambda outputs, _: outputs,
        rows={TRAINING: torch.tensor([1])},
        draws={"carried.source": torch.zeros(4, dtype=torch.int64)},
        state={"carried.0": torch.zeros(2, 24)},
    )
    with pytest.raises(ValueError, match=r"state must be \(layer, batch, …\) with batch 4 .*24\)"):
        CarriedState(probability=0.5).loss(update)


def test_no_gradient_passes_from_a_window_into_the_one_before(folder: Path) -> None:
    learner = OneNetwork(experiment_of(folder), 0)
    for step in range(2):
        learner.update(step)
    state = learner.state()
    assert {name for name in state if "carried" in name} == {
        "objective.carried.0",
        "objective.carried.1",
    }
    assert state["objective.carried.0"].shape == (2, LANES, 6)
    assert not any(tensor.requires_grad for tensor in state.values())


@pytest.mark.parametrize("nonlinearity", [None, torch.nn.functional.relu])
def test_a_set_is_scored_as_one_text_in_one_pass(
    folder: Path, nonlinearity: Callable[[torch.Tensor], torch.Tensor] | None
) -> None:
    experiment = experiment_of(folder)
    if nonlinearity is not None:
        core = Spec(NormalizedRNN, hidden_size=6, num_layers=2, nonlinearity=nonlinearity)
        model = dataclasses.replace(experiment.model, core=core)
        experiment = dataclasses.replace(experiment, model=model, objective=CarriedState())
    learner = OneNetwork(experiment, 0)
    learner.update(0)
    scores = {(s.regime, s.metric): s.value for s in learner.score(1)[0]}
    for regime, problems in experiment.task.draw(stream(0)).items():
        learner.model.eval()
        with torch.no_grad():
            logits = learner.model(problems.items, problems.index.reshape(1, -1))
        expected = texts.perplexity(logits.double().numpy(), problems.target.numpy())
        np.testing.assert_allclose(scores[regime, "perplexity"], expected, rtol=1e-6)
    fresh = learner.model(problems.items, problems.index).detach()
    assert abs(texts.perplexity(fresh.numpy(), problems.target.numpy()) / expected - 1) > 2e-6


def test_outputs_in_pieces_are_exactly_those_of_the_whole_text(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Products of as many rows add up in the same order.
    monkeypatch.setattr(sequence_model, "PLACES", 4 * STEPS)
    experiment = experiment_of(folder)
    model = OneNetwork(experiment, 0).model.eval()
    problems, state, pieces = training_set(experiment), None, []
    with torch.no_grad():
        whole = model(problems.items, problems.index.reshape(1, -1))
        for rows in torch.split(problems.index, 8):
            outputs, state = model.continued(problems.items, rows.reshape(1, -1), state)
            pieces.append(outputs)
    assert torch.equal(torch.cat(pieces, dim=1), whole)


def test_scoring_leaves_the_state_of_training_as_it_is(folder: Path) -> None:
    learner = OneNetwork(experiment_of(folder), 0)
    learner.update(0)
    before = {name: tensor.clone() for name, tensor in learner.state().items()}
    learner.score(1)
    learner.training_metrics(1)
    assert all(torch.equal(tensor, before[name]) for name, tensor in learner.state().items())


RULES = {
    "centered-l1": CarriedState(objective=CenteredL1(weight=0.1)),
    "mean-teacher": CarriedState(objective=MeanTeacher(decay=0.9)),
    "passed": CarriedState(objective=CenteredL1(weight=0.1), probability=0.5, from_other_rows=True),
}


@pytest.mark.parametrize(
    "name, tied", [("centered-l1", True), ("mean-teacher", False), ("passed", False)]
)
def test_networks_trained_together_are_networks_alone(folder: Path, name: str, tied: bool) -> None:
    check_together(experiment_of(folder, RULES[name], tied=tied), steps=3)


@pytest.mark.parametrize("name", ["mean-teacher", "passed"])
def test_stopped_and_started_again_ends_with_the_same_bytes(
    tmp_path: Path, folder: Path, name: str
) -> None:
    experiment = experiment_of(folder, RULES[name])
    check_resumed(lambda: Stack(experiment, (1, 2)), experiment, tmp_path / "c", stop=2)


def test_problems_in_any_order_are_refused() -> None:
    plain = small_experiment(steps=4, reasoner=SMALL_LSTM)
    experiment = dataclasses.replace(plain, objective=CarriedState())
    with pytest.raises(ValueError, match=r"objective must read problems in any order, as those of"):
        OneNetwork(experiment, 0)


def test_evaluate_reads_a_text_in_one_pass(folder: Path) -> None:
    experiment = experiment_of(folder)
    model = OneNetwork(experiment, 0).model
    profile = evaluate(model, experiment.task)
    assert list(profile) == ["training", "validation", "test"]
