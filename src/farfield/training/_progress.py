"""Progress of a run: reports, the training curve, and the mark of divergence."""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from farfield.experiments import Recipe
from farfield.records import Score
from farfield.records.internal import DIVERGED
from farfield.tasks import TRAINING
from farfield.training._learner import Learner


@final
@dataclass(frozen=True, kw_only=True)
class Progress:
    """Progress of a run.

    Args:
        step: Updates done.
        steps: Updates in all.
        score: Mean score on some of the training problems.
        seconds: Seconds so far, over all sittings.
        share: Part of a core that this process got since the report before; above 1 with threads.
        diverged: Seeds of the networks whose loss is not finite now, each with the first of
            the last steps without a finite loss.
        scored: Seconds that scorings of all regimes took in this sitting.
        scorings: Number of those scorings.
        ahead: Number of scorings ahead.
    """

    step: int
    steps: int
    score: float
    seconds: float
    share: float = 1.0
    diverged: tuple[tuple[int, int], ...] = ()
    scored: float = 0.0
    scorings: int = 0
    ahead: int = 0


@final
@dataclass(frozen=True, kw_only=True)
class Clock:
    """Intervals of reports and checkpoints; neither changes the result of a run.

    Args:
        report_seconds: Seconds between two reports.
        checkpoint_seconds: Seconds between two checkpoints.
    """

    report_seconds: float = 1.0
    checkpoint_seconds: float = 30.0


PAUSE = 10.0
"""Factor by which reports become rarer for each second of processor time that one takes."""


def curve_steps(steps: int) -> tuple[int, ...]:
    """List the updates after which a point of the training curve is taken: four an octave.

    Few points are enough at every length: both the first hundred updates of a fast network
    and ten thousand updates of a slow one show.

    Args:
        steps: Updates in all.
    """
    octaves = range(4 * steps.bit_length() + 1)
    points = sorted({round(2 ** (quarter / 4)) for quarter in octaves})
    return tuple(point for point in points if point <= steps)


@final
@dataclass(kw_only=True)
class Run:
    """Scores of networks in training, between two steps.

    Args:
        step: Updates done.
        seconds: Seconds of earlier sittings.
        scores: Scores of each network so far.
        since: First step of the latest losses that are not finite, 0 where they are.
    """

    step: int = 0
    seconds: float = 0.0
    scores: list[list[Score]]
    since: Int64[Tensor, " seed"]

    def count(self, losses: Float[Tensor, " seed"]) -> None:
        """Count an update.

        Args:
            losses: Loss of each network.
        """
        self.step += 1
        self.since = not_finite_since(self.since, losses, self.step)

    def add(self, scores: Iterable[Iterable[Score]]) -> None:
        """Add scores of each network."""
        for own, new in zip(self.scores, scores, strict=True):
            own.extend(new)

    def finish(self) -> list[list[Score]]:
        """Mark the scores of diverged networks after the last step, and return all scores."""
        for own, since in zip(self.scores, self.since.tolist(), strict=True):
            mark(own, since, self.step)
        return self.scores


@final
class Reports:
    """Reports of a run at intervals, and the time that it takes.

    Args:
        learner: The networks.
        recipe: The recipe.
        run: The run as it was when the sitting began.
        clock: How often to report.
        report: Shown how far the run is; `None` for no reports.
    """

    def __init__(
        self,
        learner: Learner,
        recipe: Recipe,
        run: Run,
        clock: Clock,
        report: Callable[[Progress], None] | None,
    ) -> None:
        self._learner, self._recipe, self._clock, self._report = learner, recipe, clock, report
        self._before, self._pause = run.seconds, clock.report_seconds
        self._scored, self._scorings = 0.0, 0
        self._started = self._reported = time.monotonic()
        self._worked = time.process_time()

    @property
    def seconds(self) -> float:
        """Seconds of the run so far, over all sittings."""
        return self._before + time.monotonic() - self._started

    @contextlib.contextmanager
    def scoring(self) -> Iterator[None]:
        """Context manager: measure the time of a scoring."""
        began = time.monotonic()
        yield
        self._scored += time.monotonic() - began
        self._scorings += 1

    def show(self, run: Run) -> None:
        """Report if it is time, and at the end if a network diverged.

        Args:
            run: The run after a step.
        """
        if self._report is None:
            return
        now, is_last = time.monotonic(), run.step == self._recipe.steps
        is_due = now - self._reported > self._pause or run.step == 1
        if is_due or (is_last and run.since.any()):
            # The processor's time, for a machine may have slept meanwhile.
            earlier, self._worked = self._worked, time.process_time()
            share = (self._worked - earlier) / max(now - self._reported, 1e-6)
            self._report(self._progress(run, share))
            took = time.process_time() - self._worked
            self._pause = self._clock.report_seconds * max(1.0, PAUSE * took)
            self._reported, self._worked = time.monotonic(), self._worked + took

    def _progress(self, run: Run, share: float) -> Progress:
        """Measure the networks on some of their training problems."""
        seconds = self.seconds
        shown = self._learner.training_metrics(run.step)
        pairs = zip(self._learner.seeds, run.since.tolist(), strict=True)
        return Progress(
            step=run.step,
            steps=self._recipe.steps,
            score=statistics.fmean(points[0].value for points in shown),
            seconds=seconds,
            share=share,
            diverged=tuple((seed, first) for seed, first in pairs if first),
            scored=self._scored,
            scorings=self._scorings,
            ahead=sum(run.step < at for at in self._recipe.evaluation_steps),
        )


def not_finite_since(
    before: Int64[Tensor, " seed"], losses: Float[Tensor, " seed"], step: int
) -> Int64[Tensor, " seed"]:
    """Find the first step of the losses that are not finite, 0 where they are.

    On the device of the losses, and without waiting for it.

    Args:
        before: Result of the step before; zeros at first.
        losses: Loss of each network at this step.
        step: Number of the step, counted from 1.
    """
    before = before.to(losses.device)
    since = torch.where(before > 0, before, step)
    return torch.where(losses.isfinite(), 0, since)


def mark(scores: list[Score], since: int, steps: int) -> None:
    """Mark the scores of a finished network that diverged.

    It did if its loss on training problems is not finite after the last step. A loss that was
    infinite on the way, or on the last batch alone, is not a divergence.

    Args:
        scores: Of one network, all of them; added to in place.
        since: From `not_finite_since` at the last step.
        steps: Number of the last step.
    """
    if not _all_finite(scores, steps):
        point = Score(step=since or steps, regime=TRAINING, metric=DIVERGED, value=1.0, count=1)
        scores.append(point)


def _all_finite(scores: Sequence[Score], step: int) -> bool:
    """Tell if the scores and losses on training problems are finite at a step."""
    last = [score.value for score in scores if (score.step, score.regime) == (step, TRAINING)]
    return all(map(math.isfinite, last))
