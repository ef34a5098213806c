"""Learning rules as functions: by loops, as the objectives compute them, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core.internal import TRAINING
from farfield.functional import (
    consistency,
    ict_loss,
    label_smoothing,
    mean_teacher,
    mixup,
    vat_loss,
)
from farfield.functional._learning._mixtures import draw_mixture
from farfield.objectives import (
    ICT,
    VAT,
    Bound,
    LabelSmoothing,
    MeanTeacher,
    Mixup,
    Objective,
    PiModel,
    Supervised,
    Update,
)
from made import generator, gradcheck
from oracles import learning_rules as oracle
from small import ThreeLayers, classified, cross_entropy, parameters_of


class Reads(ThreeLayers):
    """The network of the oracle, of whole items `(batch, time, feature)`."""

    def forward(self, items: Tensor, index: Tensor | None = None) -> Tensor:
        if index is None:
            index = torch.arange(items.shape[0] * items.shape[1]).view(items.shape[:2])
            items = items.flatten(0, 1)
        return super().forward(items, index)


BATCHES = {TRAINING: classified(1), "unlabelled": classified(2)}
X, TARGET = BATCHES[TRAINING].sequences(), BATCHES[TRAINING].target
U = BATCHES["unlabelled"].sequences()
MODEL, TEACHER = Reads(0), Reads(1)


def objective_loss(rule: Objective, model: nn.Module, **others: Any) -> float:
    network = Bound(module=model)
    update = Update(network=network, batches=BATCHES, task_loss=cross_entropy, **others)
    return rule.loss(update)[0].item()


def of_unlabelled(rule: Objective, model: nn.Module, **others: Any) -> float:
    """The part of an objective's loss that reads no labels."""
    return objective_loss(rule, model, **others) - objective_loss(Supervised(), model)


def mixture(x: Tensor, seed: int, alpha: float = 1.0) -> tuple[Tensor, Tensor, list[float]]:
    weight, partner = draw_mixture(x, alpha, generator(seed))
    return weight, partner, [weight.item()] * len(x)


@pytest.mark.parametrize("seed", range(3))
def test_mixup_is_the_loss_with_both_targets(seed: int) -> None:
    model = Reads()
    weight, partner, weights = mixture(X, seed, 0.7)
    found = mixup(model, X, TARGET, alpha=0.7, generator=generator(seed)).item()
    logits = oracle.outputs(X.numpy(), parameters_of(model), "input", weights, partner.tolist())
    expected = oracle.mixup_loss(logits, TARGET.tolist(), weights, partner.tolist())
    assert found == pytest.approx(expected, rel=1e-12)
    draws = {"weight": weight, "partner": partner, "layer": torch.tensor(0)}
    assert found == pytest.approx(objective_loss(Mixup(), model, draws=draws), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_ict_is_the_distance_from_mixed_answers_of_the_teacher(seed: int) -> None:
    model, teacher = Reads(0), Reads(1)
    weight, partner, weights = mixture(U, seed)
    found = ict_loss(model, teacher, U, generator=generator(seed)).item()
    own = parameters_of(model)
    logits = oracle.outputs(U.numpy(), own, "input", weights, partner.tolist())
    taught = oracle.outputs(U.numpy(), parameters_of(teacher))
    target = oracle.mixed_answers(taught, weights, partner.tolist(), of_logits=False)
    assert found == pytest.approx(oracle.distance(logits, target), rel=1e-12)
    rule = ICT(weight=1.0, ramp=0.0, supervised_mixup=False, consistency="unlabelled")
    drawn = {"weight": weight, "partner": partner, "layer": torch.tensor(0)}
    draws = {f"{of}.{name}": t for of in ("supervised", "consistency") for name, t in drawn.items()}
    state = {name: p.detach() for name, p in teacher.named_parameters()}
    expected = of_unlabelled(rule, model, draws=draws, state=state)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("iterations", [1, 2])
def test_vat_is_the_divergence_where_a_change_matters_most(iterations: int) -> None:
    model, own = Reads(), parameters_of(Reads())
    numbers = {"radius": 0.6, "step": 0.02, "iterations": iterations}
    found = vat_loss(model, U, **numbers, generator=generator(3)).item()
    direction = torch.randn(U.shape, dtype=U.dtype, generator=generator(3))
    shift = oracle.adversary(U.numpy(), own, direction.numpy(), **numbers)
    pairs = zip(oracle.outputs(U.numpy(), own), oracle.outputs(U.numpy() + shift, own), strict=True)
    expected = np.mean([oracle.divergence(*pair) for pair in pairs])
    assert found == pytest.approx(expected, rel=1e-5)  # central differences
    rule = VAT(**numbers, consistency="unlabelled")
    expected = of_unlabelled(rule, model, draws={"direction": direction})
    assert found == pytest.approx(expected, rel=1e-9)


def test_vat_trains_the_answer_to_the_changed_items_alone() -> None:
    """The gradient is that of the divergence from a constant, at a constant change."""
    model = Reads()
    vat_loss(model, U, radius=0.6, generator=generator(3)).backward()
    found = [p.grad.clone() for p in model.parameters()]
    direction = torch.randn(U.shape, dtype=U.dtype, generator=generator(3))
    model.zero_grad()
    rule = VAT(radius=0.6, consistency="unlabelled")
    update = Update(
        network=Bound(module=model),
        batches=BATCHES,
        task_loss=lambda outputs, problems: 0 * outputs.sum(-1),
        draws={"direction": direction},
    )
    rule.loss(update)[0].backward()
    torch.testing.assert_close(found, [p.grad for p in model.parameters()], rtol=1e-9, atol=1e-15)


def test_vat_keeps_statistics_of_batch_normalization() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).double()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    vat_loss(model, U[:, 0], radius=1.0).backward()
    torch.testing.assert_close(dict(model.state_dict()), before, rtol=0, atol=0)
    assert all(p.grad is not None for p in model.parameters())


def test_consistency_is_the_squared_distance_of_probabilities() -> None:
    model, teacher = Reads(0), Reads(1)
    first, second = model(U), teacher(U).detach()
    answers = [oracle.probabilities(row) for row in second.tolist()]
    found = consistency(first, second).item()
    assert found == pytest.approx(oracle.distance(first.tolist(), answers), rel=1e-12)
    rule = MeanTeacher(weight=1.0, ramp=0.0, consistency="unlabelled")
    state = {name: p.detach() for name, p in teacher.named_parameters()}
    expected = of_unlabelled(rule, model, state=state)
    assert found == pytest.approx(expected, rel=1e-9)


def test_consistency_of_two_noises_is_the_pi_model() -> None:
    model, rule = Reads(), PiModel(weight=1.0, ramp=0.0, noise=0.5, consistency="unlabelled")
    noise = {
        n: torch.randn(U.shape, dtype=U.dtype, generator=generator(5 + k))
        for k, n in enumerate(("first", "second"))
    }
    found = consistency(*(model(U + 0.5 * each) for each in noise.values())).item()
    assert found == pytest.approx(of_unlabelled(rule, model, draws=noise), rel=1e-9)


def test_consistency_trains_both_predictions() -> None:
    first, second = (torch.randn(3, 4, dtype=torch.float64, generator=generator(n)) for n in (0, 1))
    gradcheck(consistency, (first.requires_grad_(), second.requires_grad_()))
    one = consistency(torch.tensor([[0.0]]), torch.tensor([[20.0]])).item()
    assert one == pytest.approx(0.25, abs=1e-6)  # one logit is that of yes


def test_a_teacher_is_the_running_mean() -> None:
    student, teacher = Reads(0), Reads(1)
    old, new = teacher.state_dict(), student.state_dict()
    found = mean_teacher(old, new, decay=0.9)
    for name, tensor in found.items():
        expected = [
            0.9 * a + (1 - 0.9) * b
            for a, b in zip(old[name].flatten().tolist(), new[name].flatten().tolist(), strict=True)
        ]
        assert tensor.flatten().tolist() == pytest.approx(expected, rel=1e-12)
    after = MeanTeacher(decay=0.9).after(old, new, 0.5)
    torch.testing.assert_close(found, dict(after), rtol=0, atol=0)
    teacher.load_state_dict(found)


def test_a_teacher_counts_as_its_student_and_shares_no_memory() -> None:
    student, teacher = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
    student(torch.randn(8, 2, generator=generator()))
    found = mean_teacher(dict(teacher.named_buffers()), dict(student.named_buffers()), decay=0.25)
    assert found["num_batches_tracked"].item() == 1
    expected = 0.75 * student.running_mean
    torch.testing.assert_close(found["running_mean"], expected, rtol=1e-6, atol=1e-7)
    student(torch.randn(8, 2, generator=generator()))
    assert found["num_batches_tracked"].item() == 1
    weights = mean_teacher(dict(teacher.named_parameters()), dict(student.named_parameters()))
    assert not any(tensor.requires_grad for tensor in weights.values())


def test_smoothed_labels_are_a_little_of_every_class() -> None:
    model = Reads()
    logits, total = model(X), 0.0
    for row, answer in zip(logits.tolist(), TARGET.tolist(), strict=True):
        for k in range(4):
            label = 0.3 / 4 + (0.7 if k == answer else 0.0)
            total += label * oracle.cross_entropy(row, k)
    found = label_smoothing(logits, TARGET, smoothing=0.3)
    assert found.item() == pytest.approx(total / 5, rel=1e-12)
    of_objective = objective_loss(LabelSmoothing(smoothing=0.3), model)
    assert found.item() == pytest.approx(of_objective, rel=1e-12)
    torchs = nn.functional.cross_entropy(logits, TARGET, label_smoothing=0.3)
    torch.testing.assert_close(found, torchs, rtol=1e-12, atol=0)


def test_one_logit_has_two_smoothed_classes() -> None:
    logits = torch.tensor([[0.4], [-1.5]], dtype=torch.float64)
    found = label_smoothing(logits, torch.tensor([1, 0]), smoothing=0.2, reduction="sum")
    total = 0.0
    for logit, yes in ((0.4, 0.9), (-1.5, 0.1)):
        p = 1 / (1 + np.exp(-logit))
        total -= yes * np.log(p) + (1 - yes) * np.log(1 - p)
    assert found.item() == pytest.approx(total, rel=1e-12)


def test_another_loss_is_mixed_with_its_targets() -> None:
    """Squared errors of a linear function: those of mixed targets, up to the targets' spread."""
    target = torch.randn(5, 4, dtype=torch.float64, generator=generator(1))
    weight, partner, _ = mixture(X, 2)
    found = mixup(Reads(), X, target, loss=nn.functional.mse_loss, generator=generator(2))
    outputs = Reads()(weight * X + (1 - weight) * X[partner])
    mixed = weight * target + (1 - weight) * target[partner]
    spread = weight * (1 - weight) * (target - target[partner]).square()
    expected = ((outputs - mixed).square() + spread).mean()
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)


CALLS: dict[str, tuple[Callable[..., Tensor], tuple[int, ...]]] = {
    "mixup": (lambda **o: mixup(MODEL, X, TARGET, **o), (5,)),
    "ict_loss": (lambda **o: ict_loss(MODEL, TEACHER, X, **o), (5, 4)),
    "vat_loss": (lambda **o: vat_loss(MODEL, X, radius=0.5, **o), (5,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_losses_are_reduced_and_draw_from_the_generator_alone(name: str) -> None:
    call, shape = CALLS[name]
    state = torch.get_rng_state()
    values = call(generator=generator(4), reduction="none")
    assert values.shape == shape
    for reduction, expected in (("mean", values.mean()), ("sum", values.sum())):
        found = call(generator=generator(4), reduction=reduction)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)
    assert not torch.equal(call(generator=generator(5)), call(generator=generator(4)))
    assert torch.equal(torch.get_rng_state(), state)


def test_the_weights_of_mixtures_are_beta_distributed() -> None:
    source = generator(0)
    weights = torch.stack([draw_mixture(X, 2.0, source)[0] for _ in range(2000)])
    assert weights.mean().item() == pytest.approx(0.5, abs=4 * 0.2236 / 2000**0.5)
    assert weights.var().item() == pytest.approx(1 / 20, rel=0.1)  # of Beta(2, 2)


def test_no_gradient_reaches_the_teacher() -> None:
    model, teacher = Reads(0), Reads(1)
    ict_loss(model, teacher, U).backward()
    assert all(p.grad is not None for p in model.parameters())
    assert all(p.grad is None for p in teacher.parameters())


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mixup(Reads(), X, TARGET, alpha=0.0), "alpha must be a finite number above 0"),
        (lambda: mixup(Reads(), X, TARGET[:3]), "target must have a row for each of 5 items"),
        (lambda: mixup(Reads(), X, TARGET.double()), "target must be integers of shape"),
        (lambda: mixup(Reads(), X.long(), TARGET), "x must be a batch of floating-point"),
        (lambda: ict_loss(Reads(), lambda x: x.flatten(1), U), "outputs of one shape"),
        (lambda: vat_loss(Reads(), U, radius=-1.0), "radius must be a finite number above 0"),
        (lambda: vat_loss(Reads(), U[:, 0, 0], radius=1.0), "x must be a batch of items"),
        (lambda: consistency(X, X[:, :1]), "first and second must have one shape"),
        (lambda: consistency(X, X, reduction="average"), "reduction must be 'mean' or 'sum'"),
        (lambda: label_smoothing(X[:, 0], TARGET, smoothing=1.5), "smoothing must be"),
        (lambda: label_smoothing(X[:, 0], TARGET[:, None]), "target must be integers of shape"),
        (lambda: mean_teacher({}, Reads().state_dict()), "the same names, got 'encoder.bias'"),
        (lambda: mean_teacher({"a": X}, {"a": X[:1]}), "the same shapes"),
        (lambda: mean_teacher({}, {}, decay=1.5), "decay must be"),
    ],
)
def test_bad_arguments_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
