"""Changes of items: attacks, light, deformations, occlusion."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import radians
from typing import Annotated, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream
from farfield.core.internal import Checked, Limits, NonNegativeFloat, PositiveFloat, Size
from farfield.functional.internal import as_fractions, box_around, check_bounds, square_mask
from farfield.tasks import Regime
from farfield.tasks.internal import axes_of

Model = Callable[[Tensor, Tensor], Tensor]
"""Function from `(items, index)` to outputs."""

Loss = Callable[[Tensor, Problems], Tensor]
"""Loss of a task, one number per problem."""


@final
@dataclass(frozen=True, kw_only=True)
class FGSM(Checked):
    r"""Step of the items along the sign of the loss gradient, of one size for all numbers.

    $$x' = \operatorname{clip}\left(x + \epsilon \operatorname{sign} \nabla_x \ell(f(x), y)\right)$$

    Images of uint8 are taken as fractions 0…1, and stay within them.

    Args:
        eps: Size of the step, in the unit of the items (of images, a fraction of full intensity).
        of: Name of the regime whose problems are attacked.
        bounds: Least and largest number of an item, e.g. `(0.0, 1.0)`; `None` for no bounds.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        Goodfellow et al. 2015; lamb2022, section 4.5.3.
    """

    eps: PositiveFloat
    of: str
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_bounds(self.bounds)

    @property
    def regime(self) -> Regime:
        """Regime of attacked problems."""
        return Regime(name=f"fgsm-{self.eps:g}-{self.of}", distance=self.eps, unit="ε")

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """Perturb the problems; each gets separate items.

        Args:
            model: The network that is attacked.
            loss: Loss of the task, one number per problem.
            stream: Not used.
        """
        del stream
        attacked, box = _start(problems, self.eps, self.bounds)
        return _step(model, attacked, loss, self.eps, box)


@final
@dataclass(frozen=True, kw_only=True)
class PGD(Checked):
    r"""Projected gradient descent: steps along the sign of the loss gradient within a box.

    $$x_{t + 1} = \Pi\left(x_t + \alpha \operatorname{sign} \nabla_x \ell(f(x_t), y)\right)$$

    with $\Pi$ the nearest point of the box $|x - x_0| \leq \epsilon$, as far as it lies within the
    bounds. `FGSM` is one step of size ε from $x_0$.

    An attack without a bound, with ε as large as the range of the items and hundreds of steps from
    $x_0$, is a check for masked gradients: it brings a network whose gradients can be trusted to an
    accuracy near 0. Images of uint8 are taken as fractions 0…1, and stay within them.

    Args:
        eps: Largest change of a number, in the unit of the items.
        steps: Number of steps.
        step_size: Size $\alpha$ of a step, in the same unit.
        of: Name of the regime whose problems are attacked.
        random_start: Whether the first point is drawn from the box; otherwise it is $x_0$.
        bounds: Least and largest number of an item, e.g. `(0.0, 1.0)`; `None` for no bounds.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        Madry et al. 2018; Athalye et al. 2018, section 3.1, for the check; lamb2022, section
        4.5.3. The released code has neither a projection nor a random start.
    """

    eps: PositiveFloat
    steps: Size
    step_size: PositiveFloat
    of: str
    random_start: bool = True
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_bounds(self.bounds)

    @property
    def regime(self) -> Regime:
        """Regime of attacked problems."""
        name = f"pgd-{self.steps}-{self.eps:g}-{self.of}"
        return Regime(name=name, distance=self.eps, unit="ε")

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """Perturb the problems; each gets separate items.

        Args:
            model: The network that is attacked.
            loss: Loss of the task, one number per problem.
            stream: Source of the first points.
        """
        attacked, box = _start(problems, self.eps, self.bounds)
        if self.random_start:
            items = attacked.table()
            shift = torch.rand(items.shape, generator=stream.torch()).to(items) * 2 - 1
            moved = (items + self.eps * shift).clamp(*box)
            attacked = dataclasses.replace(attacked, items=moved)
        for _ in range(self.steps):
            attacked = _step(model, attacked, loss, self.step_size, box)
        return attacked


def _start(
    problems: Problems, eps: float, bounds: tuple[float, float] | None
) -> tuple[Problems, tuple[Tensor, Tensor]]:
    """Give each problem separate items as numbers; return their least and largest values too."""
    problems = problems.unshared()
    items, *box = box_around(problems.table(), eps, bounds)
    return dataclasses.replace(problems, items=items), (box[0], box[1])


def _step(
    model: Model, problems: Problems, loss: Loss, size: float, box: tuple[Tensor, Tensor]
) -> Problems:
    """Move the problems one step along the sign of the gradient, within the box."""
    with torch.enable_grad():
        items = problems.table().detach().requires_grad_()
        shown = dataclasses.replace(problems, items=items)
        total = loss(model(items, problems.index), shown).sum()
        (slope,) = torch.autograd.grad(total, items)
    moved = (items.detach() + size * slope.sign()).clamp(*box)
    return dataclasses.replace(problems, items=moved)


class NetworkChange(Checked):
    """Change of the network that answers; a subclass is a frozen dataclass with a `network`."""

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """Return the problems, unchanged.

        Args:
            model: Not used.
            loss: Not used.
            stream: Not used.
        """
        del model, loss, stream
        return problems


@dataclass(frozen=True, kw_only=True)
class _ImageChange(Checked):
    """Change of the images of problems, which no network and no loss enters.

    A subclass names its strength (`_strength`) and changes the images (`_change`).

    Args:
        of: Name of the regime whose problems are changed.
    """

    of: str

    @property
    def regime(self) -> Regime:
        """Regime of changed problems."""
        name, distance, unit = self._strength()
        return Regime(name=f"{name}-{self.of}", distance=distance, unit=unit)

    @abstractmethod
    def _strength(self) -> tuple[str, float, str]:
        """Return the name of the change with its strength, the distance, and its unit."""

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """Change the images of problems.

        Args:
            model: Not used.
            loss: Not used.
            stream: Source of random numbers.

        Raises:
            ValueError: If the items are no images.
        """
        del model, loss
        return self._change(problems, stream)

    @abstractmethod
    def _change(self, problems: Problems, stream: Stream) -> Problems:
        """Change the images, by random numbers of the stream where some are drawn."""


def _images_of(problems: Problems, purpose: str = "") -> tuple[Tensor, tuple[str, ...]]:
    """Return the items of problems as fractions, and the names of their axes.

    Args:
        problems: Problems over images.
        purpose: End of the message of the error.

    Raises:
        ValueError: If the items are no images.
    """
    items = as_fractions(problems.table())
    axes = axes_of(tuple(items.shape[1:]))
    if "height" not in axes:
        raise ValueError(f"items must be images{purpose}, got shape {(*items.shape[1:],)}")
    return items, axes


@final
@dataclass(frozen=True, kw_only=True)
class Brightness(_ImageChange):
    r"""A number added to every pixel of an image.

    $$y = \min(\max(x + b, 0), 1)$$

    Images of uint8 become fractions 0…1, which they stay. Axes are as in `axes_of`.

    Args:
        shift: $b$, a fraction of full intensity; below 0 images are darker.

    Raises:
        ValueError: If a field is of another type, or out of its range.
    """

    shift: Annotated[float, Limits(at_least=-1, at_most=1)]

    def _strength(self) -> tuple[str, float, str]:
        unit = f"% of full intensity {'added' if self.shift > 0 else 'taken off'}"
        return f"brightness{self.shift:+g}", round(100 * abs(self.shift), 9), unit

    def _change(self, problems: Problems, stream: Stream) -> Problems:
        del stream
        return _changed(problems, lambda images: images + self.shift)


@final
@dataclass(frozen=True, kw_only=True)
class Contrast(_ImageChange):
    r"""The differences of the pixels of an image from its mean, times a factor.

    $$y = \min(\max(\bar x + c (x - \bar x), 0), 1)$$

    with $\bar x$ the mean of all pixels and channels of the image. Images are as in `Brightness`.

    Args:
        factor: $c$: below 1 images are flatter, at 0 they are uniform.

    Raises:
        ValueError: If a field is of another type, or the factor is below 0.
    """

    factor: NonNegativeFloat

    def _strength(self) -> tuple[str, float, str]:
        unit = f"% of contrast {'added' if self.factor > 1 else 'taken off'}"
        return f"contrast-{self.factor:g}", round(100 * abs(self.factor - 1), 9), unit

    def _change(self, problems: Problems, stream: Stream) -> Problems:
        del stream

        def scaled(images: Tensor) -> Tensor:
            mean = images.mean(tuple(range(1, images.ndim)), keepdim=True)
            return mean + self.factor * (images - mean)

        return _changed(problems, scaled)


def _changed(problems: Problems, change: Callable[[Tensor], Tensor]) -> Problems:
    """Change the images of problems, and clamp pixels to 0…1."""
    images, _ = _images_of(problems)
    return dataclasses.replace(problems, items=change(images).clamp(0, 1))


@final
@dataclass(frozen=True, kw_only=True)
class Rotation(_ImageChange):
    """Rotation of each image around its center, by an angle drawn uniformly to both sides.

    Numbers between pixels are interpolated bilinearly; outside an image there are zeros, black if
    it is not standardized. Images of uint8 become fractions 0…1. Axes are as in `axes_of`.

    Args:
        degrees: Largest angle to either side.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        lamb2022, Table 4.
    """

    degrees: Annotated[float, Limits(above=0, at_most=180)]

    def _strength(self) -> tuple[str, float, str]:
        return f"rotation-{self.degrees:g}", self.degrees, "degrees of rotation"

    def _change(self, problems: Problems, stream: Stream) -> Problems:
        angle = _angles(self.degrees, problems, stream)
        cosine, sine = angle.cos(), angle.sin()
        return _sampled(problems, _matrices(cosine, -sine, sine, cosine))


@final
@dataclass(frozen=True, kw_only=True)
class Shear(_ImageChange):
    """Horizontal shear of each image around its center, by an angle drawn uniformly to both sides.

    An upright line is tilted by the angle, so that a row moves by its height over the center times
    the tangent. Pixels and axes are as in `Rotation`.

    Args:
        degrees: Largest angle to either side.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        lamb2022, Table 4, whose angles are 0.5 and 1 in radians.
    """

    degrees: Annotated[float, Limits(above=0, below=90)]

    def _strength(self) -> tuple[str, float, str]:
        return f"shear-{self.degrees:g}", self.degrees, "degrees of shear"

    def _change(self, problems: Problems, stream: Stream) -> Problems:
        slope = _angles(self.degrees, problems, stream).tan()
        one, zero = torch.ones_like(slope), torch.zeros_like(slope)
        return _sampled(problems, _matrices(one, slope, zero, one))


@final
@dataclass(frozen=True, kw_only=True)
class Zoom(_ImageChange):
    """Zoom of every image into or out of its center, by one scale.

    The scale is the share of the side that is seen: at 0.6 the middle 60 % of the rows and columns
    fill the image (zoom in), at 1.4 the image is shrunk to 1/1.4 of its side (zoom out). Pixels and
    axes are as in `Rotation`.

    Args:
        scale: Side of the part that is seen, as a multiple of the side of the image.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        lamb2022, Table 4, where 60 % is "Zoom In" and 140 % is "Zoom Out".
    """

    scale: PositiveFloat

    def _strength(self) -> tuple[str, float, str]:
        unit = f"% of the side {'cut off' if self.scale < 1 else 'added'}"
        return f"zoom-{self.scale:g}", round(100 * abs(self.scale - 1), 9), unit

    def _change(self, problems: Problems, stream: Stream) -> Problems:
        del stream
        scale = torch.full((problems.index.numel(),), self.scale, dtype=torch.float64)
        zero = torch.zeros_like(scale)
        return _sampled(problems, _matrices(scale, zero, zero, scale))


def _angles(degrees: float, problems: Problems, stream: Stream) -> Float[Tensor, " item"]:
    """Draw angles in radians, one for each image of each problem."""
    largest = radians(degrees)
    return torch.from_numpy(stream.numpy().uniform(-largest, largest, problems.index.numel()))


def _matrices(xx: Tensor, xy: Tensor, yx: Tensor, yy: Tensor) -> Float[Tensor, "item 2 2"]:
    """Assemble a matrix for each image from its entries."""
    return torch.stack([xx, xy, yx, yy], dim=-1).reshape(-1, 2, 2)


def _sampled(problems: Problems, matrix: Float[Tensor, "item 2 2"]) -> Problems:
    """Sample every pixel of the problems from elsewhere in its image.

    Args:
        problems: Problems over images.
        matrix: For each image of each problem, from the position of a pixel to that from which its
            number is taken, both in pixels to the right of the center and below it.

    Raises:
        ValueError: If the items are no images.
    """
    problems = problems.unshared()
    items, axes = _images_of(problems, " to be deformed")
    by_channel = items.unsqueeze(1) if "channel" not in axes else items
    last = axes[-1] == "channel"
    images = by_channel.movedim(-1, 1) if last else by_channel
    moved = F.grid_sample(images, _grid(images, matrix), align_corners=False)
    moved = moved.movedim(1, -1) if last else moved
    return dataclasses.replace(problems, items=moved.reshape(items.shape))


def _grid(
    images: Float[Tensor, "item channel height width"], matrix: Float[Tensor, "item 2 2"]
) -> Float[Tensor, "item height width 2"]:
    """Compute the source of each pixel, in halves of the sides."""
    height, width = images.shape[-2:]
    in_halves = matrix * matrix.new_tensor([[1, height / width], [width / height, 1]])
    linear = F.pad(in_halves, (0, 1)).to(images)
    return F.affine_grid(linear, list(images.shape), align_corners=False)


@final
@dataclass(frozen=True, kw_only=True)
class Occlusion(_ImageChange):
    """One square in each image, around a pixel that is drawn evenly.

    Some of a square may lie outside the image. Within it each channel has its mean over all images
    that are changed together, which is 0 in standardized images. Images of uint8
    become fractions 0…1. Axes are as in `axes_of`.

    Args:
        size: Side of the square in pixels.
        fill: Value of all numbers in the square instead, e.g. 0 for black.

    Raises:
        ValueError: If a field is of another type, or the side below 1.

    Reference:
        lamb2022, section 10.4.4, as DeVries and Taylor 2017 cut squares out of training images.
    """

    size: Size
    fill: float | None = None

    def _strength(self) -> tuple[str, float, str]:
        return f"occlusion-{self.size}", self.size, "pixels of a side occluded"

    def _change(self, problems: Problems, stream: Stream) -> Problems:
        problems = problems.unshared()
        items, axes = _images_of(problems, " to be occluded")
        height, width = (items.shape[1 + axes.index(side)] for side in ("height", "width"))
        drawn = stream.numpy().integers((height, width), size=(len(items), 2))
        covered = square_mask(torch.from_numpy(drawn).to(items.device), self.size, (height, width))
        if "channel" in axes:
            covered = covered.unsqueeze(1 + axes.index("channel"))
        flat = [0, *(1 + axes.index(side) for side in ("height", "width"))]
        fill = items.mean(flat, keepdim=True) if self.fill is None else items.new_tensor(self.fill)
        return dataclasses.replace(problems, items=torch.where(covered, fill, items))
