"""A cache of recent words beside a trained language model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from farfield.core import Dropout, PositiveFloat, Problems, Size, Stream, check_fields
from farfield.functional import cached_log_probs
from farfield.models import SequenceModel
from farfield.tasks import Regime


@final
@dataclass(frozen=True, kw_only=True)
class NeuralCache:
    """Words that followed similar hidden states, as further answers of a trained language model.

    The problems stay as they are. In place of the network answers one that remembers the last
    hidden states and the word behind each, and mixes these words into its own probabilities by how
    similar the states are to the present one: `farfield.functional.cached_log_probs`. It has no
    parameters and is not trained. For tasks whose items are numbers of words, such as
    `farfield.tasks.WordText`.

    Args:
        of: Name of the regime whose problems are answered.
        size: Number of positions that are looked back on.
        scale: How sharply similar states are told from others.
        weight: Share of the cache in the probabilities.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        Grave, Joulin and Usunier 2017.
    """

    of: str
    size: Size = 500
    scale: PositiveFloat = 1.0
    weight: Dropout = 0.1

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regime(self) -> Regime:
        """The regime of answers with the cache."""
        return Regime(
            name=f"cache-{self.of}", distance=0.0, unit="kinds of text that training lacks"
        )

    def __call__(
        self,
        model: Callable[[Tensor, Tensor], Tensor],
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Problems:
        """The problems as they are.

        Args:
            model: Not used.
            problems: The problems.
            loss: Not used.
            stream: Not used.
        """
        del model, loss, stream
        return problems

    def network(self, model: nn.Module, stream: Stream) -> nn.Module:
        """The network with a cache.

        Args:
            model: A `SequenceModel` that answers at every position.
            stream: Not used.

        Raises:
            ValueError: If it is another network.
        """
        del stream
        if not (isinstance(model, SequenceModel) and model.answers_everywhere):
            raise ValueError(
                "model must be a SequenceModel that answers everywhere to have a cache, "
                f"got {type(model).__name__}"
            )
        return _Cached(model, self)


@final
class _Cached(nn.Module):
    """A language model and its cache, which is a part of its state."""

    carries_state = True

    def __init__(self, model: SequenceModel, cache: NeuralCache) -> None:
        super().__init__()
        self.model, self.cache = model, cache

    def forward(
        self, items: Shaped[Tensor, "item 1"], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time value"]:
        return self.continued(items, index, None)[0]

    def continued(
        self,
        items: Shaped[Tensor, "item 1"],
        index: Int[Tensor, "batch time"],
        state: tuple[Tensor, ...] | None,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Answers, and the parts of the state: remembered states and words, and the model's own."""
        own = state[2:] if state else None
        hidden, own = self.model.hidden_states(items, index, own)
        logits, words = self.model.output(hidden), items[index][..., 0]
        if state:
            hidden, words = torch.cat((state[0], hidden), 1), torch.cat((state[1], words), 1)
        size = self.cache.size
        outputs = cached_log_probs(
            logits, hidden, words, size=size, scale=self.cache.scale, weight=self.cache.weight
        )
        return outputs, (hidden[:, -size:], words[:, -size:], *own)
