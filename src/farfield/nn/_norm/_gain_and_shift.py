"""The parameters that normalizers share."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def gain_and_shift(
    num_features: int, *, affine: bool
) -> tuple[nn.Parameter | None, nn.Parameter | None]:
    """A gain of ones and a shift of zeros for each feature, or neither."""
    if not affine:
        return None, None
    return nn.Parameter(torch.ones(num_features)), nn.Parameter(torch.zeros(num_features))


def learned_root(eps: float, *, learned_sigma: bool) -> nn.Parameter | None:
    """The constant whose square is `eps`, as a parameter, or None if it is not learned."""
    return nn.Parameter(torch.tensor(float(eps) ** 0.5)) if learned_sigma else None


def constant(sigma: float, *, learned_sigma: bool) -> float | nn.Parameter:
    """The constant that is squared and added, as a number or as a parameter."""
    return nn.Parameter(torch.tensor(float(sigma))) if learned_sigma else float(sigma)


def as_number(sigma: float | Tensor) -> float:
    """The constant as it stands, for `print`."""
    return float(sigma.detach()) if isinstance(sigma, Tensor) else sigma


def scaled_and_shifted(
    y: Tensor, weight: Tensor | None, bias: Tensor | None, *, channel_axis: int = -1
) -> Tensor:
    """Gain and shift for every number of the axis that has them."""
    shape = [1] * y.ndim
    shape[channel_axis] = -1
    if weight is not None:
        y = y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def check_channels(z: Tensor, num_channels: int) -> None:
    """Refuse channels that would broadcast without a word."""
    if z.ndim < 3 or z.shape[1] != num_channels:
        raise ValueError(
            f"z must be (batch, channel, *place) with num_channels={num_channels} channels, "
            f"got shape {tuple(z.shape)}"
        )


def check_features(z: Tensor, num_features: int) -> None:
    """Refuse features that would broadcast without a word."""
    if z.shape[-1] != num_features:
        raise ValueError(
            f"z must have num_features={num_features} features, got shape {tuple(z.shape)}"
        )


def check_places(z: Tensor, num_features: int) -> None:
    """Refuse features that would broadcast, and a batch that would be taken for a time."""
    check_features(z, num_features)
    if z.ndim < 3:
        raise ValueError(
            f"z must be (*batch, time, {num_features}), got shape {tuple(z.shape)}: it is "
            "normalized over the places of a problem, and rows of (batch, feature), where "
            "torch.nn.BatchNorm1d stands, have none, and would be normalized over the batch; "
            "a single problem is z.unsqueeze(0)"
        )
