"""Progress display of training."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import final

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table as Grid
from rich.text import Text

from farfield.core import num_cores
from farfield.execution import Job, News
from farfield.metrics import measure_of
from farfield.tasks import Environment, metric_of

PLAIN_SECONDS = 10.0
"""Seconds between two lines where the output is a file and not a screen."""

WARM_STEPS = 10
"""Steps before the pace of a network is believed."""


@final
class Display:
    """Display of running jobs, their progress, remaining time and current score.

    On a screen a block that redraws itself; in a file a line now and then.

    Args:
        jobs: Everything that is asked for.
        labels: What to call an experiment, by its key.
        console: Where to write.
        workers: Networks that train at once, for the time left.
    """

    def __init__(
        self, jobs: Sequence[Job], labels: Mapping[str, str], console: Console, workers: int = 1
    ) -> None:
        self._labels = labels
        self._console = console
        self._workers = workers
        self._length: dict[str, int] = {}
        self._steps: dict[tuple[str, int], int] = {}
        self._done: dict[tuple[str, int], int] = {}
        for job in jobs:
            self._note(job)
        self._found: set[tuple[str, int]] = set()
        self._running: dict[tuple[str, int], News] = {}
        self._step_seconds: dict[str, float] = {}
        self._started = time.monotonic()
        self._written = 0.0
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=4)

    def __enter__(self) -> Display:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()
        elif kind is None and len(self._found) == len(self._steps):
            self._console.print(self._summary(), soft_wrap=True)  # no line was due before

    def _note(self, job: Job) -> tuple[str, int]:
        """Count a job, asked for or one that others start from; returns its place."""
        place = (job.experiment.key, job.seed)
        if place not in self._steps:
            task = job.experiment.task
            self._length[job.experiment.key] = 1 if isinstance(task, Environment) else task.length
            self._steps[place] = job.experiment.recipe.steps
            self._done[place] = 0
        return place

    def take(self, news: News) -> None:
        """Note the news of a job.

        Args:
            news: What happened.
        """
        key = news.job.experiment.key
        place = self._note(news.job)
        if news.progress is None:
            self._done[place] = self._steps[place]
            self._running.pop(place, None)
            if news.found:
                self._found.add(place)
        else:
            self._done[place] = news.progress.step
            self._running[place] = news
            if news.progress.step >= WARM_STEPS:
                self._step_seconds[key] = news.progress.seconds / news.progress.step
        if not self._console.is_terminal and not news.found:
            self._write_line()

    def _write_line(self) -> None:
        now = time.monotonic()
        if now - self._written < PLAIN_SECONDS and self._running:
            return
        self._written = now
        running = "; ".join(self._line(news) for news in self._running.values())
        self._console.print(f"{self._summary()}{'; ' if running else ''}{running}", soft_wrap=True)

    def _line(self, news: News) -> str:
        progress = news.progress
        if progress is None:
            return ""
        measure = measure_of(metric_of(news.job.experiment.task))
        since = dict(progress.diverged).get(news.job.seed)
        diverged = f", diverged at step {since}" if since else ""
        return (
            f"{self._labels.get(news.job.experiment.key, news.job.experiment.key)} "
            f"seed {news.job.seed}: step {progress.step}/{progress.steps}, "
            f"training {measure.label} {measure.written(progress.score)}{measure.unit}{diverged}"
        )

    def _left(self) -> dict[tuple[str, int], int]:
        """Steps still to do of every network."""
        return {place: steps - self._done[place] for place, steps in self._steps.items()}

    def _seconds_left(self) -> float | None:
        """Time left at the pace so far; experiments not seen yet go by the length of a problem."""
        if not self._step_seconds:
            return None
        known = [seconds / self._length[key] for key, seconds in self._step_seconds.items()]
        typical = sum(known) / len(known)
        total = sum(
            steps * self._step_seconds.get(key, typical * self._length[key])
            for (key, _), steps in self._left().items()
        )
        return total / self._workers

    def _fraction(self) -> float:
        """Share of the time that is past; 0 until the pace is known."""
        left, passed = self._seconds_left(), time.monotonic() - self._started
        return passed / (passed + left) if left is not None and passed > 0 else 0.0

    def _summary(self) -> str:
        finished = sum(self._done[place] == steps for place, steps in self._steps.items())
        found = f", {len(self._found)} of them found in the records" if self._found else ""
        count = f"{finished}/{len(self._steps)} networks done{found}"
        if finished == len(self._steps):
            return count
        left = self._seconds_left()
        ahead = "estimating the time left" if left is None else f"about {_clock(left)} left"
        return f"{count}; {_clock(time.monotonic() - self._started)} so far, {ahead}"

    def _render(self) -> Group:
        bar = Grid.grid(padding=(0, 1))
        bar.add_row(
            ProgressBar(total=1.0, completed=self._fraction(), width=40),
            f"{100 * self._fraction():3.0f} %",
        )
        lines = [Text(f"  {self._line(news)}") for news in self._running.values()]
        return Group(Text(self._summary()), bar, *lines)


def at_once(device: str, workers: int | None) -> int:
    """Networks that train at once on a device, as far as the time left goes.

    Args:
        device: `"cpu"` or `"cuda"`.
        workers: Processes asked for; `None` for as many as there are cores.
    """
    return (workers or num_cores()) if device == "cpu" else 1


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
