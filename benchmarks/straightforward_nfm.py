"""Neural function modules written directly, as the library's are measured against.

A pass of the released code in plain PyTorch, layer by layer: keys and values of every
layer that was run are resized to the reader's maps, one after another, and stacked; attention is a
softmax over the stack, lowered by the next weight. Nothing here uses a function of the library; the
test beside it holds that both compute the same.

Reference:
    lamb2022, chapter 10, and its released code.
"""

from __future__ import annotations

from typing import Any, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.nn import MultiPass

EPS = 1e-7


@final
class DirectPasses(nn.Module):
    """The passes of a `MultiPass` with the rules of the released code, by loops over its layers.

    Args:
        model: Whose networks and weights are taken, not copied.
    """

    def __init__(self, model: MultiPass) -> None:
        super().__init__()
        self.names, self.first_reader = model.layers, model.nfm.first_reader
        self.networks, self.layers = model.networks, model.nfm.layers
        self.rules = model.nfm.rules

    def forward(self, x: Tensor) -> Tensor:
        """Compute the output of the last pass."""
        written: list[tuple[Tensor, Tensor]] = []
        found = x
        for network in self.networks:
            handles = [
                network.get_submodule(name).register_forward_hook(
                    lambda *called: self._after(called[-1], written)
                )
                for name in self.names
            ]
            found = network(x)
            for handle in handles:
                handle.remove()
        return found

    def _after(self, x: Tensor, written: list[tuple[Tensor, Tensor]]) -> Tensor:
        own: Any = self.layers[len(written)]
        written.append((_pointwise(x, own.key), _pointwise(x, own.value)))
        if len(written) <= self.first_reader:
            return x
        query = self._by_head(_pointwise(x, own.query))
        keys, values = [], []
        for key, value in written:
            keys.append(self._by_head(F.interpolate(key, x.shape[2:])))
            values.append(self._by_head(F.interpolate(value, x.shape[2:])))
        keys.append(torch.zeros_like(keys[0]))
        values.append(torch.zeros_like(values[0]))
        stacked = torch.stack(keys, -1)
        scores = (query.unsqueeze(-1) * stacked).sum(2) / self.rules.key_size**0.5
        weights = self._sparse(scores.softmax(-1))
        read = (weights.unsqueeze(2) * torch.stack(values, -1)).sum(-1).flatten(1, 2)
        change: Tensor = own.gamma * own.out(read)
        return x + change

    def _sparse(self, weights: Tensor) -> Tensor:
        k = self.rules.top_k
        if k is None or weights.shape[-1] <= k + 1:
            return weights
        least = weights.topk(k + 1, -1).values[..., -1:] + EPS
        above = (weights - least).relu()
        return above / (above.sum(-1, keepdim=True) + EPS)

    def _by_head(self, x: Tensor) -> Tensor:
        return x.unflatten(1, (self.rules.num_heads, -1))


def _pointwise(x: Tensor, layer: nn.Linear) -> Tensor:
    return F.conv2d(x, layer.weight[:, :, None, None], layer.bias)
