"""An LSTM with divisive normalization, all steps at once, beside one step after another."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor

from farfield.functional.internal import divisive_lstm
from farfield.nn import DivisiveNorm1d, NormalizedLSTM
from made import drawn, gradcheck, gradgradcheck

TIME, BATCH, INPUTS, HIDDEN = 4, 3, 5, 7
Results = tuple[Tensor, tuple[Tensor, Tensor]]


def pair(**options: object) -> tuple[NormalizedLSTM, NormalizedLSTM]:
    """Networks with the same weights, the second of which has gains and goes step by step."""
    made = [
        NormalizedLSTM(
            INPUTS,
            HIDDEN,
            2,
            normalizer=partial(DivisiveNorm1d, window=3, sigma=0.5, affine=affine, **options),
            generator=torch.Generator().manual_seed(0),
        ).double()
        for affine in (False, True)
    ]
    return made[0], made[1]


def given() -> list[Tensor]:
    shapes = [(TIME, BATCH, INPUTS), (2, BATCH, HIDDEN), (2, BATCH, HIDDEN)]
    return [drawn(*shape, seed=seed).requires_grad_() for seed, shape in enumerate(shapes)]


def number(results: Results) -> Tensor:
    outputs, (hidden, cell) = results
    weights = drawn(*outputs.shape, seed=9)
    return (outputs * weights).sum() + hidden.cos().sum() + cell.sin().sum()


@pytest.mark.parametrize("suppression", [None, 4])
def test_outputs_and_gradients_are_those_step_by_step(suppression: int | None) -> None:
    whole, stepped = pair(suppression_window=suppression)
    inputs = given()
    found, expected = (module(inputs[0], tuple(inputs[1:])) for module in (whole, stepped))
    assert type(found[0].grad_fn).__name__ != type(expected[0].grad_fn).__name__
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)
    names = dict(whole.named_parameters())
    own, other = (
        torch.autograd.grad(
            number(results), [*inputs, *(module.get_parameter(name) for name in names)]
        )
        for module, results in ((whole, found), (stepped, expected))
    )
    torch.testing.assert_close(own, other, rtol=1e-9, atol=1e-12)


def test_gradients_have_gradients() -> None:
    def run(*tensors: Tensor) -> tuple[Tensor, Tensor]:
        return divisive_lstm(*tensors, sigma=0.7, window=3, suppression_window=2)

    tensors = [
        drawn(3, 2, 12, seed=1),
        drawn(12, 3, seed=2),
        drawn(2, 3, seed=3),
        drawn(2, 3, seed=4),
    ]
    assert gradcheck(run, [tensor.requires_grad_() for tensor in tensors])
    assert gradgradcheck(run, tensors)


def test_mapped_over_networks_it_is_each_alone() -> None:
    whole, _ = pair()
    x = drawn(2, TIME, BATCH, INPUTS)
    mapped = torch.func.vmap(lambda one: whole(one)[0])(x)
    alone = torch.stack([whole(one)[0] for one in x])
    torch.testing.assert_close(mapped, alone, rtol=1e-10, atol=1e-12)


def test_normalizers_that_are_watched_are_called_one_by_one() -> None:
    whole, _ = pair()
    calls: list[int] = []
    hook = whole.normalizers[0]["cell"].register_forward_pre_hook(lambda *_: calls.append(1))
    x = drawn(TIME, BATCH, INPUTS)
    watched = whole(x)[0]
    hook.remove()
    assert len(calls) == TIME
    torch.testing.assert_close(watched, whole(x)[0], rtol=1e-12, atol=1e-14)
