"""Tensors and modules away from their first values, for tests of models."""

from __future__ import annotations

import functools

import numpy as np
import torch

gradcheck = functools.partial(torch.autograd.gradcheck, fast_mode=True)
gradgradcheck = functools.partial(torch.autograd.gradgradcheck, fast_mode=True)
"""Along random directions, which notice every wrong gradient."""


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def drawn(*shape: int, seed: int = 7) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=generator(seed))


def unsettled(module: torch.nn.Module) -> torch.nn.Module:
    """All parameters away from their first values, in float64."""
    source = generator(1)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=source))
    return module.double()


def away(network: torch.nn.Module, training: bool = True) -> torch.nn.Module:
    """Parameters and running averages away from their first values."""
    network, source = unsettled(network), generator(2)
    for name, buffer in network.named_buffers():
        if buffer.is_floating_point():
            moved = torch.rand(buffer.shape, generator=source, dtype=buffer.dtype)
            buffer.copy_(moved + 0.5 if name.endswith("var") else moved - 0.5)
    return network.train(training)


def state_of(module: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in module.state_dict().items()}


def assert_spread(weight: torch.Tensor, deviation: float) -> None:
    """Root mean square as named, within five standard errors of a normal's."""
    found = weight.detach().square().mean().sqrt().item()
    assert abs(found / deviation - 1) < 5 / (2 * weight.numel()) ** 0.5
