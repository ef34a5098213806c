"""A classifier by whose features and classes sets of images are compared."""

from __future__ import annotations

from typing import Final, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import check_arguments, layer_by_name, tap_layers
from farfield.metrics import frechet_distance, inception_score

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
        """Features and logits of every image."""
        kept: list[Tensor] = []

        def keep(output: Tensor) -> Tensor:
            kept.append(output)
            return output

        with tap_layers(self.network, {self.layer: keep}):
            logits = self.network(images, torch.arange(len(images), device=images.device)[:, None])
        return kept[-1].flatten(1), logits

    def scores(
        self,
        images: Float[Tensor, "batch ..."],
        real: Float[Tensor, "item ..."],
    ) -> dict[str, float]:
        """Fréchet distance of two sets of images, and inception score of the first.

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
        """Features and logits of a set, some images at a time."""
        with torch.inference_mode():
            found = [self(part) for part in torch.split(images, _CHUNK)]
        features, logits = zip(*found, strict=True)
        return torch.cat(features), torch.cat(logits)

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return f"layer={self.layer!r}, label={self.label!r}"
