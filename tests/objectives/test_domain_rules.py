"""Rules over several training domains, and averages of weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import Stream, stream
from farfield.experiments import Experiment, ItemNetwork, Recipe, Spec
from farfield.models import BottleneckMLP
from farfield.objectives import (
    CORAL,
    IRM,
    SWA,
    SWAD,
    CarriedState,
    CropAndFlip,
    EarlyStopping,
    GroupDRO,
    MeanTeacher,
    Objective,
    Supervised,
    VREx,
)
from farfield.tasks import ArrayTask, ProblemTask
from farfield.training.internal import Batches, OneNetwork, Stack
from learners import check_resumed, check_together
from small import SMALL_LSTM, small_experiment


def arrays(count: int, slope: float) -> tuple[np.ndarray, np.ndarray]:
    """Points whose class depends on a line of a slope."""
    x = np.random.default_rng(count).normal(size=(count, 3)).astype(np.float32)
    return x, (x[:, 0] + slope * x[:, 1] > 0).astype(np.int64)


@pytest.fixture(scope="module")
def task() -> ArrayTask:
    sets = {"a": arrays(40, 0.3), "b": arrays(60, 1.0), "c": arrays(50, 2.0), "far": arrays(30, -1)}
    return ArrayTask(sets, training=("a", "b", "c"), distances={"far": 1})


def experiment(task: ProblemTask, rule: Objective, **recipe: int) -> Experiment:
    numbers = {"steps": 6, "batch_size": 8, "evaluations": 3} | recipe
    network = ItemNetwork(core=Spec(BottleneckMLP))
    return Experiment(task=task, model=network, objective=rule, recipe=Recipe(**numbers))


RULES = {
    "group-dro": GroupDRO(step_size=0.5),
    "vrex": VREx(warmup=0.3, restarts=True),
    "irm": IRM(warmup=0.3),
    "coral": CORAL(layer="core.layers.2", means=True),
    "swa": SWA(begin=0.3),
    "fast-swa": SWA(begin=0.3, every=0.3),
    "swad": SWAD(objective=VREx(), converged=1, tolerated=1),
    "early": EarlyStopping(objective=VREx()),
}


@pytest.mark.parametrize("name", RULES)
def test_networks_trained_together_are_networks_alone(task: ArrayTask, name: str) -> None:
    check_together(experiment(task, RULES[name]), steps=4)


@pytest.mark.parametrize("name", ["vrex", "swad", "early"])
def test_a_run_that_was_stopped_goes_on(task: ArrayTask, name: str, tmp_path: Path) -> None:
    made = experiment(task, RULES[name])
    check_resumed(lambda: OneNetwork(made, 0), made, tmp_path / "one", stop=2)
    check_resumed(lambda: Stack(made, (0, 3)), made, tmp_path / "two", stop=4)


def test_batches_have_equally_many_problems_of_each_domain(task: ArrayTask) -> None:
    problems = task.draw(stream(0))["training"]
    batches = Batches(problems, batch_size=9, stream=stream(1), by_domain=True)
    of = problems.latent["domain"]
    assert of.bincount().tolist() == [36, 54, 45]
    rows = [batches.rows(step) for step in range(12)]
    assert all(of[some].tolist() == [0] * 9 + [1] * 9 + [2] * 9 for some in rows)
    first = torch.cat([some[:9] for some in rows[:4]])
    assert sorted(first.tolist()) == list(range(36))  # an epoch of the first domain
    again = Batches(problems, batch_size=9, stream=stream(1), by_domain=True)
    assert again.rows(7).tolist() == rows[7].tolist()


def test_without_a_step_the_losses_of_all_domains_count_alike(task: ArrayTask) -> None:
    losses = [
        OneNetwork(experiment(task, rule), 0).update(0).item()
        for rule in (GroupDRO(step_size=0.0), VREx(warmup_weight=0.0), IRM(warmup_weight=0.0))
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
    assert losses[0] == pytest.approx(losses[2], rel=1e-6)


def test_weights_move_to_the_domain_with_the_largest_loss(task: ArrayTask) -> None:
    learner = OneNetwork(experiment(task, GroupDRO(step_size=5.0)), 0)
    for step in range(6):
        learner.update(step)
    weights = learner.state()["objective.weights"]
    assert weights.sum().item() == pytest.approx(1.0)
    assert weights.max() > 0.4  # of a third


def test_the_optimizer_forgets_at_the_end_of_the_warm_up(task: ArrayTask) -> None:
    counts = []
    for restarts in (False, True):
        rule = VREx(warmup=0.5, restarts=restarts)
        learner = OneNetwork(experiment(task, rule), 0)
        for step in range(6):
            learner.update(step)
        steps = [t for name, t in learner.state().items() if name.endswith("step")]
        counts.append({float(t) for t in steps})
    assert counts == [{6.0}, {3.0}]


# --- Averages -------------------------------------------------------------------------------------


def weights_of(learner: OneNetwork) -> dict[str, Tensor]:
    return {name: p.detach().clone() for name, p in learner.model.named_parameters()}


def test_swa_is_the_mean_of_the_last_weights(task: ArrayTask) -> None:
    learner, seen = OneNetwork(experiment(task, SWA(begin=0.5)), 0), []
    for step in range(6):
        learner.update(step)
        seen.append(weights_of(learner))
        if step == 2:  # before the average begins
            torch.testing.assert_close(learner.weights()[0], seen[-1])
    expected = {name: sum(each[name] for each in seen[3:]) / 3 for name in seen[0]}
    torch.testing.assert_close(learner.weights()[0], expected)
    torch.testing.assert_close(weights_of(learner), seen[-1], rtol=0, atol=0)


def test_swa_averages_weights_that_are_as_far_apart_as_said(task: ArrayTask) -> None:
    rule = SWA(begin=0.3, every=0.3)
    learner, seen = OneNetwork(experiment(task, rule, steps=10), 0), []
    for step in range(10):
        learner.update(step)
        seen.append(weights_of(learner))
    expected = {name: sum(seen[step][name] for step in (3, 5, 8)) / 3 for name in seen[0]}
    torch.testing.assert_close(learner.weights()[0], expected)


def test_swad_is_the_mean_of_the_segments_of_a_valley(
    task: ArrayTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter([3.0, 1.0, 2.0, 9.0])
    monkeypatch.setattr("farfield.training._one_network.loss_on", lambda *_: next(losses))
    rule = SWAD(converged=2, tolerated=1)
    learner, seen = OneNetwork(experiment(task, rule, steps=8, evaluations=4), 0), []
    for step in range(8):
        learner.update(step)
        seen.append(weights_of(learner))
        if step % 2:
            learner.score(step + 1)
    expected = {name: sum(each[name] for each in seen[2:4]) / 2 for name in seen[0]}
    torch.testing.assert_close(learner.weights()[0], expected)  # 2.0 exceeds 1.3 · 1.5


def test_early_stopping_keeps_the_weights_of_the_least_loss(
    task: ArrayTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter([float("nan"), 3.0, 1.0, float("nan"), 1.0])
    monkeypatch.setattr("farfield.training._one_network.loss_on", lambda *_: next(losses))
    rule = EarlyStopping(objective=GroupDRO(step_size=0.5))
    learner, seen = OneNetwork(experiment(task, rule, steps=10, evaluations=5), 0), []
    best = dict(enumerate([0, 1, 1, 3, 3, 5, 5, 5, 5, 5]))
    for step in best:
        learner.update(step)
        seen.append(weights_of(learner))
        if step % 2:
            learner.score(step + 1)
        torch.testing.assert_close(learner.weights()[0], seen[best[step]], rtol=0, atol=0)
    assert not torch.equal(seen[5]["core.output.weight"], seen[-1]["core.output.weight"])
    torch.testing.assert_close(weights_of(learner), seen[-1], rtol=0, atol=0)  # training goes on


@pytest.mark.parametrize("inner", [SWA(), SWAD(), MeanTeacher()], ids=["swa", "swad", "teacher"])
def test_early_stopping_refuses_rules_with_other_weights(task: ArrayTask, inner: Objective) -> None:
    with pytest.raises(ValueError, match="objective must have the weights scored that it trains"):
        OneNetwork(experiment(task, EarlyStopping(objective=inner)), 0)


class Normalized(nn.Module):
    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self.layer, self.norm = nn.Linear(3, 4), nn.BatchNorm1d(4)
        self.output = nn.Linear(4, 2)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(generator=generator)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.output(self.norm(self.layer(items[index[:, 0]])))


class NormalizedNetwork:
    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network."""
        del task
        return Normalized(stream.torch())


def test_statistics_are_those_of_averaged_weights(
    task: ArrayTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ItemNetwork(core=Spec(BottleneckMLP))
    made = replace(experiment(task, SWA(begin=0.5), batch_size=20), model=model)
    monkeypatch.setattr(ItemNetwork, "build", NormalizedNetwork.build)
    learner = OneNetwork(made, 0, dtype=torch.float64)
    for step in range(6):
        learner.update(step)
    running = learner.model.norm.running_mean.clone()
    kept = learner.weights()[0]
    x = task.draw(stream(0))["training"].items.double()
    hidden = x @ kept["layer.weight"].T + kept["layer.bias"]
    torch.testing.assert_close(kept["norm.running_mean"], hidden.mean(0))
    torch.testing.assert_close(kept["norm.running_var"], hidden.var(0))
    assert torch.equal(learner.model.norm.running_mean, running)  # the trained network's own
    assert not torch.allclose(running, kept["norm.running_mean"], rtol=1e-3)
    together = Stack(made, (0, 3), dtype=torch.float64)
    for step in range(6):
        together.update(step)
    torch.testing.assert_close(together.weights()[0], kept)


# --- Refusals -------------------------------------------------------------------------------------


def small(rule: Objective) -> Experiment:
    return replace(small_experiment(steps=4, reasoner=SMALL_LSTM), objective=rule)


@pytest.mark.parametrize("rule", [GroupDRO(), CropAndFlip(objective=VREx())], ids=["", "wrapped"])
def test_a_task_of_one_training_domain_is_refused(rule: Objective) -> None:
    with pytest.raises(ValueError, match="objective must read one training domain"):
        OneNetwork(small(rule), 0)


def test_a_task_without_validation_is_refused() -> None:
    with pytest.raises(ValueError, match=r"validation must name a set .* got 'validation'"):
        OneNetwork(small(SWAD()), 0)


@pytest.mark.parametrize(
    ("rule", "recipe", "message"),
    [
        (GroupDRO(), {"batch_size": 37}, "batch_size must be at most 36, .* domain 0, got 37"),
        (IRM(), {"batch_size": 1}, "slopes must be of two problems or more, got 1"),
        (CORAL(layer="core"), {"batch_size": 1}, r"groups must be two or more.*\[1, 1, 1\]"),
        (CORAL(layer="core.none"), {}, "core.none"),
    ],
)
def test_batches_that_are_too_small_and_layers_that_are_none_are_refused(
    task: ArrayTask, rule: Objective, recipe: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        OneNetwork(experiment(task, rule, **recipe), 0).update(0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: GroupDRO(step_size=-1),
        lambda: VREx(warmup=2.0),
        lambda: IRM(weight=float("nan")),
        lambda: SWA(objective="vrex"),
        lambda: SWA(objective=CarriedState()),
        lambda: SWAD(tolerated=0),
    ],
)
def test_numbers_out_of_range_are_refused(call: Callable[[], Objective]) -> None:
    with pytest.raises(ValueError, match="must "):
        call()


def test_supervised_learning_reads_all_domains_as_one_set(task: ArrayTask) -> None:
    learner = OneNetwork(experiment(task, Supervised()), 0)
    assert len(next(iter(learner.draw(0)))[1].rows["training"]) == 8


def test_a_rule_over_another_rule_passes_on_what_that_rule_asks_of_training() -> None:
    inner = SWAD(objective=VREx(restarts=True))
    for rule in (CropAndFlip(objective=inner), CarriedState(objective=SWAD())):
        assert rule.validates == "validation"
        assert rule.renews_statistics
    crop = CropAndFlip(objective=inner)
    assert (crop.by_domain, crop.restart) == (True, inner.objective.warmup)
    state = {"objective.count": torch.zeros((), dtype=torch.int64), "carried.0": torch.ones(2)}
    after = CarriedState(objective=SWAD()).evaluated(state, loss=1.0)
    assert after["carried.0"] is state["carried.0"]
    assert after["objective.losses"].tolist() == [1.0]


def test_a_carried_state_refuses_several_training_domains() -> None:
    with pytest.raises(ValueError, match="objective must read one training domain for a carried"):
        CarriedState(objective=GroupDRO())
