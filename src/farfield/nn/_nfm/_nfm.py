"""Neural Function Modules."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import stream
from farfield.core.internal import (
    FactoryOptions,
    NonNegativeInt,
    Size,
    forked_generators,
    take_factory_arguments,
)
from farfield.functional.internal import (
    NFMRead,
    NFMRules,
    NFMWeights,
    WrittenState,
    fan_in_uniform_,
    linear,
    nfm_change,
    nfm_trace,
    uninitialized,
)
from farfield.nn._input_checks import check_dtype


def redraw(network: nn.Module, generator: torch.Generator | None) -> nn.Module:
    """Copy a network and draw its weights anew, by `reset_parameters` of each layer.

    Args:
        network: The network, which is not changed.
        generator: Where the seed of the draws comes from; None is torch's global generator.

    Raises:
        ValueError: If a layer has parameters and no `reset_parameters`.
    """
    drawn = copy.deepcopy(network)
    seed = int(torch.randint(2**63 - 1, (), generator=generator))
    # torch's layers draw from the global generator alone.
    with forked_generators(stream(seed, "weights")):
        for name, layer in reversed([*drawn.named_modules()]):  # whole layers after their parts
            _reset(name, layer)
    return drawn


def _reset(name: str, layer: nn.Module) -> None:
    # The attention of torch keeps it to itself.
    reset = getattr(layer, "reset_parameters", getattr(layer, "_reset_parameters", None))
    if callable(reset):
        reset()
    elif any(True for _ in layer.parameters(recurse=False)):
        raise ValueError(
            f"network must have reset_parameters in every layer with weights, with which those of "
            f"another pass are drawn, got {name!r}, a {type(layer).__name__} without; "
            f"shared=True needs none"
        )


@final
class NFMLayer(nn.Module):
    """Weights with which a layer writes, and, if it reads, its weights for reading.

    States are given with their features last.

    Args:
        num_features: Of its state.
        rules: The options.
        reads: Whether it reads.
    """

    def __init__(
        self, num_features: int, rules: NFMRules, *, reads: bool, generator: torch.Generator | None
    ) -> None:
        super().__init__()
        keys, values = (rules.num_heads * size for size in (rules.key_size, rules.value_size))

        def projection(outputs: int) -> nn.Linear:
            layer = uninitialized(nn.Linear, num_features, outputs, bias=rules.bias)
            return fan_in_uniform_(layer, generator)

        self.rules = rules
        self.key, self.value = projection(keys), projection(values)
        if not reads:
            return
        self.query = projection(keys)
        inputs = values + num_features * rules.residual_input
        self.out = nn.Sequential(
            _convolution(inputs, num_features, rules, generator),
            nn.BatchNorm2d(num_features),
            nn.ReLU(),
            _convolution(num_features, num_features, rules, generator),
        )
        self.gamma = nn.Parameter(torch.zeros(()))

    def write(self, x: Tensor) -> WrittenState:
        """Compute keys and values of a state."""
        return WrittenState(_projected(x, self.key), _projected(x, self.value))

    def trace(
        self,
        x: Tensor,
        written: Sequence[WrittenState],
        *,
        generator: torch.Generator | None = None,
    ) -> tuple[Tensor, NFMRead]:
        """Compute the change of a state by its read, and the read."""
        self._count()
        weights, moving, training = self._weights(), self._moving(), self.training
        return nfm_trace(
            x, written, weights, moving, self.rules, training=training, generator=generator
        )

    def change(self, x: Tensor, written: Sequence[WrittenState]) -> Tensor:
        """Compute the change alone, of which gradients take little memory."""
        self._count()
        weights, moving, training = self._weights(), self._moving(), self.training
        return nfm_change(x, written, weights, moving, self.rules, training=training)

    def _weights(self) -> NFMWeights:
        hidden, norm, _, out = self.out
        network = (part for own in (hidden, norm, out) for part in (own.weight, own.bias))
        tensors: Any = (self.query.weight, self.query.bias, *network, self.gamma)
        return NFMWeights(*tensors)

    def _moving(self) -> tuple[Tensor, Tensor]:
        """Return the running statistics."""
        return self.out.get_buffer("1.running_mean"), self.out.get_buffer("1.running_var")

    def _count(self) -> None:
        """Count a batch, as batch normalization does."""
        if self.training:
            self.out.get_buffer("1.num_batches_tracked").add_(1)


def _convolution(
    inputs: int, outputs: int, rules: NFMRules, generator: torch.Generator | None
) -> nn.Conv2d:
    size = rules.kernel_size
    layer = uninitialized(nn.Conv2d, inputs, outputs, size, padding=size // 2, bias=rules.bias)
    return fan_in_uniform_(layer, generator)


def _projected(x: Tensor, layer: nn.Linear) -> Tensor:
    """Apply a linear layer at all positions, as one product."""
    found = linear(x.reshape(-1, x.shape[-1]), layer.weight, layer.bias)
    return found.reshape(*x.shape[:-1], layer.out_features)


@final
class NFM(nn.Module):
    r"""Let the layers of a network read from all that were computed before.

    A layer writes keys and values of its state $h$. A later one attends, position by position, to
    a null element and to the writes of all before it, in a sparse softmax with few of them, and
    adds the output of a small network on them:

    $$A = \mathrm{softmax}_k\left(\frac{h W_q (M W_k)^\top}{d_k}\right) M W_v, \qquad
      h \leftarrow h + \gamma \, \sigma(\mathrm{BN}(A W_{o1})) W_{o2}$$

    where $M$ are the states, brought to the positions of the reader, $\sigma$ is a ReLU and
    $\gamma$ a number that starts at 0, so that at first nothing is added. Attention in a
    Transformer is over the positions of one layer; this one is over layers, at one position.

    The writes are given and returned, as the state of a recurrent layer is: a module keeps
    nothing of it. `MultiPass` puts the layers of a network through one, in several passes.

    Args:
        num_features: Of the state of each layer, in the order in which they are called.
        first_reader: Number of the first layer that reads. Those before it only write and have no
            weights for more, as those of a first pass.
        rules: The options; None is `NFMRules()`, the text's. `NFMRules.released()` is that of the
            released code.

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

    @take_factory_arguments()
    def __init__(
        self,
        num_features: tuple[Size, ...],
        *,
        first_reader: NonNegativeInt = 0,
        rules: NFMRules | None = None,
        **options: Unpack[FactoryOptions],
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
            NFMLayer(
                features, self.rules, reads=layer >= first_reader, generator=options["generator"]
            )
            for layer, features in enumerate(num_features)
        )

    def forward(
        self, x: Float[Tensor, "batch ..."], written: Sequence[WrittenState] = (), *, layer: int
    ) -> tuple[Float[Tensor, "batch ..."], tuple[WrittenState, ...]]:
        """Write the state of a layer, and read for it if it is one that reads.

        Args:
            x: The state.
            written: By the layers before.
            layer: Its number, from 0.

        Returns:
            The state with its read added, and all writes so far.
        """
        written = (*written, self.write(x, layer))
        return (self.read(x, written, layer) if layer >= self.first_reader else x), written

    def write(self, x: Float[Tensor, "batch ..."], layer: int) -> WrittenState:
        """Compute keys and values of the state of a layer.

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
        """Add the read of a layer to its state.

        Args:
            x: The state.
            written: All that it may read.
            layer: Its number, from 0.
            generator: Source of random attention, as in `farfield.functional.internal.nfm_read`.

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
        """Compute `read` and the attention to all writes.

        Args:
            x: As in `read`.
            written: As in `read`.
            layer: As in `read`.
        """
        state, weights = self._reader(x, layer)
        change, read = weights.trace(state, written)
        return _changed(x, change), read

    def _reader(self, x: Tensor, layer: int) -> tuple[Tensor, NFMLayer]:
        """Return a state with its features last, and the weights that read for it."""
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
        """Format the options for `print`."""
        return f"{self.num_features}, first_reader={self.first_reader}, {self.rules}"


def _changed(x: Tensor, change: Tensor) -> Tensor:
    # The sum has the strides of the state, so that later layers round as they do without.
    return x + (change.movedim(-1, 1) if x.ndim == 4 else change)
