"""Progress of runs under way, as files in the folder of records that others can read."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Final, final

import msgspec

from farfield._system import replace_file
from farfield.core import excerpt, expand_home, printable, read_regular
from farfield.execution._job import News
from farfield.records import Store, in_words
from farfield.tasks import metric_of

LARGEST_FILE: Final = 1 << 16
"""Largest size of a file of progress in bytes; a model takes some hundred in words."""


_Count = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e11)]


@final
class UnderWay(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run that has not finished: it is going on, or was stopped.

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
    """The runs of a folder of records that have not finished, the latest report first.

    Args:
        folder: The folder of records; nothing is written.
    """
    found = [run for _, run in _files(folder) if isinstance(run, UnderWay)]
    return sorted(found, key=lambda run: -run.reported)


def unreadable_progress(folder: Path) -> dict[str, str]:
    """The reasons that files of progress cannot be read, by name.

    Args:
        folder: The folder of records; nothing is written.
    """
    return {name: str(run) for name, run in sorted(_files(folder)) if isinstance(run, str)}


def _files(folder: Path) -> Iterator[tuple[str, UnderWay | str]]:
    """Files of progress by name, each with its run or the reason that it cannot be read."""
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
    """A report of news that also leaves the progress of each run in the folder of records.

    The store removes it with what else a run leaves when it has finished.

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
    """Write a file that readers find whole; what does not succeed is no harm to the run."""
    temporary = path.with_suffix(".tmp")  # of this process alone, which has locked the run
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        temporary.write_bytes(msgspec.json.encode(under_way))
        replace_file(temporary, path)
