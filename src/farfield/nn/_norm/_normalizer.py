"""Base of all normalizers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.types import Device


class Normalizer(nn.Module):
    r"""Base of normalizers: gain and shift of each feature, and a constant added to the variance.

    Args:
        affine: True for a learned gain and shift of each feature or channel.
        learned_sigma: True for one learned number $\sigma$ per layer, at first `sigma` or the root
            of `eps`.
        eps: Number added to the variance.
        sigma: Number $\sigma$, whose square is added to the variance in place of `eps`.

    Attributes:
        weight: Gain $\gamma$, starts at 1; None without gain and shift.
        bias: Shift $\beta$, starts at 0; None without gain and shift.
        sigma: Number $\sigma$, a parameter if it is learned; None if `eps` is added.
    """

    feature_axis: ClassVar[int] = -1
    eps: float
    test_batch_size: int

    def __init__(
        self,
        num_features: int,
        affine: bool,
        learned_sigma: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        eps: float = 0.0,
        sigma: float | None = None,
    ) -> None:
        super().__init__()
        self.num_features, self.affine, self.learned_sigma = num_features, affine, learned_sigma
        if sigma is None:
            self.eps = eps
        self.weight: nn.Parameter | None = None
        self.bias: nn.Parameter | None = None
        if affine:
            self.weight = nn.Parameter(torch.ones(num_features))
            self.bias = nn.Parameter(torch.zeros(num_features))
        self.sigma: float | nn.Parameter | None = sigma
        if learned_sigma:
            self.sigma = nn.Parameter(torch.tensor(eps**0.5 if sigma is None else sigma))
        self.to(device=device, dtype=dtype)

    def _keep(
        self,
        names: tuple[str, ...],
        shape: Sequence[int] | None,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Register buffers of unknown statistics, nan; None if no shape is given."""
        for name in names:
            unknown = None
            if shape is not None:
                unknown = torch.full(tuple(shape), torch.nan, device=device, dtype=dtype)
            self.register_buffer(name, unknown)

    def _in_batches(self, function: Callable[[Tensor], Tensor], z: Tensor) -> Tensor:
        """Apply a function to a batch, in evaluation mode to `test_batch_size` problems a time."""
        self._check(z)
        if self.training or len(z) <= self.test_batch_size:
            return function(z)
        return torch.cat([function(part) for part in torch.split(z, self.test_batch_size)])

    def _smoothing(self) -> float | Tensor:
        """Number that is added to the variance."""
        return self.eps if self.sigma is None else self.sigma**2

    def _scaled_and_shifted(self, y: Tensor) -> Tensor:
        """Apply gain and shift along the axis of features or channels."""
        shape = [1] * y.ndim
        shape[self.feature_axis] = -1
        if self.weight is not None:
            y = y * self.weight.reshape(shape)
        return y if self.bias is None else y + self.bias.reshape(shape)

    def _check(self, z: Tensor) -> None:
        """Raise `ValueError` for features or channels that would broadcast silently."""
        if self.feature_axis == -1:
            check_features(z, self.num_features)
        elif z.ndim < 3 or z.shape[1] != self.num_features:
            raise ValueError(
                f"z must be (batch, channel, *position) with num_channels={self.num_features} "
                f"channels, got shape {tuple(z.shape)}"
            )

    def extra_repr(self) -> str:
        """Return the options, for `print`."""
        shown = []
        for name, parameter in inspect.signature(type(self)).parameters.items():
            if name in {"device", "dtype"}:
                continue
            value = getattr(self, name)
            if isinstance(value, Tensor):
                value = value.item()
            if isinstance(value, float):
                value = f"{value:g}"
            is_named = parameter.kind is inspect.Parameter.KEYWORD_ONLY
            shown.append(f"{name}={value}" if is_named else f"{value}")
        return ", ".join(shown)


def check_features(z: Tensor, num_features: int) -> None:
    """Raise `ValueError` for features that would broadcast silently."""
    if z.shape[-1] != num_features:
        raise ValueError(
            f"z must have num_features={num_features} features, got shape {tuple(z.shape)}"
        )


def check_places(z: Tensor, num_features: int) -> None:
    """Raise `ValueError` for features that would broadcast, or a batch without positions."""
    check_features(z, num_features)
    if z.ndim < 3:
        raise ValueError(
            f"z must be (*batch, time, {num_features}), got shape {tuple(z.shape)}: it is "
            "normalized over the time steps of a problem, and rows of (batch, feature), as of "
            "torch.nn.BatchNorm1d, have none, and would be normalized over the batch; "
            "a single problem is z.unsqueeze(0)"
        )
