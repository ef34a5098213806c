"""Reasoners of the straightforward loop, written from the paper's equations.

Time step after time step where the equations have a recurrence, each head a separate layer,
every pair and triple through the whole network, layers of PyTorch as they come.

Reference:
    webb2021, Algorithm 1 (ESBN), A.3.3 to A.3.10; kerg2022, section 3 (CoRelNet).
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.straightforward_relations import FEATURES, OVER_OBJECTS

HIDDEN = 512
KEY = 256


class ESBN(nn.Module):
    """An LSTM cell whose only input is its read from a key/value memory."""

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(KEY + 1, HIDDEN)
        self.key = nn.Linear(HIDDEN, KEY)
        self.gate = nn.Linear(HIDDEN, 1)
        self.output = nn.Linear(HIDDEN, num_outputs)
        self.confidence_gain = nn.Parameter(torch.ones(1))
        self.confidence_bias = nn.Parameter(torch.zeros(1))

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        hidden = cell = z.new_zeros(len(z), HIDDEN)
        read = z.new_zeros(len(z), KEY + 1)
        keys: list[Tensor] = []
        for time in range(z.shape[1]):
            hidden, cell = self.cell(read, (hidden, cell))
            if time > 0:
                read = self.read(hidden, z[:, time], torch.stack(keys, dim=1), z[:, :time])
            keys.append(F.relu(self.key(hidden)))
        hidden, cell = self.cell(read, (hidden, cell))
        return self.output(hidden)

    def read(self, hidden: Tensor, z: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Retrieve the gated mixture of keys and confidences by the embedding `z`."""
        scores = (values @ z.unsqueeze(2)).squeeze(2)
        confidence = torch.sigmoid(self.confidence_gain * scores + self.confidence_bias)
        entries = torch.cat([keys, confidence.unsqueeze(2)], dim=2)
        mixture = (scores.softmax(dim=1).unsqueeze(1) @ entries).squeeze(1)
        return torch.sigmoid(self.gate(hidden)) * mixture


class LSTM(nn.Module):
    """An LSTM over the embeddings, answering from its last state."""

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(FEATURES, HIDDEN, batch_first=True)
        self.output = nn.Linear(HIDDEN, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        states, _ = self.lstm(z)
        return self.output(states[:, -1])


class Transformer(nn.Module):
    """One encoder layer over the embeddings with sinusoidal positions, averaged over time."""

    positions: Tensor

    def __init__(self, num_outputs: int, length: int) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(
            FEATURES, nhead=8, dim_feedforward=512, dropout=0.0, batch_first=True
        )
        self.hidden = nn.Linear(FEATURES, 256)
        self.output = nn.Linear(256, num_outputs)
        self.register_buffer("positions", sinusoids(length).to(self.output.weight.dtype))

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        mean = self.layer(z + self.positions).mean(dim=1)
        return self.output(F.relu(self.hidden(mean)))


def sinusoids(length: int) -> Tensor:
    """Compute sines in even features and cosines in odd features, `(time, feature)`."""
    even = torch.arange(0, FEATURES, 2, dtype=torch.float64)
    angle = torch.arange(length).unsqueeze(1) * torch.exp(-math.log(10_000.0) / FEATURES * even)
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)


class NTM(nn.Module):
    """An LSTM cell that reads and writes slots, by content and by location."""

    SLOTS = 10
    SLOT = 256

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(FEATURES + self.SLOT, HIDDEN)
        self.read_head = Address(self.SLOT)
        self.write_head = Address(self.SLOT)
        self.add = nn.Linear(HIDDEN, self.SLOT)
        self.erase = nn.Linear(HIDDEN, self.SLOT)
        self.memory = nn.Parameter(torch.empty(self.SLOTS, self.SLOT))
        self.output = nn.Linear(HIDDEN, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        hidden = cell = z.new_zeros(len(z), HIDDEN)
        read = z.new_zeros(len(z), self.SLOT)
        reading = writing = z.new_zeros(len(z), self.SLOTS)
        memory = self.memory.repeat(len(z), 1, 1)
        for time in range(z.shape[1]):
            hidden, cell = self.cell(torch.cat([z[:, time], read], dim=1), (hidden, cell))
            reading = self.read_head(hidden, memory, reading)
            writing = self.write_head(hidden, memory, writing)
            read = (reading.unsqueeze(1) @ memory).squeeze(1)
            memory = self.write(hidden, memory, writing)
        nothing = torch.zeros_like(z[:, 0])
        hidden, cell = self.cell(torch.cat([nothing, read], dim=1), (hidden, cell))
        return self.output(hidden)

    def write(self, hidden: Tensor, memory: Tensor, weights: Tensor) -> Tensor:
        """Erase and add in the memory by the weights."""
        erase = torch.sigmoid(self.erase(hidden)).unsqueeze(1)
        add = torch.tanh(self.add(hidden)).unsqueeze(1)
        weights = weights.unsqueeze(2)
        return memory * (1 - weights * erase) + weights * add


class Address(nn.Module):
    """One head of a Neural Turing Machine: where it turns to."""

    def __init__(self, slot_size: int) -> None:
        super().__init__()
        self.key = nn.Linear(HIDDEN, slot_size)
        self.strength = nn.Linear(HIDDEN, 1)
        self.gate = nn.Linear(HIDDEN, 1)
        self.shift = nn.Linear(HIDDEN, 3)
        self.sharpening = nn.Linear(HIDDEN, 1)

    def forward(self, hidden: Tensor, memory: Tensor, previous: Tensor) -> Tensor:
        """Compute weights `(batch, slot)` of the slots from the weights of the step before."""
        key = torch.tanh(self.key(hidden)).unsqueeze(1)
        match = F.softplus(self.strength(hidden)) * F.cosine_similarity(key, memory, dim=2)
        gate = torch.sigmoid(self.gate(hidden))
        weights = gate * match.softmax(dim=1) + (1 - gate) * previous
        back, stay, on = self.shift(hidden).softmax(dim=1).split(1, dim=1)
        weights = back * weights.roll(-1, 1) + stay * weights + on * weights.roll(1, 1)
        sharp = weights ** (1 + F.softplus(self.sharpening(hidden)))
        return sharp / sharp.sum(dim=1, keepdim=True)


class MNM(nn.Module):
    """An LSTM cell that writes to the weights of a network, a matrix for each problem."""

    SIZE = 128
    LAYERS = 3

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.controller = nn.LSTMCell(FEATURES + self.SIZE, self.SIZE)
        self.rate_head = nn.Linear(self.SIZE, self.SIZE)
        self.rate = nn.Linear(self.SIZE, 1)
        self.write_key = nn.Linear(self.SIZE, self.SIZE)
        self.write_value = nn.Linear(self.SIZE, self.SIZE)
        self.read_key = nn.Linear(self.SIZE, self.SIZE)
        self.targets = nn.ModuleList(nn.Linear(self.SIZE, self.SIZE) for _ in range(self.LAYERS))
        self.memory = nn.ModuleList(
            nn.Linear(self.SIZE, self.SIZE, bias=False) for _ in range(self.LAYERS)
        )
        self.read_out = nn.Linear(2 * self.SIZE, self.SIZE)
        self.output = nn.Linear(self.SIZE, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        hidden = cell = read = z.new_zeros(len(z), self.SIZE)
        memory = [layer.weight.expand(len(z), -1, -1) for layer in self.memory]
        for time in range(z.shape[1] + 1):
            embedded = z[:, time] if time < z.shape[1] else torch.zeros_like(z[:, 0])
            hidden, cell = self.controller(torch.cat([embedded, read], dim=1), (hidden, cell))
            memory = self.write(hidden, memory)
            read = self.read(torch.tanh(self.read_key(hidden)), memory)[-1]
        return self.output(self.read_out(torch.cat([hidden, read], dim=1)))

    def read(self, key: Tensor, memory: list[Tensor]) -> list[Tensor]:
        """Run the layers on a key, with tanh after each except the last; return all outputs."""
        activations = [key]
        for weight in memory:
            out = (weight @ activations[-1].unsqueeze(2)).squeeze(2)
            activations.append(out if len(activations) == self.LAYERS else torch.tanh(out))
        return activations

    def write(self, hidden: Tensor, memory: list[Tensor]) -> list[Tensor]:
        """Update each layer once towards its local target; returns the weights."""
        rate = torch.sigmoid(self.rate(torch.tanh(self.rate_head(hidden)))).unsqueeze(2)
        value = torch.tanh(self.write_value(hidden))
        activations = self.read(torch.tanh(self.write_key(hidden)), memory)
        written = []
        for number, weight in enumerate(memory):
            error = activations[number + 1] - self.targets[number](value)
            slope = 2 / self.SIZE * error.unsqueeze(2) @ activations[number].unsqueeze(1)
            written.append(weight - rate * slope)
        return written


class RN(nn.Module):
    """Every pair of time steps through one network, summed, through another."""

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.pair = two_layers(2)
        self.hidden = nn.Linear(KEY, KEY)
        self.output = nn.Linear(KEY, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        z = tagged(z)
        first = z.unsqueeze(2).expand(-1, -1, z.shape[1], -1)
        pairs = torch.cat([first, first.transpose(1, 2)], dim=3)
        relations = self.pair(pairs).sum(dim=(1, 2))
        return self.output(F.relu(self.hidden(relations)))


class TRN(nn.Module):
    """Pairs and triples in order of time, each through its network, summed, through another."""

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.pair = two_layers(2)
        self.pair3 = nn.Linear(KEY, KEY)
        self.triple = two_layers(3)
        self.triple3 = nn.Linear(KEY, KEY)
        self.hidden = nn.Linear(KEY, KEY)
        self.output = nn.Linear(KEY, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        z = tagged(z)
        pairs = self.pair(sets_of(z, 2)).sum(dim=1)
        triples = self.triple(sets_of(z, 3)).sum(dim=1)
        relations = F.relu(self.pair3(pairs)) + F.relu(self.triple3(triples))
        return self.output(F.relu(self.hidden(relations)))


class PrediNet(nn.Module):
    """Two time steps picked in each of many heads, and compared along shared directions."""

    HEADS = 32
    KEY = 16
    RELATIONS = 16

    def __init__(self, num_outputs: int, length: int) -> None:
        super().__init__()
        self.query1 = nn.Linear(length * (FEATURES + 1), self.HEADS * self.KEY, bias=False)
        self.query2 = nn.Linear(length * (FEATURES + 1), self.HEADS * self.KEY, bias=False)
        self.shared_key = nn.Linear(FEATURES + 1, self.KEY, bias=False)
        self.shared_relation = nn.Linear(FEATURES + 1, self.RELATIONS, bias=False)
        self.hidden = nn.Linear(self.HEADS * (self.RELATIONS + 2), 8)
        self.output = nn.Linear(8, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        z = tagged(z)
        first, second = self.attend(self.query1, z), self.attend(self.query2, z)
        differences = self.shared_relation(first) - self.shared_relation(second)
        heads = torch.cat([differences, first[..., -1:], second[..., -1:]], dim=2)
        return self.output(F.relu(self.hidden(heads.flatten(1))))

    def attend(self, query: nn.Linear, z: Tensor) -> Tensor:
        """Attend by each head; returns embeddings `(batch, head, feature)`."""
        queries = query(z.flatten(1)).view(len(z), self.HEADS, self.KEY)
        weights = (queries @ self.shared_key(z).transpose(1, 2)).softmax(dim=2)
        return weights @ z


class CoRelNet(nn.Module):
    """The softmax of all inner products, through a layer of ReLU units."""

    def __init__(self, num_outputs: int, length: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(length**2, 256)
        self.output = nn.Linear(256, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        relations = (z @ z.transpose(1, 2)).softmax(dim=2)
        return self.output(F.relu(self.hidden(relations.flatten(1))))


class DeepSets(nn.Module):
    """One layer of each embedding, averaged over time."""

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(FEATURES, 256)
        self.output = nn.Linear(256, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        return self.output(F.relu(self.hidden(z)).mean(1))


def tagged(z: Tensor) -> Tensor:
    """Append the time step, 0 to T - 1, to the embeddings as a feature."""
    places = torch.arange(z.shape[1], dtype=z.dtype).view(1, -1, 1)
    return torch.cat([z, places.expand(len(z), -1, -1)], dim=2)


def sets_of(z: Tensor, size: int) -> Tensor:
    """Concatenate sets of time steps in order: `(batch, set, size * feature)`."""
    sets = list(combinations(range(z.shape[1]), size))
    return z[:, torch.tensor(sets, dtype=torch.int64).reshape(-1, size)].flatten(2)


def two_layers(size: int) -> nn.Sequential:
    """Build the network of sets of `size` time steps."""
    return nn.Sequential(
        nn.Linear(size * (FEATURES + 1), 512), nn.ReLU(), nn.Linear(512, KEY), nn.ReLU()
    )


REASONERS: Final[dict[str, type[nn.Module]]] = {
    "corelnet": CoRelNet,
    "deep-sets": DeepSets,
    "esbn": ESBN,
    "lstm": LSTM,
    "mnm": MNM,
    "ntm": NTM,
    "predinet": PrediNet,
    "rn": RN,
    "transformer": Transformer,
    "trn": TRN,
    **OVER_OBJECTS,
}
"""Reasoners by name."""
DEFAULT_WEIGHTS: Final = (MNM, *OVER_OBJECTS.values())
"""Reasoners whose layers, except the last, keep PyTorch's first weights."""
OF_A_LENGTH: Final = (CoRelNet, PrediNet, Transformer)
"""Reasoners for sequences of one length."""
