"""Learning curves of PPO beside sb3-contrib's RecurrentPPO, on CartPole and on a level of MiniGrid.

Run from the root of the checkout, where gymnasium and minigrid (the extra `rl`), stable-baselines3
and sb3-contrib are installed; the last two are in no extra:

    python -m benchmarks.agents                     # about an hour on one core
    python -m benchmarks.agents --worlds cartpole   # half of that

All sides have the same agent, an LSTM of 64 units on the flat observation with two linear outputs,
the same rollouts, parts and epochs, Adam with the same learning rate, and unscaled rewards. One
of ours clips the change of values too, another learns from scaled rewards. The return of the last
100 finished episodes is taken after every rollout; the comparison is of its mean over seeds, with
the standard deviation, at a few numbers of steps. The results are written after every seed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from statistics import mean, stdev
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
import torch
import tyro
from rich.console import Console
from torch import Tensor, nn

from benchmarks import _pages
from benchmarks._report import bar
from farfield.core import Stream
from farfield.experiments import AgentNetwork, Experiment, Recipe, Spec
from farfield.nn import LSTMLayer
from farfield.objectives import PPO
from farfield.records import environment
from farfield.tasks import TRAINING, GymnasiumWorlds, Regime
from farfield.training.internal import OneAgent

RESULTS = _pages.RESULTS / "agents"
COPIES, LENGTH, PARTS, EPOCHS, UNITS, RATE, CLIP = 8, 128, 4, 8, 64, 1e-3, 0.2
NAMES = {"cartpole": "CartPole-v1", "minigrid": "MiniGrid-Empty-Random-5x5-v0"}
POINTS = 8
"""Numbers of steps at which curves are compared."""
SIDES = {
    "Farfield": {},
    "Farfield, values clipped": {"value_clip": CLIP},
    "Farfield, rewards scaled": {"scale_rewards": True, "reward_clip": 10.0},
    "sb3-contrib's RecurrentPPO": None,
}
"""Options of our rule by side; the last is the other package."""
COLUMNS = ("world", "steps", *SIDES)

Json = Mapping[str, Any]


class FlatImage(gymnasium.ObservationWrapper):  # type: ignore[misc]
    """The cells that an agent of MiniGrid sees, as one row of numbers."""

    def __init__(self, inner: gymnasium.Env) -> None:
        super().__init__(inner)
        size = math.prod(inner.observation_space["image"].shape)
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32)

    def observation(self, observation: dict[str, Any]) -> np.ndarray:
        """Embed the codes of kind, color and state, in tenths."""
        return (observation["image"].reshape(-1) / 10).astype(np.float32)


def world_of(name: str) -> gymnasium.Env:
    """Make one of the two worlds.

    Args:
        name: `"cartpole"` or `"minigrid"`.
    """
    if name == "minigrid":
        import minigrid  # noqa: F401, PLC0415 — names its levels to gymnasium

        return FlatImage(gymnasium.make(NAMES[name]))
    return gymnasium.make(NAMES[name])


@dataclass(frozen=True, kw_only=True)
class World:
    """A world of gymnasium as an environment."""

    version: ClassVar[int] = 1
    metric: ClassVar[str] = "return"
    scored_episodes: ClassVar[int] = 10
    regimes: ClassVar[tuple[Regime, ...]] = (Regime(name=TRAINING, distance=0.0, unit="none"),)

    name: str

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Shape of an observation."""
        return tuple(world_of(self.name).observation_space.shape)

    @property
    def num_actions(self) -> int:
        """Number of actions."""
        return int(world_of(self.name).action_space.n)

    def make(self, regime: str, count: int, stream: Stream) -> GymnasiumWorlds:
        """Make copies side by side."""
        copies = [world_of(self.name) for _ in range(count)]
        return GymnasiumWorlds(copies, lambda _, found: found, stream.child(self.name, regime))

    def score(self, returns: np.ndarray) -> np.ndarray:
        """Return the returns unchanged."""
        return returns

    def chance(self, regime: str) -> float:
        """Refuse: the chance is unknown."""
        del regime
        return math.nan


class Flat(nn.Module):
    """Encoder of an observation in one row, unchanged."""

    def __init__(self, item_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.out_features = math.prod(item_shape)

    def forward(self, items: Tensor) -> Tensor:
        """Embed the numbers of each item."""
        return items.flatten(1)


def ours(name: str, seed: int, rollouts: int, **options: Any) -> list[float]:
    """Train by this package; returns the mean return of the last episodes after each rollout."""
    experiment = Experiment(
        task=World(name=name),
        model=AgentNetwork(core=Spec(LSTMLayer, hidden_size=UNITS), encoder=Spec(Flat)),
        recipe=Recipe(steps=rollouts, learning_rate=RATE, batch_size=COPIES, clip_norm=0.5),
        objective=PPO(
            rollout_length=LENGTH, minibatches=PARTS, epochs=EPOCHS, clip=CLIP, **options
        ),
    )
    learner, curve = OneAgent(experiment, seed), []
    for step in range(rollouts):
        learner.update(step)
        curve.append(learner.training_metrics(step)[0][0].value)
    return curve


def theirs(name: str, seed: int, rollouts: int) -> list[float]:
    """Train by sb3-contrib; returns the same curve."""
    from sb3_contrib import RecurrentPPO  # noqa: PLC0415 — not installed where tests run
    from stable_baselines3.common.env_util import make_vec_env  # noqa: PLC0415

    learner = RecurrentPPO(
        "MlpLstmPolicy",
        make_vec_env(lambda: world_of(name), n_envs=COPIES, seed=seed),
        learning_rate=RATE,
        n_steps=LENGTH,
        batch_size=COPIES * LENGTH // PARTS,
        n_epochs=EPOCHS,
        clip_range=CLIP,
        ent_coef=0.01,
        seed=seed,
        device="cpu",
        policy_kwargs={
            "net_arch": [],
            "lstm_hidden_size": UNITS,
            "shared_lstm": True,
            "enable_critic_lstm": False,
        },
    )
    curve: list[float] = []

    def note(known: dict[str, Any], _: object) -> None:
        if len(curve) < known["self"].num_timesteps // (COPIES * LENGTH):
            last = [episode["r"] for episode in learner.ep_info_buffer]
            curve.append(float(mean(last)) if last else 0.0)

    learner.learn(rollouts * COPIES * LENGTH, callback=lambda *given: note(*given) or True)
    return curve


def measured(name: str, seed: int, rollouts: int) -> list[Json]:
    """Measure the curves of all sides on one world."""
    lines = []
    for side, options in SIDES.items():
        begun = time.process_time()
        if options is None:
            curve = theirs(name, seed, rollouts)
        else:
            curve = ours(name, seed, rollouts, **options)
        taken = time.process_time() - begun
        lines.append({"world": name, "side": side, "seed": seed, "curve": curve, "seconds": taken})
    return lines


def rows(lines: list[Json], name: str) -> list[tuple[str, ...]]:
    """Format the table of one world, in the order of `COLUMNS`."""
    sides = [
        np.array([line["curve"] for line in lines if (line["world"], line["side"]) == (name, side)])
        for side in SIDES
    ]
    count, found = sides[0].shape[1], []
    for point in sorted({max(1, count * part // POINTS) for part in range(1, POINTS + 1)}):
        at = [side[:, point - 1].tolist() for side in sides]
        cells = [
            f"{mean(own):.1f} ± {stdev(own):.1f}" if len(own) > 1 else f"{mean(own):.1f}"
            for own in at
        ]
        found.append((NAMES[name], f"{point * COPIES * LENGTH:,}", *cells))
    return found


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    lines = results["lines"]
    described = ", ".join(f"{name} {value}" for name, value in results["environment"].items())
    worlds = list(dict.fromkeys(line["world"] for line in lines))
    speeds = []
    for name in worlds:
        for side in SIDES:
            own = [line for line in lines if (line["world"], line["side"]) == (name, side)]
            steps = len(own[0]["curve"]) * COPIES * LENGTH
            speed = mean(steps / line["seconds"] for line in own)
            speeds.append(f"{side} on {NAMES[name]} {speed:,.0f}")
    seeds = len({line["seed"] for line in lines})
    compared = (
        f"Return of the last 100 finished episodes, mean ± standard deviation of {seeds} seeds. "
        "Rewards are unscaled, or scaled in units of the running deviation of "
        f"their discounted returns. Values are clipped at {CLIP:g} in one column alone. The critic "
        "of the package beside ours reads the LSTM without training it. An "
        f"LSTM of {UNITS} units, {COPIES} copies, rollouts of {LENGTH} steps, {EPOCHS} epochs in "
        f"{PARTS} parts, learning rate {RATE:g}."
    )
    return "\n".join(
        [
            "# PPO with memory",
            "",
            compared,
            "",
            f"Steps of the environment in a second of processor time: {'; '.join(speeds)}.",
            "",
            f"Machine and versions: {described}.",
            "",
            bar(COLUMNS),
            bar("---" for _ in COLUMNS),
            *(bar(row) for name in worlds for row in rows(lines, name)),
            "",
        ]
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Size of the measurement.

    Args:
        worlds: The worlds.
        seeds: Number of seeds.
        steps: Steps of the environment in a run.
        name: Name of the result files; by default date and processor.
    """

    worlds: tuple[Literal["cartpole", "minigrid"], ...] = ("cartpole", "minigrid")
    seeds: int = 10
    steps: int = 40_960
    name: str | None = None


def main(options: Options) -> None:
    """Measure and write it down."""
    torch.set_num_threads(1)
    described = environment(device="cpu", engine="one thread") | {
        name: version(name) for name in ("gymnasium", "stable-baselines3", "sb3-contrib")
    }
    rollouts, lines = options.steps // (COPIES * LENGTH), list[Json]()
    name = options.name or _pages.name_of_today(described)
    for world in options.worlds:
        for seed in range(options.seeds):
            lines += measured(world, seed, rollouts)
            results = {"environment": described, "lines": lines}
            path = _pages.write(results, RESULTS, name, markdown)
    Console().print(markdown(results), f"{path.with_suffix('.md')}", soft_wrap=True, markup=False)


if __name__ == "__main__":
    main(tyro.cli(Options))
