"""A generator against a discriminator, and the network that judges images."""

from __future__ import annotations

from typing import Final, Protocol, final, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from farfield.core import Problems, tap_layers
from farfield.core.internal import check_arguments, layer_by_name
from farfield.functional.internal import as_fractions
from farfield.metrics import frechet_distance, inception_score
from farfield.models._items import check_one_item

_CHUNK: Final = 500
"""Images that are looked at together."""


@final
class FeatureNetwork(nn.Module):
    """A network of images, with the output of one of its layers as the features of an image.

    Any classifier serves. Scores carry its label, so that those of different networks, which are
    not comparable, are never taken for each other.

    Args:
        network: From items and their index to logits, e.g. `ItemModel`.
        layer: Name of the layer whose outputs, flattened, are the features.
        label: Its name in scores.

    Shape:
        `(batch, *shape)`, fractions of 0…1, to `(batch, feature)` and
        `(batch, class)`.

    Raises:
        ValueError: If the network has no such layer, or the label is empty or has a slash.

    Reference:
        Heusel et al. 2017; Salimans et al. 2016; lamb2022, section 10.4.1.
    """

    @check_arguments
    def __init__(self, network: nn.Module, *, layer: str, label: str) -> None:
        super().__init__()
        layer_by_name(network, layer)
        if not label.strip() or "/" in label:
            raise ValueError(f"label must be a name without a slash, got {label!r}")
        self.network, self.layer, self.label = network, layer, label

    def forward(
        self, images: Float[Tensor, "batch ..."]
    ) -> tuple[Float[Tensor, "batch feature"], Float[Tensor, "batch class"]]:
        """Compute features and logits of every image."""
        kept: list[Tensor] = []

        def keep(output: Tensor) -> Tensor:
            kept.append(output)
            return output

        with tap_layers(self.network, {self.layer: keep}):
            logits = self.network(images, torch.arange(len(images), device=images.device)[:, None])
        return kept[-1].flatten(1), logits

    def scores(
        self, images: Float[Tensor, "batch ..."], real: Float[Tensor, "item ..."]
    ) -> dict[str, float]:
        """Score two sets of images: Fréchet distance of both, inception score of the first.

        Args:
            images: Those that are scored; they are rounded to bytes, as files of images have them.
            real: Those that they are compared with.

        Returns:
            The scores by `fid/` and `is/` with the label of the network.
        """
        features, logits = self._all((255 * images).round() / 255)
        return {
            f"fid/{self.label}": frechet_distance(features, self._all(real)[0]),
            f"is/{self.label}": inception_score(logits),
        }

    def _all(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Compute features and logits of a set, some images at a time."""
        with torch.inference_mode():
            found = [self(part) for part in torch.split(images, _CHUNK)]
        features, logits = zip(*found, strict=True)
        return torch.cat(features), torch.cat(logits)

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return f"layer={self.layer!r}, label={self.label!r}"


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
        self, generator: nn.Module, discriminator: nn.Module, judge: FeatureNetwork | None = None
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
        self, items: Float[Tensor, "item feature"], index: Int[Tensor, "batch position"]
    ) -> Float[Tensor, "batch _"]:
        """Generate the pixels of an image for every problem.

        Args:
            items: Vectors of noise.
            index: Which of them each problem shows.

        Raises:
            ValueError: If the index is not `(batch, 1)`.
        """
        check_one_item(index)
        return self.generate(items.index_select(0, index[:, 0])).flatten(1)

    def generate(self, noise: Float[Tensor, "batch feature"]) -> Float[Tensor, "batch ..."]:
        """Generate an image for every vector of noise.

        Args:
            noise: The vectors.
        """
        return self.generator(noise)

    def look(self, images: Float[Tensor, "batch ..."]) -> tuple[Tensor, Tensor]:
        """Compute features of the positions of each image, and of each image, by the discriminator.

        Args:
            images: The images.
        """
        return self.discriminator.look(images)

    def realness(self, whole: Float[Tensor, "batch feature"]) -> Float[Tensor, " batch"]:
        """Score images by their features.

        Args:
            whole: Features of the images.
        """
        return self.discriminator.realness(whole)

    def project(
        self, maps: Float[Tensor, "batch feature ..."], whole: Float[Tensor, "batch feature"]
    ) -> tuple[Tensor, Tensor]:
        """Project both kinds of features to the space in which they are compared.

        Args:
            maps: Features of positions.
            whole: Features of images.
        """
        return self.discriminator.project(maps, whole)

    def rotations(self, whole: Float[Tensor, "batch feature"]) -> Float[Tensor, "batch 4"]:
        """Compute a logit for each number of quarters that an image may be turned by.

        Args:
            whole: Features of the images.
        """
        return self.discriminator.rotations(whole)

    def set_scores(self, outputs: Float[Tensor, "batch _"], problems: Problems) -> dict[str, float]:
        """Score a set of images by the judge; none without one.

        Args:
            outputs: Pixels that the generator gave.
            problems: The problems, whose targets are images of the data.
        """
        if self.judge is None:
            return {}
        real = as_fractions(problems.target, outputs.dtype)
        return self.judge.scores(outputs.reshape(real.shape), real)
