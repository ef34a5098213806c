"""Scales of the inputs of normalizers, beside the constants that they have learned."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from farfield.analysis._representations import chunks
from farfield.core import Problems


class NormalizerScale(NamedTuple):
    r"""A normalizer of a trained network.

    Attributes:
        name: Its name, as in `network.named_modules()`.
        input_scale: Mean absolute value of what it is given.
        sigma: Its constant $\sigma$.
    """

    name: str
    input_scale: float
    sigma: float


def normalizer_scales(network: nn.Module, problems: Problems) -> tuple[NormalizerScale, ...]:
    r"""The mean absolute input and the constant of each normalizer, in the order of their calls.

    A normalizer is a part with a constant `sigma`, such as `DivisiveNorm2d`. Of a learned $\sigma$
    its absolute value is given, since only its square is ever used.

    Args:
        network: A trained network, in evaluation mode.
        problems: What it is shown.

    Raises:
        ValueError: If the network calls no such part.

    Reference:
        ren2017, figure 3.
    """
    parts = {part: name for name, part in network.named_modules() if _has_sigma(part)}
    sums = dict[nn.Module, float]()
    counts = dict[nn.Module, int]()

    def see(part: nn.Module, inputs: tuple[Any, ...]) -> None:
        x: Tensor = inputs[0]
        sums[part] = sums.get(part, 0.0) + float(x.double().abs().sum())
        counts[part] = counts.get(part, 0) + x.numel()

    with torch.inference_mode(), ExitStack() as hooks:
        for part in parts:
            hooks.callback(part.register_forward_pre_hook(see).remove)
        for _, some in chunks(problems):
            network(some.table(), some.index)
    if not sums:
        raise ValueError(
            "network must call normalizers with a constant sigma, as farfield.nn.DivisiveNorm2d "
            f"has, got {type(network).__name__} without"
        )
    return tuple(
        NormalizerScale(parts[part], total / counts[part], abs(float(_sigma(part))))
        for part, total in sums.items()
    )


def _sigma(part: nn.Module) -> Any:
    sigma = getattr(part, "sigma", None)
    return sigma.detach() if isinstance(sigma, Tensor) else sigma


def _has_sigma(part: nn.Module) -> bool:
    return isinstance(_sigma(part), float | Tensor)
