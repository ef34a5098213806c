"""Parts of all normalizers: gain and shift, constant, checks of inputs, and the print."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.types import Device


class Normalizer(nn.Module):
    """A normalizer with a gain and a shift of each feature, and a constant added to the variance.

    Args:
        affine: Whether gain and shift of each are learned.
        eps: Added to the variance, where no `sigma` is given.
        sigma: The constant, whose square is added to the variance.
        learned_sigma: Whether the constant is learned, from `sigma` or the root of `eps`.

    Attributes:
        feature_axis: The axis of what is normalized that the features are on.
    """

    feature_axis: ClassVar[int] = -1
    eps: float

    def __init__(
        self,
        num_features: int,
        *,
        affine: bool,
        eps: float = 0.0,
        sigma: float | None = None,
        learned_sigma: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
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
        *,
        device: Device,
        dtype: torch.dtype | None,
    ) -> None:
        """Make buffers for statistics that are still to be taken, or None where none are kept."""
        for name in names:
            unknown = None
            if shape is not None:
                unknown = torch.full(tuple(shape), torch.nan, device=device, dtype=dtype)
            self.register_buffer(name, unknown)

    def _smoothing(self) -> float | Tensor:
        """The number that is added to the variance."""
        return self.eps if self.sigma is None else self.sigma**2

    def _scaled_and_shifted(self, y: Tensor) -> Tensor:
        """Gain and shift for every number of the axis that has them."""
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
                f"z must be (batch, channel, *place) with num_channels={self.num_features} "
                f"channels, got shape {tuple(z.shape)}"
            )

    def extra_repr(self) -> str:
        """The options, for `print`."""
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
            "normalized over the places of a problem, and rows of (batch, feature), where "
            "torch.nn.BatchNorm1d stands, have none, and would be normalized over the batch; "
            "a single problem is z.unsqueeze(0)"
        )
