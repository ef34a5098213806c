"""Worlds at the border of the library: arrays checked and copied, and gymnasium's side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn, final

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from farfield.core import Stream
from farfield.core import stream as stream_of

SAME_STEP: Final = "SAME_STEP"
DISABLED: Final = "DISABLED"
MEND: Final = (
    "make the worlds with autoreset_mode=AutoresetMode.SAME_STEP or DISABLED of "
    "gymnasium.vector, or with farfield.tasks.GymnasiumWorlds"
)

OVERWRITTEN: Final = (
    "infos['final_obs'] must be a copy of the last observation, got an array that shows the first "
    "one of the next episode, since the environment fills one array at every step"
)


def autoreset_mode(worlds: object) -> str:
    """Return the mode of beginning the next episode: `"SAME_STEP"` or `"DISABLED"` of gymnasium.

    Worlds that do not derive from gymnasium's `VectorEnv` and name no mode follow `VectorEnv` of
    this package, which is `SAME_STEP`.

    Args:
        worlds: Copies of an environment.

    Raises:
        ValueError: If the mode is another one, or is missing where gymnasium has several.
    """
    metadata = getattr(worlds, "metadata", None)
    named = metadata.get("autoreset_mode") if isinstance(metadata, Mapping) else None
    given = getattr(worlds, "autoreset_mode", None) if named is None else named
    kind = type(worlds).__name__
    if given is None:
        bases = [base.__module__ for base in type(worlds).__mro__]
        if any(module.startswith("gymnasium.vector") for module in bases):
            raise ValueError(
                f"worlds must name their mode in metadata['autoreset_mode'], got a {kind} of "
                f"gymnasium without one: {MEND}"
            )
        return SAME_STEP
    name = str(getattr(given, "name", given))
    for mode in (SAME_STEP, DISABLED):
        if _bare(name) == _bare(mode):
            return mode
    raise ValueError(
        f"worlds must begin the next episode in the mode SAME_STEP or DISABLED, got a {kind} in "
        f"the mode {name}, in which the step after an end has no action: {MEND}"
    )


def _bare(name: str) -> str:
    return name.rpartition(".")[2].replace("_", "").replace("-", "").lower()


def _raise(message: str) -> NoReturn:
    raise ValueError(message)


@final
class CheckedWorlds:
    """Copies of an environment as a `VectorEnv` whose arrays are copied and checked.

    `reset`, `step` and `load_state` return copies: worlds may fill the same arrays at every step.
    Worlds in gymnasium's mode `DISABLED` are reset where an episode ends.

    Args:
        worlds: The copies, as `Environment.make` returns them.
        refuse: Function that is called with each fault of the arrays in words; raises `ValueError`
            by default.

    Raises:
        ValueError: If the worlds begin episodes in another mode than `SAME_STEP` or `DISABLED`.
    """

    def __init__(self, worlds: Any, *, refuse: Callable[[str], None] = _raise) -> None:
        self._worlds, self.num_envs, self._refuse = worlds, worlds.num_envs, refuse
        self._mode = autoreset_mode(worlds)
        self._like: np.ndarray | None = None
        self._handed: list[tuple[np.ndarray, np.ndarray]] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Shaped[np.ndarray, "batch ..."], dict[str, Any]]:
        """Begin the next episode in every copy, with a seed the first one of that seed.

        Args:
            seed: Seed of the episodes; as before if `None`.
            options: Options of the worlds.

        Raises:
            ValueError: If observations are no array of finite numbers, a row for each copy.
        """
        found = self._worlds.reset(seed=seed, options=options)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise ValueError(f"reset must return observations and infos, got {_shown(found)}")
        return self._observations(found[0]), {}

    def step(
        self, actions: Int[np.ndarray, " batch"]
    ) -> tuple[
        Shaped[np.ndarray, "batch ..."],
        Float[np.ndarray, " batch"],
        Bool[np.ndarray, " batch"],
        Bool[np.ndarray, " batch"],
        dict[str, Any],
    ]:
        """Act in every copy.

        Args:
            actions: Action of each.

        Raises:
            ValueError: If the worlds do not return one finite number or flag for each copy, or
                lacks the last observation of an episode that was truncated.
        """
        found = self._worlds.step(np.array(actions))
        if not (isinstance(found, tuple) and len(found) == 5):
            raise ValueError(
                "step must return observations, rewards, terminations, truncations and infos, "
                f"got {_shown(found)}"
            )
        self._check_handed()
        observations = self._observations(found[0])
        rewards = self._rewards(found[1])
        terminations, truncations = (
            self._flags(name, flags)
            for name, flags in zip(("terminations", "truncations"), found[2:4], strict=True)
        )
        infos: dict[str, Any] = {}
        if (ends := terminations | truncations).any():
            if self._mode == DISABLED:
                infos["final_obs"], observations = observations, self._begin(ends, observations)
            elif (final := self._final(found[4], found[0], ends, ~terminations)) is not None:
                infos["final_obs"] = final
        return observations, rewards, terminations, truncations, infos

    def close(self) -> None:
        """Close the worlds."""
        self._worlds.close()

    def state(self) -> dict[str, Any]:
        """Return everything that changes with a step, as JSON.

        Raises:
            ValueError: If the worlds have no such method.
        """
        if not hasattr(self._worlds, "state"):
            raise ValueError(
                "worlds must have the methods state and load_state, so that a run that is stopped "
                f"goes on; got {type(self._worlds).__name__}. farfield.tasks.GymnasiumWorlds has "
                "both for any environment of gymnasium"
            )
        state: dict[str, Any] = self._worlds.state()
        return state

    def load_state(self, state: dict[str, Any]) -> Shaped[np.ndarray, "batch ..."]:
        """Go back to a state that `state` returned; gives the observations there.

        Args:
            state: The state.
        """
        return self._observations(self._worlds.load_state(state))

    def _observations(self, given: object) -> np.ndarray:
        """Copy observations, which must keep their shape and type."""
        if isinstance(given, Mapping):
            raise ValueError(
                f"observations must be one array, got a dict of {', '.join(map(str, given))}: "
                "return one of its arrays, or all in one as gymnasium's FlattenObservation does"
            )
        found = np.array(given, order="C")
        if found.dtype.kind not in "biuf" or found.shape[:1] != (self.num_envs,):
            raise ValueError(
                f"observations must be an array of numbers, a row for each of {self.num_envs} "
                f"copies, got {_shown(given)}"
            )
        self._check_finite("observations", found)
        found = found.astype(found.dtype.newbyteorder("="), copy=False)
        like = self._like = np.zeros_like(found) if self._like is None else self._like
        if found.shape != like.shape:
            raise ValueError(f"observations must keep their shape {like.shape}, got {found.shape}")
        if found.dtype != like.dtype:
            self._refuse(f"observations must keep their type {like.dtype}, got {found.dtype}")
        return found

    def _rewards(self, given: object) -> Float[np.ndarray, " batch"]:
        found = np.asarray(given)
        if found.dtype.kind not in "biuf" or found.shape != (self.num_envs,):
            self._refuse(
                f"rewards must be a number for each of {self.num_envs} copies, got {_shown(given)}"
            )
            return np.zeros(self.num_envs)
        self._check_finite("rewards", found)
        return found.astype(np.float64)

    def _flags(self, name: str, given: object) -> Bool[np.ndarray, " batch"]:
        found = np.asarray(given)
        is_flag = found.dtype.kind in "biu" and np.isin(found, (0, 1)).all()
        if not is_flag or found.shape != (self.num_envs,):
            self._refuse(
                f"{name} must be True or False for each of {self.num_envs} copies, got "
                f"{_shown(given)}"
            )
            return np.zeros(self.num_envs, bool)
        return found.astype(bool)

    def _check_finite(self, name: str, found: np.ndarray) -> None:
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            self._refuse(f"{name} must be finite, got {found[~np.isfinite(found)][0]}")

    def _begin(self, ends: Bool[np.ndarray, " batch"], before: np.ndarray) -> np.ndarray:
        """Begin the next episode where one ended; return the observations."""
        after, _ = self.reset(options={"reset_mask": ends.copy()})
        if not np.array_equal(after[~ends], before[~ends]):
            self._refuse(
                "reset must begin an episode in the copies of options['reset_mask'] alone, as in "
                f"gymnasium's mode {DISABLED}, got other observations of the others"
            )
        return after

    def _final(
        self,
        infos: object,
        observations: object,
        ends: Bool[np.ndarray, " batch"],
        goes_on: Bool[np.ndarray, " batch"],
    ) -> np.ndarray | None:
        """Copy last observations of ended episodes; `None` if none is given and none needed."""
        given, known = _rows_of(infos, self.num_envs)
        missing = ends & goes_on & ~known
        if missing.any():
            self._refuse(
                "infos['final_obs'] must hold the last observation of each episode that is "
                f"truncated, in the row of its copy; missing for copy {int(missing.argmax())}, "
                f"with infos {_shown_infos(infos)}. The value after a truncation is that of this "
                f"observation. {MEND[0].upper()}{MEND[1:]}"
            )
        if not (ends & known).any():
            return None
        final = np.zeros_like(self._like)
        for row in np.flatnonzero(ends & known):
            final[row] = self._last(given, int(row), observations)
        return final

    def _last(self, given: Any, row: int, observations: object) -> np.ndarray:
        """Copy the last observation of an episode."""
        own, shown = np.asarray(given[row]), np.asarray(observations)
        shape = shown.shape[1:]
        if own.shape != shape or own.dtype.kind not in "biuf":
            self._refuse(
                f"infos['final_obs'] must hold an array of shape {shape} in row {row}, got "
                f"{_shown(given[row])}"
            )
            return np.zeros(shape)
        self._check_finite("infos['final_obs']", own)
        if np.shares_memory(shown, own):
            self._refuse(OVERWRITTEN)
        last = own.copy()
        if np.asarray(given).dtype.kind == "O" and np.array_equal(last, shown[row]):
            self._handed.append((own, last))
        return last

    def _check_handed(self) -> None:
        """Refuse last observations that were the first of the next episode, in a shared array."""
        for own, last in self._handed:
            if not np.array_equal(own, last):
                self._refuse(OVERWRITTEN)
        self._handed.clear()


def _rows_of(infos: object, count: int) -> tuple[Any, Bool[np.ndarray, " batch"]]:
    """Return the last observations in infos, and the mask of copies that have one."""
    given = infos.get("final_obs") if isinstance(infos, Mapping) else None
    if given is None:
        return None, np.zeros(count, bool)
    if isinstance(given, Mapping) or not hasattr(given, "__len__") or len(given) != count:
        raise ValueError(
            f"infos['final_obs'] must have a row for each of {count} copies, got {_shown(given)}"
        )
    known = np.array([own is not None for own in given], bool)
    mask = infos.get("_final_obs") if isinstance(infos, Mapping) else None
    return given, known if mask is None else known & np.asarray(mask, bool)


def _shown(given: object) -> str:
    """Shape and type of an array, or the type of something else."""
    if isinstance(given, np.ndarray):
        return f"an array of shape {given.shape} of {given.dtype}"
    size = f" of {len(given)}" if isinstance(given, list | tuple) else ""
    return f"a {type(given).__name__}{size}"


def _shown_infos(infos: object) -> str:
    if not isinstance(infos, Mapping):
        return f"that are a {type(infos).__name__}"
    return f"of the names {', '.join(map(str, infos))}" if infos else "that are empty"


Seen = Callable[[Any, Any], np.ndarray]
"""Function from an environment of gymnasium and its result to an observation."""


@final
class GymnasiumWorlds:
    """Copies of an environment of gymnasium, as a `VectorEnv`.

    An episode is a number, from which its seed is drawn, and the actions since it began: a state is
    restored by playing them again.

    Args:
        copies: The environments, at least one.
        see: Function that makes an observation of the result of an environment.
        stream: Stream of the seeds of episodes.
    """

    def __init__(self, copies: Sequence[Any], see: Seen, stream: Stream) -> None:
        self.num_envs, self.copies = len(copies), tuple(copies)
        self._see, self._stream = see, stream
        self._begun = 0
        self._episodes = [0] * len(copies)
        self._actions: list[list[int]] = [[] for _ in copies]

    @property
    def episodes(self) -> tuple[int, ...]:
        """Number of the episode of each copy."""
        return tuple(self._episodes)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Shaped[np.ndarray, "batch ..."], dict[str, Any]]:
        """Begin the next episode in every copy.

        Args:
            seed: Seed of the episodes from now on; unchanged if `None`.
            options: Not used.
        """
        del options
        if seed is not None:
            self._stream, self._begun = stream_of(seed, *self._stream.path), 0
        return np.stack([self._begin(row) for row in range(self.num_envs)]), {}

    def step(
        self, actions: Int[np.ndarray, " batch"]
    ) -> tuple[Shaped[np.ndarray, "batch ..."], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Act in every copy.

        Args:
            actions: One for each.
        """
        seen, last, infos = list[np.ndarray](), list[np.ndarray](), dict[str, Any]()
        rewards = np.zeros(self.num_envs)
        ends = np.zeros((2, self.num_envs), bool)
        for row, action in enumerate(np.asarray(actions).tolist()):
            self._actions[row].append(action)
            found, rewards[row], *ends[:, row], _ = self.copies[row].step(action)
            last.append(self._seen(row, found))
            seen.append(self._begin(row) if ends[:, row].any() else last[-1])
        if ends.any():
            infos["final_obs"] = np.stack(last)
        return np.stack(seen), rewards, ends[0], ends[1], infos

    def close(self) -> None:
        """Close every copy."""
        for copy in self.copies:
            copy.close()

    def state(self) -> dict[str, Any]:
        """Return numbers of episodes, and the actions since they began."""
        return {
            "seed": self._stream.seed,
            "begun": self._begun,
            "episodes": list(self._episodes),
            "actions": [list(own) for own in self._actions],
        }

    def load_state(self, state: dict[str, Any]) -> Shaped[np.ndarray, "batch ..."]:
        """Go back to a state that `state` returned; gives the observations there.

        Args:
            state: The state.
        """
        self._stream, seen = stream_of(state["seed"], *self._stream.path), []
        for row, (episode, actions) in enumerate(
            zip(state["episodes"], state["actions"], strict=True)
        ):
            self._begun = episode
            observation = self._begin(row)
            for action in actions:
                found = self.copies[row].step(action)[0]
                observation = self._seen(row, found)
            self._actions[row] = list(actions)
            seen.append(observation)
        self._begun = state["begun"]
        return np.stack(seen)

    def _begin(self, row: int) -> np.ndarray:
        """Begin the next episode in a copy; return its first observation."""
        key = self._stream.child("episode", self._begun).key
        self._episodes[row], self._actions[row] = self._begun, []
        self._begun += 1
        found, _ = self.copies[row].reset(seed=key % 2**31)
        return self._seen(row, found)

    def _seen(self, row: int, found: Any) -> np.ndarray:
        """Copy an observation: worlds may fill the same array at every step."""
        seen: Any = self._see(self.copies[row], found)
        if isinstance(seen, Mapping):
            raise ValueError(
                f"see must return one array, got a dict of {', '.join(map(str, seen))}"
            )
        return np.array(seen)
