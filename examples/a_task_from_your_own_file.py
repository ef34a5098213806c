"""A task from your own file
=========================

Measurements in an npz become a task: its sets, their distance from training, the question, and the
score of guessing. Then everything here works on it: models, many seeds, profiles.

The file of this page holds short records of a sensor that swings faster or slower; the question is
which. Later files come from sensors whose zero has drifted.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, final

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream, stream
from farfield.execution import Here, jobs_of, results, run
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.metrics import correct
from farfield.models import LSTM
from farfield.nn import ContextNorm, LinearEncoder
from farfield.records import Store
from farfield.reports import extrapolation_profile
from farfield.tasks import TRAINING, Regime

SEEDS = 3
STEPS = 150
DRIFTS = (0, 1, 2, 4)
FOLDER = Path(tempfile.mkdtemp())

# The task. `items` holds every reading once, `index` says which readings make up which
# record. `input_files` names the file, so that its digest is in every record: a network of another
# file is not taken for one of this.


@final
@dataclass(frozen=True, kw_only=True)
class Sensors:
    """Does a sensor swing fast, by twenty readings?"""

    name: ClassVar[str] = "sensors"
    version: ClassVar[int] = 1
    item_shape, length, num_outputs = (1,), 20, 2
    segments = (tuple(range(20)),)
    regimes = (
        Regime(name=TRAINING, distance=0, unit="drift"),
        *(Regime(name=f"drift-{drift}", distance=drift, unit="drift") for drift in DRIFTS),
    )

    path: str

    def input_files(self) -> dict[str, Path]:
        return {"sensors.npz": Path(self.path)}

    def draw(self, stream: Stream) -> dict[str, Problems]:
        del stream  # the file is the same for every seed
        with np.load(self.path) as file:
            arrays = {name: torch.from_numpy(array) for name, array in file.items()}
        sets = {}
        for regime in self.regimes:
            x, y = arrays[f"x-{regime.name}"], arrays[f"y-{regime.name}"]
            index = torch.arange(x.numel()).reshape(x.shape)
            sets[regime.name] = Problems(items=x.reshape(-1, 1), index=index, target=y)
        return sets

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        problems = self.draw(stream(0))[regime]
        return problems[torch.from_numpy(generator.integers(len(problems), size=n))]

    def loss(self, outputs: Tensor, problems: Problems) -> Tensor:
        return F.cross_entropy(outputs, problems.target, reduction="none")

    def score(self, outputs: Tensor, problems: Problems) -> Tensor:
        return correct(outputs, problems.target)

    def chance(self, regime: str) -> float:
        return 0.5

    def oracle(self, problems: Problems) -> Tensor:
        return F.one_hot(problems.target, 2).float()


# %%
# Stand-ins for your measurements: arrays `x-…` and `y-…` for each set.


def sensor(n: int, drift: float, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw twenty readings of each of `n` sensors, and the label of fast swings."""
    fast = generator.permuted(np.arange(n) % 2)
    phase, time = generator.uniform(0, 6.3, (n, 1)), np.arange(20)
    readings = np.sin(phase + np.where(fast, 0.9, 0.6)[:, None] * time)
    noise = 0.3 * generator.standard_normal((n, 20))
    return (readings + noise + drift).astype(np.float32), fast


generator = np.random.default_rng(0)
sets = {f"drift-{drift}": sensor(500, drift, generator) for drift in DRIFTS}
sets[TRAINING] = sensor(1000, 0, generator)
arrays = {f"x-{name}": x for name, (x, _) in sets.items()}
np.savez(FOLDER / "sensors.npz", **arrays, **{f"y-{name}": y for name, (_, y) in sets.items()})

# %%
# A mechanism with and without: an LSTM on the raw record, and an LSTM after `ContextNorm` over
# the record.

TASK = Sensors(path=str(FOLDER / "sensors.npz"))
STORE = Store(FOLDER)
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, context in {"LSTM": None, "LSTM after ContextNorm": Spec(ContextNorm)}.items():
    model = Network(
        encoder=Spec(LinearEncoder, out_features=8),
        context=context,
        reasoner=Spec(LSTM, hidden_size=32),
    )
    recipe = Recipe(steps=STEPS, learning_rate=5e-3)
    jobs = jobs_of([Experiment(task=TASK, model=model, recipe=recipe)], range(SEEDS))
    run(jobs, STORE, Here())
    profile = extrapolation_profile(TASK, results(jobs, STORE))
    print(f"{name}\n\n{profile}\n")
    points = [point for point in profile.points if point.regime != TRAINING]
    means, errors = (
        [100 * getattr(point, what) for point in points] for what in ("mean", "standard_error")
    )
    axes.errorbar(DRIFTS, means, errors, marker="o", capsize=3, label=name)
axes.axhline(50, color="gray", linestyle=":", label="guessing")
axes.set(xlabel="drift", ylabel="right answers, percent", xticks=DRIFTS, ylim=(40, 102))
axes.legend(loc="center right")
figure.savefig("a_task_from_your_own_file.png")
