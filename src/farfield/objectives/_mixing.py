"""Mixtures of pairs of problems, of their items or at a hidden layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.functional import as_fractions
from farfield.objectives._bound import Bound, tapped
from farfield.objectives._objective import Tensors, Update

INPUT: Final = "input"
"""Name of the items among the layers at which problems are mixed."""


def mix(first: Tensor, second: Tensor, weight: Tensor) -> Tensor:
    """The mixture `weight · first + (1 − weight) · second`.

    Args:
        first: Any tensor.
        second: One of the same shape.
        weight: Weight of the first.
    """
    return weight * first + (1 - weight) * second


def check_layers(layers: tuple[str, ...]) -> None:
    """Raise `ValueError` unless at least one layer is named, and none twice.

    Args:
        layers: Names of layers.
    """
    if not layers or len(set(layers)) < len(layers):
        raise ValueError(f"layers must be at least one name, each named once, got {layers!r}")


def check_hidden(network: Bound, layers: tuple[str, ...]) -> None:
    """Raise `ValueError` if a layer other than the items is not in a network.

    Args:
        network: The network.
        layers: Names of layers.
    """
    for name in layers:
        if name != INPUT:
            network.layer(name)


def draw_pairs(
    problems: Problems,
    alpha: float,
    stream: Stream,
    *,
    layers: int = 1,
    per_example: bool = False,
) -> dict[str, Tensor]:
    """Pairs of problems of one batch: a weight, partners, and where they are mixed.

    Args:
        problems: The batch.
        alpha: Both parameters of the Beta distribution of the weight.
        stream: Source of random numbers.
        layers: Number of layers, one of which is drawn.
        per_example: Whether each problem has a weight of its own.

    Returns:
        `weight` of the first of each pair, `()` or `(batch,)`; `partner`, the positions of the
        second, `(batch,)`; `layer`, the position of the layer, `()`.
    """
    generator, size = stream.numpy(), len(problems)
    drawn = {
        "weight": generator.beta(alpha, alpha, size=size if per_example else None),
        "partner": generator.permutation(size),
        "layer": generator.integers(layers),
    }
    device = problems.index.device
    return {name: torch.from_numpy(np.asarray(n)).to(device) for name, n in drawn.items()}


def mix_pairs(x: Tensor, weight: Tensor, partner: Tensor) -> Tensor:
    """Mix every problem with its partner.

    Args:
        x: `(batch, *)`.
        weight: Weight of the first, `()` or `(batch,)`.
        partner: Positions of the second, `(batch,)`.
    """
    weight = weight.to(x.dtype)
    if weight.ndim:
        weight = weight.reshape(-1, *(1,) * (x.ndim - 1))
    return mix(x, x[partner], weight)


def mixed_outputs(
    update: Update,
    problems: Problems,
    pairs: Tensors,
    layers: tuple[str, ...],
    *,
    stop_gradient: bool = False,
) -> tuple[Any, Problems]:
    """Outputs of the network on mixtures, and the problems as it saw them.

    The layer is chosen by numbers and not by a branch, so that networks with different layers run
    as one program.

    Args:
        update: The step.
        problems: The batch.
        pairs: What `draw_pairs` gave.
        layers: Names of the layers, `INPUT` for the items.
        stop_gradient: Whether no gradient passes to what is below a mixture.

    Raises:
        ValueError: If the items cannot be mixed, or a layer is not in the network, is not called,
            or gives anything but a row for each problem or each item of each problem.
    """
    batch, time = problems.index.shape
    weight, partner = pairs["weight"], pairs["partner"]
    called = set[str]()

    def mixed(x: Tensor, name: str) -> Tensor:
        """`x` of rows of problems, mixed where this layer is the one that was drawn."""
        below = x.detach() if stop_gradient else x
        mixture = mix_pairs(below, weight, partner)
        if len(layers) == 1:
            return mixture
        return torch.where(pairs["layer"] == layers.index(name), mixture, x)

    def tap(name: str) -> Callable[[Tensor], Tensor]:
        def at_layer(output: Tensor) -> Tensor:
            called.add(name)
            if not output.ndim or len(output) not in (batch, batch * time):
                raise ValueError(
                    f"layers must give a row for each of {batch} problems or {batch * time} items, "
                    f"got {tuple(output.shape)} from {name!r}"
                )
            return mixed(output.reshape(batch, -1, *output.shape[1:]), name).flatten(0, 1)

        return at_layer

    shown = problems.unshared()
    if INPUT in layers:
        table = as_fractions(shown.table())
        items = mixed(table.reshape(batch, time, *table.shape[1:]), INPUT).flatten(0, 1)
        shown = Problems(items=items, index=shown.index, target=problems.target)
    hidden = [name for name in layers if name != INPUT]
    with tapped(update.network, {name: tap(name) for name in hidden}):
        outputs = update.outputs(shown)
    if missing := [name for name in hidden if name not in called]:
        raise ValueError(f"layers must be layers that the model calls, got {missing}")
    return outputs, shown


def mixed_loss(
    update: Update, pairs: Tensors, layers: tuple[str, ...], *, stop_gradient: bool = False
) -> Tensor:
    """The mean loss of mixtures of training problems.

    Args:
        update: The step.
        pairs: What `draw_pairs` gave.
        layers: Names of the layers, `INPUT` for the items.
        stop_gradient: Whether no gradient passes to what is below a mixture.
    """
    partner = pairs["partner"]
    outputs, first = mixed_outputs(
        update, update.problems, pairs, layers, stop_gradient=stop_gradient
    )
    index = first.index[partner]  # of a loss that reads the items, which are mixed at the input
    if layers == (INPUT,):
        index = first.index
    elif INPUT in layers:
        index = torch.where(pairs["layer"] == layers.index(INPUT), first.index, index)
    second = Problems(items=first.items, index=index, target=first.target[partner])
    one, other = (update.task_loss(outputs, problems) for problems in (first, second))
    return mix(one, other, pairs["weight"].to(one.dtype)).mean()
