"""Placements of the normalizers of a recurrent cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable


@runtime_checkable
class Placement(Protocol):
    """Placement of normalizers in a recurrent cell, with their widths.

    There is a place before each non-linearity, by the name the cell gives it, and one for each of
    the two projections with the gates side by side, `"input"` for $W_x x_t$ and `"hidden"` for
    $W_h h_{t-1}$. A place that is not named is left as it is, so any other choice is a class of
    one's own with this one method.

    Reference:
        ren2017, section 4.2 and appendix B, which have two of them.
    """

    def widths(
        self, gates: Sequence[str], carried: Sequence[str], hidden_size: int
    ) -> Mapping[str, int]:
        """Number of features of each normalizer, by its place.

        Args:
            gates: Names of the non-linearities that the projections feed, in their order.
            carried: Names of the non-linearities that the carried state feeds.
            hidden_size: Number of hidden units.
        """
        ...


@final
@dataclass(frozen=True, kw_only=True)
class PerNonlinearity:
    r"""A normalizer before each non-linearity, on the summed input of that one alone.

    $$\bar\sigma(x) = \sigma(N(x)), \qquad \overline{\tanh}(x) = \tanh(N(x))$$

    takes the place of $\sigma$ and $\tanh$, with a normalizer $N$ for each: five in an LSTM
    (input gate, forget gate, candidate, output gate, new cell), three in a GRU (reset gate, update
    gate, candidate), one in a plain recurrent network. `PerProjection` normalizes all gates
    together, before the sum.

    Reference:
        ren2017, equations 10, 11, 19 and 20.
    """

    def widths(
        self, gates: Sequence[str], carried: Sequence[str], hidden_size: int
    ) -> Mapping[str, int]:
        """Each as wide as the hidden state.

        Args:
            gates: Names of the non-linearities that the projections feed, in their order.
            carried: Names of the non-linearities that the carried state feeds.
            hidden_size: Number of hidden units.
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
        """The projections as wide as all gates together, the cell as the hidden state.

        Args:
            gates: Names of the non-linearities that the projections feed, in their order.
            carried: Names of the non-linearities that the carried state feeds.
            hidden_size: Number of hidden units.
        """
        projections = dict.fromkeys(("input", "hidden"), len(gates) * hidden_size)
        return projections | dict.fromkeys(carried, hidden_size)
