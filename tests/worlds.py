"""A small environment for tests of agents: what was seen first is to be repeated at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import pytest

from farfield.core import Stream
from farfield.tasks import TRAINING, Environment, Regime
from farfield.training import _agent


class RecallWorlds:
    """Copies of `Recall` side by side; an episode begins at another time in each."""

    def __init__(
        self, delay: int, truncates: bool, count: int, stream: Stream, *, reuses: bool = False
    ) -> None:
        self.num_envs, self.delay, self.truncates = count, delay, truncates
        self.arrays: dict[str, np.ndarray] | None = {} if reuses else None
        self.drawn, self.begun = stream.numpy().integers(2, size=100_000), 0
        self.bits = np.zeros(count, np.int64)
        self.time = np.zeros(count, np.int64)

    def begin(self, rows: np.ndarray) -> None:
        count = int(rows.sum())
        self.bits[rows] = self.drawn[self.begun : self.begun + count]
        self.begun += count
        self.time[rows] = 0

    def seen(self) -> np.ndarray:
        shown = np.zeros((self.num_envs, 3), np.float32)
        rows = np.flatnonzero(self.time == 0)
        shown[rows, self.bits[rows]] = 1
        shown[:, 2] = self.time == self.delay
        return shown

    def handed(self, name: str, found: np.ndarray) -> np.ndarray:
        """An array as it is, or the one of the step before filled with it."""
        if self.arrays is None:
            return found
        array = self.arrays.setdefault(name, np.empty_like(found))
        array[:] = found
        return array

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        self.begin(np.ones(self.num_envs, bool))
        return self.handed("seen", self.seen()), {}

    def step(self, actions: np.ndarray):
        ends = self.time == self.delay
        rewards = (ends & (actions == self.bits)).astype(np.float64)
        self.time += 1
        infos = {"final_obs": self.handed("final", self.seen())} if ends.any() else {}
        self.begin(ends)
        never, ends = np.zeros_like(ends), self.handed("ends", ends)
        flags = (never, ends) if self.truncates else (ends, never)
        return self.handed("seen", self.seen()), self.handed("rewards", rewards), *flags, infos

    def close(self) -> None:
        pass

    def state(self) -> dict[str, Any]:
        return {"begun": self.begun, "bits": self.bits.tolist(), "time": self.time.tolist()}

    def load_state(self, state: dict[str, Any]) -> np.ndarray:
        self.begun = state["begun"]
        self.bits, self.time = np.array(state["bits"]), np.array(state["time"])
        return self.handed("seen", self.seen())


@final
@dataclass(frozen=True, kw_only=True)
class Recall:
    """Repeat what was seen first; all but the first and the last observation are empty."""

    name: ClassVar[str] = "recall"
    version: ClassVar[int] = 1
    metric: ClassVar[str] = "success"
    scored_episodes: ClassVar[int] = 300
    item_shape: ClassVar[tuple[int, ...]] = (3,)
    num_actions: ClassVar[int] = 2
    regimes: ClassVar[tuple[Regime, ...]] = (
        Regime(name=TRAINING, distance=0.0, unit="steps"),
        Regime(name="delay-4", distance=2.0, unit="steps"),
    )

    truncates: bool = False
    delay: int = 2
    reuses: bool = False

    def make(self, regime: str, count: int, stream: Stream) -> RecallWorlds:
        delay = 4 if regime == "delay-4" else self.delay
        return RecallWorlds(delay, self.truncates, count, stream, reuses=self.reuses)

    def score(self, returns: np.ndarray) -> np.ndarray:
        return returns

    def chance(self, regime: str) -> float:
        return 0.5


class _Fewer:
    """An environment in which agents are scored over fewer episodes than it asks for."""

    def __init__(self, environment: Environment, count: int) -> None:
        self._environment, self.scored_episodes = environment, count

    def __getattr__(self, name: str) -> object:
        return getattr(self._environment, name)


def score_episodes(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Score agents over a few episodes, whatever their environment asks for."""
    score = _agent.score_policy

    def few(policy: object, environment: Environment, step: int, place: Stream) -> object:
        return score(policy, _Fewer(environment, count), step, place)

    monkeypatch.setattr(_agent, "score_policy", few)
