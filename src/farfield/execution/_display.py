"""Progress display of training."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, final

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table as Grid
from rich.text import Text

from farfield.core import num_cores
from farfield.execution._job import Job, News
from farfield.execution._pace import Pace
from farfield.metrics import measure_of
from farfield.tasks import Environment, metric_of

PLAIN_SECONDS: Final = 10.0
"""Seconds between two lines where the output is a file or a notebook and not a screen."""

SHARED: Final = 0.8
"""Part of a core below which a process shares it with others."""


@final
class Display:
    """Display of running jobs: their progress, remaining time and current score.

    On a screen a block that redraws itself; in a file or a notebook a line now and then. The time
    left is the wall's, at the pace so far, with what the faster and the slower quarter of the
    reports make of it. Where processes get less than their cores, it says so.

    ```py
    with Display(jobs) as display:
        run(jobs, store, report=display.take)
    ```

    Args:
        jobs: Everything that is asked for.
        labels: What to call an experiment, by its key; the name of its task if it is not there.
        console: Where to write; standard output if `None`.
        workers: Networks that train at once; as many as there are cores if `None`.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        labels: Mapping[str, str] | None = None,
        console: Console | None = None,
        workers: int | None = None,
    ) -> None:
        self._labels = {job.experiment.key: job.experiment.task.name for job in jobs}
        self._labels |= labels or {}
        self._console = console or Console()
        self._pace = Pace(now=time.monotonic, workers=workers or num_cores())
        self._unfinished: dict[tuple[str, int], bool] = {}
        for job in jobs:
            self._note(job)
        self._found = 0
        self._running: dict[tuple[str, int], News] = {}
        self._started = time.monotonic()
        self._written = 0.0
        self._live = Live(console=self._console, get_renderable=self._render, refresh_per_second=4)

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
        elif kind is None and self._found == len(self._unfinished):
            self._console.print(self._summary(), soft_wrap=True)  # no line was due before

    def _note(self, job: Job) -> tuple[str, int]:
        """Count a job, asked for or one that others start from; returns its key and seed."""
        place = (job.experiment.key, job.seed)
        self._unfinished.setdefault(place, True)
        self._pace.add(job)
        return place

    def take(self, news: News) -> None:
        """Note the news of a job.

        Args:
            news: What happened.
        """
        place = self._note(news.job)
        if news.found:
            self._pace.drop(news.job)
        else:
            self._pace.note(news.job, news.progress)
        if news.progress is None:
            self._unfinished[place] = False
            self._running.pop(place, None)
            self._found += news.found
        else:
            self._running[place] = news
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
        task = news.job.experiment.task
        measure = measure_of(metric_of(task), share=not isinstance(task, Environment))
        since = dict(progress.diverged).get(news.job.seed)
        diverged = f", diverged at step {since}" if since else ""
        return (
            f"{self._labels.get(news.job.experiment.key, news.job.experiment.key)} "
            f"seed {news.job.seed}: step {progress.step}/{progress.steps}, "
            f"training {measure.label} {measure.written(progress.score)}{measure.unit}{diverged}"
        )

    def _fraction(self) -> float:
        """Part of the time that is past; 0 until the pace is known."""
        left, passed = self._pace.left(), time.monotonic() - self._started
        return passed / (passed + left.seconds) if left and passed > 0 else 0.0

    def _summary(self) -> str:
        finished = list(self._unfinished.values()).count(False)
        found = f", {self._found} of them found in the records" if self._found else ""
        count = f"{finished}/{len(self._unfinished)} networks done{found}"
        if finished == len(self._unfinished):
            return count
        so_far = _clock(time.monotonic() - self._started)
        return f"{count}; {so_far} so far, {self._ahead()}{self._sharing()}"

    def _ahead(self) -> str:
        """The time left in words."""
        left = self._pace.left()
        if left is None:
            return "estimating the time left"
        rate = f"{left.rate:.3g} steps/s"
        if left.is_least:
            return f"at least {_clock(left.seconds)} left, without the scoring, {rate}"
        low, high = _clock(left.low), _clock(left.high)
        spread = "" if low == high else f" ({low} to {high})"
        return f"about {_clock(left.seconds)} left{spread}, {rate}"

    def _sharing(self) -> str:
        """Part of a core that a network gets, where that is not all of it."""
        shares = [news.progress.share for news in self._running.values() if news.progress]
        share = statistics.fmean(shares) if shares else 1.0
        if share >= SHARED:
            return ""
        return f"; others use these cores too: a network gets {100 * share:.0f} % of one"

    def _render(self) -> Group:
        bar = Grid.grid(padding=(0, 1))
        bar.add_row(
            ProgressBar(total=1.0, completed=self._fraction(), width=40),
            f"{100 * self._fraction():3.0f} %",
        )
        lines = [Text(f"  {self._line(news)}") for news in self._running.values()]
        return Group(Text(self._summary()), bar, *lines)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
