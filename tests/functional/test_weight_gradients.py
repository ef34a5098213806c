"""Weight gradients taken once for all steps are those that autograd adds up step by step."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

from farfield.functional._autograd._unroll import Layer, recur, recur_all
from made import drawn, gradcheck, gradgradcheck


def steps(products, inputs: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    """A small recurrence; its second layer is not applied at the first step."""
    mix, feed = products
    for place, row in enumerate(inputs.unbind(1)):
        state = torch.tanh(mix(state) + row)
        if place > 0:
            state = state * feed(state.unsqueeze(1)).squeeze(1)
    return state


def tensors(length: int = 3) -> list[torch.Tensor]:
    """Weight and bias of the first layer, weight of the second, inputs, first state."""
    shapes = ((4, 4), (4,), (4, 4), (2, length, 4), (4,))
    made = [drawn(*shape, seed=seed) for seed, shape in enumerate(shapes)]
    return [tensor.requires_grad_() for tensor in made]


def by_hand(weight, bias, other, inputs, state) -> torch.Tensor:
    first = state.expand(len(inputs), -1)
    return recur(steps, (Layer(weight, bias), Layer(other)), inputs, first)


def plain(weight, bias, other, inputs, state) -> torch.Tensor:
    linear = torch.nn.functional.linear
    products = (lambda x: linear(x, weight, bias), lambda x: linear(x, other))
    return steps(products, inputs, state.expand(len(inputs), -1))


def pull(function, given: list[torch.Tensor], **options: bool) -> list[torch.Tensor]:
    wanted = [tensor for tensor in given if tensor.requires_grad]
    out = function(*given)
    return list(torch.autograd.grad((out * drawn(2, 4, seed=9)).sum(), wanted, **options))


@pytest.mark.parametrize("length", [1, 2, 4])
def test_values_and_gradients(length: int) -> None:
    given = tensors(length)
    torch.testing.assert_close(by_hand(*given), plain(*given), rtol=1e-12, atol=0)
    unused = {"allow_unused": True}  # one step leaves the second layer out
    for ours, theirs in zip(
        pull(by_hand, given, **unused), pull(plain, given, **unused), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-13)


def test_the_function_by_hand_is_what_runs() -> None:
    assert "_Recurrence" in type(by_hand(*tensors()).grad_fn).__name__


def test_tensors_that_want_no_gradient() -> None:
    given = tensors()
    given[0].requires_grad_(False)
    given[3].requires_grad_(False)
    for ours, theirs in zip(pull(by_hand, given), pull(plain, given), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-13)


def test_the_gradient_can_be_taken_twice_and_in_parts() -> None:
    given = tensors()
    out = by_hand(*given).square().sum()
    of_inputs = torch.autograd.grad(out, given[3], retain_graph=True)
    first, second = (torch.autograd.grad(out, given, retain_graph=True) for _ in range(2))
    for ours, again in zip(first, second, strict=True):
        assert torch.equal(ours, again)
    assert torch.equal(of_inputs[0], first[3])


def test_derivatives() -> None:
    assert gradcheck(by_hand, tensors())
    assert gradgradcheck(by_hand, tensors())


def test_second_derivatives_where_some_are_not_wanted() -> None:
    given = tensors()
    given[1].requires_grad_(False)
    assert gradgradcheck(by_hand, given)


def test_transformations_run_it_as_it_stands() -> None:
    given = [tensor.detach() for tensor in tensors()]
    stacked = [torch.stack((tensor, 0.5 * tensor)) for tensor in given]
    wanted = tuple(range(len(given)))

    def loss(*own: torch.Tensor) -> torch.Tensor:
        return by_hand(*own).square().sum()

    mapped = torch.func.vmap(torch.func.grad(loss, argnums=wanted))(*stacked)
    leaves = [tensor.clone().requires_grad_() for tensor in given]
    alone = torch.autograd.grad(by_hand(*leaves).square().sum(), leaves)
    for together, own in zip(mapped, alone, strict=True):
        torch.testing.assert_close(together[0], own, rtol=1e-10, atol=1e-13)


def by_group(products, inputs: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """A recurrence of two groups that gives all its states, and the last."""
    (mix,) = products
    states = []
    for rows in inputs.unbind(0):
        state = torch.tanh(mix(state) + rows)
        states.append(state)
    return torch.stack(states), state


@pytest.mark.parametrize("bias", [True, False])
def test_layers_by_group_and_several_results(bias: bool) -> None:
    shapes = ((2, 4, 4), (2, 4), (3, 2, 5, 4), (2, 5, 4))
    weight, shift, inputs, state = (
        drawn(*s, seed=n).requires_grad_() for n, s in enumerate(shapes)
    )
    layer = Layer(weight, shift if bias else None)
    given = [tensor for tensor in (weight, layer.bias, inputs, state) if tensor is not None]

    def one_by_one(x: torch.Tensor) -> torch.Tensor:
        found = [torch.nn.functional.linear(x[g], weight[g]) for g in range(2)]
        return torch.stack(found) + (shift.unsqueeze(1) if bias else 0)

    ours = recur_all(by_group, (layer,), inputs, state)
    theirs = by_group((one_by_one,), inputs, state)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-14)
    for wanted in (slice(0, 2), slice(0, 1), slice(1, 2)):  # also where only some is used
        pulled = [
            torch.autograd.grad(
                sum(t.sin().sum() for t in results[wanted]), given, retain_graph=True
            )
            for results in (ours, theirs)
        ]
        torch.testing.assert_close(*pulled, rtol=1e-10, atol=1e-13)


def test_gradients_to_be_differentiated_of_inputs_that_depend_on_each_other() -> None:
    """As where the state is carried over from a first piece of the sequence."""
    given = tensors()

    def twice(function):
        def both(weight, bias, other, inputs, state) -> torch.Tensor:
            first = function(weight, bias, other, inputs, state)
            return function(weight, bias, other, inputs + first.unsqueeze(1), first.mean(0))

        return both

    for graph in (False, True):
        ours, theirs = (pull(twice(f), given, create_graph=graph) for f in (by_hand, plain))
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


class Mark:
    """What a weak reference can be made to."""


class Marked(torch.autograd.Function):
    """The identity; its node in the graph holds a mark."""

    alive: weakref.ref[Mark]

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.mark = Mark()
        Marked.alive = weakref.ref(ctx.mark)
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


def marked(*given: torch.Tensor) -> torch.Tensor:
    def recurrence(products, inputs: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        return steps(products, inputs, Marked.apply(state))

    weight, bias, other, inputs, state = given
    first = state.expand(len(inputs), -1)
    return recur(recurrence, (Layer(weight, bias), Layer(other)), inputs, first)


def test_the_steps_are_freed_with_the_backward_pass() -> None:
    out = marked(*tensors())
    loss = out.sum()
    loss.backward(retain_graph=True)
    assert Marked.alive() is not None
    loss.backward()
    assert Marked.alive() is None
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def checkpointed(*given: torch.Tensor, use_reentrant: bool) -> torch.Tensor:
    return checkpoint(marked, *given, use_reentrant=use_reentrant)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_activation_checkpointing(use_reentrant: bool) -> None:
    given = tensors()
    out = checkpointed(*given, use_reentrant=use_reentrant)
    assert Marked.alive() is None
    out.sin().sum().backward()
    theirs = torch.autograd.grad(plain(*given).sin().sum(), given)
    torch.testing.assert_close([t.grad for t in given], list(theirs), rtol=1e-10, atol=1e-13)


def test_what_is_saved_can_be_put_elsewhere() -> None:
    given = tensors()
    with saved_tensors_hooks(torch.clone, torch.clone):
        out = by_hand(*given)
    found = torch.autograd.grad(out.sin().sum(), given)
    theirs = torch.autograd.grad(plain(*given).sin().sum(), given)
    torch.testing.assert_close(found, theirs, rtol=1e-10, atol=1e-13)
