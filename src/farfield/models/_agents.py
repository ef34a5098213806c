"""Agents: actor and critic, and quantiles of returns."""

from __future__ import annotations

from typing import NamedTuple, Protocol, final, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from farfield.core.internal import Size, check_arguments
from farfield.functional.internal import as_fractions, uninitialized
from farfield.models._abilities import HasHiddenSize, width_of
from farfield.nn import QuantileHead

ACTOR_GAIN = 0.01
"""Gain of the first weights of the actor, so that all actions begin about equally likely."""
PIECE = 8
"""Steps after which sequences that have ended are left out, so that a core runs in few pieces."""


@runtime_checkable
class HasFirstState(Protocol):
    """A layer over sequences with a state that is of one size and begins in a known way."""

    def first_state(self, batch: int) -> tuple[Tensor, ...]:
        """State that `batch` sequences begin with, the batch on axis 1 of each part."""
        ...


@final
class AgentOutputs(NamedTuple):
    """Outputs of an agent for sequences of observations.

    Attributes:
        logits: Logit of each action at each position.
        values: Value of each position: expected sum of later rewards.
        state: Parts of the state after the last position, the batch on axis 1 of each.
    """

    logits: Float[Tensor, "batch time class"]
    values: Float[Tensor, "batch time"]
    state: tuple[Tensor, ...]


@final
class ActorCritic(nn.Module):
    """Encoder, sequence layer and two linear outputs: the policy of an agent and its value.

    Args:
        encoder: From observations `(item, *shape)` to embeddings `(item, feature)`.
        core: Sequence layer: takes `(batch, time, feature)` and a state, and gives
            `(batch, time, _)` and the state after, as `farfield.nn.RIMs` with `batch_first`.
        num_actions: Number of actions.
        generator: Where the first weights of the outputs are drawn from; None is torch's global
            generator.

    Shape:
        Observations `(item, *shape)`, floating-point or uint8 of 0…255 as fractions, and their
        index `(batch, time)` to `AgentOutputs`.

    Attributes:
        actor: The linear output of the logits.
        critic: The linear output of the value.

    Raises:
        TypeError: If the core does not say how wide it answers.
        ValueError: If the state of the core does not begin in a known way, or grows.

    Reference:
        lamb2022, section 8.4.3; first weights as in its released code.
    """

    @check_arguments
    def __init__(
        self,
        encoder: nn.Module,
        core: nn.Module,
        *,
        num_actions: Size,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(core, HasFirstState) or getattr(core, "growing_axis", None) is not None:
            raise ValueError(
                "core must be a layer whose state stays of one size and has a first_state(batch), "
                f"such as farfield.nn.LSTMLayer or RIMs, got {type(core).__name__}"
            )
        width = width_of("core", core, HasHiddenSize)
        self.encoder = encoder
        self.core = core
        self.actor = uninitialized(nn.Linear, width, num_actions)
        self.critic = uninitialized(nn.Linear, width, 1)
        for layer, gain in ((self.actor, ACTOR_GAIN), (self.critic, 1.0)):
            nn.init.orthogonal_(layer.weight, gain, generator=generator)
            nn.init.zeros_(layer.bias)

    def first_state(self, batch: int) -> tuple[Tensor, ...]:
        """Return the parts of the state at the start of an episode, the batch on axis 1 of each.

        Args:
            batch: Number of episodes.
        """
        first: tuple[Tensor, ...] = self.core.first_state(batch)
        return first

    def forward(
        self,
        items: Shaped[Tensor, "item ..."],
        index: Int64[Tensor, "batch time"],
        state: tuple[Tensor, ...],
        begins: Bool[Tensor, " batch"],
        lengths: Int64[Tensor, " batch"] | None = None,
    ) -> AgentOutputs:
        """Compute logits and values at every position.

        Args:
            items: Observations.
            index: Observation at each position of each sequence.
            state: Parts of the state before the first position.
            begins: Whether a sequence begins an episode, and so with the first state.
            lengths: Steps of each sequence, behind which outputs and state mean nothing; None for
                all positions.
        """
        embeddings = self.encoder(as_fractions(items, self.actor.weight.dtype))
        before = tuple(
            torch.where(begins.reshape(1, -1, *[1] * (own.ndim - 2)), first, own)
            for own, first in zip(state, self.first_state(len(index)), strict=True)
        )
        hx = before if len(before) > 1 else before[0]
        if lengths is None:
            read, after = self.core(embeddings[index], hx)
        else:
            packed, after = self.core(_packed(embeddings, index, lengths), hx)
            read, _ = pad_packed_sequence(packed, batch_first=True)
        after = (after,) if isinstance(after, Tensor) else after
        return AgentOutputs(self.actor(read), self.critic(read).squeeze(-1), after)


def _packed(
    embeddings: Float[Tensor, "item feature"],
    index: Int64[Tensor, "batch time"],
    lengths: Int64[Tensor, " batch"],
) -> PackedSequence:
    """Pack sequences up to the end of the piece in which each ends."""
    most = (lengths + PIECE - 1).div(PIECE, rounding_mode="floor") * PIECE
    ends = most.clamp(max=index.shape[1]).cpu()
    packed = pack_padded_sequence(index, ends, batch_first=True, enforce_sorted=False)
    return packed._replace(data=embeddings[packed.data])


@final
class QuantileAgent(nn.Module):
    """Encoder and `QuantileHead`: quantiles of the return of every action.

    Unlike an `ActorCritic` it has no memory: it acts on the present observation.

    Args:
        encoder: From observations `(item, *shape)` to embeddings `(item, feature)`.
        head: From these to quantiles.

    Shape:
        Observations `(batch, *shape)`, floating-point or uint8 of 0…255 as fractions, fractions
        `(batch, quantile)` and noise `(batch, noise_size)` to `(batch, quantile, num_actions)`.

    Attributes:
        noise_size: Numbers of noise for an observation.

    Raises:
        ValueError: If the head is another layer.

    Reference:
        lamb2022, section 10.4.5; Dabney et al. 2018.
    """

    @check_arguments
    def __init__(self, encoder: nn.Module, head: nn.Module) -> None:
        super().__init__()
        if not isinstance(head, QuantileHead):
            raise ValueError(f"head must be a QuantileHead, got {type(head).__name__}")
        self.encoder, self.head = encoder, head
        self.noise_size = head.noise_size

    def forward(
        self,
        items: Shaped[Tensor, "batch ..."],
        fractions: Float[Tensor, "batch quantile"],
        noise: Float[Tensor, "batch both"] | None = None,
    ) -> Float[Tensor, "batch quantile class"]:
        """Compute the quantiles.

        Args:
            items: Observations.
            fractions: Of each observation, the fractions asked for.
            noise: Standard normal numbers for each; `None` for the mean weights.
        """
        z = self.encoder(as_fractions(items, self.head.cosine.weight.dtype))
        found: Tensor = self.head(z, fractions, noise)
        return found
