"""ICT in Lightning
================

Interpolation consistency training (ICT) is a loss and a teacher. `ict_loss` is computed in
`training_step`, and a callback updates the teacher, the running mean of the weights, by
`mean_teacher`. Both also work in a loop without Lightning.

The data are two moons with three labels each and a thousand points without labels. The picture
shows the answers of the network and of its teacher over the plane. Here ICT gains little; VAT
gains more, in the example with `accelerate`.
"""

import copy
import logging
import math

import lightning
import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from farfield.core import stream
from farfield.functional import ict_loss, mean_teacher
from farfield.tasks import TRAINING, TwoMoons

STEPS = 1000
SETS = TwoMoons(labels_per_class=3).draw(stream(0))
POINTS, LABELS = SETS[TRAINING].sequences()[:, 0], SETS[TRAINING].target
OTHERS = SETS["unlabelled"].sequences()[:, 0]


# %%
# The module and its teacher. The weight of ICT grows over the first quarter of the steps, in which
# the teacher knows little.


class Classifier(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.student = nn.Sequential(
            nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
        )
        self.teacher = copy.deepcopy(self.student).requires_grad_(False)

    def training_step(self, others: Tensor) -> Tensor:
        points, labels = POINTS.to(self.device), LABELS.to(self.device)
        weight = 10 * math.exp(-5 * max(0, 1 - 4 * self.global_step / STEPS) ** 2)
        labeled = F.cross_entropy(self.student(points), labels)
        return labeled + weight * ict_loss(self.student, self.teacher, others)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.student.parameters(), lr=1e-2)


# %%
# The callback. The decay starts from the plain mean of all weights; a decay of 0.99 alone keeps a
# part of 0.99 ** steps of the untrained weights.


class FollowStudent(lightning.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx) -> None:
        decay = min(0.99, 1 - 1 / (trainer.global_step + 1))
        student, teacher = module.student.state_dict(), module.teacher.state_dict()
        module.teacher.load_state_dict(mean_teacher(teacher, student, decay=decay))


# %%
# Training.

torch.manual_seed(0)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
module = Classifier()
trainer = lightning.Trainer(
    max_steps=STEPS,
    callbacks=[FollowStudent()],
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(module, DataLoader(OTHERS, batch_size=100, shuffle=True))
NETWORKS = {"network": module.student, "teacher": module.teacher}

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
figure.savefig("ict_in_lightning.png")
