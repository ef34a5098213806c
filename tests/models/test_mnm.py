"""Metalearned neural memory against loops, and what its parts are bound to hold."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from each import some
from farfield.functional.internal import MemoryLayer, memory_read, memory_write
from farfield.models import MNM
from made import drawn, generator, gradcheck, state_of, unsettled
from oracles import webb2021_rivals as oracle

FEATURES, OUTPUTS = 6, 3
WIDTHS = (3, 5, 4, 2)


def small(**options: int) -> MNM:
    sizes = {"hidden_size": 5, "memory_size": 4}
    return unsettled(MNM(FEATURES, OUTPUTS, **sizes, generator=generator(), **options))


def layers() -> tuple[MemoryLayer, ...]:
    shapes = zip(WIDTHS[1:], WIDTHS[:-1], strict=True)
    return tuple(MemoryLayer(drawn(*shape, seed=seed)) for seed, shape in enumerate(shapes))


OPTIONS = [{}, {"num_heads": 2}, {"memory_trained": False}]


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_equations(options: dict[str, int], length: int) -> None:
    model, z = small(**options), drawn(3, length, FEATURES)
    expected = [oracle.mnm(row, state_of(model)) for row in z.numpy()]
    answers, errors = zip(*expected, strict=True)
    np.testing.assert_allclose(model(z).detach(), answers, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.answer_and_error(z)[1].detach(), errors, rtol=1e-9)


def test_writing_twice_and_reading() -> None:
    memory, weights = layers(), [layer.weight.numpy() for layer in layers()]
    by_problem = [weights, weights]
    for seed in (10, 20):
        keys, targets = drawn(2, 3, WIDTHS[0], seed=seed), drawn(2, 3, sum(WIDTHS[1:]), seed=seed)
        rate = drawn(2, 1, seed=seed).sigmoid()
        memory = memory_write(keys, targets, rate, memory)
        by_problem = [
            oracle.memory_written(
                keys[row].numpy(),
                [np.split(aim, np.cumsum(WIDTHS[1:-1])) for aim in targets[row].numpy()],
                rate[row, 0].item(),
                by_problem[row],
            )
            for row in range(2)
        ]
    questions = drawn(2, 2, WIDTHS[0], seed=30)
    found = memory_read(questions, memory)
    for row in range(2):
        for head in range(2):
            expected = oracle.memory_activations(questions[row, head].numpy(), by_problem[row])
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(ours[row, head], theirs, rtol=1e-9, atol=1e-12)


@given(seed=st.integers(0, 999))
def test_a_rate_of_zero_and_targets_that_are_met_write_nothing(seed: int) -> None:
    keys, memory = drawn(2, 1, WIDTHS[0], seed=seed), layers()
    questions = drawn(2, 4, WIDTHS[0], seed=seed + 1)
    before = memory_read(questions, memory)[-1]
    elsewhere = drawn(2, 1, sum(WIDTHS[1:]), seed=seed + 2)
    met = torch.cat(memory_read(keys, memory), dim=-1)
    for targets, rate in ((elsewhere, torch.zeros(2, 1)), (met, torch.ones(2, 1))):
        written = memory_write(keys, targets, rate.double(), memory)
        after = memory_read(questions, written)[-1]
        torch.testing.assert_close(after, before, rtol=1e-10, atol=1e-12)


@given(seed=st.integers(0, 999))
def test_the_last_layer_takes_a_step_towards_its_target(seed: int) -> None:
    key, memory = drawn(1, 1, WIDTHS[0], seed=seed), layers()[:1]
    aim = drawn(1, 1, WIDTHS[1], seed=seed + 1)
    before = memory_read(key, memory)[-1]
    rate = torch.full((1, 1), 0.5, dtype=torch.float64)
    after = memory_read(key, memory_write(key, aim, rate, memory))[-1]
    part = (key.square().sum() / WIDTHS[1]).item()
    torch.testing.assert_close(after, before + part * (aim - before), rtol=1e-9, atol=1e-12)


def test_gradient_reaches_keys_targets_and_rate() -> None:
    keys, targets = drawn(2, 2, WIDTHS[0]), drawn(2, 2, sum(WIDTHS[1:]), seed=8)
    rate = drawn(2, 1, seed=9).sigmoid()

    def read_back(keys: torch.Tensor, targets: torch.Tensor, rate: torch.Tensor) -> torch.Tensor:
        return memory_read(keys, memory_write(keys, targets, rate, layers()))[-1]

    tensors = [tensor.requires_grad_() for tensor in (keys, targets, rate)]
    assert gradcheck(read_back, tensors)


@pytest.mark.parametrize("shape", some([(2, 3)], [(2, 3), (1, 4)]))
def test_gradient_with_respect_to_embeddings(shape: tuple[int, int]) -> None:
    model, z = small(num_heads=2), drawn(*shape, FEATURES).requires_grad_()
    assert gradcheck(model, z)
    assert gradcheck(lambda z: model.answer_and_error(z)[1], z)


def test_a_memory_that_is_not_trained_is_kept_with_the_weights() -> None:
    model = MNM(FEATURES, OUTPUTS, memory_trained=False)
    assert "memory" in model.state_dict()
    assert "memory" not in dict(model.named_parameters())


def test_first_parameters() -> None:
    model = MNM(128, 4, generator=generator())
    shapes = {"heads": (512, 128), "rate": (1, 128), "target": (384, 128), "read_out": (128, 256)}
    for name, shape in shapes.items():
        layer = getattr(model, name)
        assert layer.weight.shape == shape
        for parameter in (layer.weight, layer.bias):
            assert parameter.abs().max() <= shape[1] ** -0.5
        assert layer.weight.abs().max() > 0.9 * shape[1] ** -0.5
    assert model.controller.weight_ih.shape == (512, 256)
    for parameter in (*model.controller.parameters(), model.memory):
        assert 0.98 * 128**-0.5 < parameter.abs().max() <= 128**-0.5
    assert model.memory.shape == (3, 128, 128)
    assert not model.output.bias.any()


def test_what_cannot_be_is_refused(unchecked) -> None:
    for name in ("hidden_size", "memory_size", "num_heads"):
        with pytest.raises(ValueError, match=rf"{name} must be an int 1….*, got 0"):
            MNM(8, 4, **{name: 0})
    with pytest.raises(ValueError, match="in_features=6 features, got 5"):
        small()(drawn(2, 4, 5))
    with pytest.raises(ValueError, match=r"at least one step, got shape \(2, 0, 6\)"):
        small().answer_and_error(drawn(2, 0, FEATURES))
    with pytest.raises(ValueError, match=r"must hold 11 numbers, \[5, 4, 2\] .*, got 9"):
        memory_write(drawn(2, 1, 3), drawn(2, 1, 9), drawn(2, 1), layers())
