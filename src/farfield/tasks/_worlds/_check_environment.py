"""Check of an environment before an agent learns in it."""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np

from farfield.core import Stream
from farfield.core import stream as stream_of
from farfield.core.internal import excerpt
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._environment import Environment
from farfield.tasks._protocol._task import TRAINING, check_number
from farfield.tasks._worlds._checked_worlds import CheckedWorlds, GymnasiumWorlds

COPIES: Final = 3
FEW_STEPS: Final = 5
"""Steps in each regime beside training."""
ENOUGH_ENDS: Final = 3
"""Ends from which on last and next first observations are not equal by chance."""
DISCOUNT: Final = 0.99
LARGE: Final = 5.0
"""Standard deviation of discounted returns that is far above 1."""
MEMBERS: Final = (
    *("name", "version", "regimes", "chance", "scored_episodes", "item_shape", "num_actions"),
    *("make", "score"),
)

Note = Callable[[str], None]
"""Function that takes down a fault in words."""


class _Subject(NamedTuple):
    """An environment as one of worlds: how they are made, their shapes and regimes."""

    make: Callable[[str, Stream], Any]
    item_shape: tuple[int, ...] | None
    num_actions: int
    regimes: tuple[str, ...]
    is_task: bool


class _Step(NamedTuple):
    """Arrays of a step, with the last observations where an episode ended."""

    observations: np.ndarray
    rewards: np.ndarray
    ends: np.ndarray
    final: np.ndarray | None


def check_environment(environment: Any, *, steps: int = 200, seed: int = 0) -> None:
    """Act in an environment at random, and raise an error that lists all that would go wrong.

    Checked are shapes, types and values of observations and rewards, ends of episodes and their
    last observations, the mode in which the next episode begins, spaces, scores, that a stream
    draws the same episodes again, and that a state which is loaded goes on as before. Arrays may be
    filled anew at every step, since an agent's worlds copy them.

    Args:
        environment: A task that is an `Environment`, or a single environment or vector environment
            with the methods of gymnasium.
        steps: Number of steps. A warning says where no episode ends within them, or where returns
            are so large that an agent has to learn with scaled rewards.
        seed: Seed of episodes and actions.

    Raises:
        ValueError: If training would go wrong, with a line for each fault.
    """
    check_number("steps", steps, 2, 10_000_000)
    faults: dict[str, str] = {}
    played: list[_Step] = []

    def note(fault: str) -> None:
        faults.setdefault(fault.partition(", got ")[0], fault)

    branch = stream_of(seed, "check")
    with _noted(note, "the environment"):
        if (subject := _subject_of(environment, note)) is not None:
            with _noted(note, f"the regime {TRAINING!r}"):
                played += _check_training(subject, steps, branch, note)
                if isinstance(environment, Environment):
                    returns = np.sum([step.rewards for step in played], axis=0)
                    _check_scores(environment, returns, note)
            for regime in subject.regimes:
                with _noted(note, f"the regime {regime!r}"):
                    worlds = CheckedWorlds(subject.make(regime, branch), refuse=note)
                    worlds.reset()
                    _act(worlds, _actions(subject, worlds.num_envs, FEW_STEPS, branch))
    if faults:
        name = getattr(environment, "name", type(environment).__name__)
        listed = "".join(f"\n- {fault}" for fault in faults.values())
        raise ValueError(f"agents would not learn rightly in the environment {name}:{listed}")
    for remark in _remarks(played):
        warnings.warn(remark, stacklevel=2)


@contextmanager
def _noted(note: Note, doing: str) -> Iterator[None]:
    """Context manager: an exception is a fault, and the rest of the context is left out."""
    try:
        yield
    except ValueError as error:
        note(str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 — code of the user may raise anything
        words = f"{type(error).__name__}: {excerpt(error)}"
        note(f"{doing} must run for all of its actions, got {words}")


def _subject_of(environment: Any, note: Note) -> _Subject | None:
    """Return the worlds of the environment to check; `None` if members are missing."""
    if isinstance(environment, Environment):
        return _task(environment, note)
    if not (hasattr(environment, "reset") and hasattr(environment, "step")):
        missing = [name for name in MEMBERS if not hasattr(environment, name)]
        note(f"members of farfield.tasks.Environment are missing: {', '.join(missing)}")
        return None
    is_single = not hasattr(environment, "num_envs")
    prefix = "" if is_single else "single_"
    actions = getattr(environment, f"{prefix}action_space", None)
    if not hasattr(actions, "n"):
        note(f"{prefix}action_space must be a Discrete one, got {actions!r}")
        return None

    def make(regime: str, branch: Stream) -> Any:
        del regime
        if is_single:
            return GymnasiumWorlds([environment], lambda _, found: found, branch)
        environment.reset(seed=branch.key % 2**31)
        return environment

    shape = getattr(getattr(environment, f"{prefix}observation_space", None), "shape", None)
    return _Subject(make, shape, int(getattr(actions, "n", 0)), (), is_task=False)


def _task(environment: Environment, note: Note) -> _Subject:
    """Check the fields and numbers of a task."""
    kind = type(environment)
    settings = getattr(kind, "__dataclass_params__", None)
    if not dataclasses.is_dataclass(environment) or not getattr(settings, "frozen", False):
        note(f"the environment must be a frozen dataclass, by which records are found, got {kind}")
    regimes = tuple(regime.name for regime in environment.regimes)
    if TRAINING not in regimes:
        note(f"regimes must have the name {TRAINING!r} among them, got {regimes}")
    for name in ("num_actions", "scored_episodes"):
        if not _is_count(number := getattr(environment, name)):
            note(f"{name} must be an int of at least 1, got {number!r}")
    shape = environment.item_shape
    if not isinstance(shape, tuple) or not all(map(_is_count, shape)):
        note(f"item_shape must be a tuple of integers, got {shape!r}")
    return _Subject(
        lambda regime, branch: environment.make(regime, COPIES, branch),
        tuple(shape),
        environment.num_actions,
        tuple(name for name in regimes if name != TRAINING),
        is_task=True,
    )


def _is_count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number > 0


def _actions(subject: _Subject, count: int, steps: int, branch: Stream) -> np.ndarray:
    generator = branch.child("actions").numpy()
    return integers(generator, subject.num_actions, steps * count).reshape(steps, count)


def _act(worlds: CheckedWorlds, actions: np.ndarray) -> list[_Step]:
    """Step with these actions, a row for each step."""
    found = []
    for own in actions:
        observations, rewards, terminations, truncations, infos = worlds.step(own)
        ends = terminations | truncations
        found.append(_Step(observations, rewards, ends, infos.get("final_obs")))
    return found


def _check_training(subject: _Subject, steps: int, branch: Stream, note: Note) -> list[_Step]:
    """Play, play the same again, and go on from a state; gives the steps."""
    made = [subject.make(TRAINING, branch)]

    def begin() -> tuple[CheckedWorlds, np.ndarray]:
        worlds = CheckedWorlds(made[-1], refuse=note)
        return worlds, worlds.reset()[0]

    worlds, first = begin()
    if subject.is_task and worlds.num_envs != COPIES:
        note(f"make must return as many copies as are asked for, {COPIES}, got {worlds.num_envs}")
    _check_observations(subject, first, note)
    actions = _actions(subject, worlds.num_envs, steps, branch)
    played = _act(worlds, actions[: steps // 2])
    while played[-1].ends.any() and len(played) < steps - 1:  # where state has most to say
        played += _act(worlds, actions[len(played) : len(played) + 1])
    early, late = actions[: len(played)], actions[len(played) :]
    state = None
    with _noted(note, "state"):
        state = json.loads(_json(worlds.state()))
    after = _act(worlds, late)
    _check_spaces(subject, made[0], [first, *(step.observations for step in played)], note)
    _check_ends(first, [*played, *after], note)
    made.append(subject.make(TRAINING, branch))
    if subject.is_task and made[0] is made[1]:
        note("make must return other worlds at every call, got the same object twice")
    worlds, again = begin()
    difference = _difference(first, again, played, _act(worlds, early))
    if difference is not None:
        note(
            "episodes must be drawn from the stream that make takes, or the seed that reset takes, "
            f"and from nothing else; the same ones and the same actions gave {difference}"
        )
    elif state is not None:
        made.append(subject.make(TRAINING, branch))
        worlds, _ = begin()
        shown = worlds.load_state(state)
        difference = _difference(played[-1].observations, shown, after, _act(worlds, late))
        if difference is not None:
            note(f"load_state must go back to where state was asked for; it gave {difference}")
    return [*played, *after]


def _json(state: object) -> str:
    try:
        return json.dumps(state)
    except TypeError as error:
        raise ValueError(f"state must be JSON: {error}") from error


def _difference(
    first: np.ndarray, again: np.ndarray, played: Sequence[_Step], repeated: Sequence[_Step]
) -> str | None:
    """Describe the first arrays that differ."""
    if not np.array_equal(first, again):
        return "other first observations"
    for number, pair in enumerate(zip(played, repeated, strict=True), 1):
        for name in ("observations", "rewards", "ends"):
            one, other = (getattr(step, name) for step in pair)
            if not np.array_equal(one, other):
                return f"other {name} {number} steps later"
    return None


def _check_observations(subject: _Subject, first: np.ndarray, note: Note) -> None:
    if first.dtype != np.uint8 and first.dtype.kind != "f":
        note(f"observations must be floating-point or uint8 of 0…255, got {first.dtype}")
    if subject.item_shape is not None and first.shape[1:] != subject.item_shape:
        note(f"observations must have item_shape {subject.item_shape}, got {first.shape[1:]}")


def _check_spaces(
    subject: _Subject, worlds: Any, observations: Sequence[np.ndarray], note: Note
) -> None:
    """Compare with the spaces of gymnasium, where the worlds or their copies have them."""
    owner, prefix = worlds, "single_"
    if isinstance(worlds, GymnasiumWorlds):
        owner, prefix = worlds.copies[0], ""
    actions = getattr(owner, f"{prefix}action_space", None)
    found = (getattr(actions, "n", None), getattr(actions, "start", 0))
    if actions is not None and found != (subject.num_actions, 0):
        note(f"the action space must be Discrete({subject.num_actions}), got {actions!r}")
    space = getattr(owner, f"{prefix}observation_space", None)
    if space is None or (prefix == "" and subject.is_task):
        return  # `see` of a task makes other observations
    for row in (row for seen in observations for row in seen if not space.contains(row)):
        shown = f"{row.dtype} of {row.min():g} to {row.max():g} in shape {row.shape}"
        note(f"observations must lie in the observation space {space}, got {shown}")


def _check_ends(first: np.ndarray, steps: Sequence[_Step], note: Note) -> None:
    """Compare the last observations of episodes with the first observations of the next."""
    pairs = [
        (step.final[row], step.observations[row])
        for step in steps
        if step.final is not None
        for row in np.flatnonzero(step.ends)
    ]
    varies = any((step.observations != first).any() for step in steps)
    if varies and len(pairs) >= ENOUGH_ENDS and all(np.array_equal(*pair) for pair in pairs):
        note(
            "infos['final_obs'] must be the last observation of an episode; it was the first one "
            f"of the next at all {len(pairs)} ends: copy it before the environment is reset"
        )


def _remarks(steps: Sequence[_Step]) -> Iterator[str]:
    """Warn if no episode ended, or if discounted returns differ by much more than 1."""
    if not any(step.ends.any() for step in steps):
        yield f"no episode ended within {len(steps)} steps, and no end was checked: raise steps"
    returns, total = list[np.ndarray](), np.zeros(len(steps[0].rewards))
    for step in steps:
        returns.append(DISCOUNT * total + step.rewards)
        total = np.where(step.ends, 0.0, returns[-1])
    if (deviation := float(np.std(returns))) > LARGE:
        yield (
            f"discounted returns have a standard deviation of {deviation:.3g}, far above 1: learn "
            "with PPO(scale_rewards=True), or the error of the values outweighs the policy"
        )


def _check_scores(environment: Environment, returns: np.ndarray, note: Note) -> None:
    scores = np.asarray(environment.score(returns.copy()))
    if scores.shape != returns.shape or scores.dtype.kind not in "biuf":
        note(f"score must return a number for each of {len(returns)} episodes, got {scores!r}")
    elif not np.isfinite(scores).all():
        note(f"score must return finite numbers, got {scores!r} for returns of {returns!r}")
