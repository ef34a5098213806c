"""Architectures for images: single images, maps of an image, and generators with their critic."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, final, runtime_checkable

import safetensors.torch
import torch
from torch import Tensor, nn

from farfield.core import Stream
from farfield.core.internal import (
    Checked,
    Depth,
    Dropout,
    PositiveInt,
    check_fields,
    excerpt,
    keeps_numbers,
)
from farfield.experiments._networks import Architecture, Parts
from farfield.experiments._spec import Spec
from farfield.functional.internal import NFMRules
from farfield.models import GAN, PacedSequence, ResNetDiscriminator, ResNetGenerator
from farfield.models.internal import ConvMaps, FeatureNetwork, ItemModel, MapModel, MLPReader
from farfield.nn import MultiPass
from farfield.tasks import ImageGeneration, ProblemTask
from farfield.tasks.internal import AsksQuestions, DataFile, DataSet


@final
@dataclass(frozen=True, kw_only=True)
class ItemNetwork:
    """A network that reads single items as a whole: core and front, each a `Spec`.

    Args:
        core: From items to answers, e.g. `Spec(PreActResNet)`, or to items, e.g. `Spec(SRCNN)`. It
            takes the shape of items as `item_shape`, and the number of outputs as `num_outputs`.
        front: Fixed module that the core reads items through, such as a standardization, or `None`
            for none.
        pace: Rows and columns of the image as which the sequence of a problem is read
            (`farfield.models.PacedSequence`); `None` for problems of one item.
        jitter: Largest change of size and slant of such an image in training.

    Raises:
        ValueError: If a field is of another type, or jitter given without a pace.
    """

    core: Spec
    front: Spec | None = None
    pace: PositiveInt | None = None
    jitter: Dropout = 0.0

    def __post_init__(self) -> None:
        check_fields(self)
        if self.jitter and self.pace is None:
            raise ValueError(f"jitter must be 0 without a pace, got {self.jitter}")

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """Build the network for `task`, with initial weights from `stream`.

        Raises:
            ValueError: If the problems of the task show more than one item and there is no pace, or
                the core does not take items of such a shape.
        """
        if task.length != 1 and self.pace is None:
            raise ValueError(
                f"task must show one item a problem, got {task.name} with {task.length}; Network "
                "answers such a task"
            )
        parts = Parts(task, stream)
        shape: dict[str, object] = {}
        if self.pace is not None:
            shape["item_shape"] = (math.prod(task.item_shape), self.pace, self.pace)
        front = None if self.front is None else parts.part("front", self.front, **shape)
        model = ItemModel(parts.part("core", self.core, **shape), front)
        if self.pace is None:
            return model
        return PacedSequence(model, pace=self.pace, jitter=self.jitter)


@runtime_checkable
class HasStateLayers(Protocol):
    """A network whose layers can read one another."""

    state_layers: dict[str, int]
    """Number of features of each, by its name, in the order in which they are called."""


@runtime_checkable
class HasOutShape(Protocol):
    """A module that makes maps of images."""

    out_shape: tuple[int, ...]
    """Channels, height and width of the maps."""


@final
@dataclass(frozen=True, kw_only=True)
class Passes(Checked):
    """Several passes of a network, with neural function modules on its layers: `MultiPass`.

    Args:
        number: Number of passes.
        layers: Names of the layers that write and read; none named is all that the network has.
        shared: Whether the passes share the weights of the network.
        first_reads: Whether layers of the first pass read too, or only write.
        rules: Options of the reads; `None` for those of the text.

    Raises:
        ValueError: If a field is of another type, or the number below 1.

    Reference:
        lamb2022, section 10.3.2.
    """

    number: Depth = 2
    layers: tuple[str, ...] = ()
    shared: bool = False
    first_reads: bool = False
    rules: NFMRules | None = None

    def around(self, network: nn.Module, generator: torch.Generator) -> MultiPass:
        """Build the passes of a network.

        Args:
            network: The network.
            generator: Where weights are drawn from.

        Raises:
            TypeError: If it does not say which of its layers can read one another.
            ValueError: If a named layer is none of these.
        """
        if not isinstance(network, HasStateLayers):
            raise TypeError(
                "network must have state_layers, as ConvMaps has, to be run in several passes, "
                f"got {type(network).__name__}"
            )
        known = network.state_layers
        layers = self.layers or tuple(known)
        if unknown := set(layers) - known.keys():
            raise ValueError(f"layers must be of {', '.join(known)}, got {min(unknown)!r}")
        return MultiPass(
            network,
            layers,
            tuple(known[layer] for layer in layers),
            passes=self.number,
            shared=self.shared,
            first_reads=self.first_reads,
            rules=self.rules,
            generator=generator,
        )


@final
@dataclass(frozen=True, kw_only=True)
class MapNetwork(Checked):
    """A network that answers from maps of an image: an encoder to maps and their reader.

    Args:
        reader: Maps and question → outputs. It takes the shape of the maps as `map_shape`.
        maps: Image → maps.
        passes: Passes of the encoder of maps over the image, with neural function modules; `None`
            for one pass without.

    Raises:
        ValueError: If a field is of another type.
    """

    reader: Spec = Spec(MLPReader)
    maps: Spec = Spec(ConvMaps)
    passes: Passes | None = None

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """Build the network for `task`, with initial weights from `stream`.

        Raises:
            TypeError: If the encoder does not state the shape of its maps or, where there are
                passes, its layers.
            ValueError: If the problems of the task show neither one image nor an image and a
                question about it.
        """
        size = task.question_size if isinstance(task, AsksQuestions) else 0
        if task.length != 1 + bool(size):
            raise ValueError(
                "task must show an image, or an image and a question about it, got "
                f"{task.name} with {task.length} items; Network answers such a task"
            )
        parts = Parts(task, stream)
        maps = parts.part("maps", self.maps)
        if not isinstance(maps, HasOutShape):
            raise TypeError(f"maps must have out_shape, as ConvMaps has, got {type(maps).__name__}")
        shape = maps.out_shape
        if self.passes is not None:
            maps = self.passes.around(maps, stream.child("passes").torch())
        reader = parts.part("reader", self.reader, map_shape=shape, question_size=size)
        return MapModel(maps, reader, map_shape=shape, question_size=size)


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
        """Build the network for `task`, with the weights of the file.

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
class Judge(Checked):
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


@final
@dataclass(frozen=True, kw_only=True)
class GANNetwork(Checked):
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

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """Build the network for `task`, with initial weights from `stream`.

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
        """Load the judge, which is not trained."""
        if self.judge is None:
            return None
        network = self.judge.model.build(task.classes, stream)
        return FeatureNetwork(network, layer=self.judge.layer, label=self.judge.label)
