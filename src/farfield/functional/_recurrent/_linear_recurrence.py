"""A linear recurrence of numbers that do not mix."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from jaxtyping import Inexact
from torch import Tensor
from torch.nn import functional as F

from farfield._machine import on_cpu


def linear_recurrence(
    inputs: Inexact[Tensor, "time batch feature"],
    decay: Inexact[Tensor, " feature"],
    state: Inexact[Tensor, "batch feature"],
) -> Inexact[Tensor, "time batch feature"]:
    r"""States of a linear recurrence after every step, real or complex.

    $$h_t = \lambda h_{t-1} + u_t$$

    On a CPU the steps follow each other, which is fastest there. Elsewhere the sequence is cut
    into about $\sqrt T$ pieces: all go through their steps at the same time, each from zero, then
    what each ends in is carried through the next and added with the power of $\lambda$ that it has
    come to. That is $2 \sqrt T$ operations one after the other instead of $T$, and no division by
    a power that is nearly zero.

    Args:
        inputs: $u$.
        decay: $\lambda$.
        state: $h_0$.

    Raises:
        ValueError: If there are no steps.

    Reference:
        orvieto2023, section 2.2, by another way than its parallel scan.
    """
    if len(inputs) == 0:
        raise ValueError("inputs must have at least one step, got 0")
    if on_cpu(inputs):
        return torch.stack(_steps(decay, inputs.unbind(0), state))
    return _in_pieces(inputs, decay, state)


def _in_pieces(inputs: Tensor, decay: Tensor, state: Tensor) -> Tensor:
    time = len(inputs)
    length = math.isqrt(time - 1) + 1
    pieces = -(-time // length)
    padded = F.pad(inputs, (0, 0, 0, 0, 0, pieces * length - time))
    by_step = padded.reshape(pieces, length, *inputs.shape[1:]).unbind(1)
    within = _steps(decay, by_step, torch.zeros_like(by_step[0]))
    powers = _steps(decay, [torch.zeros_like(decay)] * length, torch.ones_like(decay))
    ends = _steps(powers[-1], within[-1].unbind(0)[:-1], state)
    carried = torch.stack([state, *ends])
    whole = [own + power * carried for own, power in zip(within, powers, strict=True)]
    return torch.stack(whole, dim=1).flatten(0, 1)[:time]


def _steps(decay: Tensor, inputs: Sequence[Tensor], state: Tensor) -> list[Tensor]:
    states = []
    for each in inputs:
        state = torch.addcmul(each, decay, state)
        states.append(state)
    return states
