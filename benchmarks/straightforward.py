"""The straightforward loop that the library's speed is measured against.

The code that an experienced user of PyTorch writes from the paper: one network after another, every
image of the batch through the encoder, the context norm by `mean` and `var`, `nn.LSTM`,
`nn.LSTMCell` and `nn.TransformerEncoderLayer` as they come, `torch.optim.Adam` with its defaults.
The reasoners are in `straightforward_reasoners`. Nothing here uses a mechanism of the library; the
problems alone are shared, and the test beside this file holds that both compute the same losses
and gradients.

Reference:
    webb2021, section 3.1 (context normalization), A.3.1 (encoder), A.3 (initialization), A.4
    (training).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.straightforward_reasoners import (
    DEFAULT_WEIGHTS,
    FEATURES,
    HIDDEN,
    OF_A_LENGTH,
    REASONERS,
)
from farfield.core import Problems

LEARNING_RATE = 5e-4
TRAIN_BATCH = 32
TEST_BATCH = 100
XAVIER = ("in_proj", "gate", "output", "erase", "shift", "memory", "query", "shared")
"""Parts of the names of parameters that are not followed by a ReLU."""


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


class Network(nn.Module):
    """Encoder, context normalization and reasoner, from images to outputs."""

    def __init__(self, reasoner: str, num_outputs: int, segments: Sequence[Sequence[int]]) -> None:
        super().__init__()
        length = sum(len(places) for places in segments)
        self.encoder = Encoder()
        self.context = ContextNorm(segments)
        kind: Callable[..., nn.Module] = REASONERS[reasoner]
        sizes = (num_outputs, length) if kind in OF_A_LENGTH else (num_outputs,)
        self.reasoner = kind(*sizes)
        initialize(self)

    def forward(self, images: Tensor) -> Tensor:
        """Compute outputs `(batch, output)` for images `(batch, time, height, width)`."""
        batch, time = images.shape[:2]
        z = self.encoder(images.flatten(0, 1).unsqueeze(1))
        return self.reasoner(self.context(z.view(batch, time, FEATURES)))


def initialize(network: Network) -> None:
    """Initialize by Kaiming before a ReLU or softplus, else by Xavier; biases at zero (A.3).

    Some reasoners keep PyTorch's initial weights, except their output layer.
    """
    for name, parameter in network.named_parameters():
        if "confidence" in name or "context" in name or kept(network, name):
            continue
        if "bias" in name:
            nn.init.zeros_(parameter)
        elif any(part in name for part in ("cell", "lstm")):
            input_and_forget, candidate, output_gate = parameter.data.split(
                [2 * HIDDEN, HIDDEN, HIDDEN]
            )
            nn.init.xavier_normal_(input_and_forget)
            nn.init.xavier_normal_(candidate, gain=5 / 3)
            nn.init.xavier_normal_(output_gate)
        elif any(part in name for part in ("_head.key", "reasoner.add")):
            nn.init.xavier_normal_(parameter, gain=5 / 3)
        elif any(part in name for part in XAVIER):
            nn.init.xavier_normal_(parameter)
        elif parameter.ndim > 1 and "out_proj" not in name:
            nn.init.kaiming_normal_(parameter, nonlinearity="relu")


def kept(network: Network, name: str) -> bool:
    """Check whether a parameter keeps PyTorch's initialization."""
    return (
        isinstance(network.reasoner, DEFAULT_WEIGHTS)
        and name.startswith("reasoner")
        and "output" not in name
    )


def loss_of(outputs: Tensor, target: Tensor) -> Tensor:
    """Compute the binary cross-entropy of a single output, the cross-entropy of several."""
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
    """Compute the accuracy over all problems, in batches of 100."""
    network.eval()
    correct = 0
    for rows in torch.arange(len(problems)).split(TEST_BATCH):
        outputs = network(problems.items[problems.index[rows]])
        answers = outputs.argmax(1) if outputs.shape[1] > 1 else (outputs.squeeze(1) > 0)
        correct += int((answers == problems.target[rows]).sum())
    return correct / len(problems)
