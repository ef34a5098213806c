"""Where a model stops working, and mends
======================================

A small CNN reads 8 × 8 digits, a random forest reads a sensor series, a logistic regression reads a
table of cells. `profile` says at which strength of each shift half of the skill is gone; `mend`
measures the effect of one wrapper on these strengths, without training.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.nn import functional as F

from farfield.suites import mend, profile

STEPS = 20  # passes over the images

# %%
# Images: a network of two convolutions, trained on 1,000 digits.

digits = load_digits()
images, labels = (digits.images / 16).astype(np.float32), digits.target
torch.manual_seed(0)
network = nn.Sequential(
    nn.Unflatten(1, (1, 8)),
    nn.Conv2d(1, 16, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(16, 32, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(512, 10),
)
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
x, y = torch.from_numpy(images[:1000]), torch.from_numpy(labels[:1000])
for _ in range(STEPS):
    for chosen in torch.randperm(1000).split(40):
        loss = F.cross_entropy(network(x[chosen]), y[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

sets = {"training": (images[:1000], labels[:1000]), "test": (images[1000:], labels[1000:])}
of_digits = mend(
    network, sets, axes="item height width", without=["resolution", "occlusion"], subject="digits"
)
print(of_digits.before, of_digits, sep="\n\n")

# %%
# Series: waves of one or two periods, at any phase.

rng = np.random.default_rng(0)
kinds = np.arange(600) % 2
phase = rng.uniform(0, 2 * np.pi, 600)
waves = np.sin(2 * np.pi * (1 + kinds)[:, None] * np.arange(48) / 48 + phase[:, None])
waves += 0.3 * rng.normal(size=waves.shape)
forest = RandomForestClassifier(random_state=0).fit(waves[:300], kinds[:300])
sets = {"training": (waves[:300], kinds[:300]), "test": (waves[300:], kinds[300:])}
of_waves = mend(forest, sets, kind="series", subject="waves")
print(of_waves.before, of_waves, sep="\n\n")

# %%
# A table: which column, in another unit, breaks it?

table, answers = load_breast_cancer(return_X_y=True, as_frame=True)
regression = make_pipeline(StandardScaler(), LogisticRegression()).fit(table[:300], answers[:300])
of_cells = profile(
    regression,
    {"training": (table[:300], answers[:300]), "test": (table[300:], answers[300:])},
    without=["who"],
    subject="cells",
)
print(of_cells)

# %%
# The strengths at which half of the skill is gone, as a share of the largest that was tried: before
# and, for items that have a mean and a spread, behind the wrapper.

figure, panels = plt.subplots(1, 3, figsize=(10, 4.2), layout="constrained")
for axes, (found, after) in zip(
    panels,
    [(of_digits.before, of_digits.after), (of_waves.before, of_waves.after), (of_cells, None)],
    strict=True,
):
    curves = found.broken[:12]
    rows = range(len(curves))
    axes.hlines(rows, 0, 1, color="0.9")
    axes.plot([min(one.reach, 1) for one in curves], rows, "o", label="as trained")
    if after is not None:
        axes.plot([min(after[one.name].reach, 1) for one in curves], rows, ">", label="mended")
    axes.set(yticks=rows, yticklabels=[one.name for one in curves], title=found.subject)
    axes.invert_yaxis()
figure.supxlabel("strength at which half of the skill is gone, as a share of the largest")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
figure.savefig("where_a_model_stops.png")
