"""Manifold mixup in your own training loop
========================================

Manifold mixup trains on mixtures: two examples are mixed at a hidden layer, and the loss with the
same weight. It takes one function that mixes, and `tap_layers`, which replaces the output of a
layer within a `with` block. Network, data and loop stay yours.

The data are two arms of a spiral, with few points and so much noise that the arms overlap. Mixtures
gain calibration, not right answers: without them a network is certain wherever it is asked, and
where it is wrong the loss is large. The numbers are means over ten networks, each with other
points; the picture shows the answers of the first over the plane.
"""

from collections.abc import Callable

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import stream, tap_layers
from farfield.tasks import TRAINING, Spirals

SEEDS = 10
STEPS = 800
TASK = Spirals(points=100, noise=0.15)
BETA = torch.distributions.Beta(2.0, 2.0)


def network(seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
    )


# %%
# One step. `"0"` and `"2"` are names of layers, as `named_modules()` gives them; one of them is
# drawn anew in each step.


def mixup_loss(model: nn.Module, points: Tensor, labels: Tensor) -> Tensor:
    weight, partner = BETA.sample(), torch.randperm(len(points))
    layer = ("0", "2")[torch.randint(2, ()).item()]
    with tap_layers(model, {layer: lambda h: weight * h + (1 - weight) * h[partner]}):
        logits = model(points)
    first, second = (F.cross_entropy(logits, target) for target in (labels, labels[partner]))
    return weight * first + (1 - weight) * second


def plain_loss(model: nn.Module, points: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(model(points), labels)


# %%
# The loop is the same for both.


def train(loss_of: Callable[..., Tensor], seed: int) -> nn.Sequential:
    known = TASK.draw(stream(seed))[TRAINING]
    points, labels = known.sequences()[:, 0], known.target
    model = network(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(STEPS):
        loss = loss_of(model, points, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


LOSSES = {"without mixup": plain_loss, "manifold mixup": mixup_loss}
MODELS = {name: [train(loss, seed) for seed in range(SEEDS)] for name, loss in LOSSES.items()}

# %%
# White is where a network is in doubt.

first = TASK.draw(stream(0))[TRAINING]
grid = torch.linspace(-1.4, 1.4, 200)
plane = torch.cartesian_prod(grid, grid)
figure, panels = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for axes, (name, models) in zip(panels, MODELS.items(), strict=True):
    rights, losses = [], []
    for seed, model in enumerate(models):
        new = TASK.draw(stream(seed))["test"]
        with torch.no_grad():
            logits = model(new.sequences()[:, 0])
        rights.append((logits.argmax(-1) == new.target).float().mean().item())
        losses.append(F.cross_entropy(logits, new.target).item())
    with torch.no_grad():
        surface = models[0](plane).softmax(-1)[:, 1].reshape(200, 200).T
    edges = (-1.4, 1.4, -1.4, 1.4)
    axes.imshow(surface.numpy(), cmap="RdBu", vmin=0, vmax=1, origin="lower", extent=edges)
    axes.scatter(
        *first.sequences()[:, 0].T.numpy(),
        c=first.target.numpy(),
        cmap="RdBu",
        edgecolors="black",
        s=18,
    )
    right, loss = sum(rights) / SEEDS, sum(losses) / SEEDS
    title = f"{name}\nnew points: {right:.0%} right, loss {loss:.2f}"
    axes.set(title=title, xticks=[], yticks=[])
figure.savefig("manifold_mixup_in_your_own_loop.png")
