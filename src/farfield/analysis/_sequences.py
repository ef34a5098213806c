"""Sequences after training: recall by length, roll-outs, a cache of past words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from farfield.analysis._learning import mean_score
from farfield.analysis._perturbations import NetworkChange
from farfield.core import Problems, Stream
from farfield.core.internal import Fraction, PositiveFloat, Size
from farfield.functional.internal import cached_log_probs
from farfield.models.internal import RollOut, SequenceModel
from farfield.tasks import Copying, Regime, Task


def recall_by_length(
    network: nn.Module, task: Task, lengths: Sequence[int], sequences: int, place: Stream
) -> list[float]:
    """Measure the share of symbols that a network recalls after dormant phases of each length.

    The same symbols are asked for after every length, so lengths alone tell scores apart.

    Args:
        network: A network for the task, e.g. from `trained_network`.
        task: The copying task that it was trained on.
        lengths: Lengths of the dormant phase, ascending; those of training or shorter too.
        sequences: Number of sequences.
        place: Where the symbols are drawn from.

    Raises:
        ValueError: If the task is another one, lengths are not ascending from 1, or the number of
            sequences is below 1.

    Reference:
        lamb2022, section 8.4.1.
    """
    if not isinstance(task, Copying):
        raise ValueError(f"task must be Copying, got {type(task).__name__}")
    asked = replace(
        task,
        dormant=min(lengths, default=0),
        test_dormant=tuple(lengths),
        test_sequences=(sequences,) * len(lengths),
    )
    found = []
    for regime in asked.regimes[2:]:
        problems = asked.made(regime.name, sequences, place.numpy())
        found.append(mean_score(network, asked, problems))
    return found


SURE = 9.0
"""Logit of a white pixel of a copied frame."""


def rolled_out(network: nn.Module, problems: Problems) -> Float[Tensor, "batch time value"]:
    """Compute logits of the frames that a trained network predicts from its own predictions.

    Args:
        network: A `RollOut`, e.g. from `trained_network`.
        problems: Sequences, of which it sees the first frames only.

    Raises:
        ValueError: If the network does not roll out, or is in training.

    Reference:
        lamb2022, Figure 3.
    """
    if not isinstance(network, RollOut) or network.training:
        raise ValueError(f"network must be a RollOut in evaluation mode, got {network!r}")
    problems = problems.compact()
    with torch.inference_mode():
        logits: Tensor = network(problems.table(), problems.index)
    return logits[:, network.given - 1 : -1]


def copy_last_frame(problems: Problems, given: int) -> Float[Tensor, "batch time value"]:
    """Copy the last given frame as logits of every later frame.

    Args:
        problems: Sequences of black and white frames.
        given: How many frames are given, at least 1.
    """
    rolled = problems.index.shape[1] - given
    last = problems.items[problems.index[:, given - 1]].flatten(1)
    return (SURE * (2 * last - 1))[:, None].expand(-1, rolled, -1)


@final
@dataclass(frozen=True, kw_only=True)
class NeuralCache(NetworkChange):
    """Words that followed similar hidden states, as further answers of a trained language model.

    The problems are unchanged. In place of the network answers one that remembers the last
    hidden states and the word behind each, and mixes these words into its own probabilities by how
    similar the states are to the present one: `cached_log_probs`. It has no
    parameters and is not trained. For tasks whose items are numbers of words, such as
    `farfield.tasks.WordText`.

    Args:
        of: Name of the regime whose problems are answered.
        size: Number of positions that are looked back on.
        scale: Sharpness of the attention to similar states.
        weight: Share of the cache in the probabilities.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        Grave, Joulin and Usunier 2017.
    """

    of: str
    size: Size = 500
    scale: PositiveFloat = 1.0
    weight: Fraction = 0.1

    @property
    def regime(self) -> Regime:
        """Regime of answers with the cache."""
        return Regime(
            name=f"cache-{self.of}", distance=0.0, unit="kinds of text that training lacks"
        )

    def network(self, model: nn.Module, stream: Stream) -> nn.Module:
        """Add a cache to a network.

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
        """Answer; return remembered states and words, and the parts of the model's state, too."""
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
