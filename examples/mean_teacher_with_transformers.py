"""A mean teacher with the trainer of transformers
===============================================

A mean teacher is the running mean of the weights of a network, and a loss that keeps the answers
of the network near those of the teacher. In the trainer of `transformers`, `compute_loss` adds
`consistency`, and a callback updates the teacher by `mean_teacher`.

The data are two moons with three labels each and a thousand points without labels. So that both
answers differ, network and teacher see the points under different noise. The picture shows the
answers of the network and of its teacher over the plane. Here a mean teacher gains little; VAT
gains more, in the example with `accelerate`.
"""

import copy
import math
import tempfile

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F
from transformers import Trainer, TrainerCallback, TrainingArguments

from farfield.core import stream
from farfield.functional import consistency, mean_teacher
from farfield.tasks import TRAINING, TwoMoons

STEPS = 1000
SETS = TwoMoons(labels_per_class=3).draw(stream(0))
POINTS, LABELS = SETS[TRAINING].sequences()[:, 0], SETS[TRAINING].target
OTHERS = SETS["unlabelled"].sequences()[:, 0]


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
        )

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        return self.layers(points)


# %%
# The loss. Its weight grows over the first quarter of the steps, in which the teacher knows little.


class TaughtTrainer(Trainer):
    teacher: nn.Module

    def compute_loss(self, model, inputs, return_outputs=False, **others):
        points, device = inputs["points"], inputs["points"].device
        outputs = model(points + 0.1 * torch.randn_like(points))
        with torch.no_grad():
            taught = self.teacher(points + 0.1 * torch.randn_like(points))
        labeled = F.cross_entropy(model(POINTS.to(device)), LABELS.to(device))
        weight = 10 * math.exp(-5 * max(0, 1 - 4 * self.state.global_step / STEPS) ** 2)
        loss = labeled + weight * consistency(outputs, taught)
        return (loss, {"logits": outputs}) if return_outputs else loss


# %%
# The callback. The decay starts from the plain mean of all weights; a decay of 0.99 alone keeps a
# part of 0.99 ** steps of the untrained weights.


class FollowStudent(TrainerCallback):
    def __init__(self, teacher: nn.Module) -> None:
        self.teacher = teacher

    def on_step_end(self, args, state, control, model=None, **others) -> None:
        decay = min(0.99, 1 - 1 / (state.global_step + 1))
        means = mean_teacher(self.teacher.state_dict(), model.state_dict(), decay=decay)
        self.teacher.load_state_dict(means)


# %%
# Training.

torch.manual_seed(0)
model = Classifier()
teacher = copy.deepcopy(model).requires_grad_(False)
trainer = TaughtTrainer(
    model=model,
    args=TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        max_steps=STEPS,
        per_device_train_batch_size=100,
        learning_rate=1e-2,
        use_cpu=True,
        disable_tqdm=True,
        remove_unused_columns=False,
        logging_strategy="no",
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=[{"points": point} for point in OTHERS],
    callbacks=[FollowStudent(teacher)],
)
trainer.teacher = teacher
trainer.train()
NETWORKS = {"network": model, "teacher": teacher}

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
figure.savefig("mean_teacher_with_transformers.png")
