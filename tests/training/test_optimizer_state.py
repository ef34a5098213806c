"""The state of every optimizer that torch has, saved and restored whole."""

from __future__ import annotations

import inspect

import pytest
import torch
from torch import Tensor

from farfield.training._state import load_optimizer_state, optimizer_state

OPTIMIZERS = {
    name: cls
    for name, cls in inspect.getmembers(torch.optim, inspect.isclass)
    if issubclass(cls, torch.optim.Optimizer) and cls is not torch.optim.Optimizer
}
MOMENTUM = {"SGD", "RMSprop"}


def optimizer_of(name: str, parameter: Tensor) -> torch.optim.Optimizer:
    options = {"momentum": 0.9} if name in MOMENTUM else {}
    return OPTIMIZERS[name]([parameter], lr=0.01, **options)


def take_steps(optimizer: torch.optim.Optimizer, parameter: Tensor, steps: range) -> None:
    for step in steps:
        inputs = torch.randn(5, 4, generator=torch.Generator().manual_seed(step))

        def closure(inputs: Tensor = inputs) -> Tensor:
            optimizer.zero_grad()
            loss = (inputs @ parameter).square().mean()
            loss.backward()
            if isinstance(optimizer, torch.optim.SparseAdam):
                parameter.grad = parameter.grad.to_sparse()
            return loss

        optimizer.step(closure)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_state_to_file_and_back_is_the_identity(name: str) -> None:
    start = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    first = start.clone().requires_grad_()
    optimizer = optimizer_of(name, first)
    take_steps(optimizer, first, range(3))
    saved = {path: tensor.clone() for path, tensor in optimizer_state([optimizer]).items()}
    assert len(saved) > 1

    second = first.detach().clone().requires_grad_()
    restored = optimizer_of(name, second)
    load_optimizer_state([restored], saved)
    again = optimizer_state([restored])
    assert again.keys() == saved.keys()
    for path, tensor in saved.items():
        assert torch.equal(again[path], tensor), path
        assert again[path].dtype == tensor.dtype, path

    take_steps(optimizer, first, range(3, 6))
    take_steps(restored, second, range(3, 6))
    assert torch.equal(first, second)


def test_a_restored_state_shares_no_memory_with_what_was_saved() -> None:
    parameter = torch.ones(4, 3, requires_grad=True)
    optimizer = optimizer_of("SGD", parameter)
    take_steps(optimizer, parameter, range(2))
    saved = optimizer_state([optimizer])
    kept = {path: tensor.clone() for path, tensor in saved.items()}
    restored = optimizer_of("SGD", parameter)
    load_optimizer_state([restored], saved)
    take_steps(restored, parameter, range(2))
    assert all(torch.equal(saved[path], tensor) for path, tensor in kept.items())
