"""The architectures of agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from torch import nn

from farfield.core import Stream, check_fields
from farfield.experiments._parts import Parts
from farfield.experiments._spec import Spec
from farfield.models import ActorCritic, QuantileAgent
from farfield.nn import PlanesEncoder, QuantileHead
from farfield.objectives import PPO, RainbowIQN
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
    objective_kind: ClassVar[type] = PPO

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


@final
@dataclass(frozen=True, kw_only=True)
class QuantileNetwork:
    """An agent without memory: encoder and implicit quantiles of the return of every action.

    Args:
        encoder: Observation → embedding. Image classifiers with `out_features` serve, e.g.
            `Spec(PreActResNetNFM, num_outputs=128, width=8)`.
        head: Embedding → quantiles.
    """

    task_kind: ClassVar[type] = Environment
    objective_kind: ClassVar[type] = RainbowIQN

    encoder: Spec = Spec(PlanesEncoder)
    head: Spec = Spec(QuantileHead)

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, task: Environment, stream: Stream) -> nn.Module:
        """The agent for `task`, with initial weights from `stream`."""
        parts = Parts(task, stream)
        encoder = parts.encoder(self.encoder)
        return QuantileAgent(encoder, parts.part("head", self.head, num_outputs=task.num_actions))
