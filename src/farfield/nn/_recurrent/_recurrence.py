"""Layers of a recurrent cell with normalizers inside, as RNN, LSTM and GRU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict, final, runtime_checkable

import torch
from torch import Tensor, nn
from torch.types import Device

from farfield.core.internal import Depth, Fraction, Size, check_arguments
from farfield.functional import Indexed
from farfield.functional.internal import linear
from farfield.nn._norm._context_norm import ContextNorm, ContextWhitening
from farfield.nn._norm._field_norm import (
    BatchContextNorm,
    MisalignedContextNorm,
    SlidingContextNorm,
)
from farfield.nn._recurrent._fused_layers import RecurrentLayers
from farfield.nn._recurrent._states import State

_OVER_TIME = (
    BatchContextNorm,
    ContextNorm,
    ContextWhitening,
    MisalignedContextNorm,
    SlidingContextNorm,
)
"""Normalizers that would take `(batch, feature)` for the time steps of one problem."""


@runtime_checkable
class Placement(Protocol):
    """Placement of normalizers in a recurrent cell, with their widths.

    A normalizer can precede each non-linearity, by the name of the non-linearity in the cell, and
    each of the two projections with the gates side by side, `"input"` for $W_x x_t$ and `"hidden"`
    for $W_h h_{t-1}$. Names left out get no normalizer, so any other choice is a class with this
    method.

    Reference:
        ren2017, section 4.2 and appendix B, which have two of them.
    """

    def widths(
        self, gates: Sequence[str], carried: Sequence[str], hidden_size: int
    ) -> Mapping[str, int]:
        """Return the number of features of each normalizer, by name.

        Args:
            gates: Names of the non-linearities that the projections feed, in their order.
            carried: Names of the non-linearities that the carried state feeds.
        """
        ...


@final
@dataclass(frozen=True, kw_only=True)
class PerNonlinearity:
    r"""A normalizer before each non-linearity, on the summed input of that one alone.

    $$\bar\sigma(x) = \sigma(N(x)), \qquad \overline{\tanh}(x) = \tanh(N(x))$$

    replace $\sigma$ and $\tanh$, with a normalizer $N$ for each: five in an LSTM
    (input gate, forget gate, candidate, output gate, new cell), three in a GRU (reset gate, update
    gate, candidate), one in a plain recurrent network. `PerProjection` normalizes all gates
    together, before the sum.

    Reference:
        ren2017, equations 10, 11, 19 and 20.
    """

    def widths(
        self, gates: Sequence[str], carried: Sequence[str], hidden_size: int
    ) -> Mapping[str, int]:
        """Return the width of the hidden state for each non-linearity.

        Args:
            gates: Names of the non-linearities that the projections feed, in their order.
            carried: Names of the non-linearities that the carried state feeds.
        """
        return dict.fromkeys((*gates, *carried), hidden_size)


@final
@dataclass(frozen=True, kw_only=True)
class PerProjection:
    r"""The classical placement: a normalizer on each projection, gates side by side.

    $$h_t = g(N_x(W_x x_t + b_x) + N_h(W_h h_{t-1} + b_h))$$

    with the inputs $g$ of all gates as one vector, and in an LSTM another normalizer on the new
    cell before its $\tanh$. `PerNonlinearity` has a normalizer for each gate, after the sum.

    Reference:
        ren2017, section 4.2 and equation 9, and the last paragraph of appendix B.
    """

    def widths(
        self, gates: Sequence[str], carried: Sequence[str], hidden_size: int
    ) -> Mapping[str, int]:
        """Return the width of all gates for the projections, of the hidden state for the cell.

        Args:
            gates: Names of the non-linearities that the projections feed, in their order.
            carried: Names of the non-linearities that the carried state feeds.
        """
        projections = dict.fromkeys(("input", "hidden"), len(gates) * hidden_size)
        return projections | dict.fromkeys(carried, hidden_size)


@final
class Normalized:
    """Normalizers of a layer, by the names of the values that they normalize.

    Args:
        normalizers: The normalizers, `nn.ModuleDict`.
    """

    def __init__(self, normalizers: nn.Module) -> None:
        self._named = dict(normalizers.named_children())
        self._alike: dict[tuple[str, ...], bool] = {}

    def __call__(self, name: str, z: Tensor) -> Tensor:
        """Apply the normalizer of a name, if there is one."""
        return self._named[name](z) if name in self._named else z

    def shared(self, names: tuple[str, ...]) -> nn.Module | None:
        """Return the normalizer that several names share, or `None` if theirs differ.

        Args:
            names: The names.
        """
        return self._named[names[0]] if self._is_shared(names) else None

    def each(self, names: tuple[str, ...], z: Tensor) -> tuple[Tensor, ...]:
        """Normalize the values of several names.

        Args:
            names: The names.
            z: Values of all names, concatenated: `(*batch, feature)`.
        """
        if self._is_shared(names):
            # One call of a normalizer that takes every vector by itself.
            together = torch.unflatten(z, -1, (len(names), z.shape[-1] // len(names)))
            return self._named[names[0]](together).unbind(-2)
        parts = z.chunk(len(names), dim=-1)
        return tuple(self(name, part) for name, part in zip(names, parts, strict=True))

    def _is_shared(self, names: tuple[str, ...]) -> bool:
        if names not in self._alike:
            self._alike[names] = _are_alike([self._named.get(name) for name in names])
        return self._alike[names]


def _are_alike(normalizers: list[nn.Module | None]) -> bool:
    """Tell whether normalizers treat every vector alike and have no hooks."""
    first = normalizers[0]
    return all(
        part is not None
        and getattr(part, "by_vector", False)
        and repr(part) == repr(first)
        and not any(True for _ in part.parameters())
        and not (part._forward_pre_hooks or part._forward_hooks)  # noqa: SLF001
        for part in normalizers
    )


@runtime_checkable
class Cell(Protocol):
    """One step of a recurrent network.

    Attributes:
        gates: Names of the non-linearities that the projections feed, in the order of the rows
            of the weights.
        carried: Names of the non-linearities that the carried state feeds; there are as many
            states besides the hidden one.
    """

    @property
    def gates(self) -> tuple[str, ...]: ...
    @property
    def carried(self) -> tuple[str, ...]: ...

    def step(self, inputs: Tensor, hidden: Tensor, state: State, normalized: Normalized) -> State:
        """Return the state after a step, the hidden state first.

        Args:
            inputs: Projection of the input, all gates side by side.
            hidden: Projection of the hidden state before, all gates side by side.
            state: The state before.
            normalized: Normalizers of the layer.
        """
        ...


@runtime_checkable
class Unrolls(Protocol):
    """A cell that runs a whole layer at once with some normalizers."""

    def unroll(
        self, inputs: Tensor, weight_hh: Tensor, state: State, normalized: Normalized
    ) -> tuple[Tensor, State] | None:
        """Run all steps: hidden states and last state, or `None` with other normalizers.

        Args:
            inputs: Projections of the inputs and all biases, `(time, batch, feature)`.
            weight_hh: The weight of the hidden state.
            state: The state before the first step.
            normalized: Normalizers of the layer.
        """
        ...


class NormalizerOptions(TypedDict, total=False):
    """Options of every stack with normalizers."""

    normalizer: Callable[[int], nn.Module] | None
    placement: Placement | None
    generator: torch.Generator | None


class Recurrence(RecurrentLayers):
    """Stack of layers of a cell with normalizers inside; a subclass sets the cell first.

    Args:
        normalizer: Class or function that makes a normalizer from its number of features. It is
            called on `(batch, feature)` at every step, so a normalizer over the batch takes
            separate statistics per step; a normalizer over time steps, such as `ContextNorm`, is
            refused. None is a network without normalizers.
        placement: Placement of the normalizers; None is `PerNonlinearity()`.
    """

    _cell: Cell

    @check_arguments
    def __init__(  # noqa: PLR0913, PLR0917 — nine are torch's
        self,
        input_size: Size,
        hidden_size: Size,
        num_layers: Depth = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: Fraction = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        normalizer: Callable[[int], nn.Module] | None = None,
        placement: Placement | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        given = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__(*given, generator)
        self.normalizers = nn.ModuleList(nn.ModuleDict() for _ in range(num_layers))
        if normalizer is not None:
            self._add_normalizers(normalizer, placement or PerNonlinearity())
        self.to(device=device, dtype=dtype)

    def _add_normalizers(
        self, normalizer: Callable[[int], nn.Module], placement: Placement
    ) -> None:
        """Make a normalizer for each position of each layer."""
        gates, carried = self._cell.gates, self._cell.carried
        widths = placement.widths(gates, carried, self.hidden_size)
        names = {"input", "hidden", *gates, *carried}
        if not widths.keys() <= names:
            raise ValueError(f"placement must name some of {sorted(names)}, got {sorted(widths)}")
        for made in self.normalizers:
            for name, width in widths.items():
                made[name] = _checked(normalizer(width))  # type: ignore[operator]

    def _run_layer(self, layer: int, x: Tensor | Indexed, state: State) -> tuple[Tensor, State]:
        """Run a layer, with one product of the inputs over all steps."""
        weight_ih, weight_hh, bias_ih, bias_hh = self._weights(layer)
        normalized = Normalized(self.normalizers[layer])
        outputs: list[Tensor] = []
        rows = (x.gathered() if isinstance(x, Indexed) else x).contiguous()
        if isinstance(self._cell, Unrolls) and normalized.shared(self._places):
            bias = None if bias_ih is None or bias_hh is None else bias_ih + bias_hh
            inputs = linear(rows, weight_ih, bias)
            found = self._cell.unroll(inputs, weight_hh, state, normalized)
            if found is not None:
                return found
        for inputs in linear(rows, weight_ih, bias_ih).unbind(0):
            hidden = linear(state[0], weight_hh, bias_hh)
            state = self._cell.step(inputs, hidden, state, normalized)
            outputs.append(state[0])
        return torch.stack(outputs), state

    @property
    def _places(self) -> tuple[str, ...]:
        """Names of all non-linearities."""
        return (*self._cell.gates, *self._cell.carried)

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return f"{super().extra_repr()}, {self._cell}"


def _checked(normalizer: nn.Module) -> nn.Module:
    """Check that a normalizer does not take the sequences of a batch for a problem."""
    if isinstance(normalizer, _OVER_TIME):
        raise ValueError(
            "normalizer must make one for the (batch, feature) of a step, got "
            f"{type(normalizer).__name__}, which normalizes over time steps and would mix the "
            "sequences of a batch; use nn.LayerNorm or another over features, or one over the batch"
        )
    return normalizer
