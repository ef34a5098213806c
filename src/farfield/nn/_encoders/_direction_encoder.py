"""An encoder of objects that only the direction of their texture shows."""

from __future__ import annotations

import math
from typing import ClassVar, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core.internal import PositiveFloat, Size, check_arguments
from farfield.functional.internal import as_fractions
from farfield.nn._encoders._encoders import check_item_shape, check_items

_FLAT = 30 / 255**2
"""Squared gradient below which direction counts for less."""
_WIDTHS = 9
"""Widths at which candidates are looked for."""
_TURNS = 6
"""Turns of a square from which the fit begins."""
_STEPS = (1.5, 1.5, 2.0, 0.2)
"""First steps of the fit: pixels, pixels, pixels of width, radians."""
_ROUNDS = 4
"""Rounds of the fit, each with steps 0.6 times as long as before."""
_RADII = (0.5, 0.7, 0.85, 0.95, 1.05, 1.15, 1.25, 1.4)
"""Radii of the circles of a profile, in radii of the disk of equal area."""
_POINTS = 32
"""Points of a circle."""
_WAVES = (1, 2, 3, 4, 6)
"""Waves around a circle whose size is kept, besides the mean."""
_RADIUS = math.pi**-0.5
"""Radius of the disk with the area of a square of width 1."""


@final
class DirectionEncoder(nn.Module):
    r"""Find objects by the direction of their texture, without learning; describe each candidate.

    $$d = \tanh 3\, G * \frac{-\,\mathrm{Re}\, g^2\, \overline{u}}{|g|^2 + \epsilon}, \qquad
      u = \frac{\sum g^2}{|\sum g^2|}, \qquad
      f(x, y, s, \alpha) = \overline{d}_\text{inside} - \overline{d}_\text{around}$$

    for the gradient $g$ of a picture as a complex number, so that $g^2$ has twice its angle, and a
    narrow Gaussian $G$. The map $d$ is 1 where texture runs across the direction of the whole
    picture, and −1 along it. Candidates are the highest peaks, over position and width, of the
    contrast of a disk with a ring around it. From each peak the contrast $f$ of a square is
    maximized; center, width and $f$ are kept, and a profile that does not depend on turns:
    the mean of $d$ on circles around the center, and the sizes of waves on them. Which candidate
    matters is left to a scorer that learns (`SelectiveScorer`). If a picture is moved, so are all
    candidates. `MomentEncoder` and `SilhouetteEncoder` need color.

    Args:
        item_shape: Height and width of an image in pixels, even.
        num_objects: Number of candidates, which are objects or parts of the ground.
        narrowest: Smallest width of a candidate before the fit, pixels.
        widest: Largest width.

    Shape:
        `(item, height, width)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, num_objects * candidate_features)`, candidate by candidate: center from the left,
        from the top, and width, in tens of pixels; then $f$, means and waves.

    Attributes:
        candidate_features: Numbers of a candidate, 52.

    Raises:
        ValueError: If a size is below 1, a side is odd, or the widths are out of order.

    Reference:
        Doubled angles: Granlund 1978; structure tensor: Bigün & Granlund 1987. Made for webb2020's
        analogies, shown by direction.
    """

    is_pure: ClassVar[bool] = True
    candidate_features: ClassVar[int] = 4 + len(_RADII) * (1 + len(_WAVES))
    rings: Tensor
    widths: Tensor

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (96, 96),
        *,
        num_objects: Size = 9,
        narrowest: PositiveFloat = 15.0,
        widest: PositiveFloat = 35.0,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.item_shape = check_item_shape(item_shape)
        if any(side % 2 for side in self.item_shape):
            raise ValueError(f"item_shape must have even sides, got {item_shape}")
        if narrowest >= widest:
            raise ValueError(f"widest must be above narrowest ({narrowest}), got {widest}")
        self.num_objects = num_objects
        self.out_features = num_objects * self.candidate_features
        steps = torch.linspace(0, 1, _WIDTHS, dtype=dtype or torch.float32)
        widths = narrowest * (widest / narrowest) ** steps
        self.register_buffer("widths", widths, persistent=False)
        self.register_buffer("rings", self._rings(widths), persistent=False)
        self.to(device=device, dtype=dtype)

    def forward(self, items: Shaped[Tensor, "item height width"]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        check_items(items, self.item_shape)
        if len(items) == 0:  # of which torch has no spectrum
            return self.widths.new_zeros(0, self.out_features)
        dtype = torch.promote_types(self.widths.dtype, torch.float32)
        with torch.no_grad():
            directions = relative_direction(as_fractions(items, dtype))
            squares, contrast = self._fitted(directions, self._peaks(directions))
            profiles = _profiles(directions, squares)
            features = [squares[..., :3] / 10, contrast.unsqueeze(-1), profiles]
            return torch.cat(features, dim=-1).flatten(1).to(self.widths.dtype)

    def _rings(self, widths: Float[Tensor, " value"]) -> Float[Tensor, "value height width"]:
        """Return kernels, at half the resolution: a disk less the ring around it.

        Their middle is at the first pixel, and they go around the edges, as a product of spectra
        takes them.
        """
        reach = math.ceil(0.75 * _RADIUS * float(widths[-1])) + 1
        down, across = (
            torch.fft.fftfreq(side // 2 + reach, 1 / (side // 2 + reach), dtype=widths.dtype)
            for side in self.item_shape
        )
        distance = torch.hypot(down[:, None], across)
        disks = [
            (factor * _RADIUS / 2 * widths[:, None, None] + 0.5 - distance).clamp(0, 1)
            for factor in (1.0, 1.5)
        ]
        inside, around = disks[0], disks[1] - disks[0]
        return inside / inside.sum((1, 2), True) - around / around.sum((1, 2), True)

    def _peaks(
        self, directions: Float[Tensor, "item height width"]
    ) -> Float[Tensor, "item candidate 3"]:
        """Return center and width of the highest peaks of the contrast of disks."""
        halves = F.avg_pool2d(directions.unsqueeze(1), 2) + 1
        height, width = halves.shape[2:]
        size = self.rings.shape[1:]
        spectra = torch.fft.rfft2(halves, s=size) * torch.fft.rfft2(self.rings.to(halves.dtype))
        contrast = torch.fft.irfft2(spectra, s=size)[..., :height, :width]
        highest = F.max_pool3d(contrast, (3, 5, 5), stride=1, padding=(1, 2, 2))
        peaks = torch.where(contrast < highest, contrast - 4, contrast).flatten(1)
        rows = peaks.topk(self.num_objects, dim=1).indices
        x, y = rows % width, rows // width % height
        at = [2 * x + 0.5, 2 * y + 0.5, self.widths[rows // (width * height)]]
        return torch.stack([one.to(directions.dtype) for one in at], dim=-1)

    def _fitted(
        self,
        directions: Float[Tensor, "item height width"],
        peaks: Float[Tensor, "item candidate 3"],
    ) -> tuple[Float[Tensor, "item candidate 4"], Float[Tensor, "item candidate"]]:
        """Find the squares of highest contrast beside peaks: center, width and turn; contrast."""
        turns = torch.arange(_TURNS, device=peaks.device, dtype=peaks.dtype) * math.pi / 2 / _TURNS
        starts = peaks.unsqueeze(2).expand(-1, -1, _TURNS, -1)
        starts = torch.cat([starts, turns.expand(starts.shape[:-1]).unsqueeze(-1)], dim=-1)
        best = _contrast(directions, starts).argmax(2, keepdim=True)
        squares = starts.gather(2, best.unsqueeze(-1).expand(-1, -1, -1, 4)).squeeze(2)
        steps = torch.tensor(_STEPS, device=peaks.device, dtype=peaks.dtype)
        for _ in range(_ROUNDS):
            moves = torch.cat([0 * steps.unsqueeze(0), torch.diag(steps), -torch.diag(steps)])
            found = _contrast(directions, squares.unsqueeze(2) + moves)
            here, ahead, behind = found[..., :1], found[..., 1:5], found[..., 5:]
            bend = 2 * here - ahead - behind
            slope = ahead - behind
            inside = slope / (2 * bend.clamp(min=1e-4))
            move = torch.where(bend > 1e-4, inside, slope.sign()).clamp(-1, 1)
            squares = squares + move * steps
            steps = 0.6 * steps
        return squares, _contrast(directions, squares.unsqueeze(2)).squeeze(2)

    def extra_repr(self) -> str:
        """Return the options, for `print`."""
        return f"item_shape={self.item_shape}, num_objects={self.num_objects}"


def relative_direction(
    pictures: Float[Tensor, "item height width"],
) -> Float[Tensor, "item height width"]:
    """Compare the direction of texture at each pixel with the picture's: 1 across, −1 along.

    Args:
        pictures: The pictures, 0…1.
    """
    reach = torch.arange(-3.0, 4.0, device=pictures.device, dtype=pictures.dtype)
    narrow, smooth = (torch.exp(-(reach**2) / (2 * width**2)) for width in (0.5, 1.0))
    narrow, smooth = narrow / narrow.sum(), smooth / smooth.sum()
    slope = reach * narrow / 0.25
    across, down = _filtered(pictures, slope, narrow), _filtered(pictures, narrow, slope)
    cosine, sine = across.square() - down.square(), 2 * across * down
    whole_cosine, whole_sine = (one.sum((1, 2), keepdim=True) for one in (cosine, sine))
    whole = torch.hypot(whole_cosine, whole_sine) + 1e-12
    relative = -(cosine * whole_cosine + sine * whole_sine) / whole
    relative = relative / (across.square() + down.square() + _FLAT)
    return torch.tanh(3 * _filtered(relative, smooth, smooth))


def _filtered(
    maps: Float[Tensor, "item height width"],
    across: Float[Tensor, " position"],
    down: Float[Tensor, " position"],
) -> Float[Tensor, "item height width"]:
    """Filter maps, mirrored at the border, along their rows and along their columns."""
    margin = len(across) // 2
    maps = F.pad(maps.unsqueeze(1), (margin,) * 4, mode="reflect")
    maps = F.conv2d(F.conv2d(maps, across[None, None, None]), down[None, None, :, None])
    return maps.squeeze(1)


def _values(
    maps: Float[Tensor, "item height width"],
    x: Float[Tensor, "item ..."],
    y: Float[Tensor, "item ..."],
) -> Float[Tensor, "item ..."]:
    """Interpolate maps at points, in pixels."""
    height, width = maps.shape[1:]
    grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], dim=-1)
    grid = grid.reshape(len(maps), 1, -1, 2)
    values = F.grid_sample(maps.unsqueeze(1), grid, padding_mode="border", align_corners=False)
    return values.reshape(x.shape)


def _contrast(
    directions: Float[Tensor, "item height width"], squares: Float[Tensor, "item ... 4"]
) -> Float[Tensor, "item ..."]:
    """Return the mean inside of squares less the mean around them."""
    x, y, width, turn = (one[..., None] for one in squares.unbind(-1))
    line = torch.linspace(-1.45, 1.45, 18, device=x.device, dtype=x.dtype)
    down, across = (one.flatten() for one in torch.meshgrid(line, line, indexing="ij"))
    inside = (torch.maximum(down.abs(), across.abs()) < 1).to(x.dtype)
    weight = inside / inside.sum() - (1 - inside) / (1 - inside).sum()
    cosine, sine = width / 2 * torch.cos(turn), width / 2 * torch.sin(turn)
    points = (x + across * cosine - down * sine, y + across * sine + down * cosine)
    return _values(directions, *points) @ weight


def _profiles(
    directions: Float[Tensor, "item height width"], squares: Float[Tensor, "item candidate 4"]
) -> Float[Tensor, "item candidate feature"]:
    """Return means on circles around candidates, and the sizes of waves on these circles."""
    x, y, width = (one[..., None, None] for one in squares.unbind(-1)[:3])
    radii = torch.tensor(_RADII, device=x.device, dtype=x.dtype)[:, None] * _RADIUS * width
    angle = torch.arange(_POINTS, device=x.device, dtype=x.dtype) * 2 * math.pi / _POINTS
    values = _values(directions, x + radii * torch.cos(angle), y + radii * torch.sin(angle))
    waves = torch.fft.rfft(values, dim=-1) / _POINTS
    sizes = waves[..., list(_WAVES)].abs().flatten(-2)
    return torch.cat([waves[..., 0].real, sizes], dim=-1)
