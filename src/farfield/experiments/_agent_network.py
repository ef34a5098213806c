"""The architecture of agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from torch import nn

from farfield.core import Stream, check_fields
from farfield.experiments._parts import Parts
from farfield.experiments._spec import Spec
from farfield.models import ActorCritic
from farfield.nn import PlanesEncoder
from farfield.tasks import Environment


@final
@dataclass(frozen=True, kw_only=True)
class AgentNetwork:
    """An agent with memory: encoder and core, each a `Spec`, and outputs for actions and value.

    Args:
        core: What reads the embeddings of observations: a layer that is used as `torch.nn.LSTM` is,
            with the axis of the batch first, e.g. `Spec(RIMs, hidden_size=96)`.
        encoder: Observation → embedding.
    """

    task_kind: ClassVar[type] = Environment

    core: Spec
    encoder: Spec = Spec(PlanesEncoder)

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, task: Environment, stream: Stream) -> nn.Module:
        """The agent for `task`, with initial weights from `stream`."""
        parts = Parts(task, stream)
        return ActorCritic(
            parts.encoder(self.encoder),
            parts.part("core", self.core),
            num_actions=task.num_actions,
            generator=stream.child("output").torch(),
        )
