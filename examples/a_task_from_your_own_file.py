"""A task from your own file
=========================

Measurements in an npz become a task: its sets, and their distance from training. The question, its
score and the score of guessing follow from the labels. Then everything here works on the task:
models, many seeds, profiles.

The file of this page holds short records of a sensor that swings faster or slower; the question is
which. Later files come from sensors whose zero has drifted.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from farfield.execution import Here, jobs_of, results, run
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import LSTM
from farfield.nn import ContextNorm, LinearEncoder
from farfield.records import Store
from farfield.reports import extrapolation_profile
from farfield.tasks import ArrayTask

SEEDS = 3
STEPS = 150
DRIFTS = (0, 1, 2, 4)
FOLDER = Path(tempfile.mkdtemp())

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
sets["training"] = sensor(1000, 0, generator)
arrays = {f"x-{name}": x for name, (x, _) in sets.items()}
np.savez(FOLDER / "sensors.npz", **arrays, **{f"y-{name}": y for name, (_, y) in sets.items()})

# %%
# The task. The key of each experiment covers the content of the arrays: a network of another file
# is not taken for one of this. A tenth of training becomes the set `validation`.

TASK = ArrayTask(
    FOLDER / "sensors.npz",
    distances={f"drift-{drift}": drift for drift in DRIFTS},
    unit="drift",
    axes="item time",
)

# %%
# A mechanism with and without: an LSTM on the raw record, and an LSTM after `ContextNorm` over
# the record.

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
    points = [point for point in profile.points if point.regime.startswith("drift")]
    means, errors = (
        [100 * getattr(point, what) for point in points] for what in ("mean", "standard_error")
    )
    axes.errorbar(DRIFTS, means, errors, marker="o", capsize=3, label=name)
axes.axhline(50, color="gray", linestyle=":", label="guessing")
axes.set(xlabel="drift", ylabel="right answers, percent", xticks=DRIFTS, ylim=(40, 102))
axes.legend(loc="center right")
figure.savefig("a_task_from_your_own_file.png")
