"""ICT: its loss by loops and by the released code, gradients, what is drawn, bad input."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.objectives import ICT, Bound, MeanTeacher, Update
from farfield.training.internal import OneNetwork
from made import gradcheck
from oracles import learning_rules as oracle
from small import ThreeLayers, classified, cross_entropy, parameters_of, small_experiment

LAYERS = ("input", "encoder", "hidden")
BATCHES = {TRAINING: classified(1), "unlabelled": classified(2)}


def update_of(rule: ICT, model: nn.Module, number: int, **others: Any) -> Update:
    return Update(
        network=Bound(module=model),
        batches=BATCHES,
        task_loss=cross_entropy,
        draws=rule.draw(BATCHES, stream(number)),
        **others,
    )


@pytest.mark.parametrize("teacher", [True, False])
@pytest.mark.parametrize("mixes_logits", [True, False])
@pytest.mark.parametrize("supervised_mixup", [True, False])
@pytest.mark.parametrize("layers", [("input",), LAYERS])
def test_the_loss_is_mixup_and_the_weighted_distance(
    layers: tuple[str, ...], supervised_mixup: bool, mixes_logits: bool, teacher: bool
) -> None:
    model, other = ThreeLayers(0), ThreeLayers(1)
    rule = ICT(
        weight=7.0,
        decay=0.9 if teacher else None,
        layers=layers,
        supervised_mixup=supervised_mixup,
        mixes_logits=mixes_logits,
        consistency="unlabelled",
    )
    assert rule.sets == (TRAINING, "unlabelled")
    state = {name: p.detach() for name, p in other.named_parameters()} if teacher else {}
    own, x = parameters_of(model), {name: b.sequences().numpy() for name, b in BATCHES.items()}
    for number in range(3):
        update = update_of(rule, model, number, state=state, progress=0.1)
        pairs = [
            (
                layers[int(update.draws[f"{of}.layer"])],
                [float(update.draws[f"{of}.weight"])] * 5,
                update.draws[f"{of}.partner"].tolist(),
            )
            for of in ("supervised", "consistency")
        ]
        answers = BATCHES[TRAINING].target.tolist()
        at, weights, partner = pairs[0]
        if not supervised_mixup:
            at, weights = "nowhere", [1.0] * 5
        logits = oracle.outputs(x[TRAINING], own, at, weights, partner)
        supervised = oracle.mixup_loss(logits, answers, weights, partner)
        at, weights, partner = pairs[1]
        logits = oracle.outputs(x["unlabelled"], own, at, weights, partner)
        taught = oracle.outputs(x["unlabelled"], parameters_of(other) if teacher else own)
        target = oracle.mixed_answers(taught, weights, partner, of_logits=mixes_logits)
        expected = supervised + 7 * np.exp(-5 * 0.6**2) * oracle.distance(logits, target)
        found, after = rule.loss(update)
        assert found.item() == pytest.approx(expected, rel=1e-12)
        assert after.keys() == state.keys()


class Released(nn.Module):
    """Logits that do not depend on the images, which are noted."""

    def __init__(self, logits: np.ndarray) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.tensor(logits, dtype=torch.float64))
        self.seen = list[Tensor]()

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        self.seen.append(items[index[:, 0]])
        return self.logits


def test_released_code(golden) -> None:
    arrays = golden("ict_mixing")
    images = torch.tensor(arrays["in.images"], dtype=torch.float64)
    batch = Problems(
        items=images,
        index=torch.arange(len(images))[:, None],
        target=torch.tensor(arrays["in.labels"]),
    )
    draws = {
        f"{of}.{name}": torch.tensor(arrays[f"in.{key}_{short}"])
        for of, short in (("supervised", "sup"), ("consistency", "unsup"))
        for name, key in (("weight", "lambda"), ("partner", "permutation"))
    } | {"supervised.layer": torch.tensor(0), "consistency.layer": torch.tensor(0)}
    teacher = torch.tensor(arrays["in.teacher_logits"], dtype=torch.float64)
    losses, gradients = [], []
    for weight in (0.0, 1.0):
        model = Released(arrays["in.student_logits"])
        update = Update(
            network=Bound(module=model),
            batches={TRAINING: batch},
            task_loss=cross_entropy,
            draws=draws,
            state={"logits": teacher},
        )
        loss, _ = ICT(weight=weight, ramp=0.0, mixes_logits=True).loss(update)
        loss.backward()
        losses.append(loss.item())
        gradients.append(model.logits.grad)
    for seen, short in ((model.seen[0], "sup"), (model.seen[-1], "unsup")):
        np.testing.assert_allclose(seen, arrays[f"out.mixed_images_{short}"], rtol=1e-5, atol=1e-6)
    supervised, distance = losses[0], losses[1] - losses[0]
    assert supervised == pytest.approx(float(arrays["out.supervised_loss"]), rel=1e-6)
    assert distance == pytest.approx(float(arrays["out64.consistency_loss_mse"]), rel=1e-9)
    np.testing.assert_allclose(
        gradients[1] - gradients[0], arrays["gradin.student_logits"], rtol=1e-4, atol=1e-8
    )


@pytest.mark.parametrize("mixes_logits", [True, False])
def test_gradients_are_those_of_finite_differences(mixes_logits: bool) -> None:
    model, other = ThreeLayers(0), ThreeLayers(1)
    rule = ICT(layers=LAYERS, mixes_logits=mixes_logits, ramp=0.0, consistency="unlabelled")
    state = {name: p.detach() for name, p in other.named_parameters()}
    names, values = zip(*model.named_parameters(), strict=True)

    def loss(*parameters: Tensor) -> Tensor:
        network = Bound(module=model, parameters=dict(zip(names, parameters, strict=True)))
        update = update_of(rule, model, 3, state=state)
        return rule.loss(dataclasses.replace(update, network=network))[0]

    assert gradcheck(loss, values)


def test_without_a_teacher_no_gradient_passes_to_the_target() -> None:
    model, recorded = ThreeLayers(0), list[bool]()
    model.register_forward_hook(lambda *args: recorded.append(args[-1].requires_grad))
    gradients = []
    for decay, state in ((None, {}), (0.9, {n: p.detach() for n, p in model.named_parameters()})):
        model.zero_grad()
        rule = ICT(decay=decay, ramp=0.0)
        rule.loss(update_of(rule, model, 0, state=state))[0].backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-12, atol=0)
    assert recorded == [True, False, True] * 2


def test_pairs_of_the_two_losses_are_drawn_apart() -> None:
    draws = ICT().draw(BATCHES, stream(0))
    assert draws["supervised.weight"] != draws["consistency.weight"]
    assert not torch.equal(draws["supervised.partner"], draws["consistency.partner"])


class Normalized(nn.Module):
    """Items after batch normalization."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3, dtype=torch.float64)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.norm(items[index[:, 0]])


THREE_CLASSES = {
    name: dataclasses.replace(batch, target=batch.target % 3) for name, batch in BATCHES.items()
}


def test_the_teacher_has_batch_statistics_of_its_own() -> None:
    model, rule = Normalized(), ICT(consistency="unlabelled")
    state = rule.start(Bound(module=model), BATCHES, stream(0))
    update = dataclasses.replace(update_of(rule, model, 0, state=state), batches=THREE_CLASSES)
    after = rule.after(rule.loss(update)[1], dict(model.named_parameters()), 0.1)
    clean = BATCHES["unlabelled"].sequences()[:, 0]
    torch.testing.assert_close(after["norm.running_mean"], 0.1 * clean.mean(0))
    assert int(after["norm.num_batches_tracked"]) == 1
    assert int(model.norm.num_batches_tracked) == 2
    assert not state["norm.running_mean"].any()


@pytest.mark.parametrize("rule", [ICT, MeanTeacher])
def test_batch_statistics_of_the_teacher_may_be_means_of_the_students(rule: type) -> None:
    model, made = Normalized(), rule(decay=0.8, warmup=True, averages_buffers=True)
    state = made.start(Bound(module=model), BATCHES, stream(0))
    expected = {name: buffer.clone() for name, buffer in model.named_buffers()}
    for step in range(6):
        update = update_of(made, model, step, state=state)
        update = dataclasses.replace(update, batches=THREE_CLASSES)
        state = made.after(made.loss(update)[1], dict(model.named_parameters()), 0.1)
        kept = min(0.8, 1 - 1 / (step + 2))
        for name in ("norm.running_mean", "norm.running_var"):
            student = model.get_buffer(name)
            expected[name] = kept * expected[name] + (1 - kept) * student
            torch.testing.assert_close(state[name], expected[name], rtol=1e-12, atol=0)
    assert state["norm.num_batches_tracked"] == model.norm.num_batches_tracked == 12


def test_a_network_of_no_experiment_is_not_redraw() -> None:
    rule, network = ICT(independent_teacher=True), Bound(module=ThreeLayers())
    with pytest.raises(ValueError, match="that of an experiment to be drawn anew, got build=None"):
        rule.start(network, BATCHES, stream(0))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"alpha": -1.0}, "alpha must be"),
        ({"decay": 2.0}, "decay must be"),
        ({"weight": -1.0}, "weight must be"),
        ({"layers": ()}, "layers must be at least one name"),
        ({"decay": None, "warmup": True}, "warmup must be left out where decay is None"),
        ({"decay": None, "scores_teacher": False}, "scores_teacher must be left out where decay"),
        ({"decay": None, "independent_teacher": True}, "independent_teacher must be left out"),
        ({"decay": None, "averages_buffers": True}, "averages_buffers must be left out where"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ICT(**options)


def test_a_layer_that_is_not_there_is_named_before_training() -> None:
    experiment = dataclasses.replace(small_experiment(), objective=ICT(layers=("encoders",)))
    with pytest.raises(ValueError, match=r"got 'encoders'; did you mean 'encoder'\?"):
        OneNetwork(experiment, 0)
