"""How networks that go on from their own frames are put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from torch import nn

from farfield.core import Stream, check_fields
from farfield.experiments._networks import encoder_and_shape
from farfield.experiments._spec import Spec
from farfield.models import HasHiddenSize, RollOut, width_of
from farfield.nn import LinearDecoder, LinearEncoder
from farfield.tasks import ProblemTask, RolledOut


@final
@dataclass(frozen=True, kw_only=True)
class RollOutNetwork:
    """A network that predicts frames and goes on from its own: its parts, each a `Spec`.

    Args:
        core: What reads the embeddings: a layer that is used as `torch.nn.LSTM` is, with the axis
            of the batch first.
        encoder: Frame → embedding.
        decoder: What the core gives → logits of the pixels of a frame.
        rounded: Whether its own frames are black and white when they are read.
    """

    task_kind: ClassVar[type] = RolledOut

    core: Spec
    encoder: Spec = Spec(LinearEncoder)
    decoder: Spec = Spec(LinearDecoder)
    rounded: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`.

        Raises:
            TypeError: If the task does not say how many places are given, or the core not how wide
                it answers.
        """
        if not isinstance(task, RolledOut):
            raise TypeError(
                f"task must say how many places are given, got {type(task).__name__}; "
                "SequenceNetwork answers such a task"
            )
        shape: dict[str, object] = {"item_shape": task.item_shape, "length": task.length}
        encoder, shape = encoder_and_shape(self.encoder, shape, stream)
        core = self.core.build(
            {**shape, "input_size": shape["in_features"], "batch_first": True},
            stream.child("core"),
        )
        width = width_of("core", core, HasHiddenSize)
        decoder = self.decoder.build(shape | {"in_features": width}, stream.child("decoder"))
        return RollOut(encoder, core, decoder, given=task.given, rounded=self.rounded)
