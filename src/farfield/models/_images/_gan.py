"""A generator of images and a discriminator, as a model of problems."""

from __future__ import annotations

from typing import Protocol, final, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor, nn

from farfield.core import Problems, check_arguments
from farfield.functional import as_fractions
from farfield.models._checks import check_one_item
from farfield.models._images._feature_network import FeatureNetwork


@runtime_checkable
class _LooksAtImages(Protocol):
    """The methods of a discriminator."""

    def look(self, images: Tensor) -> tuple[Tensor, Tensor]: ...
    def realness(self, whole: Tensor) -> Tensor: ...
    def project(self, maps: Tensor, whole: Tensor) -> tuple[Tensor, Tensor]: ...
    def rotations(self, whole: Tensor) -> Tensor: ...


@final
class GAN(nn.Module):
    """A generator and a discriminator, and a network that both are judged by.

    As a model of problems it is the generator: an item is a vector of noise, the answer the pixels
    of an image. `HingeDiscriminator` and `HingeGenerator` train the parts against each other;
    `Supervised` would train the generator to repeat the images beside the noise.

    Args:
        generator: From noise `(batch, feature)` to images, fractions of 0…1, e.g.
            `ResNetGenerator`.
        discriminator: Scores of images, with the methods of `ResNetDiscriminator`.
        judge: Network that sets of images are scored by; None for no such scores.

    Shape:
        Noise `(item, feature)` and its index `(batch, 1)` to `(batch, pixel)`.

    Raises:
        ValueError: If a part is no module, or the discriminator lacks a method.

    Reference:
        Goodfellow et al. 2014; lamb2022, section 10.4.1.
    """

    @check_arguments
    def __init__(
        self,
        generator: nn.Module,
        discriminator: nn.Module,
        judge: FeatureNetwork | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(discriminator, _LooksAtImages):
            raise ValueError(
                "discriminator must have methods look, realness, project and rotations, as "
                f"ResNetDiscriminator has, got {type(discriminator).__name__} without"
            )
        self.generator = generator
        self.discriminator: _LooksAtImages = discriminator
        self.judge = judge

    def forward(
        self, items: Float[Tensor, "item feature"], index: Int[Tensor, "batch place"]
    ) -> Float[Tensor, "batch _"]:
        """Pixels of an image for every problem.

        Args:
            items: Vectors of noise.
            index: Which of them each problem shows.

        Raises:
            ValueError: If the index is not `(batch, 1)`.
        """
        check_one_item(index)
        return self.generate(items.index_select(0, index[:, 0])).flatten(1)

    def generate(self, noise: Float[Tensor, "batch feature"]) -> Float[Tensor, "batch ..."]:
        """An image for every vector of noise.

        Args:
            noise: The vectors.
        """
        return self.generator(noise)

    def look(self, images: Float[Tensor, "batch ..."]) -> tuple[Tensor, Tensor]:
        """Features of the places of each image, and of each image, as the discriminator has them.

        Args:
            images: The images.
        """
        return self.discriminator.look(images)

    def realness(self, whole: Float[Tensor, "batch feature"]) -> Float[Tensor, " batch"]:
        """Scores of images, from their features.

        Args:
            whole: Features of the images.
        """
        return self.discriminator.realness(whole)

    def project(
        self, maps: Float[Tensor, "batch feature ..."], whole: Float[Tensor, "batch feature"]
    ) -> tuple[Tensor, Tensor]:
        """Both kinds of features in the space in which they are compared.

        Args:
            maps: Features of places.
            whole: Features of images.
        """
        return self.discriminator.project(maps, whole)

    def rotations(self, whole: Float[Tensor, "batch feature"]) -> Float[Tensor, "batch 4"]:
        """A logit for each number of quarters that an image may be turned by.

        Args:
            whole: Features of the images.
        """
        return self.discriminator.rotations(whole)

    def set_scores(self, outputs: Float[Tensor, "batch _"], problems: Problems) -> dict[str, float]:
        """Scores of a set of images by the judge; none without one.

        Args:
            outputs: Pixels that the generator gave.
            problems: The problems, whose targets are images of the data.
        """
        if self.judge is None:
            return {}
        real = as_fractions(problems.target, outputs.dtype)
        return self.judge.scores(outputs.reshape(real.shape), real)
