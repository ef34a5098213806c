"""ICT and VAT with forty labels
=============================

A thousand images of ten glyphs, moved and noisy, forty of them with labels. Two rules learn from
the other images too. Interpolation consistency training (ICT): the answer to a mixture of two
images must equal the mixture of the answers of a running mean of the weights to each. Virtual
adversarial training (VAT): the answer must stay where an image is moved a little, in the worst
direction.

An experiment is a task, a model, a recipe and an objective; the experiments here differ in the
objective alone. Both rules are set without labels. The radius of VAT is half of the distance
between an image and its nearest neighbor, in the middle. The teacher of ICT forgets its first
weights within the run: `decay ** steps` is near 0.
"""

import tempfile
from dataclasses import dataclass
from typing import ClassVar, final

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream, stream
from farfield.execution import Here, jobs_of, results, run
from farfield.experiments import Experiment, ItemNetwork, Recipe, Spec
from farfield.metrics import correct
from farfield.models import BottleneckMLP
from farfield.objectives import ICT, VAT, Supervised
from farfield.records import Store
from farfield.tasks import TRAINING, GlyphSet, Regime

SEEDS = 10
STEPS = 800
GLYPHS = F.avg_pool2d(GlyphSet.glyphs().items[:10].unsqueeze(1), 2).squeeze(1)  # ten of 16 × 16

# The task. A set that is named among the regimes is scored; `unlabelled` is only learned from, and
# its targets say nothing.


@final
@dataclass(frozen=True, kw_only=True)
class FewGlyphs:
    """Which of ten glyphs is it, when few have labels?"""

    name: ClassVar[str] = "few-glyphs"
    version: ClassVar[int] = 1
    item_shape, length, num_outputs, segments = (16, 16), 1, 10, ((0,),)
    regimes = (
        Regime(name=TRAINING, distance=0, unit="classes that training lacks"),
        Regime(name="test", distance=0, unit="classes that training lacks"),
    )

    def draw(self, stream: Stream) -> dict[str, Problems]:
        generator = stream.child(self.name, f"v{self.version}").numpy()
        labels, moves = np.tile(np.arange(10), 150), generator.integers(-1, 2, (1500, 2)).tolist()
        moved = [GLYPHS[n].roll(move, (0, 1)) for n, move in zip(labels, moves, strict=True)]
        noise = 0.2 * generator.standard_normal((1500, 16, 16)).astype(np.float32)
        items, target = torch.stack(moved) + torch.from_numpy(noise), torch.from_numpy(labels)
        index = torch.arange(1500)[:, None]
        return {
            TRAINING: Problems(items=items, index=index[:40], target=target[:40]),
            "unlabelled": Problems(
                items=items, index=index[:1000], target=-torch.ones(1000).long()
            ),
            "test": Problems(items=items, index=index[1000:], target=target[1000:]),
        }

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        problems = self.draw(stream(0))[regime]
        return problems[torch.from_numpy(generator.integers(len(problems), size=n))]

    def loss(self, outputs: Tensor, problems: Problems) -> Tensor:
        return F.cross_entropy(outputs, problems.target, reduction="none")

    def score(self, outputs: Tensor, problems: Problems) -> Tensor:
        return correct(outputs, problems.target)

    def chance(self, regime: str) -> float:
        return 0.1

    def oracle(self, problems: Problems) -> Tensor:
        return F.one_hot(problems.target, 10).float()


# %%
# Three experiments.

TASK = FewGlyphs()
images = TASK.draw(stream(0))["unlabelled"].sequences()[:500, 0].flatten(1)
nearest = torch.cdist(images, images).fill_diagonal_(torch.inf).min(1).values
OBJECTIVES = {
    "40 labels": Supervised(),
    "and ICT": ICT(weight=50.0, decay=0.99, warmup=True, consistency="unlabelled"),
    "and VAT": VAT(radius=nearest.median().item() / 2, consistency="unlabelled"),
}
EXPERIMENTS = {
    name: Experiment(
        task=TASK,
        model=ItemNetwork(core=Spec(BottleneckMLP, hidden_sizes=(128, 128))),
        recipe=Recipe(steps=STEPS, learning_rate=3e-3, batch_size=64),
        objective=objective,
    )
    for name, objective in OBJECTIVES.items()
}

# %%
# `run` trains the experiments that the store lacks: here, one network after another. Name your own
# folder in place of this one to keep them.

STORE = Store(tempfile.mkdtemp())
JOBS = {name: jobs_of([experiment], range(SEEDS)) for name, experiment in EXPERIMENTS.items()}
run([job for jobs in JOBS.values() for job in jobs], STORE, Here())

# %%
# Left: all that has a label, in the first run. Right: new images; a dot is a network.

labeled = TASK.draw(stream(0))[TRAINING]
figure, (shown, scores) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
rows = labeled.sequences()[:, 0].reshape(4, 10, 16, 16)
shown.imshow(rows.transpose(1, 2).reshape(64, 160).numpy(), cmap="gray")
shown.set(title="forty labels", xticks=[], yticks=[])
for place, (name, jobs) in enumerate(JOBS.items()):
    values = [100 * record.final("test") for record in results(jobs, STORE)]
    scores.barh(name, sum(values) / len(values), height=0.5, color=f"C{place}", alpha=0.5)
    scores.plot(values, [place] * len(values), "o", color=f"C{place}")
scores.axvline(10, color="gray", linestyle=":")
scores.set(title="new images", xlabel="right answers, percent", xlim=(0, 100))
scores.invert_yaxis()
figure.savefig("ict_with_forty_labels.png")
