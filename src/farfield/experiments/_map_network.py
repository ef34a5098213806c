"""Architecture of networks that answer from maps of an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import torch
from torch import nn

from farfield.core import Depth, Stream, check_fields
from farfield.experiments._parts import Parts
from farfield.experiments._spec import Spec
from farfield.functional import NFMRules
from farfield.models import ConvMaps, MapModel, MLPReader
from farfield.nn import MultiPass
from farfield.tasks import AsksQuestions, ProblemTask


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
class Passes:
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

    def __post_init__(self) -> None:
        check_fields(self)

    def around(self, network: nn.Module, generator: torch.Generator) -> MultiPass:
        """The passes of a network.

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
class MapNetwork:
    """A network that answers from maps of an image: what makes them and what reads them.

    Args:
        reader: Maps and question → outputs. It takes the shape of the maps as `map_shape`.
        maps: Image → maps.
        passes: Passes of what makes the maps over the image, with neural function modules; `None`
            for one pass without.

    Raises:
        ValueError: If a field is of another type.
    """

    reader: Spec = Spec(MLPReader)
    maps: Spec = Spec(ConvMaps)
    passes: Passes | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`.

        Raises:
            TypeError: If what makes the maps does not say their shape or, where there are passes,
                its layers.
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
