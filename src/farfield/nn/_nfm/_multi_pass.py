"""A network that is run several times, its layers reading states of earlier runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, final

import torch
from torch import Tensor, nn

from farfield.core import tap_layers
from farfield.core.internal import Depth, Size, check_arguments, layer_by_name
from farfield.functional.internal import NFMRead, NFMRules, WrittenState
from farfield.nn._nfm._nfm import NFM, redraw

Read = Callable[[Tensor, Sequence[WrittenState], int], Tensor]
"""Function `NFM.read`, or another that returns the same and more."""


class LayerRead(NamedTuple):
    """A read of one layer of a `MultiPass`.

    Attributes:
        reader: Pass, from 1, and name of the layer.
        written: The same of all that it could read, in their order.
        attention: Weight of the null element and of each of these, positions of a larger state
            together: (batch, *position, head, 1 + written).

    Reference:
        lamb2022, section 10.3.2.
    """

    reader: tuple[int, str]
    written: tuple[tuple[int, str], ...]
    attention: Tensor


@final
class MultiPass(nn.Module):
    r"""Run a network several times on the same input, with neural function modules on its layers.

    The outputs of the named layers are the states of an `NFM`. The first pass writes them; in each
    later pass, which starts from the input again, a layer writes its own and then reads all that
    was written in this pass, by layers below it, and in the passes before, also by layers above.
    Its reads are added to its output. The last pass gives the output. As `NFM` adds nothing at
    first, that is then the output of the network alone, bit for bit, if nothing is drawn in it.

    A read at the output of a layer is the one that algorithm 2 makes for the layer that follows.

    The last pass is the given network itself. The others are copies whose weights are drawn anew by
    the `reset_parameters` of their layers, as torch's layers have it; weights that a network drew
    in another way are drawn in theirs. Layers of a copy behind its last named layer are run and
    counts for nothing. With `shared` all passes are the given network, its running statistics too.
    Reads and writes have separate weights in each pass.

    Args:
        layers: Names of its layers, as in `named_modules`, in the order in which they are called;
            each returns one tensor.
        num_features: Of the output of each of them.
        passes: Number of passes, $K$.
        shared: Whether the passes share the weights of the network.
        first_reads: Whether layers of the first pass read too, as in algorithm 2, or only write, as
            in the released code. A single pass reads.
        rules: The options, as in `NFM`.
        generator: Where weights are drawn from; None is torch's global generator.

    Shape:
        Inputs and output of the network. Outputs of the named layers are as the states of `NFM`.

    Attributes:
        networks: The networks of the passes, `network` last; it alone with `shared`.
        nfm: The `NFM`, with the layers of all passes.

    Raises:
        ValueError: If a layer is not in the network, or named twice; if there are not as many
            `num_features`; or if, without `shared`, a layer cannot draw its weights.

    Reference:
        lamb2022, section 10.3.2, algorithm 2.

    Example:
        >>> network = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
        >>> MultiPass(network, ("0", "2"), (8, 3))(torch.rand(4, 5)).shape
        torch.Size([4, 3])
    """

    @check_arguments
    def __init__(
        self,
        network: nn.Module,
        layers: tuple[str, ...],
        num_features: tuple[Size, ...],
        *,
        passes: Depth = 2,
        shared: bool = False,
        first_reads: bool = False,
        rules: NFMRules | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        _check_layers(network, layers, num_features)
        self.layers, self.passes, self.shared = layers, passes, shared
        others = [redraw(network, generator) for _ in range(1, passes) if not shared]
        self.networks = nn.ModuleList((*others, network))
        writers = 0 if first_reads or passes == 1 else len(layers)
        sizes = num_features * passes
        self.nfm = NFM(sizes, first_reader=writers, rules=rules, generator=generator)
        like = next(network.parameters(), torch.empty(0))
        self.nfm.to(device=like.device, dtype=like.dtype)

    def forward(self, *inputs: Any) -> Any:
        """Compute the output of the last pass.

        Args:
            inputs: Of the network.
        """
        return self._run(inputs, self.nfm.read, [])

    def randomized(self, *inputs: Any, generator: torch.Generator) -> Any:
        """Compute the output with attention drawn at random, whatever the states: an ablation.

        Args:
            inputs: Of the network.
            generator: Where attention weights are drawn from, as standard normal numbers.

        Reference:
            lamb2022, section 10.4.4.
        """
        return self._run(inputs, partial(self.nfm.read, generator=generator), [])

    def trace(self, *inputs: Any) -> tuple[LayerRead, ...]:
        """List all reads in their order: which layer read which.

        Args:
            inputs: Of the network.
        """
        reads: list[LayerRead] = []
        calls: list[int] = []

        def traced(x: Tensor, written: Sequence[WrittenState], layer: int) -> Tensor:
            found, read = self.nfm.trace(x, written, layer)
            names = tuple(map(self._name, calls))
            reads.append(LayerRead(self._name(layer), names, _by_layer(read)))
            return found

        self._run(inputs, traced, calls)
        return tuple(reads)

    def _run(self, inputs: tuple[Any, ...], read: Read, calls: list[int]) -> Any:
        """Run all passes; the layer that wrote each state is added to `calls`."""
        written: list[WrittenState] = []

        def tap(layer: int) -> Callable[[Tensor], Tensor]:
            def change(x: Tensor) -> Tensor:
                calls.append(layer)
                written.append(self.nfm.write(x, layer))
                return read(x, written, layer) if layer >= self.nfm.first_reader else x

            return change

        output: Any = None
        for number in range(self.passes):
            network = self.networks[-1 if self.shared else number]
            first = number * len(self.layers)
            with tap_layers(network, {name: tap(first + k) for k, name in enumerate(self.layers)}):
                output = network(*inputs)
        return output

    def _name(self, layer: int) -> tuple[int, str]:
        number, position = divmod(layer, len(self.layers))
        return number + 1, self.layers[position]

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return f"{self.layers}, passes={self.passes}, shared={self.shared}"


def _check_layers(
    network: nn.Module, layers: tuple[str, ...], num_features: tuple[int, ...]
) -> None:
    for name in layers:
        layer_by_name(network, name)
    if not layers or len(set(layers)) < len(layers):
        raise ValueError(f"layers must be different ones, and at least one, got {layers}")
    if len(num_features) != len(layers):
        raise ValueError(
            f"num_features must have a number for each of the {len(layers)} layers, got "
            f"{num_features}"
        )


def _by_layer(read: NFMRead) -> Tensor:
    """Compute attention on the null element and on each state."""
    return torch.stack((read.null, *(each.sum(-1) for each in read.attention)), -1)
