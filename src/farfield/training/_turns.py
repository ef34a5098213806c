"""Turns of players: parameters that move at once, with their objective and optimizers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any, Final, final

import torch
from torch import Tensor
from torch.func import vmap

from farfield.core import Problems, Stream, stream
from farfield.experiments import Experiment, Player, Recipe
from farfield.objectives import Objective
from farfield.tasks import TRAINING
from farfield.tasks.internal import Consecutive, domains_of
from farfield.training._batches import Batches

REMEMBERED: Final = "objective"
"""Prefix of the names of objectives' tensors in a checkpoint."""


@final
class Turn:
    """Players that move at once, from the gradient of one objective.

    Args:
        number: Position among the turns of a step.
        players: The players, with one objective and one number of repeats.
        learned: Parameters that are trained by any player of the experiment, by name.
        recipe: The recipe.
        stacked: Whether the first axis of parameters is that of networks.
        num_domains: Number of training domains.

    Raises:
        ValueError: If a player trains nothing.
    """

    def __init__(
        self,
        number: int,
        players: Sequence[Player],
        learned: Mapping[str, Tensor],
        recipe: Recipe,
        *,
        stacked: bool = False,
        num_domains: int = 1,
    ) -> None:
        self.number, self.stacked, self.num_domains = number, stacked, num_domains
        self.objective: Objective = players[0].objective
        self.repeats = players[0].repeats
        self.state: dict[str, Tensor] = {}
        self._recipe = recipe
        owners = {
            name: max(which for which, player in enumerate(players) if player.trains(name))
            for name in learned
            if any(player.trains(name) for player in players)
        }
        self.learned = {name: learned[name] for name in owners}
        self.optimizers: list[tuple[torch.optim.Optimizer, float]] = []
        for which, player in enumerate(players):
            own = {name: tensor for name, tensor in self.learned.items() if owners[name] == which}
            if not own:
                raise ValueError(
                    f"players must each train something, got {player!r}; "
                    f"trained are: {', '.join(learned)}"
                )
            rate = player.learning_rate or recipe.learning_rate
            optimizer = player.optimizer or recipe.optimizer
            self.optimizers.append((_built(optimizer, own, rate), rate))

    def numbers(self, step: int) -> Iterator[int]:
        """Yield the numbers of its updates at a step, counted over all steps."""
        yield from range(step * self.repeats, (step + 1) * self.repeats)

    def stream_of(self, base: Stream, number: int | str) -> Stream:
        """Return the stream of the random numbers of an update.

        Args:
            base: Stream of a purpose, e.g. of draws.
            number: Number of the update, or `"start"`.
        """
        own = base.child("turn", self.number) if self.number else base
        return own.child(number)

    def clip_grad_norm(self, clip_norm: float) -> None:
        """Scale the gradients of a network so that their joint norm is at most `clip_norm`."""
        given = [tensor for tensor in self.learned.values() if tensor.grad is not None]
        gradients = [tensor.grad for tensor in given if tensor.grad is not None]
        scaled = clip_grad_norm(gradients, clip_norm, stacked=self.stacked)
        for tensor, gradient in zip(given, scaled, strict=True):
            tensor.grad = gradient

    def restart(self, step: int) -> None:
        """Let the optimizers forget, if the objective asks for it at this step.

        Args:
            step: Number of the step, counted from 0.
        """
        at, steps = self.objective.restart, self._recipe.steps
        if at is not None and (step - 1) / steps < at <= step / steps:
            for optimizer, _ in self.optimizers:
                optimizer.state.clear()

    def set_learning_rate(self, factor: float) -> None:
        """Set the learning rate of each player to its largest one times the factor."""
        for optimizer, rate in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate * factor

    def step(self) -> None:
        """Update the parameters by their gradients."""
        for optimizer, _ in self.optimizers:
            optimizer.step()

    def batches(
        self, sets: Mapping[str, Problems], seed: int, *, same_shape: bool = False
    ) -> dict[str, Batches]:
        """Make the batches of every set that the objective reads.

        Args:
            sets: Problems by the name of their set.
            same_shape: As `Batches` has it.

        Raises:
            ValueError: If the task has no set of a name.
        """
        base, found = stream(seed, "batches"), dict[str, Batches]()
        for name in self.objective.sets:
            if name not in sets:
                raise ValueError(
                    "objective must read sets that the task draws "
                    f"({', '.join(sets)}), got {name!r}"
                )
            found[name] = Batches(
                sets[name],
                batch_size=self._recipe.batch_size,
                stream=base if name == TRAINING else base.child(name),
                in_lanes=self.objective.in_lanes,
                by_domain=self.objective.by_domain and name == TRAINING,
                same_shape=same_shape,
            )
        return found

    def remembered(self) -> dict[str, Any]:
        """List the tensors that the objective remembers, by their names in a checkpoint."""
        return {f"{self._prefix}{name}": tensor for name, tensor in self.state.items()}

    def remember(self, state: Mapping[str, Any]) -> None:
        """Take over the result of `remembered`.

        Args:
            state: Tensors by name, among others.
        """
        self.state = part_of(state, self._prefix)

    @property
    def _prefix(self) -> str:
        return f"{REMEMBERED}{self.number or ''}."


def turns_of(
    experiment: Experiment, learned: Mapping[str, Tensor], *, stacked: bool = False
) -> list[Turn]:
    """Make the turns of an experiment's players over the parameters of a network.

    Args:
        learned: Parameters that are trained, by name.
        stacked: Whether the first axis of parameters is that of networks.

    Raises:
        ValueError: If an objective reads problems in order that do not follow each other, or
            several training domains of a task that has one.
    """
    domains = domains_of(experiment.task)
    turns = [
        Turn(
            number,
            players,
            learned,
            experiment.recipe,
            stacked=stacked,
            num_domains=len(domains),
        )
        for number, players in enumerate(experiment.turns)
    ]
    for turn in turns:
        if turn.objective.in_lanes and not isinstance(experiment.task, Consecutive):
            raise ValueError(
                f"objective must read problems in any order, as those of {experiment.task.name} "
                f"do not follow each other, got {turn.objective!r}"
            )
        if turn.objective.by_domain and len(domains) < 2:
            raise ValueError(
                "objective must read one training domain, as Supervised does, or the task must "
                f"have two or more; {experiment.task.name} has one, got {turn.objective!r}"
            )
    return turns


def optimizers_of(turns: Sequence[Turn]) -> list[torch.optim.Optimizer]:
    """List the optimizers of all players, in their order.

    Args:
        turns: The turns.
    """
    return [optimizer for turn in turns for optimizer, _ in turn.optimizers]


def scored_tensors(turns: Sequence[Turn]) -> dict[str, Tensor]:
    """Collect the parameters and buffers with which networks are scored and kept.

    Args:
        turns: The turns; where objectives disagree, the last one is followed.
    """
    found: dict[str, Tensor] = {}
    for turn in turns:
        scored = vmap(turn.objective.scored) if turn.stacked else turn.objective.scored
        found |= scored(turn.state) if turn.state else {}
    return found


def renews_statistics(turns: Sequence[Turn]) -> bool:
    """Tell if scored networks with other weights than the trained networks get new statistics.

    Args:
        turns: The turns.
    """
    return any(turn.objective.renews_statistics for turn in turns) and bool(scored_tensors(turns))


def _built(optimizer: Any, learned: Mapping[str, Tensor], rate: float) -> torch.optim.Optimizer:
    """Build the optimizer of torch, with a separate group of parameters without decay."""
    groups: dict[bool, list[Tensor]] = {}
    for name, parameter in learned.items():
        decays = not any(fnmatch(name, pattern) for pattern in optimizer.undecayed)
        groups.setdefault(decays, []).append(parameter)
    decay = optimizer.weight_decay
    built: torch.optim.Optimizer = optimizer.build(
        [
            {"params": parameters, "weight_decay": decay if decays else 0.0}
            for decays, parameters in groups.items()
        ],
        rate,
    )
    return built


def clip_grad_norm(
    gradients: Sequence[Tensor], clip_norm: float, *, stacked: bool = False
) -> list[Tensor]:
    """Compute the gradients scaled so that their joint norm is at most `clip_norm`.

    Not in place: of parameters that are added, autograd gives both one tensor.

    Args:
        gradients: Of the parameters of a network.
        clip_norm: The largest norm.
        stacked: Whether the first axis is that of networks, each of which is taken for itself.
    """
    first = int(stacked)
    squares = [g.square().reshape(*g.shape[:first], -1).sum(-1) for g in gradients]
    scale = (clip_norm / torch.stack(squares).sum(0).sqrt()).clamp(max=1)
    return [g * scale.reshape(scale.shape + (1,) * (g.ndim - first)) for g in gradients]


def part_of(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Select the parts whose names begin with a prefix, by the rest of their names.

    Args:
        state: Parts by name.
        prefix: The prefix, e.g. `"model."`.
    """
    return {n.removeprefix(prefix): t for n, t in state.items() if n.startswith(prefix)}
