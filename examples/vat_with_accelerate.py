"""VAT with accelerate
===================

Virtual adversarial training (VAT) asks for the same answer after the small change of an item that
matters most. `vat_loss` needs neither labels nor a teacher: it is one line of a loop with
`accelerate`.

The data are two moons with three labels each and a thousand points without labels. The length of
the change, the radius, is chosen without labels: twice the median distance of a point from its
tenth neighbor. The picture shows the answers without and with VAT over the plane.
"""

import matplotlib.pyplot as plt
import torch
from accelerate import Accelerator
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from farfield.core import stream
from farfield.functional import vat_loss
from farfield.tasks import TRAINING, TwoMoons

STEPS = 1000
SETS = TwoMoons(labels_per_class=3).draw(stream(0))
POINTS, LABELS = SETS[TRAINING].sequences()[:, 0], SETS[TRAINING].target
OTHERS = SETS["unlabelled"].sequences()[:, 0]
RADIUS = 2 * torch.cdist(OTHERS, OTHERS).sort().values[:, 10].median().item()


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
    )


# %%
# The loop, without and with VAT. `vat_loss` takes the prepared model.


def train(weight: float) -> nn.Module:
    accelerator = Accelerator(cpu=True)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    loader = DataLoader(OTHERS, batch_size=100, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    points, labels = POINTS.to(accelerator.device), LABELS.to(accelerator.device)
    step = 0
    while step < STEPS:
        for others in loader:
            loss = F.cross_entropy(model(points), labels)
            if weight:
                loss = loss + weight * vat_loss(model, others, radius=RADIUS)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            step += 1
            if step == STEPS:
                break
    return accelerator.unwrap_model(model)


NETWORKS = {"without VAT": train(0.0), "with VAT": train(1.0)}

# %%
# White is where the network is in doubt.

NEW = SETS["test"]
grid_x, grid_y = torch.linspace(-1.6, 2.6, 210), torch.linspace(-1.2, 1.7, 145)
plane = torch.cartesian_prod(grid_x, grid_y)
figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for axis, (name, network) in zip(axes, NETWORKS.items(), strict=True):
    with torch.no_grad():
        surface = network(plane).softmax(-1)[:, 1].reshape(210, 145).T
        right = (network(NEW.sequences()[:, 0]).argmax(-1) == NEW.target).float().mean()
    edges = (-1.6, 2.6, -1.2, 1.7)
    axis.imshow(surface.numpy(), cmap="RdBu", vmin=0, vmax=1, origin="lower", extent=edges)
    axis.scatter(*OTHERS.T.numpy(), color="gray", s=1)
    axis.scatter(*POINTS.T.numpy(), c=LABELS.numpy(), cmap="RdBu", edgecolors="black", s=30)
    axis.set(title=f"{name}: {right:.0%} of new points right", xticks=[], yticks=[])
figure.savefig("vat_with_accelerate.png")
