"""Protocol of environments: tasks to act in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int, Shaped, UInt8

from farfield.core import Stream
from farfield.tasks._protocol._task import Task


@runtime_checkable
class VectorEnv(Protocol):
    """Several copies of an environment, acted in side by side.

    The methods have the signatures of gymnasium's `VectorEnv` in the mode `SAME_STEP`: where an
    episode ends, the observation returned is the first of the next one, and its last observation is
    in `infos["final_obs"]`, in the same row. Worlds whose `metadata["autoreset_mode"]` is
    `DISABLED` are reset where an episode ends; those in the mode `NEXT_STEP` are refused. Arrays
    may be filled anew at every step. `state` returns JSON.
    """

    num_envs: int

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Shaped[np.ndarray, "batch ..."], dict[str, Any]]:
        """Begin the next episode in every copy, with a seed the first one of that seed."""
        ...

    def step(
        self, actions: Int[np.ndarray, " batch"]
    ) -> tuple[
        Shaped[np.ndarray, "batch ..."],
        Float[np.ndarray, " batch"],
        np.ndarray,
        np.ndarray,
        dict[str, Any],
    ]:
        """Act; return observations, rewards, terminations, truncations and infos."""
        ...

    def close(self) -> None:
        """Release the resources of the environment."""
        ...

    def state(self) -> dict[str, Any]:
        """Return everything that changes with a step, as JSON."""
        ...

    def load_state(self, state: dict[str, Any]) -> Shaped[np.ndarray, "batch ..."]:
        """Go back to a state that `state` returned; gives the observations there."""
        ...


@runtime_checkable
class Environment(Task, Protocol):
    """Protocol of tasks that are acted in.

    An observation is one array of fixed shape. The mission of the agent is part of it.
    """

    scored_episodes: ClassVar[int]
    """Number of episodes of each regime that a trained agent is scored on."""

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Shape of an observation, e.g. `(19, 7, 7)`."""
        ...

    if TYPE_CHECKING:  # `isinstance` would ask for it, which a package that is missing counts

        @property
        def num_actions(self) -> int:
            """Number of actions."""
            ...

    def make(self, regime: str, count: int, stream: Stream) -> VectorEnv:
        """Make `count` copies side by side, whose episodes are drawn from `stream`."""
        ...

    def score(self, returns: Float[np.ndarray, " batch"]) -> Float[np.ndarray, " batch"]:
        """Score each episode, from the sum of its rewards."""
        ...


@runtime_checkable
class HasExpert(Protocol):
    """An environment with an expert, which sees more than an agent: the ceiling."""

    def expert(self, worlds: Any) -> Int[np.ndarray, " batch"]:
        """Return the expert's actions in the worlds of `make`."""
        ...


@runtime_checkable
class HasPictures(Protocol):
    """An environment that can be shown from outside, as no agent sees it."""

    def picture(self, worlds: Any, row: int) -> UInt8[np.ndarray, "height width 3"]:
        """Draw one of the worlds of `make` at the current step."""
        ...

    def mission(self, worlds: Any, row: int) -> str:
        """Return the mission of an agent in a few words, e.g. `"red key"`."""
        ...
