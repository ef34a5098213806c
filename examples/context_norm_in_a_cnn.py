"""Context norm in a CNN
=====================

A small CNN classifies ten glyphs and is tested in light that was not in training: all pixels
times a number, or all pixels plus a number. With `ContextNorm` in place of `BatchNorm2d`, its
first normalizer, that change costs nothing.

The context of `ContextNorm` is the axis before the features: here the pixels of one image. Over one
image it equals `InstanceNorm2d`; with the images of a whole problem on that axis, it keeps the
differences of their brightness.
"""

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.nn import ContextNorm
from farfield.tasks import GlyphSet

SEEDS = 3
STEPS = 100
GLYPHS = F.avg_pool2d(GlyphSet.glyphs().items[:10].unsqueeze(1), 2)  # ten of 16 × 16


def images(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw glyphs, each moved by up to three pixels, in noise; and which they are."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (n,), generator=generator)
    moves = torch.randint(-3, 4, (n, 2), generator=generator).tolist()
    moved = [GLYPHS[label].roll(move, (1, 2)) for label, move in zip(labels, moves, strict=True)]
    return torch.stack(moved) + 0.1 * torch.randn(n, 1, 16, 16, generator=generator), labels


# %%
# The layer takes `(batch, time, feature)`; a map of a CNN is `(batch, channel, height, width)`. The
# pixels of the map are its time steps.


class MapContextNorm(ContextNorm):
    def forward(self, maps: Tensor) -> Tensor:
        return super().forward(maps.flatten(2).mT).mT.reshape(maps.shape)


def network(norm: type[nn.Module]) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 5),
        norm(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 10),
    )


# %%
# Both networks see the same images, all in the same light.


def train(norm: type[nn.Module], seed: int) -> nn.Module:
    torch.manual_seed(seed)
    model = network(norm)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(STEPS):
        items, labels = images(32, 1000 * seed + step)
        loss = F.cross_entropy(model(items), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


NORMS = {"BatchNorm2d": nn.BatchNorm2d, "ContextNorm": MapContextNorm}
MODELS = {name: [train(norm, seed) for seed in range(SEEDS)] for name, norm in NORMS.items()}

# %%
# New images, in other light.

TEST, LABELS = images(500, seed=999_999)
GAINS = [0.25, 0.5, 1, 2, 4]
SHIFTS = [-1, -0.5, 0, 0.5, 1]
LIGHT = {
    "all pixels ×": {gain: gain * TEST for gain in GAINS},
    "all pixels +": {shift: TEST + shift for shift in SHIFTS},
}


@torch.no_grad()
def accuracy(models: list[nn.Module], items: Tensor) -> float:
    return sum(100 * (model(items).argmax(1) == LABELS).float().mean() for model in models) / SEEDS


figure, axes = plt.subplots(2, 2, figsize=(8, 4), height_ratios=(1, 3), layout="constrained")
for (strip, curve), (change, tests) in zip(axes.T, LIGHT.items(), strict=True):
    strip.imshow(
        torch.cat([items[0, 0] for items in tests.values()], 1).numpy(), cmap="gray", aspect="auto"
    )
    strip.set_axis_off()
    for name, models in MODELS.items():
        scores = [accuracy(models, items) for items in tests.values()]
        curve.plot(range(len(tests)), scores, "o-", label=name)
    curve.axhline(10, color="gray", linestyle=":", label="guessing")
    curve.set(xticks=range(len(tests)), xticklabels=tests, xlabel=change, ylim=(0, 103))
axes[1, 0].set_ylabel("right answers, percent")
axes[1, 0].legend(loc="center right")
figure.savefig("context_norm_in_a_cnn.png")
