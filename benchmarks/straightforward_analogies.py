"""The straightforward loops that the library's speed on visual analogies is measured against.

The code that an experienced user of PyTorch writes from the paper: whole images through the
encoder, the context norm by `mean` and `var`, `nn.LSTM` as it comes, `torch.optim.Adam` with its
defaults, and a table of all images in memory. They differ in how many images of a problem they
encode: every image of every candidate analogy, every position once, or every image once. Nothing
here uses a mechanism of the library; the problems alone are shared, and the test beside the
benchmarks holds that all compute the same losses and gradients.

Reference:
    webb2020, sections 3.1, 3.2 and 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

FEATURES: Final = 256
HIDDEN: Final = 256
CHANNELS: Final = 32
PREMISES: Final = 3
LEARNING_RATE: Final = 5e-4
BATCH: Final = 32


class Encoder(nn.Module):
    """Four convolutions and two layers with a ReLU after each, and a linear layer without one."""

    out_features: Final = FEATURES

    def __init__(self, item_shape: tuple[int, int, int] = (128, 128, 3)) -> None:
        super().__init__()
        height, width, channels = item_shape
        convolutions: list[nn.Module] = []
        for entering in (channels, CHANNELS, CHANNELS, CHANNELS):
            convolutions += [nn.Conv2d(entering, CHANNELS, 4, stride=2, padding=1), nn.ReLU()]
        self.convolutions = nn.Sequential(*convolutions)
        self.layers = nn.Sequential(
            nn.Linear((height // 16) * (width // 16) * CHANNELS, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.ReLU(),
        )
        self.output = nn.Linear(HIDDEN, FEATURES)
        for module in (*convolutions, *self.layers, self.output):
            if isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def forward(self, images: Tensor) -> Tensor:
        """Embed images `(item, height, width, channel)` of 0…255."""
        shares = images.to(self.output.weight.dtype) / 255
        maps = self.convolutions(shares.permute(0, 3, 1, 2))
        embeddings: Tensor = self.output(self.layers(maps.flatten(1)))
        return embeddings


Encode = Callable[[Encoder, Tensor, Tensor], Tensor]
"""Function from encoder, images and index to `(batch, candidate, time, feature)`."""


def encode_every_analogy(encoder: Encoder, table: Tensor, index: Tensor) -> Tensor:
    """Encode A, B, C and the candidate of every candidate analogy, as the text words it: 28."""
    premises, candidates = index[:, :PREMISES], index[:, PREMISES:]
    repeated = premises[:, None].expand(-1, candidates.shape[1], -1)
    return encode_at(encoder, table, torch.cat([repeated, candidates[..., None]], dim=2))


def encode_every_place(encoder: Encoder, table: Tensor, index: Tensor) -> Tensor:
    """Encode A, B, C, D and the six foils, and use A, B and C for every candidate: 10."""
    z = encode_at(encoder, table, index)
    return in_analogies(z[:, :PREMISES], z[:, PREMISES:])


def encode_every_picture(encoder: Encoder, table: Tensor, index: Tensor) -> Tensor:
    """Encode D and the six foils, among which A, B and C occur again: 7."""
    premises, candidates = index[:, :PREMISES], index[:, PREMISES:]
    z = encode_at(encoder, table, candidates)
    which = (premises[:, :, None] == candidates[:, None]).int().argmax(dim=2)
    return in_analogies(z[torch.arange(len(z))[:, None], which], z)


def encode_at(encoder: Encoder, table: Tensor, index: Tensor) -> Tensor:
    """Embed the image at every position of an index of any shape."""
    return encoder(table[index.flatten()]).unflatten(0, index.shape)


def in_analogies(premises: Tensor, candidates: Tensor) -> Tensor:
    """Arrange the embeddings of A, B, C and one candidate, for every candidate."""
    repeated = premises[:, None].expand(-1, candidates.shape[1], -1, -1)
    return torch.cat([repeated, candidates[:, :, None]], dim=2)


class ContextNorm(nn.Module):
    """Context normalization of A, B, C and a candidate."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(FEATURES))
        self.bias = nn.Parameter(torch.zeros(FEATURES))

    def forward(self, z: Tensor) -> Tensor:
        """Zero mean and unit variance over the positions, then gain and shift."""
        mean = z.mean(dim=-2, keepdim=True)
        variance = z.var(dim=-2, correction=0, keepdim=True)
        return (z - mean) / (variance + 1e-8).sqrt() * self.weight + self.bias


class Network(nn.Module):
    """The analogy scoring model: a score for every candidate.

    Args:
        encode: Which images are encoded.
        item_shape: Height, width and channels of an image.
    """

    def __init__(self, encode: Encode, item_shape: tuple[int, int, int] = (128, 128, 3)) -> None:
        super().__init__()
        self.encode = encode
        self.encoder = Encoder(item_shape)
        self.context = ContextNorm()
        self.lstm = nn.LSTM(FEATURES, HIDDEN, batch_first=True)
        self.output = nn.Linear(HIDDEN, 1)
        for name, parameter in self.lstm.named_parameters():
            fill = nn.init.zeros_ if "bias" in name else nn.init.xavier_uniform_
            fill(parameter)

    def forward(self, table: Tensor, index: Tensor) -> Tensor:
        """Compute scores `(batch, candidate)` of problems over a table of images."""
        z = self.context(self.encode(self.encoder, table, index))
        _, (state, _) = self.lstm(z.flatten(0, 1))
        scores: Tensor = self.output(state[0])
        return scores.reshape(z.shape[:2])


def train(
    network: Network, table: Tensor, index: Tensor, target: Tensor, shuffle: torch.Generator
) -> Iterator[Tensor]:
    """Train for ever, giving the loss of each step; the caller takes as many as it wants."""
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    while True:
        for rows in torch.randperm(len(index), generator=shuffle).split(BATCH):
            loss = F.cross_entropy(network(table, index[rows]), target[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield loss.detach()


@torch.no_grad()
def evaluate(network: Network, table: Tensor, index: Tensor, target: Tensor) -> float:
    """Compute the share of problems whose correct candidate scores highest, batch by batch."""
    correct = 0
    for rows in torch.arange(len(index)).split(BATCH):
        answers = network(table, index[rows]).argmax(dim=1)
        correct += int((answers == target[rows]).sum())
    return correct / len(index)
