"""Construction of the parts of a network for a task."""

from __future__ import annotations

import inspect
from typing import final

from torch import nn

from farfield.core import Stream
from farfield.experiments._spec import Spec
from farfield.models import HasOutFeatures, width_of
from farfield.tasks import Environment, HasPixelStatistics, ProblemTask


@final
class Parts:
    """Makes the parts of a network one after the other, each from the stream of its name.

    A constructor is given what it has a parameter for: the shape of the problems and of answers
    and, once there is an encoder, how wide embeddings are.

    Args:
        task: The task that the network is for; of an environment, the shape of observations
            alone is known.
        stream: Stream of the network.
        candidates: Number of candidates of a problem, each to be scored in a sequence with the
            premises; 0 where all items of a problem are read together.
    """

    def __init__(
        self, task: ProblemTask | Environment, stream: Stream, *, candidates: int = 0
    ) -> None:
        self.length = self.num_outputs = self.width = 0
        self._task = task
        self._stream = stream
        self._known: dict[str, object] = {"item_shape": task.item_shape, "batch_first": True}
        if not isinstance(task, Environment):
            self.length = task.length - candidates + 1 if candidates else task.length
            self.num_outputs = 1 if candidates else task.num_outputs
            self._known["length"], self._known["num_outputs"] = self.length, self.num_outputs
            self._known["segments"] = task.segments
        if candidates:
            self._known["num_candidates"] = candidates

    def encoder(self, spec: Spec) -> nn.Module:
        """The encoder; from then on `width` is the width of its embeddings.

        Args:
            spec: How it is made.

        Raises:
            TypeError: If it does not say how wide its embeddings are.
        """
        encoder = self.part("encoder", spec)
        self.width = width_of("encoder", encoder, HasOutFeatures)
        names = ("in_features", "input_size", "num_features")
        self._known |= dict.fromkeys(names, self.width)
        if hasattr(encoder, "set_sizes"):
            self._known["set_sizes"] = encoder.set_sizes
        return encoder

    def context(self, spec: Spec | None) -> nn.Module | None:
        """The context, if there is one.

        Args:
            spec: How it is made.
        """
        return None if spec is None else self.part("context", spec)

    def part(self, name: str, spec: Spec, **known: object) -> nn.Module:
        """Any part.

        Args:
            name: Its name, which is that of its stream.
            spec: How it is made.
            known: Arguments for its constructor in place of those for others.
        """
        known = {**self._known, **self._statistics(spec), **known}
        return spec.build(known, self._stream.child(name))

    def _statistics(self, spec: Spec) -> dict[str, object]:
        """Statistics of images that the constructor asks for: to compute all takes minutes."""
        asked = inspect.signature(spec.cls).parameters.keys() - dict(spec.options).keys()
        known: dict[str, object] = {}
        if isinstance(self._task, HasPixelStatistics):
            if asked & {"channel_mean", "channel_std"}:
                known["channel_mean"], known["channel_std"] = self._task.channel_statistics()
            if "pixel_spectrum" in asked:
                known["pixel_spectrum"] = self._task.pixel_spectrum()
            if "mean_images" in asked:
                known["mean_images"] = self._task.mean_images()
        return known
