"""Weights of more steps than the last: averages (SWA, SWAD), and the best on validation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

import torch
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import Fraction, NonNegativeFloat, Size
from farfield.functional.internal import loss_valley
from farfield.objectives._objective import Bound, Tensors, Update
from farfield.objectives._over_another import OWN, RuleOverRule, besides, named, tensors_of

_AVERAGE: Final = "average."
_SEGMENT: Final = "segments."
_BEST: Final = "best."
_ROUNDING: Final = 1e-9
"""Rounding error of a fraction of a run."""
_COUNT, _LOSSES, _TIMES, _LEAST = "count", "losses", "times", "least"


@dataclass(frozen=True, kw_only=True)
class AveragingRule(RuleOverRule):
    """Another learning rule, whose weights are averaged over steps; the average is scored.

    Args:
        objective: The learning rule.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective.in_lanes:
            raise ValueError(
                "objective must read its problems in any order for an average of weights, got "
                f"{self.objective!r}"
            )

    @property
    def second_views(self) -> tuple[str, ...]:
        """Names of the sets whose problems the rule compares with themselves, changed anew."""
        return self.objective.second_views

    @property
    def renews_statistics(self) -> bool:
        """True: statistics of batch normalization belong to the averaged weights."""
        return True

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Start the average with the first weights."""
        weights = {
            name: parameter.detach().clone()
            for name, parameter in network.module.named_parameters()
            if parameter.requires_grad
        }
        device = next(iter(weights.values())).device
        return (
            dict(super().start(network, sets, stream))
            | named(_AVERAGE, weights)
            | {_COUNT: torch.zeros((), dtype=torch.int64, device=device)}
        )

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the loss of the rule."""
        own = dataclasses.replace(update, state=tensors_of(OWN, update.state))
        loss, new = self.objective.loss(own)
        return loss, besides(update.state) | named(OWN, new)

    def after(self, state: Tensors, parameters: Tensors, progress: float) -> Tensors:
        """Add the new weights to the average.

        Args:
            state: Tensors that `loss` returned.
            parameters: Parameters after the step, by name.
            progress: Fraction of the steps that are done.
        """
        own = self.objective.after(tensors_of(OWN, state), parameters, progress)
        return self.averaged(besides(state), parameters, progress) | named(OWN, own)

    def averaged(
        self, state: dict[str, Tensor], parameters: Tensors, progress: float
    ) -> dict[str, Tensor]:
        """Add weights to the average that they belong to.

        Args:
            state: Tensors of the average.
            parameters: Parameters after the step, by name.
            progress: Fraction of the steps that are done.
        """
        del progress
        return _with(state, parameters, state[_COUNT] + 1)


def _with(state: dict[str, Tensor], parameters: Tensors, count: Tensor) -> dict[str, Tensor]:
    """Update an equal average by its next weights.

    Args:
        state: Tensors of the average.
        parameters: The weights, by name.
        count: Number of weights in the average, these included.
    """
    new = {
        name: old + (parameters[name] - old) / count.to(old.dtype)
        for name, old in tensors_of(_AVERAGE, state).items()
    }
    return state | named(_AVERAGE, new) | {_COUNT: count}


def _replaced(state: dict[str, Tensor], parameters: Tensors) -> dict[str, Tensor]:
    """Replace the average by the latest weights."""
    weights = {name: parameters[name].clone() for name in tensors_of(_AVERAGE, state)}
    return state | named(_AVERAGE, weights)


@final
@dataclass(frozen=True, kw_only=True)
class SWA(AveragingRule):
    r"""Another learning rule, scored with the equal average of its weights from a step on.

    $$\bar\theta = \frac{1}{T - s} \sum_{t = s + 1}^{T} \theta_t$$

    with $\theta_t$ the weights after step $t$ of $T$; with `every`, the mean of some of them.
    Running statistics of batch normalization are estimated anew with the averaged weights, on
    training problems. `MeanTeacher` has an average that forgets.

    Args:
        objective: The learning rule.
        begin: Fraction of the run after which weights enter the average, $s / T$. Before it, the
            last weights are scored.
        every: Fraction of the run between weights that enter, the first of them the first after
            `begin`; 0 for those of every step.

    Raises:
        ValueError: If a fraction is out of range.

    Reference:
        Izmailov et al. 2018, algorithm 1, with a cycle of one step; the default is that of its
        section 4. Athiwaratkun et al. 2019 average every third epoch (fast-SWA), under a
        `farfield.experiments.Cosine` whose end is repeated.
    """

    begin: Fraction = 0.75
    every: Fraction = 0.0

    def averaged(
        self, state: dict[str, Tensor], parameters: Tensors, progress: float
    ) -> dict[str, Tensor]:
        """Add weights to the average, or replace it before the average begins.

        Args:
            state: Tensors of the average.
            parameters: Parameters after the step, by name.
            progress: Fraction of the steps that are done.
        """
        if progress <= self.begin:
            return _replaced(state, parameters)
        new = _with(state, parameters, state[_COUNT] + 1)
        if not self.every:
            return new
        is_due = state[_COUNT] * self.every <= progress - self.begin + _ROUNDING
        return {name: torch.where(is_due, tensor, state[name]) for name, tensor in new.items()}

    def scored(self, state: Tensors) -> Tensors:
        """List the averaged weights.

        Args:
            state: Tensors to remember after a step.
        """
        return {**super().scored(state), **tensors_of(_AVERAGE, state)}


@dataclass(frozen=True, kw_only=True)
class ValidatingRule(AveragingRule):
    """Another learning rule, scored with weights that the loss on a validation set picks.

    Args:
        objective: The learning rule.
        validation: Name of the set whose mean loss is looked at.
    """

    validation: str = "validation"

    @property
    def validates(self) -> str | None:
        """Set whose mean loss is looked at."""
        return self.validation

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Start the average with the first weights.

        Raises:
            ValueError: If the task has no set of the name of `validation`.
        """
        if self.validation not in sets:
            raise ValueError(
                f"validation must name a set that the task draws ({', '.join(sets)}), "
                f"got {self.validation!r}"
            )
        return super().start(network, sets, stream)


@final
@dataclass(frozen=True, kw_only=True)
class EarlyStopping(ValidatingRule):
    r"""Another learning rule, scored with its weights at the evaluation of least validation loss.

    $$\bar\theta = \theta_{t^*}, \qquad t^* = \arg\min_{t \in \mathcal{T}} v(\theta_t)$$

    with $\theta_t$ the weights after step $t$, $\mathcal{T}$ the steps of the evaluations of the
    recipe, and $v$ the mean loss on `validation`; the first of equal ones. Training goes on to its
    last step, for a later one may be better. Running statistics of batch normalization are
    estimated anew. Of a task with several training domains this is the choice over steps by
    training-domain validation; no test is looked at.

    Args:
        objective: The learning rule.
        validation: Name of the set whose mean loss is looked at.

    Raises:
        ValueError: If the rule has other weights scored than it trains, or the task has no such
            set.

    Reference:
        Gulrajani and Lopez-Paz 2021, section 3, where the accuracy decides.
    """

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Start with the first weights.

        Raises:
            ValueError: If the task has no set of the name of `validation`, or the rule has other
                weights scored than it trains.
        """
        state = dict(super().start(network, sets, stream))
        rule = self.objective
        if rule.validates is not None or rule.scored(tensors_of(OWN, state)):
            raise ValueError(
                "objective must have the weights scored that it trains for EarlyStopping, got "
                f"{rule!r}"
            )
        return state

    def averaged(
        self, state: dict[str, Tensor], parameters: Tensors, progress: float
    ) -> dict[str, Tensor]:
        """Remember the latest weights.

        Args:
            state: Tensors of the rule.
            parameters: Parameters after the step, by name.
            progress: Fraction of the steps that are done.
        """
        del progress
        return _replaced(state, parameters)

    def evaluated(self, state: Tensors, loss: float) -> Tensors:
        """Keep the latest weights if their loss is the least so far.

        Args:
            state: Tensors to remember after a step.
            loss: Mean validation loss of the trained network.
        """
        if _LEAST in state and not loss < state[_LEAST].item():
            return state
        finite = loss if math.isfinite(loss) else math.inf
        least = torch.full_like(state[_COUNT], finite, dtype=torch.float64)
        return {**state, **named(_BEST, tensors_of(_AVERAGE, state)), _LEAST: least}

    def scored(self, state: Tensors) -> Tensors:
        """List the weights that are kept; before the first evaluation, the latest weights.

        Args:
            state: Tensors to remember after a step.
        """
        return tensors_of(_BEST if _LEAST in state else _AVERAGE, state)


@final
@dataclass(frozen=True, kw_only=True)
class SWAD(ValidatingRule):
    r"""Another learning rule, scored with the average of its weights over a valley of losses.

    $$\bar\theta = \frac{1}{e - s + 1} \sum_{k = s}^{e} \theta^{(k)}$$

    with $\theta^{(k)}$ the average of the weights after every step between two evaluations, a
    segment. The valley starts at the first segment $s$ at whose end the loss on `validation` is the
    least of `converged` such losses in a row, and ends before the first `tolerated` losses in a row
    that all exceed $1 + r$ times the mean of these. Without a start, all segments are
    averaged. Running statistics of batch normalization are estimated anew with the averaged
    weights. The average of each segment is kept: as many copies of the weights as
    `recipe.evaluations`.

    Args:
        objective: The learning rule.
        converged: Number $N_s$ of losses whose first has to be their least.
        tolerated: Number $N_e$ of losses that have to exceed the threshold.
        tolerance: Tolerance $r$.
        validation: Name of the set whose mean loss is looked at.
        repeats_start: Whether segments enter as in the released code, where the first segment of
            the valley enters twice at the defaults.

    Raises:
        ValueError: If a number is out of range, or the task has no such set.

    Reference:
        Cha et al. 2021, algorithm 1.
    """

    converged: Size = 3
    tolerated: Size = 6
    tolerance: NonNegativeFloat = 0.3
    repeats_start: bool = False

    def evaluated(self, state: Tensors, loss: float) -> Tensors:
        """Close a segment, and count how often each segment enters the average.

        Args:
            state: Tensors to remember after a step.
            loss: Mean validation loss of the trained network.
        """
        average, segments = tensors_of(_AVERAGE, state), tensors_of(_SEGMENT, state)
        kept = {
            name: torch.cat([segments[name], mean[None]]) if segments else mean[None]
            for name, mean in average.items()
        }
        new = torch.tensor([loss], dtype=torch.float64, device=state[_COUNT].device)
        losses = torch.cat([state[_LOSSES], new]) if segments else new
        times = loss_valley(
            losses.tolist(),
            converged=self.converged,
            tolerated=self.tolerated,
            ratio=self.tolerance,
            released=self.repeats_start,
        )
        return {
            **state,
            **named(_SEGMENT, kept),
            _LOSSES: losses,
            _TIMES: torch.tensor(times, dtype=torch.float64, device=new.device),
            _COUNT: torch.zeros_like(state[_COUNT]),
        }

    def scored(self, state: Tensors) -> Tensors:
        """List the averaged weights; none before the first evaluation.

        Args:
            state: Tensors to remember after a step.
        """
        own = super().scored(state)
        if _TIMES not in state:
            return own
        shares = state[_TIMES] / state[_TIMES].sum()
        averages = {
            name: torch.tensordot(shares.to(segments.dtype), segments, dims=1)
            for name, segments in tensors_of(_SEGMENT, state).items()
        }
        return {**own, **averages}
