"""The straightforward loop that the library's speed is measured against.

What an experienced user of PyTorch writes down from the paper: one network after another, every
image of the batch through the encoder, the context norm by `mean` and `var`, `nn.LSTM`,
`nn.LSTMCell` and `nn.TransformerEncoderLayer` as they come, `torch.optim.Adam` with its defaults.
Nothing here uses a mechanism of the library; the problems alone are shared, and the test beside
this file holds that both compute the same losses and gradients.

Reference:
    webb2021, Algorithm 1 (ESBN), section 3.1 (context normalization), A.3 (architectures),
    A.4 (training).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from farfield.core import Problems

FEATURES = 128
HIDDEN = 512
KEY = 256
LEARNING_RATE = 5e-4
TRAIN_BATCH = 32
TEST_BATCH = 100


class Encoder(nn.Sequential):
    """Three convolutions and two dense layers, a ReLU after each."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(512, 256),
            nn.ReLU(),
            nn.Linear(256, FEATURES),
            nn.ReLU(),
        )


class ContextNorm(nn.Module):
    """Temporal context normalization, by segments of the sequence."""

    def __init__(self, segments: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self.lengths = [len(places) for places in segments]
        self.weight = nn.Parameter(torch.ones(FEATURES))
        self.bias = nn.Parameter(torch.zeros(FEATURES))

    def forward(self, z: Tensor) -> Tensor:
        """Normalize `(batch, time, feature)` over the time of each segment."""
        normalized = [self.normalize(part) for part in z.split(self.lengths, dim=1)]
        return normalized[0] if len(normalized) == 1 else torch.cat(normalized, dim=1)

    def normalize(self, z: Tensor) -> Tensor:
        """Zero mean and unit variance over time, then gain and shift."""
        mean = z.mean(dim=1, keepdim=True)
        variance = z.var(dim=1, correction=0, keepdim=True)
        return (z - mean) / (variance + 1e-8).sqrt() * self.weight + self.bias


class ESBN(nn.Module):
    """An LSTM cell that sees nothing but what it reads from a key/value memory."""

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(KEY + 1, HIDDEN)
        self.key = nn.Linear(HIDDEN, KEY)
        self.gate = nn.Linear(HIDDEN, 1)
        self.output = nn.Linear(HIDDEN, num_outputs)
        self.confidence_gain = nn.Parameter(torch.ones(1))
        self.confidence_bias = nn.Parameter(torch.zeros(1))

    def forward(self, z: Tensor) -> Tensor:
        """Outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
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
        """The gated mixture of keys and confidences that the embedding `z` retrieves."""
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
        """Outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
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
        """Outputs `(batch, output)` for embeddings `(batch, time, feature)`."""
        mean = self.layer(z + self.positions).mean(dim=1)
        return self.output(F.relu(self.hidden(mean)))


def sinusoids(length: int) -> Tensor:
    """Sines in the even features and cosines in the odd ones, `(time, feature)`."""
    even = torch.arange(0, FEATURES, 2, dtype=torch.float64)
    angle = torch.arange(length).unsqueeze(1) * torch.exp(-math.log(10_000.0) / FEATURES * even)
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)


class Network(nn.Module):
    """Encoder, context normalization and reasoner, from images to outputs."""

    def __init__(self, reasoner: str, num_outputs: int, segments: Sequence[Sequence[int]]) -> None:
        super().__init__()
        length = sum(len(places) for places in segments)
        self.encoder = Encoder()
        self.context = ContextNorm(segments)
        self.reasoner: nn.Module
        if reasoner == "esbn":
            self.reasoner = ESBN(num_outputs)
        elif reasoner == "lstm":
            self.reasoner = LSTM(num_outputs)
        elif reasoner == "transformer":
            self.reasoner = Transformer(num_outputs, length)
        else:
            raise ValueError(f"reasoner must be esbn, lstm or transformer, got {reasoner!r}")
        initialize(self)

    def forward(self, images: Tensor) -> Tensor:
        """Outputs `(batch, output)` for images `(batch, time, height, width)`."""
        batch, time = images.shape[:2]
        z = self.encoder(images.flatten(0, 1).unsqueeze(1))
        return self.reasoner(self.context(z.view(batch, time, FEATURES)))


def initialize(network: Network) -> None:
    """Kaiming normal before a ReLU, Xavier normal elsewhere, biases at zero (A.3)."""
    for name, parameter in network.named_parameters():
        if "bias" in name and "confidence" not in name and "context" not in name:
            nn.init.zeros_(parameter)
        elif parameter.ndim > 1 and any(part in name for part in ("cell", "lstm")):
            input_and_forget, candidate, output_gate = parameter.data.split(
                [2 * HIDDEN, HIDDEN, HIDDEN]
            )
            nn.init.xavier_normal_(input_and_forget)
            nn.init.xavier_normal_(candidate, gain=5 / 3)
            nn.init.xavier_normal_(output_gate)
        elif parameter.ndim > 1 and any(part in name for part in ("in_proj", "gate", "output")):
            nn.init.xavier_normal_(parameter)
        elif parameter.ndim > 1 and "out_proj" not in name:
            nn.init.kaiming_normal_(parameter, nonlinearity="relu")


def loss_of(outputs: Tensor, target: Tensor) -> Tensor:
    """Binary cross-entropy for a single output, cross-entropy for several."""
    if outputs.shape[1] == 1:
        return F.binary_cross_entropy_with_logits(outputs.squeeze(1), target.to(outputs.dtype))
    return F.cross_entropy(outputs, target)


def train(network: Network, problems: Problems, shuffle: torch.Generator) -> Iterator[Tensor]:
    """Train for ever, giving the loss of each step; the caller takes as many as it wants."""
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    while True:
        network.train()
        for rows in torch.randperm(len(problems), generator=shuffle).split(TRAIN_BATCH):
            images = problems.items[problems.index[rows]]
            loss = loss_of(network(images), problems.target[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield loss.detach()


@torch.no_grad()
def evaluate(network: Network, problems: Problems) -> float:
    """Accuracy over all problems, in batches of 100."""
    network.eval()
    correct = 0
    for rows in torch.arange(len(problems)).split(TEST_BATCH):
        outputs = network(problems.items[problems.index[rows]])
        answers = outputs.argmax(1) if outputs.shape[1] > 1 else (outputs.squeeze(1) > 0)
        correct += int((answers == problems.target[rows]).sum())
    return correct / len(problems)
