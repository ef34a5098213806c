"""What a person sees while networks train."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self, final

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table as Grid
from rich.text import Text

from farfield.execution import Job, News

PLAIN_SECONDS = 10.0
"""Seconds between two lines where the output is a file and not a screen."""


@final
class Display:
    """What runs, how far it is, the time left and the accuracy now.

    On a screen a block that redraws itself; in a file a line now and then.

    Args:
        jobs: Everything that is asked for.
        labels: What to call an experiment, by its key.
        console: Where to write.
    """

    def __init__(self, jobs: Sequence[Job], labels: Mapping[str, str], console: Console) -> None:
        self._labels = labels
        self._console = console
        self._steps = {(j.experiment.key, j.seed): j.experiment.recipe.steps for j in jobs}
        self._weight = {
            (j.experiment.key, j.seed): j.experiment.recipe.steps * j.experiment.task.length
            for j in jobs
        }
        self._share = dict.fromkeys(self._steps, 0.0)
        self._found: set[tuple[str, int]] = set()
        self._running: dict[tuple[str, int], News] = {}
        self._started = time.monotonic()
        self._written = 0.0
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=4)

    def __enter__(self) -> Self:
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

    def take(self, news: News) -> None:
        """Note the news of a job.

        Args:
            news: What happened.
        """
        place = (news.job.experiment.key, news.job.seed)
        if news.progress is None:
            self._share[place] = 1.0
            self._running.pop(place, None)
            if news.found:
                self._found.add(place)
        else:
            self._share[place] = news.progress.step / news.progress.steps
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
        return (
            f"{self._labels.get(news.job.experiment.key, news.job.experiment.key)} "
            f"seed {news.job.seed}: step {progress.step}/{progress.steps}, "
            f"training accuracy {100 * progress.accuracy:.1f} %"
        )

    def _fraction(self) -> float:
        """Share of the work asked for that is done, in steps times places."""
        asked = {place: w for place, w in self._weight.items() if place not in self._found}
        done = sum(weight * self._share[place] for place, weight in asked.items())
        return done / sum(asked.values()) if asked else 1.0

    def _summary(self) -> str:
        finished = sum(share == 1 for share in self._share.values())
        passed, fraction = time.monotonic() - self._started, self._fraction()
        left = f"{_clock(passed * (1 - fraction) / fraction)} left" if fraction > 0 else "starting"
        found = f", {len(self._found)} of them found in the records" if self._found else ""
        return (
            f"{finished}/{len(self._share)} networks done{found}; {_clock(passed)} so far, {left}"
        )

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
