"""Time that experiments take: planned from a trial, and left while they run."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, final

import torch

from farfield._system import peak_memory
from farfield.core.internal import check_arguments
from farfield.execution._job import Job
from farfield.experiments import Experiment
from farfield.tasks import Environment
from farfield.training.internal import Learner, OneAgent, OneNetwork, Progress, Stack, vmap_error

WARM: Final = 2
"""Steps of a trial before its clock starts."""


@final
@dataclass(frozen=True, kw_only=True)
class Trial:
    """Seconds and memory of training, measured on a few steps.

    Args:
        seconds: Seconds a step, all networks that train together.
        networks: How many train together.
        steps: Steps that were timed.
        memory: Peak memory in bytes, of the GPU or of the whole process so far; `None` where the
            system does not say.
    """

    seconds: float
    networks: int
    steps: int
    memory: int | None

    def hours(self, networks: int, steps: int, workers: int = 1) -> float:
        """Estimate hours of training, without scoring.

        Args:
            networks: Networks to train.
            steps: Steps of each.
            workers: Processes that share the work.
        """
        return self.seconds * steps * networks / self.networks / workers / 3600


def cost_kind(experiment: Experiment) -> tuple[object, ...]:
    """Find the kind of an experiment, on which the time of its steps depends.

    Args:
        experiment: Any; those of one kind differ in steps, regimes and contents.
    """
    task = experiment.task
    length = 0 if isinstance(task, Environment) else task.length
    return (
        type(task), length, experiment.model, experiment.objective, experiment.players,
        experiment.recipe.batch_size, experiment.recipe.optimizer,
    )  # fmt: skip


@check_arguments
def trial(
    experiment: Experiment, seeds: Sequence[int], *, device: str = "cpu", seconds: float = 1.0
) -> Trial:
    """Train an experiment for a moment, and keep nothing of it.

    On a GPU all seeds train together where they can, as `run` trains them; elsewhere one does.

    Args:
        experiment: The experiment to try, from drawn first weights.
        seeds: Numbers of the runs.
        device: `"cpu"` or `"cuda"`.
        seconds: When to stop, after the first steps.
    """
    fresh = dataclasses.replace(experiment, starts_from=None)
    learner: Learner
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats(device)
    if isinstance(fresh.task, Environment):
        learner = OneAgent(fresh, seeds[0])
    elif device != "cpu" and vmap_error(fresh, device) is None:
        learner = Stack(fresh, seeds, device=device)
    else:
        learner = OneNetwork(fresh, seeds[0], device=device)
    warm = min(WARM, experiment.recipe.steps - 1)
    for step in range(warm):
        learner.update(step)
    _wait(device)
    started, step = time.perf_counter(), warm
    while step < experiment.recipe.steps:
        learner.update(step)
        step += 1
        _wait(device)
        if time.perf_counter() - started > seconds:
            break
    return Trial(
        seconds=(time.perf_counter() - started) / (step - warm),
        networks=len(learner.seeds),
        steps=step - warm,
        memory=peak_memory() if device == "cpu" else torch.cuda.max_memory_allocated(device),
    )


def _wait(device: str) -> None:
    """Wait until a GPU has done its work."""
    if device != "cpu":
        torch.cuda.synchronize(device)


MEMORY: Final = 60
"""Reports of an experiment that its pace is taken from: about the last minute of each process."""


@final
@dataclass(frozen=True)
class Left:
    """Seconds left.

    Args:
        seconds: At the pace so far.
        low: At the pace of the faster quarter of reports.
        high: At that of the slower quarter.
        rate: Steps a second until now, of all networks together.
        is_least: No network has finished or been scored, so the seconds of its scoring in every
            regime are unknown and left out.
    """

    seconds: float
    low: float
    high: float
    rate: float
    is_least: bool


@final
@dataclass
class _Network:
    """A network in training: its steps, how many were done before and by now, and its reports."""

    steps: int
    length: int
    scorings: int
    before: int = 0
    done: int = 0
    seconds: float = 0.0
    scored: float = 0.0
    times_scored: int = 0
    is_running: bool = False
    is_finished: bool = False


@final
@dataclass
class Pace:
    """Pace of networks that train side by side, and the time that the rest takes.

    Seconds are the wall's: on a machine that others use too, they are longer than the work.

    Args:
        now: Clock of the wall, in seconds.
        workers: Networks that train at once; more where more report.
    """

    now: Callable[[], float]
    workers: int
    _networks: dict[tuple[str, int], _Network] = field(default_factory=dict)
    _seen: defaultdict[str, deque[tuple[int, float]]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=MEMORY))
    )
    _began: float = 0.0

    def __post_init__(self) -> None:
        self._began = self.now()

    def add(self, job: Job) -> None:
        """Count a network that is to be trained; a known network stays unchanged."""
        place, task = (job.experiment.key, job.seed), job.experiment.task
        length = 1 if isinstance(task, Environment) else task.length
        recipe = job.experiment.recipe
        ahead = len(recipe.evaluation_steps)
        self._networks.setdefault(place, _Network(recipe.steps, length, ahead))

    def drop(self, job: Job) -> None:
        """Note that a network was found trained: it takes no time."""
        self.forget(job)
        self._began = self.now()

    def forget(self, job: Job) -> None:
        """Count a network no longer: another trains in its stead."""
        self._networks.pop((job.experiment.key, job.seed), None)

    def note(self, job: Job, progress: Progress | None) -> None:
        """Take the report of a network; `None` when it is finished."""
        network = self._networks[job.experiment.key, job.seed]
        if progress and not any(one.done for one in self._networks.values()):
            self._began = max(self._began, self.now() - progress.seconds)  # processes start once
        if progress is None:
            network.is_running, network.is_finished, network.done = False, True, network.steps
            return
        if not network.is_running:  # from here on; it may go on from a checkpoint
            network.is_running, network.before = True, progress.step - 1
        elif progress.step > network.done:
            steps = progress.step - network.done
            seconds = progress.seconds - network.seconds - (progress.scored - network.scored)
            self._seen[job.experiment.key].append((steps, max(seconds, 0.0)))
        network.done, network.seconds = progress.step, progress.seconds
        network.scored, network.times_scored = progress.scored, progress.scorings
        network.scorings = progress.ahead

    def left(self) -> Left | None:
        """Time left; `None` before anything is known."""
        waiting = [one for one in self._networks.values() if not one.is_finished]
        finished = len(self._networks) - len(waiting)
        seconds = {key: _mean(seen) for key, seen in self._seen.items()}
        if not waiting or not (seconds or finished):
            return None
        lengths = {key: one.length for (key, _), one in self._networks.items()}
        of_length = _by_length([(lengths[key], each) for key, each in seconds.items()])
        scoring = self._seconds_of_scoring()
        trained = ahead = 0.0
        for (key, _), one in self._networks.items():
            each = seconds.get(key, of_length(one.length))
            trained += each * (one.done - one.before) + one.scored
            if not one.is_finished:
                last = 1 if finished else 0  # it is among the time beside steps
                scorings = max(one.scorings - last, 0)
                ahead += each * (one.steps - one.done) + scoring.get(key, scoring[""]) * scorings
        running = sum(one.is_running for one in waiting)
        at_once = min(max(self.workers, running), len(self._networks))
        passed = self.now() - self._began
        spent = at_once * passed
        if finished:  # time beside steps, by network; a running network is halfway through it
            beside = max(0.0, spent - trained) / (finished + running / 2)
            ahead += beside * (len(waiting) - running / 2)
        together = min(1.0, spent / trained) if trained else 1.0  # one program steps many networks
        central = together * ahead / min(at_once, len(waiting))
        fast, slow = self._quarters(seconds)
        done = sum(one.done - one.before for one in self._networks.values())
        return Left(
            seconds=central,
            low=fast * central,
            high=slow * central,
            rate=done / max(passed, 1e-6),
            is_least=not finished and not any(scoring.values()),
        )

    def _seconds_of_scoring(self) -> dict[str, float]:
        """Average the seconds of a scoring by experiment, and of all scorings by an empty name."""
        times: dict[str, int] = {"": 0}
        spent: dict[str, float] = {"": 0.0}
        for (key, _), one in self._networks.items():
            for name in ("", key) if one.times_scored else ():
                times[name] = times.get(name, 0) + one.times_scored
                spent[name] = spent.get(name, 0.0) + one.scored
        return {name: spent[name] / max(count, 1) for name, count in times.items()}

    def _quarters(self, seconds: dict[str, float]) -> tuple[float, float]:
        """Compute first- and third-quartile step time relative to the mean."""
        against = [
            report / steps / seconds[key]
            for key, seen in self._seen.items()
            for steps, report in seen
            if seconds[key]
        ]
        if len(against) < 4:
            return 1.0, 1.0
        low, _, high = statistics.quantiles(against, n=4)
        return min(low, 1.0), max(high, 1.0)


def _by_length(seen: Sequence[tuple[int, float]]) -> Callable[[int], float]:
    """Estimate the seconds of a step at a length of problems, on the line through the measurements.

    At one length alone nothing is known of others: all take the same.
    """
    if not seen:
        return lambda _: 0.0
    lengths, seconds = zip(*seen, strict=True)
    mean = statistics.fmean(seconds)
    if len(set(lengths)) == 1:
        return lambda _: mean
    slope, rest = statistics.linear_regression(lengths, seconds)
    if slope < 0:
        return lambda _: mean
    if rest < 0:
        slope, rest = sum(a * b for a, b in seen) / sum(a * a for a in lengths), 0.0
    return lambda length: rest + slope * length


def _mean(seen: deque[tuple[int, float]]) -> float:
    """Estimate the seconds of a step."""
    return sum(seconds for _, seconds in seen) / sum(steps for steps, _ in seen)
