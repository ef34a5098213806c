"""Mean teacher: the loss and the teacher by hand, ramps, bad input."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from farfield.core import TRAINING, Problems, stream
from farfield.objectives import Bound, MeanTeacher, Update
from farfield.objectives._consistency import distance, probabilities, ramp_up

BATCH, FEATURES, CLASSES = 5, 3, 4


class Linear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(FEATURES, CLASSES, dtype=torch.float64)

    def forward(self, items: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return self.layer(items[index[:, 0]])


def problems(seed: int) -> Problems:
    source = torch.Generator().manual_seed(seed)
    items = torch.randn(BATCH, FEATURES, dtype=torch.float64, generator=source)
    return Problems(
        items=items, index=torch.arange(BATCH)[:, None], target=torch.arange(BATCH) % CLASSES
    )


def loss(outputs: torch.Tensor, batch: Problems) -> torch.Tensor:
    return nn.functional.cross_entropy(outputs, batch.target, reduction="none")


def test_the_loss_is_the_tasks_and_the_weighted_distance_of_probabilities() -> None:
    model, seen, other = Linear(), problems(0), problems(1)
    rule = MeanTeacher(weight=3.0, ramp=0.5, consistency="unlabelled")
    assert rule.sets == (TRAINING, "unlabelled")
    teacher = {name: 0.5 * p.detach() for name, p in model.named_parameters()}
    update = Update(
        network=Bound(module=model),
        batches={TRAINING: seen, "unlabelled": other},
        task_loss=loss,
        state=teacher,
        progress=0.25,
    )
    found, state = rule.loss(update)
    answers = model.layer(other.items).detach()
    logits = [answers, 0.5 * answers]
    probabilities = [torch.exp(one) / torch.exp(one).sum(-1, keepdim=True) for one in logits]
    distance = sum(
        float(probabilities[0][row, k] - probabilities[1][row, k]) ** 2
        for row in range(BATCH)
        for k in range(CLASSES)
    ) / (BATCH * CLASSES)
    weight = 3.0 * math.exp(-5 * 0.25)
    plain = loss(model.layer(seen.items), seen).mean().item()
    assert found.item() == pytest.approx(plain + weight * distance, rel=1e-12)
    assert {name: id(tensor) for name, tensor in state.items()} == {
        name: id(tensor) for name, tensor in teacher.items()
    }


def test_no_gradient_reaches_the_teacher() -> None:
    model = Linear()
    teacher = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
    update = Update(
        network=Bound(module=model),
        batches={TRAINING: problems(0)},
        task_loss=loss,
        state=teacher,
        progress=1.0,
    )
    MeanTeacher().loss(update)[0].backward()
    assert all(tensor.grad is None for tensor in teacher.values())
    assert model.layer.weight.grad is not None


def test_the_teacher_is_a_running_mean() -> None:
    rule, model = MeanTeacher(decay=0.75), Linear()
    state = rule.start(Bound(module=model), {TRAINING: problems(0)}, stream(0))
    assert all(torch.equal(state[name], p) for name, p in model.named_parameters())
    moved = {name: p.detach() + 1.0 for name, p in model.named_parameters()}
    after = rule.after(state, moved, 0.5)
    for name, p in model.named_parameters():
        torch.testing.assert_close(after[name], p.detach() + 0.25)


def test_a_teacher_that_is_warmed_up_is_the_mean_of_all_weights() -> None:
    rule, model = MeanTeacher(decay=0.8, warmup=True), Linear()
    sets = {TRAINING: problems(0)}
    state = dict(rule.start(Bound(module=model), sets, stream(0)))
    seen = [{name: p.detach().clone() for name, p in model.named_parameters()}]
    for step in range(6):
        before = state["layer.weight"]
        seen.append({name: p + 0.1 * (step + 1) ** 2 for name, p in seen[0].items()})
        state = dict(rule.after(state, seen[-1], 0.0))
        if step < 4:  # a mean of n + 1 has a decay of n / (n + 1), 0.8 at n = 4
            expected = torch.stack([one["layer.weight"] for one in seen]).mean(0)
        else:
            expected = 0.8 * before + 0.2 * seen[-1]["layer.weight"]
        torch.testing.assert_close(state["layer.weight"], expected, rtol=1e-12, atol=0)


def test_released_decays(golden) -> None:
    arrays = golden("ict_schedules")
    rule = MeanTeacher(decay=0.999, warmup=True)
    sets = {TRAINING: problems(0)}
    count = {**rule.start(Bound(module=Linear()), sets, stream(0))}
    one, nothing = torch.ones((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for decay in arrays["out.ema_decay"]:
        count = dict(rule.after({**count, "layer.bias": one}, {"layer.bias": nothing}, 0.0))
        assert count["layer.bias"].item() == pytest.approx(float(decay), rel=1e-12)


def test_released_weights(golden) -> None:
    arrays = golden("ict_schedules")
    steps = float(arrays["in.steps_per_epoch"])
    for epoch, expected in zip(arrays["in.epoch"], arrays["out.consistency_weight"], strict=True):
        for step, weight in zip(arrays["in.step_in_epoch"], expected, strict=True):
            progress = (float(epoch) + float(step) / steps) / 400
            assert 100 * ramp_up(progress, 0.25) == pytest.approx(float(weight), rel=1e-12)


def test_yes_and_no_of_one_logit_count_as_of_two() -> None:
    logits = torch.tensor([[0.3], [-2.0]], dtype=torch.float64)
    two = torch.cat([logits, torch.zeros_like(logits)], dim=1)
    found = distance(logits, probabilities(logits + 1))
    others = torch.cat([logits + 1, torch.zeros_like(logits)], dim=1)
    torch.testing.assert_close(found, distance(two, probabilities(others)))
    assert found > 0.01


def test_answers_that_are_no_classes_and_empty_sets_are_refused() -> None:
    network, batch = Bound(module=Linear()), problems(0)
    wrong = Problems(items=batch.items, index=batch.index, target=batch.items)
    with pytest.raises(ValueError, match=r"targets must be classes, .* got torch.float64"):
        MeanTeacher().start(network, {TRAINING: wrong}, stream(0))
    rule = MeanTeacher(consistency="unlabelled")
    with pytest.raises(ValueError, match="a set with problems, got 'unlabelled', empty"):
        rule.start(network, {TRAINING: batch, "unlabelled": batch[:0]}, stream(0))


def test_the_weight_grows_over_the_ramp() -> None:
    assert ramp_up(0.0, 0.4) == pytest.approx(math.exp(-5))
    assert ramp_up(0.2, 0.4) == pytest.approx(math.exp(-1.25))
    assert [ramp_up(0.4, 0.4), ramp_up(0.9, 0.4), ramp_up(0.0, 0.0)] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "options, message",
    [({"weight": -1.0}, "weight"), ({"decay": 1.5}, "decay"), ({"ramp": -0.1}, "ramp")],
)
def test_numbers_out_of_range_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"{message} must be"):
        MeanTeacher(**options)
