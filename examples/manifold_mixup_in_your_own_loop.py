"""Manifold mixup in your own training loop
========================================

Manifold mixup trains on mixtures: two examples are mixed at a hidden layer, and the loss with the
same weight. It takes one function that mixes, and `tap_layers`, which replaces the output of a
layer within a `with` block. Network, data and loop stay yours.

The data are two arms of a spiral, with few and noisy points. The picture shows the answers of each
network over the plane. Both classify about as many new points correctly; with mixtures the network
is uncertain between the arms, without mixtures it is certain and sometimes wrong.
"""

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import stream, tap_layers
from farfield.tasks import TRAINING, Spirals

STEPS = 800
SETS = Spirals(points=100, noise=0.08).draw(stream(0))
POINTS, LABELS = SETS[TRAINING].sequences()[:, 0], SETS[TRAINING].target
BETA = torch.distributions.Beta(2.0, 2.0)


def network() -> nn.Sequential:
    torch.manual_seed(0)
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

MODELS = {}
for name, loss_of in {"without mixup": plain_loss, "manifold mixup": mixup_loss}.items():
    model = MODELS[name] = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(STEPS):
        loss = loss_of(model, POINTS, LABELS)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

# %%
# White is where a network is in doubt.

NEW = SETS["test"]
grid = torch.linspace(-1.4, 1.4, 200)
plane = torch.cartesian_prod(grid, grid)
figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for place, (name, model) in zip(axes, MODELS.items(), strict=True):
    with torch.no_grad():
        surface = model(plane).softmax(-1)[:, 1].reshape(200, 200).T
        logits = model(NEW.sequences()[:, 0])
    right = (logits.argmax(-1) == NEW.target).float().mean()
    loss = F.cross_entropy(logits, NEW.target)
    edges = (-1.4, 1.4, -1.4, 1.4)
    place.imshow(surface.numpy(), cmap="RdBu", vmin=0, vmax=1, origin="lower", extent=edges)
    place.scatter(*POINTS.T.numpy(), c=LABELS.numpy(), cmap="RdBu", edgecolors="black", s=18)
    title = f"{name}\nnew points: {right:.0%} right, loss {loss:.2f}"
    place.set(title=title, xticks=[], yticks=[])
figure.savefig("manifold_mixup_in_your_own_loop.png")
