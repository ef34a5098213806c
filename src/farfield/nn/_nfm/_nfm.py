"""Neural function modules: layers that read earlier layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core import NonNegativeInt, Size, check_arguments
from farfield.functional import NFMRead, NFMRules, WrittenState
from farfield.nn._input_checks import check_dtype
from farfield.nn._nfm._nfm_layer import NFMLayer


@final
class NFM(nn.Module):
    r"""Let the layers of a network read from all that were computed before.

    A layer writes keys and values of its state $h$. A later one attends, position by position, to
    a null element and to what all before it wrote, in a sparse softmax with few of them, and adds
    what a small network makes of that:

    $$A = \mathrm{softmax}_k\left(\frac{h W_q (M W_k)^\top}{d_k}\right) M W_v, \qquad
      h \leftarrow h + \gamma \, \sigma(\mathrm{BN}(A W_{o1})) W_{o2}$$

    where $M$ are the states, brought to the positions of the reader, $\sigma$ is a ReLU and
    $\gamma$ a number that starts at 0, so that at first nothing is added. Attention in a
    Transformer is over the positions of one layer; this one is over layers, at one position.

    What was written is given and returned, as the state of a recurrent layer is: a module keeps
    nothing of it. `MultiPass` puts the layers of a network through one, in several passes.

    Args:
        num_features: Of the state of each layer, in the order in which they are called.
        first_reader: Number of the first layer that reads. Those before it only write and have no
            weights for more, as those of a first pass.
        rules: The options; None is `NFMRules()`, the text's. `NFMRules.released()` is that of the
            released code.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        States `(batch, feature)`, `(batch, time, feature)` or `(batch, channel, height, width)`,
        each with the features of its layer. Sizes are multiples or divisors of the reader's, unless
        `rules` have `space_to_depth=False`. One network may have states without positions and
        either of the others.

    Attributes:
        layers: The weights of each layer: `key` and `value`; if it reads `query`, the output
            network `out` and `gamma`.

    Raises:
        ValueError: If there are no layers, a size is below 1, or `first_reader` is past the last.

    Reference:
        lamb2022, section 10.3.2.

    Example:
        >>> nfm = NFM((8, 16), first_reader=1)
        >>> x, written = nfm(torch.rand(2, 8, 6, 6), layer=0)
        >>> y, written = nfm(torch.rand(2, 16, 3, 3), written, layer=1)
        >>> y.shape, len(written)
        (torch.Size([2, 16, 3, 3]), 2)
    """

    @check_arguments
    def __init__(
        self,
        num_features: tuple[Size, ...],
        *,
        first_reader: NonNegativeInt = 0,
        rules: NFMRules | None = None,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if not num_features:
            raise ValueError("num_features must have at least one layer, got ()")
        if first_reader >= len(num_features):
            raise ValueError(
                f"first_reader must be 0…{len(num_features) - 1}, one of the layers, got "
                f"{first_reader}"
            )
        self.num_features, self.first_reader = num_features, first_reader
        self.rules = rules or NFMRules()
        self.layers = nn.ModuleList(
            NFMLayer(features, self.rules, reads=layer >= first_reader, generator=generator)
            for layer, features in enumerate(num_features)
        )
        self.to(device=device, dtype=dtype)

    def forward(
        self, x: Float[Tensor, "batch ..."], written: Sequence[WrittenState] = (), *, layer: int
    ) -> tuple[Float[Tensor, "batch ..."], tuple[WrittenState, ...]]:
        """Write the state of a layer, and read for it if it is one that reads.

        Args:
            x: The state.
            written: By the layers before.
            layer: Its number, from 0.

        Returns:
            The state with what was read added, and all that is written now.
        """
        written = (*written, self.write(x, layer))
        return (self.read(x, written, layer) if layer >= self.first_reader else x), written

    def write(self, x: Float[Tensor, "batch ..."], layer: int) -> WrittenState:
        """Keys and values of the state of a layer.

        Args:
            x: The state.
            layer: Its number, from 0.

        Raises:
            ValueError: If there is no such layer, or the state is not one of it.
        """
        return self._layer(layer).write(self._features_last(x, layer))

    def read(
        self,
        x: Float[Tensor, "batch ..."],
        written: Sequence[WrittenState],
        layer: int,
        *,
        generator: torch.Generator | None = None,
    ) -> Float[Tensor, "batch ..."]:
        """The state of a layer with what it reads added.

        Args:
            x: The state.
            written: All that it may read.
            layer: Its number, from 0.
            generator: Where attention is drawn from instead, as in `farfield.functional.nfm_read`.

        Raises:
            ValueError: If nothing was written, the layer does not read, or a shape does not fit.
        """
        state, weights = self._reader(x, layer)
        if generator is None:
            return _changed(x, weights.change(state, written))
        return _changed(x, weights.trace(state, written, generator=generator)[0])

    def trace(
        self, x: Float[Tensor, "batch ..."], written: Sequence[WrittenState], layer: int
    ) -> tuple[Float[Tensor, "batch ..."], NFMRead]:
        """`read`, with the attention to all that was written.

        Args:
            x: As in `read`.
            written: As in `read`.
            layer: As in `read`.
        """
        state, weights = self._reader(x, layer)
        change, read = weights.trace(state, written)
        return _changed(x, change), read

    def _reader(self, x: Tensor, layer: int) -> tuple[Tensor, NFMLayer]:
        """A state with its features last, and the weights that read for it."""
        weights, state = self._layer(layer), self._features_last(x, layer)
        if layer < self.first_reader:
            raise ValueError(
                f"layer must be at least first_reader={self.first_reader}, got {layer}"
            )
        return state, weights

    def _layer(self, layer: int) -> NFMLayer:
        if not 0 <= layer < len(self.layers):
            raise ValueError(f"layer must be 0…{len(self.layers) - 1}, got {layer}")
        return self.layers[layer]  # type: ignore[return-value]

    def _features_last(self, x: Tensor, layer: int) -> Tensor:
        features, axis = self.num_features[layer], {2: 1, 3: 2, 4: 1}.get(x.ndim)
        if axis is None or x.shape[axis] != features:
            raise ValueError(
                f"x must be (batch, {features}), (batch, time, {features}) or (batch, {features}, "
                f"height, width), the state of layer {layer}, got shape {tuple(x.shape)}"
            )
        check_dtype(x, self)
        return x.movedim(1, -1).contiguous() if x.ndim == 4 else x

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return f"{self.num_features}, first_reader={self.first_reader}, {self.rules}"


def _changed(x: Tensor, change: Tensor) -> Tensor:
    # The sum has the strides of the state, with which what follows rounds as it does without.
    return x + (change.movedim(-1, 1) if x.ndim == 4 else change)
