"""Progress of runs: shown in the terminal, and noted in files for other processes."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Annotated, Final, final

import msgspec
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table as Grid
from rich.text import Text

from farfield._system import replace_file
from farfield.core.internal import excerpt, expand_home, num_cores, printable, read_regular
from farfield.execution._job import Job, News
from farfield.execution._pace import Pace
from farfield.metrics.internal import measure_of
from farfield.records import Store
from farfield.records.internal import in_words
from farfield.tasks import Environment
from farfield.tasks.internal import metric_of

LARGEST_FILE: Final = 1 << 16
"""Largest size of a file of progress in bytes; a model takes some hundred in words."""


_Count = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e11)]


@final
class UnderWay(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An unfinished run: it is going on, or was stopped.

    Args:
        key: `Experiment.key`.
        seed: Number of the run; of networks that train as one program, that of the first.
        task: The task in a few words.
        model: The model in a few words.
        step: Updates done.
        steps: Updates in all.
        metric: Name of the score.
        score: Mean score on some of the training problems.
        seconds: Seconds so far, over all sittings.
        reported: When that was so, in seconds since 1970.
        began: When its command began, in seconds since 1970; 0 in files from before it was said.
        done: Networks of the command that are finished.
        asked: Networks that it is to train.
    """

    key: str
    seed: int
    task: str
    model: str
    step: _Count
    steps: _Count
    metric: str
    score: float | None
    seconds: _Seconds
    reported: _Seconds
    began: _Seconds = 0.0
    done: Annotated[int, msgspec.Meta(ge=0)] = 0
    asked: Annotated[int, msgspec.Meta(ge=0)] = 0

    @property
    def silent(self) -> float:
        """Seconds since it reported."""
        return max(0.0, time.time() - self.reported)


def runs_under_way(folder: Path) -> list[UnderWay]:
    """List the unfinished runs of a folder of records, the latest report first.

    Args:
        folder: The folder of records; nothing is written.
    """
    found = [run for _, run in _files(folder) if isinstance(run, UnderWay)]
    return sorted(found, key=lambda run: -run.reported)


def unreadable_progress(folder: Path) -> dict[str, str]:
    """List the reasons that files of progress cannot be read, by name.

    Args:
        folder: The folder of records; nothing is written.
    """
    return {name: str(run) for name, run in sorted(_files(folder)) if isinstance(run, str)}


def _files(folder: Path) -> Iterator[tuple[str, UnderWay | str]]:
    """List files of progress by name, each with its run or the reason that it cannot be read."""
    for path in (expand_home(folder) / "progress").glob("*.json"):
        try:
            run = msgspec.json.decode(read_regular(path, LARGEST_FILE), type=UnderWay)
        except FileNotFoundError:  # the run has finished since
            continue
        except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
            yield path.name, excerpt(error)
        else:
            yield path.name, run


def note_progress(
    report: Callable[[News], None], store: Store, asked: int = 0
) -> Callable[[News], None]:
    """Wrap a report of news: it also leaves the progress of each run in the folder of records.

    The store removes it with the other files of a run at its end.

    Args:
        report: Takes the news.
        asked: Networks that the command is to train.
    """
    words: dict[str, tuple[str, str]] = {}
    began, done = time.time(), set[tuple[str, int]]()

    def take(news: News) -> None:
        experiment, progress = news.job.experiment, news.progress
        if progress is None:
            done.add((experiment.key, news.job.seed))
        else:
            if experiment.key not in words:
                described = experiment.to_json()
                words[experiment.key] = (in_words(described["task"]), in_words(described["model"]))
            task, model = words[experiment.key]
            under_way = UnderWay(
                key=experiment.key,
                seed=news.job.seed,
                task=printable(task),
                model=printable(model),
                step=progress.step,
                steps=progress.steps,
                metric=metric_of(experiment.task),
                score=progress.score,
                seconds=progress.seconds,
                reported=time.time(),
                began=began,
                done=len(done),
                asked=max(asked, len(done) + 1),  # networks that others start from come on top
            )
            _write(store.progress_path(experiment.key, news.job.seed), under_way)
        report(news)

    return take


def _write(path: Path, under_way: UnderWay) -> None:
    """Write a file that readers find whole; a failure is no harm to the run."""
    temporary = path.with_suffix(".tmp")  # of this process alone, which has locked the run
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        temporary.write_bytes(msgspec.json.encode(under_way))
        replace_file(temporary, path)


PLAIN_SECONDS: Final = 10.0
"""Seconds between two lines where the output is a file or a notebook and not a screen."""

SHARED: Final = 0.8
"""Part of a core below which a process shares it with others."""


@final
class Display:
    """Display of running jobs: their progress, remaining time and current score.

    On a screen a block that redraws itself; in a file or a notebook a line now and then. The time
    left is the wall's, at the pace so far, with those of the faster and of the slower
    quarter of reports. Where processes get less than their cores, it says so.

    ```py
    with Display(jobs) as display:
        run(jobs, store, report=display.take)
    ```

    Args:
        jobs: Everything that is asked for.
        labels: Name of an experiment, by its key; without one, the name of its task.
        console: Where to write; standard output if `None`.
        workers: Networks that train at once; as many as there are cores if `None`.
        later: Further jobs whose experiments may still change, e.g. where values are tuned first;
            a job of the same task and seed takes the position of each.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        labels: Mapping[str, str] | None = None,
        console: Console | None = None,
        workers: int | None = None,
        later: Sequence[Job] = (),
    ) -> None:
        asked = (*jobs, *later)
        self._labels = {job.experiment.key: job.experiment.task.name for job in asked}
        self._labels |= labels or {}
        self._console = console or Console()
        self._pace = Pace(now=time.monotonic, workers=workers or num_cores())
        self._unfinished: dict[tuple[str, int], bool] = {}
        self._later: dict[tuple[str, int], Job] = {}
        for job in asked:
            self._note(job)
        self._later |= {(job.experiment.key, job.seed): job for job in later}
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
        if place not in self._unfinished:
            self._replace_later(job)
        self._later.pop(place, None)
        self._unfinished.setdefault(place, True)
        self._pace.add(job)
        return place

    def _replace_later(self, job: Job) -> None:
        """Count a new job in the stead of an announced job of its task and seed, if any."""
        for place, planned in self._later.items():
            if (planned.experiment.task, planned.seed) == (job.experiment.task, job.seed):
                del self._later[place], self._unfinished[place]
                self._pace.forget(planned)
                self._labels.setdefault(job.experiment.key, self._labels[place[0]])
                return

    def take(self, news: News) -> None:
        """Note the news of a job.

        Args:
            news: The news.
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
        """Estimate the part of the time that is past; 0 until the pace is known."""
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
        """Describe the time left."""
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
        """Describe the part of a core that a network gets, if that is not all of it."""
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
