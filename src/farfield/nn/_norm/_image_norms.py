"""Normalizers of images and their maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypedDict, Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core.internal import (
    Checked,
    Limits,
    NonNegativeFloat,
    Size,
    check_arguments,
    extend_arguments,
)
from farfield.functional import field_norm, over_channel_groups, over_features, over_images
from farfield.functional.internal import Fold, field_center
from farfield.nn._norm._divisive_norm import DivisiveNorm2d
from farfield.nn._norm._normalizer import Normalizer


@final
@dataclass(frozen=True, kw_only=True)
class MapNormalizer(Checked):
    r"""Batch, layer or divisive normalization of maps, made once their number is known.

    $$v = z - \mathbb{E}_{\mathcal{A}}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}_{\mathcal{A}}[v^2]}} + \beta$$

    over a field $\mathcal{A}$ of each number: those of its channel in the whole batch
    (`ImageBatchNorm`, BN of the paper), all of its image (`GroupNorm` with one group, LN), or all
    channels of a window around it (`DivisiveNorm2d`, DN). Networks that take a normalizer call it
    with the number of channels and the side of the window; any function of the two serves them.

    Args:
        field: Numbers that are pooled: `"batch"`, `"layer"` or `"window"`.
        sigma: Number $\sigma$, whose square is added to the variance.
        learned_sigma: Whether $\sigma$ is learned, one number for each normalizer.
        affine: Whether gain $\gamma$ and shift $\beta$ of each channel are learned.

    Raises:
        ValueError: If a field is of another type, or the constant is below 0.

    Reference:
        ren2017, table 1 and section 3.3.
    """

    field: Literal["batch", "layer", "window"] = "batch"
    sigma: NonNegativeFloat = 0.01
    learned_sigma: bool = False
    affine: bool = False

    def __call__(self, num_channels: int, window: int) -> nn.Module:
        """Build the normalizer of a number of maps.

        Args:
            num_channels: Number of maps.
            window: Side of the window of divisive normalization, pixels.
        """
        sigma, learned, affine = self.sigma, self.learned_sigma, self.affine
        match self.field:
            case "batch":
                return ImageBatchNorm(
                    num_channels, sigma=sigma, learned_sigma=learned, affine=affine
                )
            case "layer":
                return GroupNorm(1, num_channels, sigma=sigma, learned_sigma=learned, affine=affine)
            case _:
                return DivisiveNorm2d(
                    num_channels, window, sigma=sigma, learned_sigma=learned, affine=affine
                )


@final
class IdentityNorm(nn.Module):
    """Return activations unchanged, in place of a normalizer.

    `farfield.objectives.CenteredL1` finds it by its method `center`, which subtracts no mean: the
    penalty is then the mean absolute activation, as in the baselines with L1 of ren2017.
    `torch.nn.Identity` has no such method.

    Args:
        num_features: Number of features, which plays no part.

    Shape:
        `(*batch, feature)` in and out.

    Raises:
        ValueError: If `num_features` is below 1.

    Reference:
        ren2017, table 7 (Baseline +L1).
    """

    @check_arguments
    def __init__(self, num_features: Size) -> None:
        super().__init__()
        self.num_features = num_features

    def forward(self, z: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch feature"]:
        """Return the activations."""
        return z

    def center(self, z: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch feature"]:
        """Return the activations."""
        return z

    def extra_repr(self) -> str:
        """Return the size, for `print`."""
        return str(self.num_features)


class SmoothedOptions(TypedDict, total=False):
    """Options of every normalizer with a number sigma."""

    sigma: NonNegativeFloat
    learned_sigma: bool
    affine: bool
    device: Device
    dtype: torch.dtype | None


class SmoothedNorm(Normalizer):
    r"""Base of normalizers by torch's kernels, smoothed by a number $\sigma$.

    $$v = z - \mathbb{E}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}[v^2]}} + \beta$$

    A subclass gives the field of the means, `_field`, and torch's kernel, which is used unless
    $\sigma$ is learned.

    Args:
        sigma: Number $\sigma$, whose square is added to the variance. The paper smooths with 0.25
            to 1; its released code adds 0.01 elsewhere.

    Raises:
        ValueError: If an argument is out of range or the number of features or channels differs.
    """

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        *,
        sigma: NonNegativeFloat = 0.01,
        learned_sigma: bool = False,
        affine: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(num_features, affine, learned_sigma, device, dtype, sigma=sigma)

    def _field(self, z: Tensor) -> Fold:
        """Fold the activations into the field that is pooled."""
        raise NotImplementedError

    def _by_torch(self, z: Tensor, eps: float) -> Tensor:
        """Apply torch's kernel, with a number added to the variance."""
        raise NotImplementedError

    def forward(self, z: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
        """Normalize the activations."""
        self._check(z)
        eps = self._smoothing()
        if not isinstance(eps, Tensor):
            return self._by_torch(z, eps)
        return self._scaled_and_shifted(field_norm(z, self._field, eps=eps))

    def center(self, z: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
        """Subtract the mean of the field from the activations, and divide nothing."""
        self._check(z)
        return field_center(z, self._field)


@final
class LayerNorm(SmoothedNorm):
    r"""Normalize every vector over its own features, smoothed by a constant.

    $$v = z - \mathbb{E}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}[v^2]}} + \beta$$

    with means over the features of one vector. It is `torch.nn.LayerNorm` with $\sigma^2$ for its
    `eps`, which here can be learned. For images ren2017 pools channels and pixels: that is
    `GroupNorm` with one group.

    Shape:
        `(*batch, feature)` in and out.

    Raises:
        ValueError: If an argument is out of range or the number of features differs.

    Reference:
        ren2017, table 1 and section 3.2 (LN-s); webb2020, section 4.2.
    """

    by_vector: ClassVar[bool] = True
    _field = staticmethod(over_features)

    def _by_torch(self, z: Tensor, eps: float) -> Tensor:
        return F.layer_norm(z, (self.num_features,), self.weight, self.bias, eps)


@final
class InstanceNorm(SmoothedNorm):
    r"""Normalize every channel of an image over its pixels, smoothed by a constant.

    $$v = z - \mathbb{E}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}[v^2]}} + \beta$$

    with means over the pixels of one channel of one image. It is `torch.nn.InstanceNorm2d` with
    $\sigma^2$ for its `eps`, which here can be learned.

    Shape:
        `(batch, channel, *position)` in and out.

    Raises:
        ValueError: If an argument is out of range or the number of channels differs.

    Reference:
        ren2017, section 2.1 and equations 3 and 4.
    """

    feature_axis = 1

    @extend_arguments(SmoothedNorm)
    def __init__(self, num_channels: Size, **options: Unpack[SmoothedOptions]) -> None:
        super().__init__(num_channels, **options)
        self.num_channels = num_channels

    def _field(self, z: Tensor) -> Fold:
        return over_channel_groups(self.num_channels)(z)

    def _by_torch(self, z: Tensor, eps: float) -> Tensor:
        if z.shape[0] == 0:  # torch's kernel looks at the first image
            return self._scaled_and_shifted(z)
        return F.instance_norm(z, None, None, self.weight, self.bias, True, 0.0, eps)


@final
class GroupNorm(SmoothedNorm):
    r"""Normalize an image over its pixels and groups of its channels, smoothed by a constant.

    $$v = z - \mathbb{E}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}[v^2]}} + \beta$$

    with means over all pixels and the channels of a group. It is `torch.nn.GroupNorm` with
    $\sigma^2$ for its `eps`, which here can be learned. One group is the layer normalization of
    ren2017 for images.

    Args:
        num_groups: Number of groups of consecutive channels.

    Shape:
        `(batch, channel, *position)` in and out.

    Raises:
        ValueError: If an argument is out of range or the number of channels differs.

    Reference:
        ren2017, table 1 and section 3.2 (LN-s); Wu and He 2018.
    """

    feature_axis = 1

    @extend_arguments(SmoothedNorm)
    def __init__(
        self, num_groups: Size, num_channels: Size, **options: Unpack[SmoothedOptions]
    ) -> None:
        if num_channels % num_groups:
            raise ValueError(
                f"num_groups must divide num_channels={num_channels}, got num_groups={num_groups}"
            )
        super().__init__(num_channels, **options)
        self.num_groups, self.num_channels = num_groups, num_channels

    def _field(self, z: Tensor) -> Fold:
        return over_channel_groups(self.num_groups)(z)

    def _by_torch(self, z: Tensor, eps: float) -> Tensor:
        return F.group_norm(z, self.num_groups, self.weight, self.bias, eps)


@final
class ImageBatchNorm(Normalizer):
    r"""Normalize every channel over the images of a batch and their pixels, smoothed by a constant.

    $$v = z - \mathbb{E}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}[v^2]}} + \beta$$

    with means over all images and pixels. It is `torch.nn.BatchNorm2d` with $\sigma^2$ for its
    `eps`, which here can be learned. In evaluation mode running averages replace the statistics of
    the batch. Either loads the state of the other: torch also counts batches, for averages without
    `momentum`, and that count is left out.

    Args:
        momentum: Weight of the newest batch in the running averages.

    Shape:
        `(batch, channel, *position)` in and out; vectors `(batch, channel)`, as of one step of a
        recurrent cell, have no pixels.

    Attributes:
        running_mean: Running average of the mean, starts at 0.
        running_var: Running average of the variance, starts at 1.

    Raises:
        ValueError: If an argument is out of range or the number of channels differs.

    Reference:
        ren2017, table 1 and section 3.2 (BN-s).
    """

    feature_axis = 1
    running_mean: Tensor
    running_var: Tensor

    @check_arguments
    def __init__(
        self,
        num_channels: Size,
        *,
        sigma: NonNegativeFloat = 0.01,
        learned_sigma: bool = False,
        affine: bool = True,
        momentum: Annotated[float, Limits(above=0, at_most=1)] = 0.1,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(num_channels, affine, learned_sigma, device, dtype, sigma=sigma)
        self.num_channels, self.momentum = num_channels, momentum
        mean = torch.zeros(num_channels, device=device, dtype=dtype)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", torch.ones_like(mean))
        # torch leaves this untyped.
        self.register_load_state_dict_pre_hook(_leave_out_count)  # type: ignore[no-untyped-call]

    def forward(
        self, z: Float[Tensor, "batch channel *position"]
    ) -> Float[Tensor, "batch channel *position"]:
        """Normalize the activations; in training mode the running averages move on."""
        self._check(z)
        averages, eps = (self.running_mean, self.running_var), self._smoothing()
        if not isinstance(eps, Tensor):
            affine = (self.weight, self.bias)
            return F.batch_norm(z, *averages, *affine, self.training, self.momentum, eps)
        if self.training:
            F.batch_norm(z.detach(), *averages, training=True, momentum=self.momentum)
            return self._scaled_and_shifted(field_norm(z, over_images, eps=eps))
        root = (self.running_var + eps).rsqrt().reshape(-1, *[1] * (z.ndim - 2))
        return self._scaled_and_shifted(self.center(z) * root)

    def center(
        self, z: Float[Tensor, "batch channel *position"]
    ) -> Float[Tensor, "batch channel *position"]:
        """Subtract the mean from the activations, and divide nothing."""
        self._check(z)
        if self.training:
            return field_center(z, over_images)
        return z - self.running_mean.reshape(-1, *[1] * (z.ndim - 2))

    def _check(self, z: Tensor) -> None:
        """Raise `ValueError` for channels that would broadcast silently."""
        if z.ndim < 2 or z.shape[1] != self.num_channels:
            raise ValueError(
                f"z must be (batch, channel, *position) with num_channels={self.num_channels} "
                f"channels, got shape {tuple(z.shape)}"
            )


def _leave_out_count(
    module: nn.Module, state: dict[str, Any], prefix: str, *_others: object
) -> None:
    """Leave out the number of batches, which torch's state has and this one has no use for."""
    del module
    state.pop(f"{prefix}num_batches_tracked", None)
