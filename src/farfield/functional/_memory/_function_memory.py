"""Function memory: a network whose weights are written to at every step."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


class MemoryLayer(NamedTuple):
    r"""One layer of weights, as it was at the start and as it was written to since.

    An update is never added to the weights of a problem, which would be as many matrices
    as there are problems; it is kept as the outer products that it is made of:
    $W = W_0 - \sum_s d_s u_s^\top$.

    Attributes:
        weight: $W_0$, shared by all problems: (out, in).
        inputs: $u_s$, (batch, slot, in), or None while nothing is written.
        changes: $d_s$, (batch, slot, out), or None.

    Reference:
        Munkhdalai et al. 2019 (in webb2021, appendix A.3.6).
    """

    weight: Tensor
    inputs: Tensor | None = None
    changes: Tensor | None = None


def memory_read(
    keys: Float[Tensor, "batch head _"], layers: tuple[MemoryLayer, ...]
) -> list[Float[Tensor, "batch head _"]]:
    r"""Compute outputs of the network for keys, layer by layer: $\tanh$ after each but the last.

    Args:
        keys: The inputs.
        layers: The network, from keys to values.

    Returns:
        The activations of every layer; the last are the values.

    Reference:
        Munkhdalai et al. 2019 (in webb2021, appendix A.3.6).
    """
    activations = [keys]
    for layer in layers:
        out = F.linear(activations[-1], layer.weight)
        if layer.inputs is not None and layer.changes is not None:
            out = out - (activations[-1] @ layer.inputs.transpose(-1, -2)) @ layer.changes
        activations.append(torch.tanh(out) if layer is not layers[-1] else out)
    return activations[1:]


def memory_write(
    keys: Float[Tensor, "batch head _"],
    targets: Float[Tensor, "batch head _"],
    rate: Float[Tensor, "batch 1"],
    layers: tuple[MemoryLayer, ...],
) -> tuple[MemoryLayer, ...]:
    r"""Build the network after one local update of every layer towards its target.

    $$W_l \leftarrow W_l - \frac{2 \beta}{n} \sum_h (a_{lh} - t_{lh}) \, a_{l-1,h}^\top$$

    for activations $a$ of the keys, targets $t$, and $n$ the numbers of a layer's targets over all
    heads. No layer waits for another, and nothing is propagated back.

    Args:
        keys: Keys of the written values.
        targets: Those of all layers side by side, the values last.
        rate: $\beta$, of each problem.
        layers: The network.

    Raises:
        ValueError: If the targets are not as many as the units of all layers.

    Reference:
        Munkhdalai et al. 2019, learned local update (in webb2021, appendix A.3.6).
    """
    sizes = [layer.weight.shape[0] for layer in layers]
    if targets.shape[-1] != sum(sizes):
        raise ValueError(
            f"targets must hold {sum(sizes)} numbers, {sizes} for the layers, "
            f"got {targets.shape[-1]}"
        )
    activations = memory_read(keys, layers)
    earlier = [keys, *activations[:-1]]
    aims = torch.split_with_sizes(targets, sizes, dim=-1)
    return tuple(
        _written(layer, before, (after - aim) * (rate.unsqueeze(-1) * 2 / aim.shape[1:].numel()))
        for layer, before, after, aim in zip(layers, earlier, activations, aims, strict=True)
    )


def _written(layer: MemoryLayer, inputs: Tensor, changes: Tensor) -> MemoryLayer:
    if layer.inputs is not None and layer.changes is not None:
        inputs = torch.cat((layer.inputs, inputs), dim=1)
        changes = torch.cat((layer.changes, changes), dim=1)
    return MemoryLayer(layer.weight, inputs, changes)
