"""Time left: the wall's, with what is spent beside steps, and as far as it is known."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from farfield.execution import Job
from farfield.execution._pace import Pace
from farfield.training import Progress
from small import tiny_experiment


@dataclass
class Wall:
    """A clock that a test moves."""

    at: float = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def wall(unchecked: None) -> Wall:
    return Wall()


def jobs(count: int, steps: int = 10) -> list[Job]:
    return [Job(experiment=tiny_experiment(steps=steps), seed=seed) for seed in range(count)]


def progress(step: int, seconds: float) -> Progress:
    return Progress(step=step, steps=10, score=0.5, seconds=seconds)


def pace_of(wall: Wall, asked: list[Job], workers: int = 1) -> Pace:
    pace = Pace(now=wall, workers=workers)
    for job in asked:
        pace.add(job)
    return pace


def test_nothing_is_said_before_anything_is_known(wall: Wall) -> None:
    pace = pace_of(wall, jobs(2))
    assert pace.left() is None
    pace.note(jobs(2)[0], progress(1, 5.0))
    assert pace.left() is None  # the first step came with all that precedes it


def test_until_a_network_has_finished_steps_alone_are_counted(wall: Wall) -> None:
    first, _ = asked = jobs(2)
    pace = pace_of(wall, asked)
    pace.note(first, progress(1, 5.0))
    pace.note(first, progress(5, 13.0))
    wall.at += 13
    left = pace.left()
    assert (left.seconds, left.is_least) == ((5 + 10) * 2.0, True)
    assert left.rate == pytest.approx(5 / 13)


def test_what_a_network_takes_beside_its_steps_is_learned_from_one_that_finished(
    wall: Wall,
) -> None:
    """Ten steps of a second, then thirty seconds of scores: two more take eighty seconds."""
    first, *_ = asked = jobs(3)
    pace = pace_of(wall, asked)
    pace.note(first, progress(1, 1.0))
    pace.note(first, progress(10, 10.0))
    wall.at += 40
    pace.note(first, None)
    left = pace.left()
    assert (left.seconds, left.is_least) == (2 * 40.0, False)


def test_processes_that_start_are_waited_for_once(wall: Wall) -> None:
    first, _ = asked = jobs(2)
    pace = pace_of(wall, asked)
    wall.at += 61
    pace.note(first, progress(1, 1.0))
    pace.note(first, progress(10, 10.0))
    wall.at += 9
    pace.note(first, None)
    assert pace.left().seconds == 10


def test_two_at_once_take_half_the_time_and_the_last_one_all_of_its_own(wall: Wall) -> None:
    asked = jobs(4)
    pace = pace_of(wall, asked, workers=2)
    for job in asked[:2]:
        pace.note(job, progress(1, 1.0))
        pace.note(job, progress(10, 10.0))
    wall.at += 10
    for job in asked[:2]:
        pace.note(job, None)
    assert pace.left().seconds == pytest.approx(10)
    pace.note(asked[2], None)
    assert pace.left().seconds == pytest.approx(10, rel=0.5)


def test_networks_of_one_program_are_not_counted_one_after_another(wall: Wall) -> None:
    asked = jobs(10)
    pace = pace_of(wall, asked)
    for job in asked:
        pace.note(job, progress(1, 1.0))
        pace.note(job, progress(5, 5.0))
    wall.at += 5
    assert pace.left().seconds == pytest.approx(5)


def test_what_was_trained_before_counts_for_no_pace(wall: Wall) -> None:
    found, resumed = asked = jobs(2)
    pace = pace_of(wall, asked)
    wall.at += 1000
    pace.drop(found)
    pace.note(resumed, progress(6, 600.0))
    pace.note(resumed, progress(8, 604.0))
    wall.at += 6
    left = pace.left()
    assert (left.seconds, left.rate) == (2 * 2.0, 0.5)


def test_the_spread_is_that_of_the_quarters_of_reports(wall: Wall) -> None:
    (job,) = asked = jobs(1, steps=100)
    pace = pace_of(wall, asked)
    at = 2.0
    pace.note(job, progress(1, at))
    for step, took in enumerate([1.0, 1.0, 1.0, 3.0, 3.0, 3.0], 2):
        at += took
        pace.note(job, progress(step, at))
    wall.at += at
    left = pace.left()
    assert left.seconds == pytest.approx(93 * 2)
    assert (left.low, left.high) == (pytest.approx(93), pytest.approx(93 * 3))
