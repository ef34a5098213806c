"""Environments of gymnasium, several side by side, with states that are played again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from jaxtyping import Int, Shaped

from farfield.core import Stream
from farfield.core import stream as stream_of

Seen = Callable[[Any, Any], np.ndarray]
"""Function from an environment of gymnasium and what it returned to an observation."""


@final
class GymnasiumWorlds:
    """Copies of an environment of gymnasium, as a `VectorEnv`.

    An episode is a number, from which its seed is drawn, and the actions since it began: a state is
    restored by playing them again.

    Args:
        copies: The environments, at least one.
        see: Makes an observation of what one of them returned.
        stream: Where the seeds of episodes are drawn from.
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
            seed: Where episodes are drawn from, from now on; as before if `None`.
            options: Has none.
        """
        del options
        if seed is not None:
            self._stream, self._begun = stream_of(seed, *self._stream.path), 0
        return np.stack([self._begin(place) for place in range(self.num_envs)]), {}

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
        for place, action in enumerate(np.asarray(actions).tolist()):
            self._actions[place].append(action)
            found, rewards[place], *ends[:, place], _ = self.copies[place].step(action)
            last.append(self._seen(place, found))
            seen.append(self._begin(place) if ends[:, place].any() else last[-1])
        if ends.any():
            infos["final_obs"] = np.stack(last)
        return np.stack(seen), rewards, ends[0], ends[1], infos

    def close(self) -> None:
        """Close every copy."""
        for copy in self.copies:
            copy.close()

    def state(self) -> dict[str, Any]:
        """Numbers of episodes, and the actions since they began."""
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
        for place, (episode, actions) in enumerate(
            zip(state["episodes"], state["actions"], strict=True)
        ):
            self._begun = episode
            observation = self._begin(place)
            for action in actions:
                found = self.copies[place].step(action)[0]
                observation = self._seen(place, found)
            self._actions[place] = list(actions)
            seen.append(observation)
        self._begun = state["begun"]
        return np.stack(seen)

    def _begin(self, place: int) -> np.ndarray:
        """The first observation of the next episode, in a copy."""
        key = self._stream.child("episode", self._begun).key
        self._episodes[place], self._actions[place] = self._begun, []
        self._begun += 1
        found, _ = self.copies[place].reset(seed=key % 2**31)
        return self._seen(place, found)

    def _seen(self, place: int, found: Any) -> np.ndarray:
        """An observation of its own: copies may fill the same array at every step."""
        seen: Any = self._see(self.copies[place], found)
        if isinstance(seen, Mapping):
            raise ValueError(
                f"see must return one array, got a dict of {', '.join(map(str, seen))}"
            )
        return np.array(seen)
