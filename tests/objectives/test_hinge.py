"""Hinge losses of both players and their terms, against loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.models import GAN, ResNetDiscriminator, ResNetGenerator
from farfield.objectives import Bound, HingeDiscriminator, HingeGenerator, Update
from farfield.objectives._hinge import info_nce, quarter_turns
from made import drawn, generator, gradcheck, state_of, unsettled
from oracles import adversarial as oracle

SIDE = 8
IMAGES = torch.randint(0, 256, (6, 2, SIDE, SIDE), generator=generator(3), dtype=torch.uint8)


def network(**options: object) -> GAN:
    """In evaluation, where the loops have it."""
    shape = (2, SIDE, SIDE)
    known = {"projection_size": 4, "names_rotations": True, **options}
    made = GAN(
        ResNetGenerator(5, shape, width=3, generator=generator()),
        ResNetDiscriminator(shape, width=3, generator=generator(), **known),
    )
    return unsettled(made).eval()


def update_of(rule: HingeDiscriminator | HingeGenerator, module: nn.Module) -> Update:
    problems = Problems(items=drawn(6, 5), index=torch.arange(6)[:, None], target=IMAGES)
    batches = {TRAINING: problems}
    bound = Bound(module=module)
    rule.start(bound, batches, stream(0))
    draws = rule.draw(batches, stream(0, "draws"))
    return Update(network=bound, batches=batches, task_loss=lambda *_: None, draws=draws)


def made_images(module: GAN, noise: Tensor) -> np.ndarray:
    state = {n.removeprefix("generator."): t for n, t in state_of(module).items()}
    return oracle.generator(noise.numpy(), 1, 1, SIDE, state, training=False)


def seen(module: GAN, images: np.ndarray) -> dict[str, np.ndarray]:
    state = {n.removeprefix("discriminator."): t for n, t in state_of(module).items()}
    return oracle.discriminator(images, state)


def terms(module: GAN, images: np.ndarray, info_max: float, rotation: float) -> float:
    found = seen(module, images)
    turned, turns = oracle.turned(images)
    logits = seen(module, turned)["rotations"]
    own = info_max * oracle.info_nce(found["local"], found["global"])
    return own + rotation * oracle.cross_entropy(logits, turns)


@pytest.mark.parametrize("info_max, rotation", [(0.0, 0.0), (0.2, 0.0), (0.0, 1.0), (0.5, 0.3)])
def test_the_discriminator_scores_images_of_the_data_above_those_made(
    info_max: float, rotation: float
) -> None:
    rule, module = HingeDiscriminator(info_max=info_max, rotation=rotation), network()
    update = update_of(rule, module)
    loss, state = rule.loss(update)
    real, fake = IMAGES.numpy() / 255, made_images(module, update.draws["noise"])
    expected = oracle.discriminator_loss(seen(module, real)["scores"], seen(module, fake)["scores"])
    expected += terms(module, real, info_max, rotation)
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-9)
    assert state == {}


@pytest.mark.parametrize("info_max, rotation", [(0.0, 0.0), (0.2, 0.0), (0.0, 1.0), (0.5, 0.3)])
def test_the_generator_wants_high_scores(info_max: float, rotation: float) -> None:
    rule, module = HingeGenerator(info_max=info_max, rotation=rotation), network()
    update = update_of(rule, module)
    loss, _ = rule.loss(update)
    fake = made_images(module, update.draws["noise"])
    expected = -seen(module, fake)["scores"].mean() + terms(module, fake, info_max, rotation)
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-9)


def test_gradients_reach_the_side_that_is_trained() -> None:
    for rule, trained, other in (
        (HingeDiscriminator(info_max=0.2, rotation=1.0), "discriminator", "generator"),
        (HingeGenerator(), "generator", None),
    ):
        module = network()
        rule.loss(update_of(rule, module))[0].backward()
        found = [parameter.grad for parameter in module.get_submodule(trained).parameters()]
        # Some units of so small a network are silent.
        assert sum(bool(gradient.any()) for gradient in found) > 0.7 * len(found)
        assert other is None or all(
            p.grad is None for p in module.get_submodule(other).parameters()
        )


def test_noise_is_normal_and_another_in_every_update() -> None:
    rule = HingeGenerator()
    problems = Problems(
        items=torch.zeros(2_000, 5), index=torch.arange(2_000)[:, None], target=torch.zeros(2_000)
    )
    first, second = (rule.draw({TRAINING: problems}, stream(0, k))["noise"] for k in (0, 1))
    assert first.shape == (2_000, 5)
    assert first.dtype == torch.float32
    assert float(first.mean()) == pytest.approx(0, abs=0.05)
    assert float(first.std()) == pytest.approx(1, abs=0.05)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 1, 1)])
def test_gradients_of_the_info_max_term(shape: tuple[int, int, int]) -> None:
    batch, feature, _ = shape
    local, whole = drawn(*shape).requires_grad_(), drawn(batch, feature, seed=5).requires_grad_()
    assert gradcheck(info_nce, (local, whole))
    expected = oracle.info_nce(local.detach().numpy(), whole.detach().numpy())
    assert float(info_nce(local, whole).detach()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("count", [1, 3, 4, 6, 9])
def test_a_quarter_of_a_batch_is_turned_by_each_angle(count: int) -> None:
    images = drawn(count, 2, 3, 3)
    turned, turns = quarter_turns(images)
    expected, classes = oracle.turned(images.numpy())
    assert np.array_equal(turned, expected)
    assert turns.tolist() == classes


@pytest.mark.parametrize("rule", [HingeDiscriminator, HingeGenerator])
def test_what_cannot_be_played_is_refused(rule, unchecked: None) -> None:
    for name in ("info_max", "rotation"):
        with pytest.raises(ValueError, match=f"{name} must be .*, got -1"):
            rule(**{name: -1.0})
    images = Problems(items=IMAGES, index=torch.arange(6)[:, None], target=torch.zeros(6))
    with pytest.raises(ValueError, match=r"items must be vectors of noise.*\(6, 2, 8, 8\)"):
        rule().start(Bound(module=network()), {TRAINING: images}, stream(0))
    with pytest.raises(TypeError, match="model must have a method generate, got Linear without"):
        rule().loss(update_of(rule(), nn.Linear(1, 1)))
    wrong = network(projection_size=None, names_rotations=False)
    with pytest.raises(ValueError, match="projection_size of the discriminator must be a size"):
        rule(info_max=0.2).loss(update_of(rule(), wrong))
    with pytest.raises(ValueError, match="names_rotations of the discriminator must be True"):
        rule(rotation=0.2).loss(update_of(rule(), wrong))
    with pytest.raises(ValueError, match=r"images must be square to be turned, got shape \(1, 1"):
        quarter_turns(torch.zeros(1, 1, 2, 3))
