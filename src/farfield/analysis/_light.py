"""Changes of the light of images: brightness and contrast."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, final

from torch import Tensor

from farfield.analysis._attacks import Loss, Model
from farfield.core import Limits, NonNegativeFloat, Problems, Stream, check_fields
from farfield.functional import as_fractions
from farfield.tasks import Regime, axes_of


@final
@dataclass(frozen=True, kw_only=True)
class Brightness:
    r"""A number added to every pixel of an image.

    $$y = \min(\max(x + b, 0), 1)$$

    Images of uint8 become fractions 0…1, which they stay. Axes are as in `axes_of`.

    Args:
        shift: $b$, a fraction of full intensity; below 0 images are darker.
        of: Name of the regime whose problems are changed.

    Raises:
        ValueError: If a field is of another type, or out of its range.
    """

    shift: Annotated[float, Limits(at_least=-1, at_most=1)]
    of: str

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regime(self) -> Regime:
        """The regime of brighter or darker problems."""
        return Regime(
            name=f"brightness{self.shift:+g}-{self.of}",
            distance=round(100 * abs(self.shift), 9),
            unit=f"% of full intensity {'added' if self.shift > 0 else 'taken off'}",
        )

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """The problems over brighter or darker images.

        Args:
            model: Not used.
            problems: The problems.
            loss: Not used.
            stream: Not used.

        Raises:
            ValueError: If the items are no images.
        """
        del model, loss, stream
        return _changed(problems, lambda images: images + self.shift)


@final
@dataclass(frozen=True, kw_only=True)
class Contrast:
    r"""The differences of the pixels of an image from its mean, times a factor.

    $$y = \min(\max(\bar x + c (x - \bar x), 0), 1)$$

    with $\bar x$ the mean of all pixels and channels of the image. Images are as in `Brightness`.

    Args:
        factor: $c$: below 1 images are flatter, at 0 they are uniform.
        of: Name of the regime whose problems are changed.

    Raises:
        ValueError: If a field is of another type, or the factor is below 0.
    """

    factor: NonNegativeFloat
    of: str

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regime(self) -> Regime:
        """The regime of problems of more or less contrast."""
        return Regime(
            name=f"contrast-{self.factor:g}-{self.of}",
            distance=round(100 * abs(self.factor - 1), 9),
            unit=f"% of contrast {'added' if self.factor > 1 else 'taken off'}",
        )

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """The problems over images of more or less contrast.

        Args:
            model: Not used.
            problems: The problems.
            loss: Not used.
            stream: Not used.

        Raises:
            ValueError: If the items are no images.
        """
        del model, loss, stream

        def scaled(images: Tensor) -> Tensor:
            mean = images.mean(tuple(range(1, images.ndim)), keepdim=True)
            return mean + self.factor * (images - mean)

        return _changed(problems, scaled)


def _changed(problems: Problems, change: Callable[[Tensor], Tensor]) -> Problems:
    """The problems over changed images, cut off at 0 and 1."""
    images = as_fractions(problems.table())
    if "height" not in axes_of(tuple(images.shape[1:])):
        raise ValueError(f"items must be images, got shape {(*images.shape[1:],)}")
    return dataclasses.replace(problems, items=change(images).clamp(0, 1))
