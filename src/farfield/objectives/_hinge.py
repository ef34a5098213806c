"""Hinge losses of a discriminator and of the generator that it plays against."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import TRAINING, Checked, NonNegativeFloat
from farfield.functional.internal import as_fractions
from farfield.objectives._objective import Bound, Objective, Tensors, Update


def info_nce(
    local: Float[Tensor, "batch feature position"], whole: Float[Tensor, "batch feature"]
) -> Float[Tensor, ""]:
    r"""Compute the negative log-probability of finding an image's positions among all positions.

    $$-\frac{1}{B P} \sum_{b, p} \log \frac{e^{l_{bp} \cdot g_b}}
      {e^{l_{bp} \cdot g_b} + \sum_{b' \ne b} \sum_{p'} e^{l_{b'p'} \cdot g_b}}$$

    It is a bound on the mutual information of the features of positions $l$ and of the image $g$.
    The released code does not leave the positions of the image itself out of the sum, but counts
    $e^{-10}$ for each.

    Args:
        local: Features of the positions of each image.
        whole: Features of each image.

    Reference:
        Lee et al. 2021, section 3.
    """
    products = torch.einsum("bf,cfp->bcp", whole, local)
    is_own = torch.eye(len(whole), dtype=torch.bool, device=whole.device)
    own = (products * is_own[:, :, None]).sum(1)
    others = products.masked_fill(is_own[:, :, None], -torch.inf).flatten(1).logsumexp(1)
    return (torch.logaddexp(own, others[:, None]) - own).mean()


def quarter_turns(
    images: Float[Tensor, "batch channel height width"],
) -> tuple[Float[Tensor, "batch channel height width"], Tensor]:
    """Turn the four parts of a batch by 0, 90, 180 and 270 degrees, and list the turns.

    Args:
        images: Square images.

    Raises:
        ValueError: If they are not square.

    Reference:
        Chen et al. 2019, section 4.
    """
    if images.shape[-1] != images.shape[-2]:
        raise ValueError(f"images must be square to be turned, got shape {tuple(images.shape)}")
    turns = torch.arange(len(images), device=images.device) * 4 // len(images)
    ends = [-(-len(images) * part // 4) for part in range(5)]
    parts = [images[ends[part] : ends[part + 1]].rot90(part, (-2, -1)) for part in range(4)]
    return torch.cat(parts), turns


_TASK = "farfield.tasks.ImageGeneration"


@dataclass(frozen=True, kw_only=True)
class HingeRule(Checked, Objective):
    """One side of the hinge loss, with terms of other methods.

    Args:
        info_max: Weight of the InfoMax term.
        rotation: Weight of the rotation term.
    """

    info_max: NonNegativeFloat = 0.0
    rotation: NonNegativeFloat = 0.0

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Remember nothing; the problems are checked.

        Raises:
            ValueError: If the problems are not vectors with images beside them.
        """
        del network, stream
        problems = sets[TRAINING]
        if len(problems.items.shape) != 2 or problems.target.ndim != 4:
            raise ValueError(
                "items must be vectors of noise, with images as targets, as those of "
                f"{_TASK}, got items of shape {tuple(problems.items.shape)} and targets of "
                f"shape {tuple(problems.target.shape)}"
            )
        return {}

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw normal noise, a vector for each problem.

        Args:
            batches: The batch of training problems.
            stream: Source of the noise.
        """
        problems = batches[TRAINING]
        size, dtype = problems.items.shape[1], problems.items.dtype
        noise = torch.randn(len(problems), size, generator=stream.torch(), dtype=torch.float64)
        return {"noise": noise.to(problems.items.device, dtype)}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the loss of this side, terms added.

        Raises:
            TypeError: If the network has no generator and discriminator.
            ValueError: If the discriminator lacks features that a term reads.
        """
        network = update.network
        fake = network.call("generate", update.draws["noise"])
        loss, images, features = self._play(update, fake)
        if self.info_max:
            loss = loss + self.info_max * info_nce(*network.call("project", *features))
        if self.rotation:
            turned, turns = quarter_turns(images)
            logits = network.call("rotations", network.call("look", turned)[1])
            loss = loss + self.rotation * torch.nn.functional.cross_entropy(logits, turns)
        return loss, update.state

    @abstractmethod
    def _play(self, update: Update, fake: Tensor) -> tuple[Tensor, Tensor, Any]:
        """Compute the hinge loss; then images, and their features, for the terms."""


@final
@dataclass(frozen=True, kw_only=True)
class HingeDiscriminator(HingeRule):
    r"""The hinge loss of a discriminator, which scores images of the data above generated images.

    $$L_D = \frac{1}{B} \sum_b \max(0, 1 - D(x_b)) + \max(0, 1 + D(G(z_b)))
      + w_i L_{\mathrm{info}}(x) + w_r L_{\mathrm{rot}}(x)$$

    with $z$ normal noise and $x$ the images of the batch. The terms, of weight 0 at first, are
    those of InfoMax-GAN, by which features of positions and of the image say as much as they can of
    each other, and of the self-supervised GAN, the cross-entropy of naming by how many quarters
    each image was turned. It is the objective of a player who trains the discriminator alone;
    `HingeGenerator` is that of the other. The network has the methods of `farfield.models.GAN`.

    Args:
        info_max: Weight $w_i$ of the InfoMax term: 0.2 in InfoMax-GAN.
        rotation: Weight $w_r$ of the rotation term: 1 in the self-supervised GAN.

    Raises:
        ValueError: If a weight is negative.

    Reference:
        lamb2022, section 10.4.1; Miyato et al. 2018; Lee et al. 2021; Chen et al. 2019.

    Example:
        >>> from farfield.experiments import Player
        >>> players = (
        ...     Player(objective=HingeDiscriminator(), parts=("discriminator",), repeats=5),
        ...     Player(objective=HingeGenerator(), parts=("generator",)),
        ... )
    """

    def _play(self, update: Update, fake: Tensor) -> tuple[Tensor, Tensor, Any]:
        network = update.network
        real = as_fractions(update.problems.target, fake.dtype)
        features = network.call("look", real)
        first = network.call("realness", features[1])
        second = network.call("realness", network.call("look", fake.detach())[1])
        return (1 - first).relu().mean() + (1 + second).relu().mean(), real, features


@final
@dataclass(frozen=True, kw_only=True)
class HingeGenerator(HingeRule):
    r"""The loss of a generator, whose images a discriminator is to score highly.

    $$L_G = -\frac{1}{B} \sum_b D(G(z_b))
      + w_i L_{\mathrm{info}}(G(z)) + w_r L_{\mathrm{rot}}(G(z))$$

    with the terms of `HingeDiscriminator`, here of the images that are made.

    Args:
        info_max: Weight $w_i$ of the InfoMax term: 0.2 in InfoMax-GAN.
        rotation: Weight $w_r$ of the rotation term: 0.2 in the self-supervised GAN.

    Raises:
        ValueError: If a weight is negative.

    Reference:
        lamb2022, section 10.4.1; Miyato et al. 2018; Lee et al. 2021; Chen et al. 2019.
    """

    def _play(self, update: Update, fake: Tensor) -> tuple[Tensor, Tensor, Any]:
        network = update.network
        features = network.call("look", fake)
        return -network.call("realness", features[1]).mean(), fake, features
