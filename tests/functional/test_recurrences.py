"""The recurrences: their gradients those that autograd derives, alone, stacked and twice."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from farfield.functional.internal import ESBNParameters, esbn, lstm
from made import gradcheck, gradgradcheck
from oracles import webb2021 as oracle

BATCH, HIDDEN, KEY = 3, 5, 4
KINDS = {
    "confidence": (True, False),
    "neither": (False, False),
    "default": (False, True),
    "both": (True, True),
}


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + 1000 * sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def problem(length: int, kind: str, *lead: int, sizes=(BATCH, HIDDEN, KEY)) -> list:
    """Weights, confidence and parameters of an ESBN, None where the kind has none."""
    told, default = KINDS[kind]
    batch, hidden, key = sizes
    weights = drawn(*lead, batch, length - 1, length - 1 + default).softmax(-1)
    return [
        weights.tril(int(default)),
        drawn(*lead, batch, length - 1, seed=1).sigmoid() if told else None,
        drawn(*lead, 4 * hidden, key + told, seed=2),
        drawn(*lead, 4 * hidden, hidden, seed=3),
        drawn(*lead, 4 * hidden, seed=4),
        drawn(*lead, 4 * hidden, seed=5),
        drawn(*lead, key, hidden, seed=6),
        drawn(*lead, key, seed=7),
        drawn(*lead, 1, hidden, seed=8),
        drawn(*lead, 1, seed=9),
        drawn(*lead, key, seed=10) if default else None,
    ]


def lstm_arguments(length: int, *lead: int) -> list[torch.Tensor]:
    shapes = ((BATCH, length, 3), (8, 3), (8, 2), (8,), (8,))
    return [drawn(*lead, *shape, seed=seed) for seed, shape in enumerate(shapes)]


def of_present(function, arguments: list):
    """`function` of those arguments alone that are not None, and these arguments."""
    present = [number for number, argument in enumerate(arguments) if argument is not None]

    def call(*given):
        full = [None] * len(arguments)
        for number, argument in zip(present, given, strict=True):
            full[number] = argument
        return function(full[0], full[1], ESBNParameters(*full[2:]))

    return call, [arguments[number] for number in present]


def gradients(function, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    leaves = [tensor.clone().requires_grad_() for tensor in tensors]
    out = function(*leaves)
    found = torch.autograd.grad((out * drawn(*out.shape, seed=99)).sum(), leaves, allow_unused=True)
    return [
        torch.zeros_like(leaf) if gradient is None else gradient
        for leaf, gradient in zip(leaves, found, strict=True)
    ]


def check_gradients(function, tensors: list[torch.Tensor]) -> None:
    """Under `torch.func` the recurrences go step by step, and autograd derives the gradients."""
    expected, pull = torch.func.vjp(function, *tensors)
    torch.testing.assert_close(function(*tensors), expected, rtol=1e-10, atol=1e-12)
    theirs = pull(drawn(*expected.shape, seed=99))
    for ours, other in zip(gradients(function, tensors), theirs, strict=True):
        torch.testing.assert_close(ours, other, rtol=1e-10, atol=1e-12)


def check_stacked(function, tensors: list[torch.Tensor], where: tuple[int | None, ...]) -> None:
    """Gradients of several seeds as one program are those of each alone."""

    def loss(*given: torch.Tensor) -> torch.Tensor:
        return function(*given).square().sum()

    wanted = tuple(range(len(tensors)))
    found = torch.func.vmap(torch.func.grad(loss, wanted), where)(*tensors)
    for seed in range(4):
        own = [t if at is None else t[seed] for t, at in zip(tensors, where, strict=True)]
        leaves = [tensor.clone().requires_grad_() for tensor in own]
        alone = torch.autograd.grad(loss(*leaves), leaves, materialize_grads=True)
        for ours, other in zip(found, alone, strict=True):
            torch.testing.assert_close(ours[seed], other, rtol=1e-10, atol=1e-12)


LSTM_LENGTHS = [(1, 1), (2, 2), (3, 1), (7, 7), (7, 3), (7, 1)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 9])
def test_gradients_of_esbn_are_those_of_its_steps(length: int, kind: str) -> None:
    check_gradients(*of_present(esbn, problem(length, kind)))


@pytest.mark.parametrize("length, num_states", LSTM_LENGTHS)
def test_gradients_of_lstm_are_those_of_its_steps(length: int, num_states: int) -> None:
    check_gradients(partial(lstm, num_states=num_states), lstm_arguments(length))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [2, 3, 5])
@pytest.mark.parametrize("seeds_share_problems", [False, True])
def test_esbn_can_be_mapped(length: int, kind: str, seeds_share_problems: bool) -> None:
    stacked = problem(length, kind, 4)
    function, tensors = of_present(esbn, stacked)
    where: list[int | None] = [0] * len(tensors)
    if seeds_share_problems:
        num_shared = 1 + (stacked[1] is not None)
        tensors[:num_shared] = [tensor[0] for tensor in tensors[:num_shared]]
        where[:num_shared] = [None] * num_shared
    check_stacked(function, tensors, tuple(where))


@pytest.mark.parametrize("length, num_states", LSTM_LENGTHS)
def test_lstm_can_be_mapped(length: int, num_states: int) -> None:
    check_stacked(partial(lstm, num_states=num_states), lstm_arguments(length, 4), (0,) * 5)


@pytest.mark.parametrize("num_states", [None, 1])
def test_lstm_under_autocast(num_states: int | None) -> None:
    arguments = [tensor.float() for tensor in lstm_arguments(4)]
    expected = lstm(*arguments, num_states=num_states)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = lstm(*arguments, num_states=num_states)
    torch.testing.assert_close(found.float(), expected, rtol=0.05, atol=0.05)


def test_no_problems_have_no_answers_and_no_gradient() -> None:
    function, tensors = of_present(esbn, problem(3, "confidence", sizes=(0, HIDDEN, KEY)))
    assert function(*tensors).shape == (0, HIDDEN)
    assert not any(found.any() for found in gradients(function, tensors))


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_esbn(kind: str) -> None:
    function, tensors = of_present(esbn, problem(3, kind, sizes=(2, 2, 3)))
    leaves = [tensor.requires_grad_() for tensor in tensors]
    assert gradcheck(function, leaves)
    assert gradgradcheck(function, leaves)


@pytest.mark.parametrize("length, num_states", [(1, 1), (3, 3), (3, 1)])
def test_derivatives_of_lstm(length: int, num_states: int) -> None:
    leaves = [tensor.requires_grad_() for tensor in lstm_arguments(length)]
    function = partial(lstm, num_states=num_states)
    assert gradcheck(function, leaves)
    assert gradgradcheck(function, leaves)


def test_lstm_is_that_of_the_equations_and_of_torch() -> None:
    arguments = lstm_arguments(4)
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    state = dict(zip(names, (tensor.numpy() for tensor in arguments[1:]), strict=True))
    states = lstm(*arguments)
    expected = [oracle.lstm(sequence, state) for sequence in arguments[0].numpy()]
    np.testing.assert_allclose(states.numpy(), expected, rtol=1e-10, atol=1e-12)
    theirs = torch.nn.LSTM(3, 2, batch_first=True, dtype=torch.float64)
    theirs.load_state_dict({f"{name}_l0": torch.tensor(array) for name, array in state.items()})
    torch.testing.assert_close(states, theirs(arguments[0])[0], rtol=1e-10, atol=1e-12)


def test_no_sequences_have_no_states_with_and_without_gradients() -> None:
    for graded in (True, False):
        arguments = [tensor.requires_grad_(graded) for tensor in lstm_arguments(4)]
        assert lstm(arguments[0][:0], *arguments[1:]).shape == (0, 4, 2)


def test_lstm_does_not_look_ahead() -> None:
    first = lstm_arguments(5)
    second = [first[0].clone(), *first[1:]]
    second[0][:, 3:] += 1
    before, after = lstm(*first), lstm(*second)
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.isclose(before[:, 3:], after[:, 3:]).all(-1).any()


@pytest.mark.parametrize("length", [1, 2, 4])
def test_without_gradient_the_same_state_comes_out(length: int) -> None:
    function, tensors = of_present(esbn, problem(length, "default"))
    with torch.no_grad():
        alone = function(*tensors)
    torch.testing.assert_close(alone, function(*tensors), rtol=1e-10, atol=1e-12)
    arguments = lstm_arguments(length)
    for num_states in (None, 1):
        with torch.no_grad():
            alone = lstm(*arguments, num_states=num_states)
        states = lstm(*arguments, num_states=num_states)
        torch.testing.assert_close(alone, states, rtol=1e-10, atol=1e-12)


def test_esbn_refuses_shapes_that_do_not_belong_together(unchecked) -> None:
    weights, confidence, *rest = problem(3, "confidence")
    parameters = ESBNParameters(*rest)
    with pytest.raises(ValueError, match="weights must have 2 slots for 2 reads, got 1"):
        esbn(weights[..., :1], confidence, parameters)
    with pytest.raises(ValueError, match=r"confidence must be \(3, 2\)"):
        esbn(weights, confidence[:, :1], parameters)
    with pytest.raises(ValueError, match=r"weight_ih must take .* 4 numbers in all, got 5"):
        esbn(weights, None, parameters)


def test_lstm_refuses_shapes_that_do_not_belong_together(unchecked) -> None:
    inputs, weight_ih, weight_hh, *biases = lstm_arguments(2)
    with pytest.raises(ValueError, match=r"at least one step, got shape \(3, 0, 3\)"):
        lstm(inputs[:, :0], weight_ih, weight_hh, *biases)
    with pytest.raises(ValueError, match=r"got shape \(3, 3\)"):
        lstm(inputs[:, 0], weight_ih, weight_hh, *biases)
    with pytest.raises(ValueError, match="the 3 features of weight_ih, got 2"):
        lstm(inputs[..., :2], weight_ih, weight_hh, *biases)
    for number in (0, 3):
        with pytest.raises(ValueError, match=f"num_states must be 1…2, got {number}"):
            lstm(inputs, weight_ih, weight_hh, *biases, num_states=number)
    with pytest.raises(ValueError, match="8 rows, four for each hidden unit, got 7 and 8"):
        lstm(inputs, weight_ih[:7], weight_hh, *biases)
