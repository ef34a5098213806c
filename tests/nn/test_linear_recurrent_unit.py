"""The linear recurrent unit against loops, and how long it holds what it was given."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.functional._recurrent._linear_recurrence import _in_pieces
from farfield.functional.internal import linear_recurrence, ring_spectrum
from farfield.nn import LinearRecurrentUnit
from made import drawn, generator, gradcheck, gradgradcheck, state_of, unsettled
from oracles import sequence_layers as oracle

INPUTS, HIDDEN, BATCH = 3, 4, 2


def complexes(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.complex(drawn(*shape, seed=seed), drawn(*shape, seed=seed + 50))


def decays(size: int, seed: int = 1) -> torch.Tensor:
    found = complexes(size, seed=seed)
    return found / (0.1 + found.abs())  # some beyond the unit circle


@pytest.mark.parametrize("function", [linear_recurrence, _in_pieces])
@pytest.mark.parametrize("time", [1, 2, 3, 4, 5, 9, 10, 17])
def test_recurrence(time: int, function) -> None:
    for draw in (complexes, drawn):
        inputs, state = draw(time, BATCH, 5), draw(BATCH, 5, seed=2)
        decay = decays(5) if draw is complexes else decays(5).real
        found = function(inputs, decay, state)
        for row in range(BATCH):
            expected = oracle.linear_recurrence(
                inputs[:, row].numpy(), decay.numpy(), state[row].numpy()
            )
            np.testing.assert_allclose(found[:, row], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("function", [linear_recurrence, _in_pieces])
@pytest.mark.parametrize("time", [1, 5])
def test_gradient_of_the_recurrence(time: int, function) -> None:
    given = (complexes(time, BATCH, 2), decays(2), complexes(BATCH, 2, seed=2))
    wanted = [tensor.clone().requires_grad_() for tensor in given]
    assert gradcheck(function, wanted)
    assert gradgradcheck(function, wanted)


@given(
    seed=st.integers(0, 999),
    inner=st.floats(0, 0.9999),
    share=st.floats(0, 1),
    phase=st.floats(1e-3, 7),
)
def test_the_spectrum_is_a_ring_within_the_unit_disk(seed, inner, share, phase) -> None:
    outer = max(1e-3, inner + share * (0.99999 - inner))
    nu, theta = ring_spectrum(64, radius=(inner, outer), max_phase=phase, generator=generator(seed))
    modulus = torch.exp(-nu.double().exp())
    assert modulus.min() >= inner - 1e-6
    assert modulus.max() <= outer + 1e-6
    assert modulus.max() < 1
    assert 0 < theta.exp().min() <= theta.exp().max() <= phase * (1 + 1e-6)


def test_the_spectrum_is_even_over_the_area() -> None:
    """Lemma 3.2: squares of moduli, and phases, are uniform."""
    nu, theta = ring_spectrum(20_000, radius=(0.6, 0.9), max_phase=2.0, generator=generator())
    square = (torch.exp(-2 * nu.exp()) - 0.36) / (0.81 - 0.36)
    for uniform in (square, theta.exp() / 2):
        ordered = uniform.sort().values
        assert (ordered - torch.linspace(0, 1, 20_000)).abs().max() < 0.015


def small(**options: object) -> LinearRecurrentUnit:
    return LinearRecurrentUnit(INPUTS, HIDDEN, generator=generator(), **options)


@pytest.mark.parametrize("options", [{}, {"num_layers": 1, "state_size": 3}, {"num_layers": 3}])
def test_equations(options: dict[str, int]) -> None:
    module, x = unsettled(small(**options)), drawn(6, BATCH, INPUTS)
    outputs, _ = module(x)
    for row in range(BATCH):
        expected = oracle.linear_recurrent_unit(
            x[:, row].numpy(), state_of(module), options.get("num_layers", 2)
        )
        np.testing.assert_allclose(outputs[:, row].detach(), expected, rtol=1e-9, atol=1e-12)


def test_the_factor_starts_at_the_root_of_one_minus_the_square() -> None:
    block = small(radius=(0.99, 0.99999), state_size=50).blocks[0]
    square = torch.exp(-2 * block.nu.double().exp())
    torch.testing.assert_close(block.gamma.double().exp(), (1 - square).sqrt(), rtol=1e-5, atol=0)


@pytest.mark.processor
def test_carried_numbers_are_of_the_size_of_the_inputs() -> None:
    """What the factor is for: white inputs give states of the same spread at any memory."""
    for radius in ((0.1, 0.2), (0.9, 0.9), (0.99, 0.99)):
        module = small(num_layers=1, state_size=200, radius=radius)
        _, state = module(torch.randn(2000, 1, INPUTS, generator=generator(3)))
        spread = state[0].square().sum(-1).mean().sqrt().item()
        assert 0.7 < spread < 1.4


def test_what_was_given_is_held_for_ten_thousand_steps() -> None:
    """The states fall by the moduli to the power of the steps, and no faster; in float32 too."""
    module = small(num_layers=1, state_size=64, radius=(0.9999, 0.99999), max_phase=0.1)
    block, held = module.blocks[0], drawn(1, BATCH, 64, 2).float()
    quiet = torch.zeros(10_000, BATCH, 64, dtype=torch.complex64)
    begun = torch.view_as_complex(held)[0]
    with torch.no_grad():
        ended = linear_recurrence(quiet, block._decay(held), begun)[-1]
    share = torch.exp(-10_000 * block.nu.double().exp())
    assert share.min() > math.exp(-1.01)
    torch.testing.assert_close(
        (ended.abs() / begun.abs()).double(), share.expand(BATCH, -1), rtol=3e-3, atol=0
    )


@pytest.mark.processor
def test_a_gradient_crosses_ten_thousand_steps() -> None:
    module = small(num_layers=1, state_size=64, radius=(0.9999, 0.99999))
    x = torch.randn(10_000, 1, INPUTS, generator=generator(3)).requires_grad_()
    (gradient,) = torch.autograd.grad(module(x)[0][-1].sum(), x)
    sizes = gradient.norm(dim=-1)
    assert sizes[:200].mean() > 0.3 * sizes[-201:-1].mean()


def test_a_state_of_any_strides_is_taken() -> None:
    layer = LinearRecurrentUnit(INPUTS, HIDDEN, generator=generator()).double()
    x = drawn(5, BATCH, INPUTS)
    state = layer(x)[1]
    wanted, after = layer(x, state)
    strided = torch.stack((state, -state), -1)[..., 0]
    outputs, last = layer(x, strided)
    torch.testing.assert_close((outputs, last), (wanted, after), rtol=0, atol=0)
    stacked = torch.stack((state, state), -1)
    mapped = torch.func.vmap(lambda own: layer(x, own)[0], in_dims=-1)(stacked)
    torch.testing.assert_close(mapped[1], wanted)


def test_what_cannot_be_is_refused(unchecked) -> None:
    for name in ("num_layers", "state_size"):
        with pytest.raises(ValueError, match=rf"{name} must be an int 1….*, got 0"):
            small(**{name: 0})
    for radius in ((0.5, 1.0), (0.6, 0.5), (-0.1, 0.5), (0.0, 0.0)):
        with pytest.raises(ValueError, match="radius must be two numbers, 0 ≤ r0 ≤ r1 < 1"):
            small(radius=radius)
    for radius in (0.9, (0.9,)):
        with pytest.raises(ValueError, match=r"radius must be a tuple .*, got \(?0\.9"):
            small(radius=radius)
    for phase in (0.0, math.inf, math.nan):
        with pytest.raises(ValueError, match=r"max_phase must be (a|positive and) finite"):
            small(max_phase=phase)
    with pytest.raises(ValueError, match="inputs must have at least one step, got 0"):
        linear_recurrence(complexes(0, 2, 3), decays(3), complexes(2, 3))
