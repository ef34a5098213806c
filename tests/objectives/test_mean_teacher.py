"""Mean teacher: the loss and the teacher by hand, ramps, bad input."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import pytest
import torch
from torch import nn

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.functional.internal import probabilities
from farfield.models._images._discriminators import spectral_norm
from farfield.objectives import ICT, Bound, MeanTeacher, Update
from farfield.objectives._consistency import distance, ramp_up

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


class Normed(nn.Module):
    """Logits of a layer with spectral normalization, and batch statistics."""

    def __init__(self, norm: Callable[[nn.Linear], nn.Module], seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        layer = nn.Linear(FEATURES, CLASSES, dtype=torch.float64)
        self.batch = nn.BatchNorm1d(FEATURES, dtype=torch.float64)
        self.inner = nn.Sequential(norm(layer))

    def forward(self, items: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return self.inner(self.batch(items)[index[:, 0]])


def sigma_of(tensors: Mapping[str, torch.Tensor]) -> tuple[float, float]:
    """The largest singular value of the weight by its vectors, and the true one."""
    named = {
        name.rpartition(".")[2].split("_")[-1]: tensor.detach() for name, tensor in tensors.items()
    }
    weight = next(t.detach() for n, t in tensors.items() if n.endswith(("original", "orig")))
    by_vectors = named["u"] @ weight @ named["v"]
    return float(by_vectors), float(torch.linalg.svdvals(weight)[0])


NORMS = {
    "parametrization": nn.utils.parametrizations.spectral_norm,
    "hook": nn.utils.spectral_norm,
    "ours": lambda layer: spectral_norm(layer, None),
}


@pytest.mark.parametrize("norm", NORMS.values(), ids=NORMS)
@pytest.mark.parametrize("rule", [MeanTeacher, ICT])
@pytest.mark.parametrize("averages_buffers", [False, True])
def test_the_teacher_has_the_singular_values_of_its_own_weights(
    norm: Callable[[nn.Linear], nn.Module], rule: type, averages_buffers: bool
) -> None:
    made, model = rule(decay=0.95, averages_buffers=averages_buffers), Normed(norm)
    state = made.start(Bound(module=model), {TRAINING: problems(0)}, stream(0))
    (name,) = (n for n, _ in model.named_parameters() if n.endswith(("original", "orig")))
    weight = model.get_parameter(name)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        away = torch.randn_like(weight)
    for step in range(60):
        batches = {TRAINING: problems(step)}
        update = Update(
            network=Bound(module=model),
            batches=batches,
            task_loss=loss,
            draws=made.draw(batches, stream(step)),
            state=state,
            progress=0.5,
        )
        state = made.loss(update)[1]
        with torch.no_grad():
            weight.add_(0.1 * away * math.cos(step / 4))
        state = dict(made.after(state, dict(model.named_parameters()), 0.5))
    found, true = sigma_of(state)
    assert found == pytest.approx(true, rel=2e-3)
    for vector in Bound(module=model).power_vectors():
        assert float(state[vector].norm()) == pytest.approx(1, rel=1e-12)
    own = dict(model.state_dict())
    assert sigma_of(own)[0] == pytest.approx(sigma_of(own)[1], rel=0.05)  # the student moved more
    mean, seen = state["batch.running_mean"], model.batch.running_mean
    assert not torch.equal(mean, seen)


@pytest.mark.parametrize("norm", NORMS.values(), ids=NORMS)
@pytest.mark.parametrize("trained", [True, False])
def test_an_independent_teacher_has_the_vectors_of_its_own_draw(
    norm: Callable[[nn.Linear], nn.Module], trained: bool
) -> None:
    model = Normed(norm)
    model.inner.requires_grad_(trained)
    network = Bound(module=model, build=lambda _: Normed(norm, seed=5))
    first = network.redraw(stream(0))
    expected = Normed(norm, seed=5 if trained else 0).state_dict()
    vectors = network.power_vectors()
    assert len(vectors) == 2
    for name in vectors:
        assert torch.equal(first[name], expected[name])


def test_buffers_with_other_names_are_no_singular_vectors() -> None:
    model = nn.Module()
    for name in ("running_var", "mean", "vu", "uv", "u", "weight_v", "u0", "sv0", "_u"):
        model.register_buffer(name, torch.zeros(2))
    assert Bound(module=model).power_vectors() == ["u", "weight_v", "u0", "_u"]


@pytest.mark.parametrize(
    "options, message",
    [({"weight": -1.0}, "weight"), ({"decay": 1.5}, "decay"), ({"ramp": -0.1}, "ramp")],
)
def test_numbers_out_of_range_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"{message} must be"):
        MeanTeacher(**options)
