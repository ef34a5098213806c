"""Experiments: task, network and recipe, and perturbations of its regimes."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Annotated, Final, Protocol, final, runtime_checkable

import numpy as np
from torch import Tensor, nn

from farfield._exports import faces
from farfield.core import ArgumentError, Problems, Stream
from farfield.core.internal import (
    Limits,
    PositiveFloat,
    Size,
    check_arguments,
    check_fields,
    is_instance,
)
from farfield.experiments._describe import Json, changed_fields, describe, public_path, restore
from farfield.experiments._networks import Architecture
from farfield.experiments._optimizers import (
    Adam,
    Constant,
    Optimizer,
    Player,
    Schedule,
    check_names,
    is_within,
)
from farfield.experiments._owners import is_ours
from farfield.experiments._spec import Spec
from farfield.objectives import OBJECTIVES, PPO, Objective, Supervised
from farfield.objectives.internal import AGENT_OBJECTIVES
from farfield.tasks import ENVIRONMENTS, TASKS, Environment, ProblemTask, Regime


@runtime_checkable
class Perturbation(Protocol):
    """A frozen description of how the problems of a regime are changed before they are scored."""

    @property
    def of(self) -> str:
        """Name of the regime whose problems are changed."""
        ...

    @property
    def regime(self) -> Regime:
        """Regime of the changed problems: a name, and the strength as its distance."""
        ...

    def __call__(
        self,
        model: Callable[[Tensor, Tensor], Tensor],
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Problems:
        """Change the problems; their number and order stay.

        Args:
            model: The trained network, in evaluation mode: from `(items, index)` to outputs.
            problems: The problems of the regime, some at a time.
            loss: Loss of the task, one number per problem.
        """
        ...


@runtime_checkable
class ChangesNetwork(Perturbation, Protocol):
    """A perturbation of the network that answers, in place of the problems or beside that."""

    def network(self, model: nn.Module, stream: Stream) -> nn.Module:
        """Build the network that answers; the given network stays unchanged.

        Args:
            model: The trained network, in evaluation mode.
        """
        ...


_AGENT: Final = (
    "write model=AgentNetwork(core=Spec(LSTMLayer, hidden_size=96)), objective=PPO(), "
    "or model=QuantileNetwork(), objective=RainbowIQN()"
)
"""Experiment in an environment."""

Share = Annotated[float, Limits(above=0, at_most=1)]
"""Fraction above 0."""


@final
@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Training of a network: optimizer, schedule and number of steps, in shuffled epochs.

    Args:
        steps: Number of steps, at most a billion.
        learning_rate: Learning rate, its largest where it changes.
        batch_size: Problems a step; the last batch of an epoch may be smaller.
        evaluations: Number of evenly spaced steps, the last one among them, after which every
            regime is scored.
        clip_norm: Largest norm of the gradients of a network, all parameters together; longer
            gradients are scaled to it. `None` leaves them.
        optimizer: Optimizer, e.g. `SGD(momentum=0.9, nesterov=True)`.
        schedule: How the learning rate changes, e.g. `Warmup(fraction=0.05, then=Cosine())`.

    Raises:
        ValueError: If a field is of another type, a number out of range, or there are
            more evaluations than steps.

    Example:
        >>> from farfield.experiments import SGD, Cosine, Warmup
        >>> recipe = Recipe(
        ...     steps=1_000,
        ...     learning_rate=0.1,
        ...     optimizer=SGD(momentum=0.9, nesterov=True),
        ...     schedule=Warmup(fraction=0.1, then=Cosine()),
        ... )
        >>> recipe.rate(50)
        0.05...
    """

    steps: Annotated[int, Limits(at_least=1, at_most=10**9)]
    learning_rate: PositiveFloat = 5e-4
    batch_size: Size = 32
    evaluations: Size = 1
    clip_norm: PositiveFloat | None = None
    optimizer: Optimizer = Adam()
    schedule: Schedule = Constant()

    def __post_init__(self) -> None:
        check_fields(self)
        if self.evaluations > self.steps:
            raise ValueError(
                f"evaluations must be at most steps ({self.steps}), got {self.evaluations}"
            )

    def rate(self, step: int) -> float:
        """Compute the learning rate at a step.

        Args:
            step: Number of the step, counted from 0.
        """
        return self.learning_rate * self.schedule.factor(step, self.steps)

    @property
    def evaluation_steps(self) -> tuple[int, ...]:
        """Steps after which every regime is scored."""
        return tuple(
            self.steps * point // self.evaluations for point in range(1, self.evaluations + 1)
        )


@final
@dataclass(frozen=True, kw_only=True)
class Pretrained:
    """Initial weights from the trained networks of another experiment.

    The network of a seed takes over the weights of the other experiment's network of that seed;
    `run` trains the other experiment first.

    Args:
        experiment: Experiment that is trained before.
        include: Parts of the network that are taken over, by the names both networks have for them,
            e.g. `("encoder", "decoder")`; none named is the whole network.
        exclude: Parts of these that are not taken over but drawn anew, e.g. `("reader.heads",)`.
        resize: Parts with more rows in this network than in the trained one; it takes over the
            first rows, and the other rows are drawn.
        into: Part of the network that the whole other network is, e.g. `"judge.network"`, where
            they are not of one kind; nothing outside it is taken over. Other fields name parts as
            the network has them.

    Raises:
        ValueError: If a field is of another type, or a part is not a name. Names that the network
            does not have are refused when it is made.
    """

    experiment: Experiment
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    resize: tuple[str, ...] = ()
    into: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("include", "exclude", "resize"):
            check_names(name, getattr(self, name))
        if self.into is not None:
            check_names("into", (self.into,))

    def covers(self, name: str) -> bool:
        """Tell if a parameter or buffer is taken over.

        Args:
            name: Its name in the network, e.g. `"encoder.output.weight"`.
        """
        if self.into is not None and not is_within(name, self.into):
            return False
        wanted = not self.include or any(is_within(name, part) for part in self.include)
        return wanted and not any(is_within(name, part) for part in self.exclude)

    def grows(self, name: str) -> bool:
        """Tell if a parameter or buffer may have more rows than the one it starts from.

        Args:
            name: Its name in the network.
        """
        return any(is_within(name, part) for part in self.resize)


@final
@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment: a task, a model, an objective or players, and a recipe, without seeds.

    Two experiments that differ in nothing have the same `key` on every machine; records are kept
    under it, so a table that is run again runs only missing networks.

    Args:
        task: The problems, or the environment.
        model: The network.
        recipe: How it is trained.
        objective: Learning rule, for all parameters of the network.
        players: In place of one objective: who trains which part, e.g. `(Player(objective=…,
            parts=("critic",), repeats=5), Player(objective=…, parts=("generator",)))`.
        perturbations: Regimes that are made from the trained network, e.g.
            `(FGSM(eps=0.03, of="test"),)`, scored beside those of the task.
        starts_from: Networks trained before, whose weights are taken over; `None` for first
            weights that are drawn.

    Raises:
        ValueError: If a part has another type, e.g. a name or a class in place of an object, or
            one of the user's is not a frozen dataclass of plain values; or if
            both an objective and players are given, or perturbations have names of other regimes.

    Example:
        >>> from farfield.experiments import Network, Recipe, Spec
        >>> from farfield.models import ESBN
        >>> from farfield.tasks import SameDifferent
        >>> experiment = Experiment(
        ...     task=SameDifferent(withheld=95),
        ...     model=Network(reasoner=Spec(ESBN)),
        ...     recipe=Recipe(steps=200),
        ... )
        >>> experiment == Experiment.from_json(experiment.to_json())
        True
        >>> experiment.at_fraction(0.1).recipe.steps
        20
    """

    task: ProblemTask | Environment
    model: Architecture
    recipe: Recipe
    objective: Objective = Supervised()
    starts_from: Pretrained | None = None
    players: tuple[Player, ...] = ()
    perturbations: tuple[Perturbation, ...] = ()

    def __post_init__(self) -> None:
        _check_named("task", self.task, TASKS | ENVIRONMENTS)
        _check_named("objective", self.objective, OBJECTIVES | AGENT_OBJECTIVES)
        _check_no_part("model", self.model)
        check_fields(self)
        kind: type = getattr(self.model, "task_kind", object)  # of a `ForSomeTasks`
        if not is_instance(self.task, kind):
            model = type(self.model).__name__
            raise ArgumentError("task", f"one for a {model}, a {kind.__name__}", self.task)
        for name in ("task", "model", "objective", "players", "perturbations"):
            _check_can_be_described(name, getattr(self, name))
        if self.players and self.objective != Supervised():
            raise ValueError(
                "objective must be that of a player where there are players, got "
                f"{self.objective!r} beside them; write Player(objective=…)"
            )

        self._check_regimes()
        self._check_agent()

    def _check_agent(self) -> None:
        """Raise `ValueError` unless agents learn in environments and nothing else does."""
        if not is_instance(self.task, Environment):
            if type(self.objective) in AGENT_OBJECTIVES.values():
                raise ArgumentError("task", "an Environment for an agent", self.task)
            return
        kind = getattr(self.model, "objective_kind", None)
        if kind is None:
            wanted = "an AgentNetwork or a QuantileNetwork for an environment"
            raise ArgumentError("model", wanted, self.model, _AGENT)
        if not isinstance(self.objective, kind):
            wanted = f"a {kind.__name__} with {type(self.model).__name__}"
            raise ArgumentError("objective", wanted, self.objective, _AGENT)
        if self.perturbations:
            raise ValueError(
                "perturbations must change problems, which an environment has none of, got "
                f"{self.perturbations}"
            )
        if isinstance(self.objective, PPO) and self.objective.minibatches > self.recipe.batch_size:
            raise ValueError(
                f"batch_size must be at least the minibatches ({self.objective.minibatches}), into "
                f"which the copies of the environment are divided, got {self.recipe.batch_size}"
            )

    def _check_regimes(self) -> None:
        """Raise `ValueError` unless perturbations change known regimes and have own names."""
        known = [regime.name for regime in self.task.regimes] if self.perturbations else []
        for perturbation in self.perturbations:
            if perturbation.of not in known:
                raise ValueError(
                    f"perturbations must change regimes of the task ({', '.join(known)}), "
                    f"got {perturbation.of!r}"
                )
        names = [*known, *(perturbation.regime.name for perturbation in self.perturbations)]
        if double := [name for name in names if names.count(name) > 1]:
            raise ValueError(
                f"perturbations must make regimes of other names, got {double[0]!r} twice"
            )

    @property
    def problem_task(self) -> ProblemTask:
        """Task, which draws problems.

        Raises:
            ValueError: If the task is an environment.
        """
        if isinstance(self.task, Environment):
            raise ValueError(f"task must draw problems, got the environment {self.task.name}")
        return self.task

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Regimes in which networks are scored: the task's, then the perturbed regimes."""
        return (*self.task.regimes, *(change.regime for change in self.perturbations))

    def chance(self, regime: str) -> float:
        """Compute the expected score of an answer that ignores the problem, perturbed or not."""
        return self.task.chance(self.unperturbed(regime))

    def unperturbed(self, regime: str) -> str:
        """Find the task's regime that a perturbed regime is made from; else the regime itself."""
        before = {change.regime.name: change.of for change in self.perturbations}
        return before.get(regime, regime)

    @property
    def turns(self) -> tuple[tuple[Player, ...], ...]:
        """Players in the order of their moves; players that move at once are together."""
        players = self.players or (Player(objective=self.objective),)
        alike = groupby(players, lambda player: (player.objective, player.repeats))
        return tuple(tuple(together) for _, together in alike)

    @property
    def stages(self) -> tuple[Experiment, ...]:
        """Experiments that are trained one after the other, this one last."""
        return (*(self.starts_from.experiment.stages if self.starts_from else ()), self)

    @cached_property
    def key(self) -> str:
        """Name of the experiment: 20 hexadecimal digits of SHA-256 over `to_json`."""
        return self.key_of(self.to_json())

    def check_unchanged(self) -> None:
        """Raise `ValueError` if the key is no longer this experiment's.

        The key is taken once. Classes of one's own may be changed after that, e.g. by setting an
        attribute, and another network would be trained under it.

        Raises:
            ValueError: If the experiment would have another key if it was made now.
        """
        if self.key != self.key_of(self.to_json()):
            raise ValueError(
                "the experiment must be made again: a class or function of the user's, or "
                f"something that it refers to, was changed since the key {self.key} was taken"
            )

    @staticmethod
    def key_of(described: Mapping[str, Json]) -> str:
        """Compute the key of the experiment that `to_json` described.

        Args:
            described: Result of `to_json`.
        """
        text = json.dumps(described, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    def to_json(self) -> dict[str, Json]:
        """Write the experiment as plain JSON; `from_json` reads it back."""
        described: dict[str, Json] = describe(self)
        return described

    @staticmethod
    def from_json(
        described: dict[str, Json],
        *,
        classes: Mapping[str, type] | None = None,
        arrays: Mapping[str, np.ndarray] | None = None,
    ) -> Experiment:
        """Restore the experiment that `to_json` described.

        Args:
            described: Result of `to_json`.
            classes: Classes of one's own that it names, by their path.
            arrays: Arrays that it names, by their digest.

        Raises:
            ValueError: If it is not the description of an experiment, or contains an unknown name.
        """
        try:
            experiment = restore(described, classes=classes, arrays=arrays)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"described is not an experiment: {error}") from error
        if not isinstance(experiment, Experiment):
            raise ValueError(f"described is not an experiment but {experiment!r}")
        return experiment

    def to_python(self) -> str:
        """Write the Python that makes the experiment, with imports."""
        modules: set[str] = set()
        body = _source(self, modules)
        names = groupby(sorted(_split(modules)), key=lambda found: found[0])
        lines = [
            f"from {module} import {', '.join(name for _, name in found)}"
            for module, found in names
        ]
        return "\n".join([*lines, "", f"experiment = {body}", ""])

    @check_arguments
    def at_fraction(self, fraction: Share, *, before: Share | None = None) -> Experiment:
        """Copy the experiment at a fraction of its steps, rounded, at least one.

        Args:
            fraction: Share of the steps, in (0, 1].
            before: Share of the steps of everything it starts from; the same share where `None`.

        Raises:
            ValueError: If a share is not in (0, 1].
        """
        steps = max(1, round(self.recipe.steps * fraction))
        evaluations = min(self.recipe.evaluations, steps)
        recipe = dataclasses.replace(self.recipe, steps=steps, evaluations=evaluations)
        first = self.starts_from
        if first is not None:
            share = fraction if before is None else before
            first = dataclasses.replace(first, experiment=first.experiment.at_fraction(share))
        return dataclasses.replace(self, recipe=recipe, starts_from=first)


def _check_named(field: str, value: object, table: Mapping[str, type]) -> None:
    """Raise `ValueError` for a name of the command line in place of an object."""
    cls = table.get(value) if isinstance(value, str) else None
    if cls is not None:
        [(module, _)] = _split({public_path(cls)})
        mend = f"write {cls.__name__}(…), from {module} import {cls.__name__}"
        wanted = {"task": "a ProblemTask", "objective": "an Objective"}[field]
        raise ArgumentError(field, wanted, value, mend)


def _check_no_part(field: str, value: object) -> None:
    """Raise `ValueError` for a part of a network in place of the network."""
    cls = value.cls if isinstance(value, Spec) else value
    if isinstance(cls, type) and issubclass(cls, nn.Module):
        mend = f"write Network(reasoner=Spec({cls.__name__})), or another one with such a part"
        raise ArgumentError(field, "an Architecture", value, mend)


def _check_can_be_described(field: str, value: object) -> None:
    """Raise `ValueError` if a part of the user's cannot be described for the key."""
    if is_ours(type(value)):
        return
    try:
        describe(value, digest=lambda _: "")
        hash(value)
    except TypeError as error:
        raise ValueError(
            f"{field} must be a frozen dataclass of plain values, tuples, classes and functions: "
            f"{error}"
        ) from error


def _split(paths: set[str]) -> list[tuple[str, str]]:
    """Split paths into the module to import from and the name."""
    parts = [path.rpartition(".") for path in paths]
    return [(_face(package, name), name) for package, _, name in parts]


def _face(package: str, name: str) -> str:
    """Find the face of a package that offers a name; another module is its own face."""
    found = faces(package) if package.startswith("farfield.") else []
    return next((face.__name__ for face in found if name in face.__all__), package)


def source_of_value(value: object) -> str:
    """Write the Python that makes a part of an experiment, without imports.

    Args:
        value: The part.
    """
    return _source(value, set())


def _source(value: object, modules: set[str]) -> str:
    if isinstance(value, Spec):
        parts = [_source(value.cls, modules)]
        parts += [f"{name}={_source(content, modules)}" for name, content in value.options]
        modules.add(public_path(Spec))
        return f"Spec({', '.join(parts)})"
    if isinstance(value, type):
        modules.add(public_path(value))
        return value.__name__
    if isinstance(value, tuple):
        inner = ", ".join(_source(part, modules) for part in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, np.generic):
        return repr(value.item())
    if dataclasses.is_dataclass(value):
        modules.add(public_path(type(value)))
        fields = [f"{name}={_source(part, modules)}" for name, part in changed_fields(value)]
        return f"{type(value).__name__}({', '.join(fields)})"
    return repr(value)
