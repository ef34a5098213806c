"""Steps of mixup, manifold mixup and ICT written directly, as the library's are measured against.

A step of the released scripts in plain PyTorch: the network itself is asked to mix, at a
layer that is drawn anew for every batch; the teacher is a second network, whose parameters are
averaged in a loop. Nothing here uses a learning rule of the library; the test beside it holds that
both compute the same.

Reference:
    lamb2022, sections 4.2 and 6.2, and their released code.
"""

from __future__ import annotations

import copy
import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@final
class NarrowNetwork(nn.Module):
    """A classifier of images in color: three groups of two convolutions, and a linear layer.

    Args:
        width: Channels of the first group; each other has twice those before.
        num_outputs: Number of classes.
    """

    def __init__(self, width: int = 16, num_outputs: int = 10) -> None:
        super().__init__()
        self.group1 = _group(3, width, stride=1)
        self.group2 = _group(width, 2 * width, stride=2)
        self.group3 = _group(2 * width, 4 * width, stride=2)
        self.output = nn.Linear(4 * width, num_outputs)

    def forward(
        self, x: Tensor, at: int | None = None, weight: float = 1.0, partner: Tensor | None = None
    ) -> Tensor:
        """Compute the logits of images.

        Args:
            x: Images, `(batch, 3, height, width)`.
            at: Where they are mixed: 0 for the images, $k$ after group $k$; `None` for nowhere.
            weight: Weight of the first of each pair.
            partner: Positions of the second.
        """
        if at == 0:
            x = weight * x + (1 - weight) * x[partner]
        for number, group in enumerate((self.group1, self.group2, self.group3), start=1):
            x = group(x)
            if at == number:
                x = weight * x + (1 - weight) * x[partner]
        return self.output(x.mean((-2, -1)))


def _group(channels: int, width: int, *, stride: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, width, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
    )


def mixed_loss(network: NarrowNetwork, x: Tensor, y: Tensor, *, at: int, alpha: float) -> Tensor:
    """Compute the cross-entropy of mixtures of a batch with itself, with both answers.

    Args:
        network: The network.
        x: Images.
        y: Classes.
        at: Where they are mixed, 0 for the images.
        alpha: Of the Beta distribution of the weight.
    """
    weight, partner = draw(len(x), alpha)
    logits = network(x, at, weight, partner)
    first, second = F.cross_entropy(logits, y), F.cross_entropy(logits, y[partner])
    return weight * first + (1 - weight) * second


def draw(size: int, alpha: float) -> tuple[float, Tensor]:
    """Draw a weight and a permutation."""
    weight = torch.distributions.Beta(alpha, alpha).sample().item()
    return weight, torch.randperm(size)


@final
class Consistency:
    """The loss of ICT, with its teacher.

    Args:
        network: The network.
        logs: Whether clean problems are answered for a log, as the released script has it.
    """

    def __init__(self, network: NarrowNetwork, *, logs: bool) -> None:
        self.network, self.logs = network, logs
        self.teacher = copy.deepcopy(network)
        self.step = 0

    def loss(self, x: Tensor, y: Tensor, u: Tensor, *, progress: float) -> Tensor:
        """Compute the loss of Mixup of labeled images, and the distance to the teacher.

        Args:
            x: Labeled images.
            y: Their classes.
            u: Images without.
            progress: Fraction of the run that is done.
        """
        supervised = mixed_loss(self.network, x, y, at=0, alpha=1.0)
        if self.logs:
            with torch.no_grad():
                F.cross_entropy(self.network(x), y)
                self.network(u)
        weight, partner = draw(len(u), 1.0)
        with torch.no_grad():
            answers = self.teacher(u)
            target = (weight * answers + (1 - weight) * answers[partner]).softmax(-1)
        distance = (self.network(u, 0, weight, partner).softmax(-1) - target).square().mean()
        return supervised + 100 * math.exp(-5 * (1 - min(1.0, 4 * progress)) ** 2) * distance

    @torch.no_grad()
    def after(self) -> None:
        """Take the running mean of the parameters."""
        self.step += 1
        decay = min(1 - 1 / (self.step + 1), 0.999)
        for mean, own in zip(self.teacher.parameters(), self.network.parameters(), strict=True):
            mean.mul_(decay).add_(own, alpha=1 - decay)
