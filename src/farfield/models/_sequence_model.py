"""Models of sequences, which may be read at another size or pace."""

from __future__ import annotations

import math
from typing import Any, final

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Dropout, Size, check_arguments
from farfield.functional import Indexed
from farfield.functional.internal import (
    FEWEST,
    Rows,
    find_rows,
    periods,
    row_points,
    row_positions,
    uniform_weights_,
    uninitialized,
)
from farfield.models._abilities import HasHiddenSize, HasNumFeatures, TakesIndexed, width_of
from farfield.models._composition import Composition
from farfield.models._items import ItemModel

BOUND = 0.1
"""First weights of the output layer lie between −0.1 and 0.1."""

_State = Any
"""State of a core: whatever it takes and gives, `None` for a fresh one."""

PLACES = 64
"""Steps read at once without gradients: memory does not grow with the length of a sequence."""

SAMPLES = 2
"""Nearest steps along each side of a pixel whose mean it is."""


@final
class SequenceModel(Composition):
    """Encoder, sequence layer and output as one model of problems.

    Each distinct item is encoded once; the embeddings are gathered and read in order, from a
    fresh state. Without gradients the sequence is read in pieces, each from the state after the one
    before, so that only the answers grow with its length. A core from set to set has no state and
    reads all items at once; it sees no order.

    Args:
        encoder: From items `(item, *shape)` to embeddings `(item, feature)`, or to another input of
            the core, such as `(item, position, feature)`.
        core: Sequence layer: takes `(batch, time, feature)` and a state, or None, and gives
            `(batch, time, _)` and the state after, as `farfield.nn.RIMs` or `torch.nn.LSTM` with
            `batch_first`. One whose attribute `takes_indexed` is true gets
            `farfield.functional.Indexed` where items come again. Or a layer from set to set, with
            `num_features` in place of `hidden_size`: takes `(batch, item, feature)` alone and keeps
            the shape, as `farfield.nn.PreNormTransformer`.
        answers_everywhere: Whether an answer is given at every position, or after the last only.
        dropout: Probability that an element of an embedding, or of an output of the core, is
            dropped in training, at each position anew; drawn from torch's global generator. 0.5 in
            the released code of lamb2022.
        tied: Whether the weights of the output layer are those of the encoder, a `WordEncoder` of
            as many features as the core gives.

    Shape:
        Items `(item, *shape)` and their index `(batch, time)` to `(batch, time, num_outputs)`, or
        to `(batch, num_outputs)`.

    Attributes:
        output: The linear output layer; its first weights are uniform between −0.1 and 0.1 and its
            biases 0, as in the released code of lamb2022.

    Raises:
        TypeError: If the core does not say how wide it answers.
        ValueError: If `num_outputs` is below 1 or `dropout` no probability, or if the weights of
            the encoder are none of the output layer where they are to be.

    Reference:
        lamb2022, section 8.4.
    """

    @check_arguments
    def __init__(
        self,
        encoder: nn.Module,
        core: nn.Module,
        *,
        num_outputs: Size,
        answers_everywhere: bool,
        dropout: Dropout = 0.0,
        tied: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.core = core
        self.reads_sets = not hasattr(core, "hidden_size") and isinstance(core, HasNumFeatures)
        width = width_of("core", core, HasNumFeatures if self.reads_sets else HasHiddenSize)
        layer = uninitialized(nn.Linear, width, num_outputs)
        self.output = uniform_weights_(layer, BOUND, generator)
        if tied:
            self.output.weight = _shared_weight(encoder, self.output.weight.shape)
        self.answers_everywhere = answers_everywhere
        self.dropout = dropout
        self.takes_indexed = isinstance(core, TakesIndexed) and core.takes_indexed

    @property
    def carries_state(self) -> bool:
        """True if the core has a state, which does not grow with a sequence."""
        return not self.reads_sets and getattr(self.core, "growing_axis", None) is None

    @classmethod
    def released(
        cls,
        encoder: nn.Module,
        core: nn.Module,
        *,
        num_outputs: int,
        answers_everywhere: bool,
        generator: torch.Generator | None = None,
    ) -> SequenceModel:
        """Build lamb2022's released model: half of the inputs and outputs of the core is dropped.

        Args:
            encoder: From items to embeddings.
            core: Sequence layer, such as `farfield.nn.RIMs` with `wiring=Wiring.released()`.
            answers_everywhere: Whether an answer is given at every position, or after the last
                only.
        """
        return cls(
            encoder,
            core,
            num_outputs=num_outputs,
            answers_everywhere=answers_everywhere,
            dropout=0.5,
            generator=generator,
        )

    def answer(
        self, embeddings: Float[Tensor, "item ..."], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem from the embeddings of the items: the second of two stages.

        Raises:
            ValueError: If the index is not `(batch, time)` with at least one step.
        """
        return self._answer(embeddings, index, None)[0]

    def continued(
        self,
        items: Shaped[Tensor, "item ..."],
        index: Int[Tensor, "batch time"],
        state: tuple[Tensor, ...] | None,
    ) -> tuple[Float[Tensor, "batch ..."], tuple[Tensor, ...]]:
        """Answer every problem, each going on where the one in its row before has ended.

        Args:
            state: Parts of the state after the problems before; `None` for a fresh one.

        Returns:
            The answers, and the parts of the state after the last position.

        Raises:
            ValueError: If the index is not `(batch, time)` with at least one step.
        """
        outputs, last = self._answer(self.encode(items), index, _whole(state))
        return outputs, _parts(last)

    def hidden_states(
        self,
        items: Shaped[Tensor, "item ..."],
        index: Int[Tensor, "batch time"],
        state: tuple[Tensor, ...] | None = None,
    ) -> tuple[Float[Tensor, "batch time _"], tuple[Tensor, ...]]:
        """Return the outputs of the core at every position, from which the output layer answers.

        Args:
            state: Parts of the state after the problems before; `None` for a fresh one.

        Returns:
            The outputs of the core, and the parts of the state after the last position.
        """
        hidden, last = self._read(self.encode(items), index, _whole(state))
        return hidden, _parts(last)

    def _answer(self, embeddings: Tensor, index: Tensor, state: _State) -> tuple[Tensor, _State]:
        """Answer from a state; return the state after."""
        if index.ndim != 2 or index.shape[1] == 0:
            raise ValueError(
                f"index must be (batch, time) with at least one step, got {tuple(index.shape)}"
            )
        whole = torch.is_grad_enabled() or self.reads_sets
        places = index.shape[1] if whole else PLACES
        answers: list[Tensor] = []
        for piece in torch.split(index, places, dim=1):
            read, state = self._read(embeddings, piece, state)
            if self.answers_everywhere:
                answers.append(self.output(read))
        if self.answers_everywhere:
            return torch.cat(answers, dim=1), state
        return self.output(read[:, -1]), state

    def _read(
        self, embeddings: Tensor, piece: Tensor, state: _State
    ) -> tuple[Float[Tensor, "batch time _"], _State]:
        """Run the core on a piece; return its outputs and the state after it."""
        x = self._placed(Indexed(embeddings, piece))
        read, state = (self.core(x), ()) if self.reads_sets else self.core(x, state)
        return F.dropout(read, self.dropout) if self._is_dropping else read, state

    def _placed(self, x: Indexed) -> Tensor | Indexed:
        """Gather the embeddings, unless the core takes them as `Indexed`."""
        if self._is_dropping:
            return F.dropout(x.gathered(), self.dropout)
        return x if self.takes_indexed and x.repeats else x.gathered()

    @property
    def _is_dropping(self) -> bool:
        return self.training and self.dropout > 0


def _shared_weight(encoder: nn.Module, shape: torch.Size) -> nn.Parameter:
    """Return the weights of an encoder, for the output layer too."""
    weight = getattr(encoder, "weight", None)
    if not isinstance(weight, nn.Parameter) or weight.shape != shape:
        found = "none" if weight is None else f"{tuple(weight.shape)}"
        raise ValueError(
            f"encoder must have weights of {tuple(shape)} for the output layer, got {found}"
        )
    return weight


def _whole(parts: tuple[Tensor, ...] | None) -> _State:
    """Assemble the state of a core from its parts."""
    return parts[0] if parts is not None and len(parts) == 1 else parts


def _parts(state: _State) -> tuple[Tensor, ...]:
    """Split the state of a core into its parts."""
    return (state,) if isinstance(state, Tensor) else tuple(state)


@final
class ResizedSequence(nn.Module):
    """Read the positions of a problem as a square image, resized to one side.

    A problem of s² positions is a square of side s. Row r and column c of the square of `side` that
    the inner model reads are row ⌊(r + ½) s / side⌋ and column ⌊(c + ½) s / side⌋ of it: the
    nearest positions. It is the square itself where s is `side`, so training changes in
    nothing. That the sequence is a picture, and of which size, is known, not learned.

    Args:
        inner: Model that reads the square.
        side: Its side.

    Shape:
        As the inner model, for any square number of positions. Where it answers at every position,
        a position gets the answer of the nearest position that was read.

    Raises:
        ValueError: If `side` is below 1, or the number of positions is not a square.

    Reference:
        lamb2022, section 8.4.1: the task that it is made for. The reading is Farfield's own.
    """

    @check_arguments
    def __init__(self, inner: SequenceModel, *, side: Size) -> None:
        super().__init__()
        self.inner = inner
        self.side = side

    def forward(
        self, items: Float[Tensor, "item ..."], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem of a batch."""
        return self.answer(self.encode(items), index)

    def encode(self, items: Float[Tensor, "item ..."]) -> Float[Tensor, "item feature"]:
        """Embed every item: the first of two stages."""
        return self.inner.encode(items)

    def answer(
        self, embeddings: Float[Tensor, "item feature"], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem from the embeddings of the items: the second of two stages."""
        count = index.shape[1]
        shown = math.isqrt(count)
        if shown < 1 or shown * shown != count:
            raise ValueError(f"index must have a square number of positions, got {count}")
        return answer_resized(self.inner, embeddings, index, (shown, shown), (self.side, self.side))


def answer_resized(
    inner: SequenceModel,
    embeddings: Float[Tensor, "item ..."],
    index: Int[Tensor, "batch time"],
    shown: tuple[int, int],
    read: tuple[int, int],
) -> Float[Tensor, "batch ..."]:
    """Answer by a model that reads a grid of another size than the grid of the problems.

    Args:
        inner: The model.
        embeddings: Embeddings of the items, by its `encode`.
        shown: Rows and columns of the problems.
        read: Those that are read.
    """
    answers = inner.answer(embeddings, index[:, _nearest_places(shown, read, index.device)])
    if not inner.answers_everywhere:
        return answers
    return answers[:, _nearest_places(read, shown, index.device)]


def _nearest_places(
    shown: tuple[int, int], read: tuple[int, int], device: torch.device
) -> Int[Tensor, " time"]:
    """List positions of a grid, row by row, nearest to positions of a grid of another size.

    Args:
        shown: Rows and columns of the grid whose positions are listed.
        read: Rows and columns of the other grid, with as many positions as the result.
        device: Where the result is.
    """
    rows, columns = (
        (2 * torch.arange(count, device=device) + 1) * there // (2 * count)
        for there, count in zip(shown, read, strict=True)
    )
    return (shown[1] * rows[:, None] + columns).flatten()


@final
class PacedSequence(nn.Module):
    """Read every sequence that repeats itself as so many periods of so many steps.

    Each sequence is compared with itself, item by item (`find_rows`), which gives a period, where
    periods begin, and the center of mass of the contrast with the background. One in which a period
    is significant is read as `pace` periods of `pace` steps, each the nearest that there is; a
    sequence without one is read unchanged. So a sequence that is twice as fast, or twice as long,
    takes the same steps, whether or not it ends with a period, and blank steps before or behind it
    change little. That is measured, neither known before nor learned: of a picture in rows, the
    period is the length of a row.

    A model of images reads the periods as the rows of one image, whether they are significant or
    not: its channels are the numbers of an item, each pixel the mean of 2 × 2 nearest steps.

    Args:
        inner: Model that reads the sequence, or model of images.
        pace: Steps of a period, and periods of a sequence.
        whole_periods: Whether a period must divide the sequence into whole parts, the first of
            which begins with the first step (`periods`), as in recorded networks.
        jitter: Largest stretch and slant, as fractions, of the grid of steps to read in training;
            the grid also moves by up to a third as much of a side. Each is drawn from torch's
            global generator. A period that is wrong by a step slants a picture.

    Shape:
        As the inner model. Where it answers at every position, a position gets the answer of the
        nearest step that was read.

    Raises:
        ValueError: If `pace` is below 1 or `jitter` outside 0…1, if whole periods are asked for
            together with jitter or a model of images, or if a model of images gets sequences of
            fewer than 16 steps.

    Reference:
        Farfield's own, for pictures as in lamb2022, section 8.4.1.
    """

    @check_arguments
    def __init__(
        self,
        inner: SequenceModel | ItemModel,
        *,
        pace: Size,
        whole_periods: bool = False,
        jitter: Dropout = 0.0,
    ) -> None:
        super().__init__()
        if whole_periods and (jitter or isinstance(inner, ItemModel)):
            raise ValueError("whole_periods must be False with jitter or a model of images")
        self.inner = inner
        self.pace = pace
        self.whole_periods = whole_periods
        self.jitter = jitter

    def forward(
        self, items: Float[Tensor, "item ..."], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem of a batch."""
        shown = items.flatten(1)[index]
        if isinstance(self.inner, ItemModel):
            pictures = self._pictures(shown)
            return self.inner(pictures, torch.arange(len(pictures), device=index.device)[:, None])
        inner, embeddings = self.inner, self.inner.encode(items)
        if index.shape[1] < FEWEST**2:
            return inner.answer(embeddings, index)
        if self.whole_periods:
            return self._by_period(inner, embeddings, index, periods(shown))
        rows = find_rows(shown)
        found = rows.significant
        answers: list[Tensor] = []
        if found.any():
            some = Rows(*(part[found] for part in rows))
            answers.append(self._by_rows(inner, embeddings, index[found], some))
        if not found.all() or not len(found):
            answers.append(inner.answer(embeddings, index[~found]))
        order = torch.cat([found.nonzero()[:, 0], (~found).nonzero()[:, 0]])
        return torch.cat(answers)[order.argsort()]

    def _by_rows(
        self, inner: SequenceModel, embeddings: Tensor, index: Tensor, rows: Rows
    ) -> Tensor:
        """Answer sequences with rows."""
        steps = index.shape[1]
        positions = row_positions(rows, *self._points(len(index), self.pace, index.device), steps)
        answers = inner.answer(embeddings, index.gather(1, positions.flatten(1)))
        if not inner.answers_everywhere:
            return answers
        points = row_points(rows, steps, self.pace)
        return answers.gather(1, points.unsqueeze(2).expand(-1, -1, answers.shape[2]))

    def _pictures(
        self, shown: Float[Tensor, "batch time feature"]
    ) -> Float[Tensor, "batch feature height width"]:
        """Bring the rows of each sequence into one image."""
        points = self._points(len(shown), SAMPLES * self.pace, shown.device)
        positions = row_positions(find_rows(shown), *points, shown.shape[1])
        every = torch.arange(len(shown), device=shown.device)[:, None, None]
        return F.avg_pool2d(shown[every, positions].permute(0, 3, 1, 2), SAMPLES)

    def _points(self, batch: int, side: int, device: torch.device) -> tuple[Tensor, Tensor]:
        """Compute rows and columns, from −½ to ½, of a square grid; jittered in training."""
        line = (torch.arange(side, device=device) + 0.5) / side - 0.5
        down, across = (part[None] for part in torch.meshgrid(line, line, indexing="ij"))
        if not (self.training and self.jitter):
            return down.expand(batch, -1, -1), across.expand(batch, -1, -1)
        change = self.jitter * (2 * torch.rand_like(line.new_empty(6, batch, 1, 1)) - 1)
        return (
            down * (1 + change[0]) + across * change[1] + change[2] / 3,
            across * (1 + change[3]) + down * change[4] + change[5] / 3,
        )

    def _by_period(
        self, inner: SequenceModel, embeddings: Tensor, index: Tensor, found: Tensor
    ) -> Tensor:
        """Answer sequences whose periods divide them, period by period."""
        answers: list[Tensor] = []
        order: list[Tensor] = []
        for period in set(found.tolist()) or {0}:
            (rows,) = (found == period).nonzero(as_tuple=True)
            order.append(rows)
            if period == 0:
                answers.append(inner.answer(embeddings, index[rows]))
                continue
            shown, read = (index.shape[1] // period, period), (self.pace, self.pace)
            answers.append(answer_resized(inner, embeddings, index[rows], shown, read))
        return torch.cat(answers)[torch.cat(order).argsort()]
