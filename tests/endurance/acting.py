"""Environments of users that do one thing otherwise: trained rightly, or refused in words."""

from __future__ import annotations

import json
import os
import random
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np

from endurance.files import said_by
from endurance.kills import MEMORY, Fault, Moment, in_child
from endurance.kinds import KINDS
from farfield.core import Stream
from farfield.execution import results, run
from farfield.execution.internal import Job
from farfield.records import Store
from farfield.tasks import Regime, check_environment
from farfield.tasks._worlds import _episodes
from worlds import Recall

PATIENCE = 60.0
"""Seconds after which a run hangs."""

Step = list[Any]
"""What a step returns: observations, rewards, terminations, truncations and infos."""
Change = Callable[[Step], object]


def _at(place: int, change: Callable[[Any], object]) -> Change:
    """A step of which one part is another."""

    def changed(step: Step) -> object:
        step[place] = change(step[place])
        return tuple(step)

    return changed


def _holding(value: object) -> Callable[[np.ndarray], np.ndarray]:
    """Arrays whose first number is another."""

    def hold(array: np.ndarray) -> np.ndarray:
        array = array.copy() if array.dtype.kind == "f" else array.astype(float)
        array.flat[0] = value
        return array

    return hold


def _raising(error: BaseException) -> Change:
    def fail(step: Step) -> object:
        raise error

    return fail


def _cut_off(step: Step) -> object:
    """Truncated copies without a last observation."""
    return *step[:3], np.ones_like(step[2]), {}


def _final(change: Callable[[np.ndarray], object]) -> Change:
    """All copies truncated, with last observations that are others than they must be."""
    return lambda step: (*step[:3], np.ones_like(step[2]), {"final_obs": change(step[0].copy())})


def _locked(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


SAME: dict[str, Change] = {
    "rewards of float32": _at(1, lambda rewards: rewards.astype(np.float32)),
    "rewards in a list": _at(1, list),
    "rewards of booleans": _at(1, lambda rewards: rewards.astype(bool)),
    "ends of integers": _at(2, lambda ends: ends.astype(np.uint8)),
    "ends in a list": _at(2, list),
    "observations by columns": _at(0, np.asfortranarray),
    "observations that are locked": _at(0, _locked),
    "observations from back to front": _at(0, lambda seen: seen[::-1].copy()[::-1]),
    "observations of big-endian": _at(0, lambda seen: seen.astype(seen.dtype.newbyteorder(">"))),
    "observations in a list of rows": _at(0, list),
    "more infos": _at(4, lambda infos: infos | {"seen": object(), 3: [], "episode": None}),
    "last observations of objects": _at(
        4, lambda infos: {k: np.array([*v, None], object)[:-1] for k, v in infos.items()}
    ),
    "last observations in a list": _at(4, lambda infos: {k: list(v) for k, v in infos.items()}),
}  # fmt: skip
"""What changes nothing: bytes must be those of the plain environment, where it is not refused."""

WRONG: dict[str, Change] = {
    "a NaN observation": _at(0, _holding(np.nan)),
    "an infinite observation": _at(0, _holding(-np.inf)),
    "a NaN reward": _at(1, _holding(np.nan)),
    "an infinite reward": _at(1, _holding(np.inf)),
    "an end of a half": _at(2, _holding(0.5)),
    "a NaN end": _at(3, _holding(np.nan)),
    "a row less": _at(0, lambda seen: seen[1:]),
    "a row more": _at(0, lambda seen: np.concatenate([seen, seen[:1]])),
    "a wider observation": _at(0, lambda seen: seen.repeat(2, 1)),
    "an observation of rows alone": _at(0, lambda seen: seen[:, 0]),
    "observations of no rows": _at(0, lambda seen: seen[:0]),
    "observations of words": _at(0, lambda seen: seen.astype(str)),
    "observations of objects": _at(0, lambda seen: seen.astype(object)),
    "complex observations": _at(0, lambda seen: seen.astype(complex)),
    "observations of another type": _at(0, lambda seen: seen.astype(np.float16)),
    "ragged observations": _at(0, lambda seen: [[1.0], *seen[1:].tolist()]),
    "observations in a dict": _at(0, lambda seen: {"seen": seen}),
    "no observations": _at(0, lambda seen: None),
    "one reward": _at(1, lambda rewards: 1.0),
    "rewards in a column": _at(1, lambda rewards: rewards[:, None]),
    "rewards of words": _at(1, lambda rewards: rewards.astype(str)),
    "no rewards": _at(1, lambda rewards: None),
    "rewards of every other copy": _at(1, lambda rewards: rewards[::2]),
    "one end": _at(2, lambda ends: True),
    "no ends": _at(2, lambda ends: None),
    "ends in a column": _at(3, lambda ends: ends[:, None]),
    "nothing": lambda step: None,
    "four parts": lambda step: tuple(step[:4]),
    "six parts": lambda step: (*step, {}),
    "a generator": lambda step: (part for part in step),
    "a truncation without a last observation": _cut_off,
    "a last observation too few": _final(lambda seen: seen[1:]),
    "a last observation of another shape": _final(lambda seen: seen[:, :2]),
    "a last observation of NaN": _final(lambda seen: seen * np.nan),
    "last observations of words": _final(lambda seen: seen.astype(str)),
    "a last observation for all": _final(lambda seen: 3.0),
    "last observations in a dict": _final(lambda seen: {"seen": seen}),
    "last observations of none": _final(lambda seen: [None] * len(seen)),
    "a RuntimeError": _raising(RuntimeError("the world\x1b[2J ends\n\u202e" + "!" * 10_000)),
    "a KeyError": _raising(KeyError("world")),
    "a StopIteration": _raising(StopIteration()),
    "an AssertionError": _raising(AssertionError()),
    "an ArithmeticError of no words": _raising(ZeroDivisionError()),
    "a MemoryError": _raising(MemoryError()),
    "an OSError": _raising(ConnectionResetError(104, "the simulator is gone")),
    "an exit": _raising(SystemExit(3)),
}  # fmt: skip
"""What must be refused."""

SCORES: dict[str, Callable[[np.ndarray], object]] = {
    "scores in a list": lambda returns: returns.tolist(),
    "one score": lambda returns: float(returns.sum()),
    "scores in a column": lambda returns: returns[:, None],
    "scores of NaN": lambda returns: returns * np.nan,
    "scores of words": lambda returns: returns.astype(str),
    "a score less": lambda returns: returns[1:],
    "no scores": lambda returns: None,
    "scores of float32": lambda returns: returns.astype(np.float32),
    "scores of booleans": lambda returns: returns > 0,
    "a score that fails": lambda returns: returns["all"],
}
"""What `score` gives otherwise: trained, or refused."""


class Otherwise:
    """Worlds whose steps are changed from one on."""

    def __init__(self, worlds: Any, change: Change, first: int, forever: bool) -> None:
        self._worlds, self._change, self._left, self._forever = worlds, change, first, forever
        self.num_envs = worlds.num_envs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._worlds, name)

    def step(self, actions: np.ndarray) -> Any:
        step = [*self._worlds.step(actions)]
        if self._forever:
            self._worlds.begun = 0  # or it has no more to draw
            return step[0], step[1], np.zeros_like(step[2]), np.zeros_like(step[3]), {}
        self._left -= 1
        return self._change(step) if self._left < 0 else tuple(step)


@final
@dataclass(frozen=True, kw_only=True)
class Hostile:
    """`Recall`, of which one thing is otherwise.

    Args:
        what: Name in `SAME`, `WRONG` or `SCORES`, or another one of `ACTS`.
        first: Step from which on it is so.
    """

    name: ClassVar[str] = "hostile"
    version: ClassVar[int] = 1
    metric: ClassVar[str] = "success"
    scored_episodes: ClassVar[int] = 20
    item_shape: ClassVar[tuple[int, ...]] = (3,)
    num_actions: ClassVar[int] = 2
    regimes: ClassVar[tuple[Regime, ...]] = Recall.regimes

    what: str
    first: int = 0

    def make(self, regime: str, count: int, stream: Stream) -> Any:
        recall = Recall(reuses=self.what == "one buffer for all")
        if self.what == "a copy less":
            count -= 1
        worlds = recall.make(regime, count, stream)
        change = (SAME | WRONG).get(self.what, tuple)
        return Otherwise(worlds, change, self.first, self.what == "no end at all")

    def score(self, returns: np.ndarray) -> Any:
        return SCORES.get(self.what, np.asarray)(returns)

    def chance(self, regime: str) -> float:
        return 0.5


ACTS = [*SAME, "one buffer for all", *WRONG, "a copy less", *SCORES, "no end at all"]
CALM = {*SAME, "one buffer for all"}
LOUD = {*WRONG, "a copy less"}


def trained(environment: Any, place: int) -> str:
    """Digest of the network of an agent that learned in an environment.

    Args:
        environment: The environment.
        place: Number of the agent in `KINDS`.
    """
    job = KINDS["agents"].jobs[place]
    job = Job(experiment=replace(job.experiment, task=environment), seed=0)
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        run([job], Store(folder), KINDS["agents"].executor)
        return results([job], Store(folder))[0].weights


def judged(environment: Hostile, place: int, expected: str) -> str:
    """What comes of an environment; raises `Fault` if that is not as it should be."""
    warnings.simplefilter("ignore")
    for act in (lambda: check_environment(environment, steps=40), None):
        try:
            found = trained(environment, place) if act is None else act()
        except (Exception, SystemExit) as error:  # which one it is, is the question
            words = said_by(error)
            if len(words) > 6_000 or not words.replace("\n", "").isprintable():
                raise Fault(f"an error of {len(words)} characters: {words[:200]!r}") from error
            if act is None:
                return "refused"
            continue
        if act is not None:
            if environment.what in LOUD:
                raise Fault("check_environment finds nothing")
        elif environment.what in LOUD:
            raise Fault("it is trained in silence")
        elif environment.what in CALM and found != expected:
            raise Fault("it is trained to another network")
    return "trained"


def main(count: int, seed: int) -> tuple[str, bool]:
    """Train agents in environments of all kinds in turn; returns a line, and whether all is well.

    Args:
        count: How many environments.
        seed: Decides when they begin to do otherwise.
    """
    _episodes.MOST_STEPS = 1_000
    plain = [trained(Hostile(what=""), place) for place in range(2)]
    ends, faults = Counter[str](), list[str]()
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        what = ACTS[number % len(ACTS)]
        environment, place = Hostile(what=what, first=draw.randrange(3)), draw.randrange(2)

        def work(end: int, environment: Hostile = environment, place: int = place) -> None:
            try:
                said = ["end", judged(environment, place, plain[place])]
            except Fault as fault:
                said = ["fault", str(fault)]
            os.write(end, json.dumps(said).encode() + b"\n")

        whole, lines = in_child(work, Moment(None, PATIENCE))
        kind, said = lines[-1] if whole and lines else ("fault", "it hangs")
        ends[said if kind == "end" else "faults"] += 1
        if kind == "fault":
            faults.append(f"environment {number}, {what}, agent {place}: {said}")
            print(faults[-1], flush=True)
    told = ", ".join(f"{ends[end]} {end}" for end in sorted(ends))
    return f"{count:,} hostile environments of {len(ACTS)} kinds: {told}", not faults
