"""Outputs of a network on mixtures of problems, of their items or at a hidden layer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final, final

import torch
from torch import Tensor

from farfield.core import EncodesItems, Problems, tap_layers
from farfield.functional import as_fractions, is_transformed
from farfield.objectives._bound import Bound
from farfield.objectives._mixing_layers import INPUT, layers_of
from farfield.objectives._objective import Tensors, Update
from farfield.objectives._pairs import mix, mix_pairs

ENCODER: Final = "encoder"
"""Name of the part whose outputs are the embeddings, in a network that encodes items."""


def mixed_loss(
    update: Update,
    pairs: Tensors,
    layers: tuple[str, ...] | None,
    *,
    stop_gradient: bool = False,
) -> Tensor:
    """The mean loss of mixtures of training problems.

    Args:
        update: The step.
        pairs: What `draw_pairs` gave.
        layers: Names of the layers, `INPUT` for the items; `None` for those of the network.
        stop_gradient: Whether no gradient passes to what is below a mixture.
    """
    outputs, *both = mixed_outputs(
        update, update.problems, pairs, layers, stop_gradient=stop_gradient
    )
    first, second = (update.task_loss(outputs, problems) for problems in both)
    return mix(first, second, pairs["weight"]).mean()


def mixed_outputs(
    update: Update,
    problems: Problems,
    pairs: Tensors,
    layers: tuple[str, ...] | None,
    *,
    stop_gradient: bool = False,
) -> tuple[Any, Problems, Problems]:
    """Outputs of the network on mixtures, and both problems of each as it saw them.

    Args:
        update: The step.
        problems: The batch.
        pairs: What `draw_pairs` gave.
        layers: Names of the layers, `INPUT` for the items; `None` for those of the network.
        stop_gradient: Whether no gradient passes to what is below a mixture.

    Raises:
        ValueError: If the items cannot be mixed, or a layer is not in the network, is not called,
            or gives anything but a row for each problem or each item of each problem.
    """
    names = layers_of(update.network, layers)
    if len(names) > 1:
        pairs = {**pairs, "layer": pairs["layer"] % len(names)}
        if not is_transformed():
            names = (names[int(pairs["layer"])],)
    mixing = _Mixing(update.network, problems, pairs, names, stop_gradient=stop_gradient)
    return mixing.outputs(), mixing.shown, mixing.partners()


@final
class _Mixing:
    """A call of a network that mixes problems at one of some layers.

    Among several layers a number chooses, and no branch: networks that are trained as one program
    have different ones. Layers that give rows of items give them for each position of each problem;
    what comes before all such layers is computed once for each item of the table.

    Args:
        network: The network.
        problems: The batch.
        pairs: What `draw_pairs` gave.
        layers: Names of the layers.
        stop_gradient: Whether no gradient passes to what is below a mixture.
    """

    def __init__(
        self,
        network: Bound,
        problems: Problems,
        pairs: Tensors,
        layers: tuple[str, ...],
        *,
        stop_gradient: bool,
    ) -> None:
        self.network, self.pairs, self.layers = network, pairs, layers
        self.stop_gradient = stop_gradient
        self.hidden = [name for name in layers if name != INPUT]
        # Since Python 3.12 `isinstance` overlooks submodules, which `nn.Module.__getattr__` finds.
        self.encodes = (
            isinstance(network.module, EncodesItems)
            and hasattr(network.module, ENCODER)
            and not any(name.startswith(f"{ENCODER}.") for name in self.hidden)
        )
        few = not pairs["weight"].ndim and len(problems.items) ** 2 < problems.index.numel()
        self.is_shared = (self.encodes or not self.hidden) and (few or INPUT not in layers)
        self.shown = self._show(problems)
        self.called = set[str]()

    def _show(self, problems: Problems) -> Problems:
        """The problems over the table that the network reads, mixed at the input."""
        if INPUT not in self.layers:
            return problems if self.is_shared else problems.unshared()
        rows, count = problems.index, len(problems.items)
        partners, weight = rows.index_select(0, self.pairs["partner"]), self.pairs["weight"]
        if self.is_shared:  # all pairs of items are fewer than positions
            items = torch.arange(count, device=rows.device)
            first, second = items.repeat_interleave(count), items.repeat(count)
        else:
            first, second = rows.flatten(), partners.flatten()
            weight = weight.unsqueeze(-1).expand(rows.shape).flatten() if weight.ndim else weight
        tensors = self.network.tensors().values()
        dtype = next((each.dtype for each in tensors if each.is_floating_point()), None)
        items = problems.table()
        table = as_fractions(items, None if items.is_floating_point() else dtype)
        x, other = table.index_select(0, first), table.index_select(0, second)
        mixed = self._where_drawn(INPUT, mix(x, other, weight), x)
        if self.is_shared:
            return replace(problems, items=mixed, index=rows * count + partners)
        return problems.with_items(mixed)

    def outputs(self) -> Any:
        """Outputs of the network."""
        taps = {name: partial(self._at_layer, name) for name in self.hidden}
        if self.encodes:
            taps.pop(ENCODER, None)
        with tap_layers(self.network.module, taps):
            if self.encodes and self.hidden:
                outputs = self._in_two_stages()
            else:
                outputs = self.network.call("forward", self.shown.items, self.shown.index)
        if missing := [name for name in self.hidden if name not in self.called]:
            raise ValueError(f"layers must be layers that the model calls, got {missing}")
        return outputs

    def _in_two_stages(self) -> Any:
        """Outputs of a network that encodes items before it reads problems."""
        embeddings, index = self.network.call("encode", self.shown.items), self.shown.index
        if self.is_shared:
            shown = self.shown.with_items(embeddings.index_select(0, index.flatten()))
            embeddings, index = shown.table(), shown.index
        if ENCODER in self.hidden:
            embeddings = self._at_layer(ENCODER, embeddings)
        return self.network.call("answer", embeddings, index)

    def partners(self) -> Problems:
        """The second problems of the mixtures, over the table that the network read."""
        own, partner = self.shown.index, self.pairs["partner"]
        index = own.index_select(0, partner)
        if INPUT in self.layers:
            index = self._where_drawn(INPUT, own, index)
        return Problems(items=self.shown.items, index=index, target=self.shown.target[partner])

    def _at_layer(self, name: str, output: Tensor) -> Tensor:
        """Mixtures of the output of a layer."""
        self.called.add(name)
        batch, time = self.shown.index.shape
        if not output.ndim or len(output) not in (batch, batch * time):
            raise ValueError(
                f"layers must give a row for each of {batch} problems or {batch * time} items, "
                f"got {tuple(output.shape)} from {name!r}"
            )
        x = output.reshape(batch, -1, *output.shape[1:])
        below = x.detach() if self.stop_gradient else x
        mixture = mix_pairs(below, self.pairs["weight"], self.pairs["partner"])
        if self.stop_gradient:  # zeros below, as optimizers skip what has no gradient
            mixture = torch.where(x.new_ones((), dtype=torch.bool), mixture, x)
        return self._where_drawn(name, mixture, x).flatten(0, 1)

    def _where_drawn(self, name: str, mixture: Tensor, x: Tensor) -> Tensor:
        """The mixture where this layer is the one that was drawn."""
        if len(self.layers) == 1:
            return mixture
        return torch.where(self.pairs["layer"] == self.layers.index(name), mixture, x)
