"""Reasoners over objects of the straightforward loop, written from the papers' equations.

Head after head, group after group, layers of PyTorch as they come.

Reference:
    altabaa2023, section 3.3; altabaa2024, section 2; webb2023, section 3; mondal2024, section 3.
"""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

FEATURES = 128
HALF = FEATURES // 2
HEADS, HEAD, MLP, DEPTH = 8, 64, 512, 6


class Attention(nn.Module):
    """Attention of objects to each other, which reads the symbols."""

    def __init__(self, size: int, heads: int, head: int, bias: bool) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(size, heads * head, bias=False)
        self.key = nn.Linear(size, heads * head, bias=False)
        self.value = nn.Linear(size, heads * head, bias=False)
        self.output = nn.Linear(heads * head, size, bias=bias)

    def forward(self, x: Tensor, symbols: Tensor) -> Tensor:
        """Compute `(batch, item, feature)`."""
        parts = (self.query(x), self.key(x), self.value(symbols))
        read = []
        heads = (part.chunk(self.heads, dim=2) for part in parts)
        for query, key, value in zip(*heads, strict=True):
            scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
            read.append(scores.softmax(dim=2) @ value)
        return self.output(torch.cat(read, dim=2))


class SymbolLibrary(nn.Module):
    """Symbols that objects retrieve by their likeness to templates."""

    def __init__(self) -> None:
        super().__init__()
        self.templates = nn.Parameter(torch.randn(16, FEATURES))
        self.symbols = nn.Parameter(torch.randn(16, FEATURES))
        self.query = nn.Linear(FEATURES, FEATURES)

    def forward(self, z: Tensor) -> Tensor:
        """Retrieve `(batch, item, feature)`."""
        scores = self.query(z) @ self.templates.T / math.sqrt(FEATURES)
        return scores.softmax(dim=2) @ self.symbols


class AbstractorLayer(nn.Module):
    """Self-attention, relational cross-attention and a network, normalized after each."""

    def __init__(self) -> None:
        super().__init__()
        self.own = Attention(FEATURES, 2, HALF, bias=False)
        self.cross = Attention(FEATURES, 2, HALF, bias=False)
        self.fc1, self.fc2 = nn.Linear(FEATURES, 64), nn.Linear(64, FEATURES)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(FEATURES) for _ in range(3))

    def forward(self, z: Tensor, symbols: Tensor) -> Tensor:
        """Transform the symbols."""
        symbols = self.norm1(symbols + self.own(symbols, symbols))
        symbols = self.norm2(symbols + self.cross(z, symbols))
        return self.norm3(symbols + self.fc2(F.relu(self.fc1(symbols))))


class AbstractorNet(nn.Module):
    """An Abstractor of one layer, averaged over the objects."""

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.abstractor = nn.Module()
        self.abstractor.symbols = SymbolLibrary()
        self.abstractor.layers = nn.ModuleList([AbstractorLayer()])
        self.hidden = nn.Linear(FEATURES, 64)
        self.output = nn.Linear(64, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        symbols = self.abstractor.layers[0](z, self.abstractor.symbols(z))
        return self.output(F.relu(self.hidden(symbols.mean(1))))


class RelConvNet(nn.Module):
    """Filters over the relations inside groups whose members attention chooses."""

    GROUPS, MEMBERS, RELATIONS, PROJECTION, FILTERS = 8, 3, 16, 4, 16

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.groups = nn.Module()
        self.groups.queries = nn.Parameter(torch.randn(self.GROUPS * self.MEMBERS, FEATURES))
        self.groups.key = nn.Linear(FEATURES, FEATURES, bias=False)
        self.groups.inside = nn.Module()
        self.groups.inside.first = nn.Linear(FEATURES, self.RELATIONS * self.PROJECTION)
        shape = (self.FILTERS, self.MEMBERS, self.MEMBERS, self.RELATIONS)
        self.groups.inside.filters = nn.Parameter(0.05 * torch.randn(shape))
        self.hidden = nn.Linear(self.GROUPS * self.FILTERS, 64)
        self.output = nn.Linear(64, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        scores = self.groups.queries @ self.groups.key(z).transpose(1, 2) / math.sqrt(FEATURES)
        members = scores.softmax(dim=2) @ z
        found = [self.filtered(group) for group in members.split(self.MEMBERS, dim=1)]
        return self.output(F.relu(self.hidden(torch.cat(found, dim=1))))

    def filtered(self, group: Tensor) -> Tensor:
        """Filter the relations inside one group: `(batch, filter)`."""
        sides = self.groups.inside.first(group).unflatten(2, (self.RELATIONS, self.PROJECTION))
        relations = (sides.unsqueeze(2) * sides.unsqueeze(1)).sum(-1)
        return relations.flatten(1) @ self.groups.inside.filters.flatten(1).T


class ObjectNorm(nn.Module):
    """Zero mean and unit variance over the objects, then gain and shift."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(HALF)), nn.Parameter(torch.zeros(HALF))

    def forward(self, z: Tensor) -> Tensor:
        """Normalize `(batch, item, feature)`."""
        deviation = (z.var(dim=1, keepdim=True) + 1e-8).sqrt()
        return (z - z.mean(dim=1, keepdim=True)) / deviation * self.weight + self.bias


class TransformerLayer(nn.Module):
    """Self-attention and a network, each normalized before."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention(HALF, HEADS, HEAD, bias=True)
        self.norm1, self.norm2 = nn.LayerNorm(HALF), nn.LayerNorm(HALF)
        self.fc1, self.fc2 = nn.Linear(HALF, MLP), nn.Linear(MLP, HALF)

    def forward(self, x: Tensor) -> Tensor:
        """Transform `(batch, item, feature)`."""
        normed = self.norm1(x)
        return self.through_mlp(x + self.attention(normed, normed))

    def through_mlp(self, x: Tensor) -> Tensor:
        """Add the outputs of the network."""
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class OCRA(nn.Module):
    """A token for each pair of objects, read by a transformer."""

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.context = ObjectNorm()
        self.content, self.position = nn.Linear(HALF, HALF), nn.Linear(HALF, HALF)
        self.relation = nn.Linear(1, HALF)
        self.start = nn.Parameter(torch.randn(HALF))
        self.layers = nn.ModuleList(TransformerLayer() for _ in range(DEPTH))
        self.output = nn.Linear(HALF, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        content = self.content(self.context(z[..., :HALF]))
        position = self.position(self.context(z[..., HALF:]))
        similar = (content @ content.transpose(1, 2)).softmax(dim=2)
        tokens = [self.start.expand(len(z), HALF)]
        for first, second in combinations_with_replacement(range(z.shape[1]), 2):
            relation = self.relation(similar[:, first, second].unsqueeze(1))
            tokens.append(relation + position[:, first] + position[:, second])
        x = torch.stack(tokens, dim=1)
        for layer in self.layers:
            x = layer(x)
        return self.output(x[:, 0])


class SlotAbstractorLayer(nn.Module):
    """Relational cross-attention, then a layer of a transformer whose network is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.cross = Attention(HALF, HEADS, HEAD, bias=True)
        self.norm = nn.LayerNorm(HALF)
        self.own = TransformerLayer()

    def forward(self, objects: Tensor, symbols: Tensor) -> Tensor:
        """Transform the symbols."""
        read = self.cross(self.norm(objects), self.norm(symbols))
        return self.own(self.own.through_mlp(symbols + read))


class SlotAbstractor(nn.Module):
    """Positions of objects, carried along the relations of contents and averaged."""

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.context = ObjectNorm()
        self.layers = nn.ModuleList(SlotAbstractorLayer() for _ in range(DEPTH))
        self.output = nn.Linear(HALF, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        objects, symbols = self.context(z[..., :HALF]), self.context(z[..., HALF:])
        for layer in self.layers:
            symbols = layer(objects, symbols)
        return self.output(symbols.mean(1))


OVER_OBJECTS: Final[dict[str, type[nn.Module]]] = {
    "abstractor": AbstractorNet,
    "ocra": OCRA,
    "relational-convolution": RelConvNet,
    "slot-abstractor": SlotAbstractor,
}
"""Reasoners by name; their layers keep PyTorch's first weights."""
