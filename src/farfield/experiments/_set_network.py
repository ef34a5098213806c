"""Architecture of networks that read sets through tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from torch import nn

from farfield.core import NonNegativeFloat, PositiveInt, Stream, check_fields
from farfield.experiments._parts import Parts
from farfield.experiments._spec import Spec
from farfield.models import AnalogyScoring, EncodesToSets, Relational, SetModel, TokenReader
from farfield.nn import PatchEncoder
from farfield.tasks import Candidates, ProblemTask


@final
@dataclass(frozen=True, kw_only=True)
class SetNetwork:
    """A network that reads a set through tokens: encoder and core, each a `Spec`.

    An encoder that makes a set of each item (`PatchEncoder`, `ComponentEncoder`) is for problems
    of one item. With any other the items of a problem are the elements, each with a learned vector
    of its place; where the problems have candidates, each is scored with the items before it.

    Args:
        core: From set to set, e.g. `Spec(NeuralInterpreter)` or `Spec(PreNormTransformer)`. Its
            `num_features` are the width of the embeddings unless the spec names another.
        encoder: Item → embedding, or item → set of embeddings.
        context: Normalization of the items of a problem, or `None` for none. Its `segments` are the
            task's unless the spec names others.
        outputs_per_token: Numbers that a token answers with; as many tokens answer one after
            another as the task has numbers for. `None` is one token for all.
        shared: Whether all tokens are the same vector and have one head.
        shared_head: Whether the tokens have one head, each having its own vector.
        places_std: Standard deviation of the first vectors of the places of the items of a problem.

    Raises:
        ValueError: If a field is of another type, or a number below its least one.
    """

    core: Spec
    encoder: Spec = Spec(PatchEncoder)
    context: Spec | None = None
    outputs_per_token: PositiveInt | None = None
    shared: bool = False
    shared_head: bool = False
    places_std: NonNegativeFloat = 1.0

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`.

        Raises:
            ValueError: If the answers of the task cannot be divided among tokens.
        """
        candidates = task.num_candidates if isinstance(task, Candidates) else 0
        parts = Parts(task, stream, candidates=candidates)
        encoder, context = parts.encoder(self.encoder), parts.context(self.context)
        is_set = isinstance(encoder, EncodesToSets)
        if is_set and (candidates or task.length != 1 or context is not None):
            raise ValueError(
                "encoder must give one embedding an item where a problem shows several or has a "
                f"context, as those of {task.name} ({task.length} items)"
            )
        outputs, each = parts.num_outputs, self.outputs_per_token or parts.num_outputs
        if outputs % each:
            raise ValueError(
                f"outputs_per_token must divide the {outputs} numbers of an answer, got {each}"
            )
        reader = TokenReader(
            parts.part("core", self.core),
            parts.width,
            outputs,
            num_tokens=outputs // each,
            length=None if is_set else parts.length,
            shared=self.shared,
            shared_head=self.shared_head,
            places_std=self.places_std,
            generator=stream.child("reader").torch(),
        )
        if is_set:
            return SetModel(encoder, reader)
        if candidates:
            return AnalogyScoring(encoder, context, reader, num_candidates=candidates)
        return Relational(encoder, context, reader)
