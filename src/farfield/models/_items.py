"""Models of single items, and of sets of items."""

from __future__ import annotations

from typing import final

from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from farfield.core.internal import HasMixingLayers, check_arguments, floating_dtype
from farfield.functional.internal import as_fractions
from farfield.models._composition import Composition, gathered


@final
class ItemModel(nn.Module):
    """A classifier of single items, or a network that restores them, as a model of problems.

    A problem shows one item. Every problem of a batch is an input row of the core, also where
    several show the same item: batch normalization counts problems. `SetModel` takes an item apart
    into elements.

    Args:
        core: From items `(batch, *shape)` to answers `(batch, num_outputs)`, e.g. `PreActResNet`,
            or to items, e.g. `SRCNN`.
        front: Layer before the core, from and to `(batch, *shape)`, such as a
            standardization; None for nothing.

    Shape:
        Items `(item, *shape)`, uint8 of 0…255 or floating-point, and their index `(batch, 1)` to
        outputs of the core. Bytes are read as fractions of 255.

    Attributes:
        mixing_layers: Those of the core, if it has any.

    Raises:
        ValueError: If a part is no module.

    Reference:
        lamb2022, sections 4.5.1 and 6.3.2.
    """

    @check_arguments
    def __init__(self, core: nn.Module, front: nn.Module | None = None) -> None:
        super().__init__()
        self.front = front
        self.core = core
        if isinstance(core, HasMixingLayers):
            self.mixing_layers = tuple(f"core.{name}" for name in core.mixing_layers)

    def forward(
        self, items: Shaped[Tensor, "item ..."], index: Int[Tensor, "batch position"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem of a batch.

        Args:
            index: Which item each problem shows.

        Raises:
            ValueError: If the index is not `(batch, 1)`, or items are integers other than bytes.
        """
        check_one_item(index)
        shown = items.index_select(0, index[:, 0])
        if not shown.is_floating_point():
            shown = as_fractions(shown, floating_dtype(self))
        return self.core(shown if self.front is None else self.front(shown))


@final
class SetModel(Composition):
    """An encoder that makes a set of each item, and a reader of the set, as a model of problems.

    A problem shows one item, e.g. an image whose patches are the elements of the set. `Relational`
    is for problems that show several items, each of which is one element.

    Args:
        encoder: From items `(item, *shape)` to `(item, element, feature)`, e.g.
            `farfield.nn.PatchEncoder`.
        reader: From `(batch, element, feature)` to answers `(batch, num_outputs)`, e.g.
            `TokenReader`.

    Shape:
        Items `(item, *shape)` and their index `(batch, 1)` to `(batch, num_outputs)`.

    Reference:
        gondal2021, sections 4.1 and 4.2.
    """

    @check_arguments
    def __init__(self, encoder: nn.Module, reader: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.reader = reader

    def answer(
        self,
        embeddings: Float[Tensor, "item element feature"],
        index: Int[Tensor, "batch position"],
    ) -> Float[Tensor, "batch _"]:
        """Answer every problem from the elements of the items: the second of two stages.

        Args:
            index: Which item each problem shows.

        Raises:
            ValueError: If the index is not `(batch, 1)`.
        """
        return self.reader(self.sets(embeddings, index))

    def sets(
        self,
        embeddings: Float[Tensor, "item element feature"],
        index: Int[Tensor, "batch position"],
    ) -> Float[Tensor, "batch element feature"]:
        """Compute the inputs of the reader: the set of every problem.

        Args:
            index: Which item each problem shows.

        Raises:
            ValueError: If the index is not `(batch, 1)`.
        """
        check_one_item(index)
        return gathered(embeddings, index)


def check_one_item(index: Tensor) -> None:
    """Raise `ValueError` unless `index` shows one item a problem."""
    if index.ndim != 2 or index.shape[1] != 1:
        raise ValueError(f"index must be (batch, 1), one item a problem, got {tuple(index.shape)}")
