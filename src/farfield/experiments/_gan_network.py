"""Architecture of a generator and a discriminator, and of what they are judged by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import safetensors.torch
from torch import Tensor, nn

from farfield.core import Stream, check_fields, excerpt, keeps_numbers
from farfield.experiments._networks import Architecture
from farfield.experiments._parts import Parts
from farfield.experiments._spec import Spec
from farfield.models import (
    GAN,
    FeatureNetwork,
    ItemModel,
    ResNetDiscriminator,
    ResNetGenerator,
)
from farfield.tasks import DataFile, DataSet, ImageGeneration, ProblemTask

_FOLDER = "networks"
_LARGEST = 2**32
"""Most bytes of a file of weights."""


@final
@dataclass(frozen=True, kw_only=True)
class LoadedNetwork:
    """A network of images with the weights of a file, e.g. a published Inception network.

    The file is a state dictionary in the format of safetensors: pickles, as `torch.save` writes
    them, are never loaded.

    Args:
        core: A module from images, fractions of 0…1, to logits. It brings images to the size and
            range that it was trained on.
        file: Name of the file, in the folder `networks` of FARFIELD_DATA or of the cache.
        sha256: SHA-256 of the file, 64 hexadecimal digits, small or capital.

    Raises:
        ValueError: If a field is of another type, or the digest of another form.
    """

    core: Spec
    file: str
    sha256: str

    def __post_init__(self) -> None:
        check_fields(self)
        digest = self.sha256.strip().lower()
        if not re.fullmatch("[0-9a-f]{64}", digest):
            raise ValueError(f"sha256 must be 64 hexadecimal digits, got {excerpt(self.sha256)}")
        object.__setattr__(self, "sha256", digest)  # one file, one key

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with the weights of the file.

        Raises:
            ValueError: If the file is missing, has another digest, or holds other weights, numbers
                of another type, or numbers that are not finite.
        """
        core = Parts(task, stream).part("core", self.core)
        known = DataFile(name=self.file, sha256=self.sha256, size=_LARGEST, shape=())
        kept = DataSet(
            name=_FOLDER, files=(known,), mirrors=(), licence="that of its authors", is_excerpt=True
        )
        try:
            weights = safetensors.torch.load(kept.content(self.file))
            self._check_numbers(core.state_dict(), weights)
            core.load_state_dict(weights)
        except (RuntimeError, safetensors.SafetensorError) as error:
            raise ValueError(
                f"{self.file} must hold the weights of a {self.core.cls.__name__}, got: "
                f"{' '.join(str(error).split())[:200]}"
            ) from error
        return ItemModel(core)

    def _check_numbers(self, own: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> None:
        """Raise `ValueError` if the file has numbers of other types, NaN or new infinities."""
        for name in sorted(own.keys() & weights.keys()):
            kind, found = own[name].dtype, weights[name]
            if not keeps_numbers(kind, found.dtype):
                raise ValueError(
                    f"{self.file} must hold {name} in {kind}, got {found.dtype}: convert it first"
                )
            if (
                own[name].shape == found.shape
                and not (found.isfinite() | (found == own[name])).all()
            ):
                raise ValueError(f"{self.file} must hold finite numbers, {name} has others")


@final
@dataclass(frozen=True, kw_only=True)
class Judge:
    """A classifier by which generated images are judged.

    Its weights are those of a file (`LoadedNetwork`), or of networks that were trained before:
    `Pretrained(experiment=…, into="judge.network")`, with `model` the architecture of that
    experiment. A network of weights that nobody has trained judges as well, and worse.

    Args:
        label: Its name in scores, e.g. `"mnist-cnn"`: `fid/mnist-cnn`, `is/mnist-cnn`.
        model: The classifier.
        layer: Name of the layer whose outputs are the features, e.g. `"core.pool"`.

    Raises:
        ValueError: If a field is of another type.
    """

    label: str
    model: Architecture
    layer: str

    def __post_init__(self) -> None:
        check_fields(self)


@final
@dataclass(frozen=True, kw_only=True)
class GANNetwork:
    """A generator and a discriminator of images, each a `Spec`.

    Args:
        generator: Noise → image. It takes the numbers of the noise as `in_features` and the shape
            of images as `item_shape`.
        discriminator: Image → score. It takes the shape of images as `item_shape`.
        judge: Network that generated images are scored by, or `None` for no such scores.

    Raises:
        ValueError: If a field is of another type.
    """

    task_kind: ClassVar[type] = ImageGeneration

    generator: Spec = Spec(ResNetGenerator)
    discriminator: Spec = Spec(ResNetDiscriminator)
    judge: Judge | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`.

        Raises:
            TypeError: If the task is not one of generating images.
        """
        if not isinstance(task, ImageGeneration):
            raise TypeError(f"task must be an ImageGeneration, got {type(task).__name__}")
        parts = Parts(task, stream)
        shape = task.image_shape
        generator = parts.part(
            "generator", self.generator, in_features=task.noise_size, item_shape=shape
        )
        discriminator = parts.part("discriminator", self.discriminator, item_shape=shape)
        return GAN(generator, discriminator, self._judge(task, stream.child("judge")))

    def _judge(self, task: ImageGeneration, stream: Stream) -> FeatureNetwork | None:
        """The judge, of which nothing is trained."""
        if self.judge is None:
            return None
        network = self.judge.model.build(task.classes, stream)
        return FeatureNetwork(network, layer=self.judge.layer, label=self.judge.label)
