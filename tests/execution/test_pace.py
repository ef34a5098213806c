"""Time left: the wall's, with what is spent beside steps, and as far as it is known."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import pytest

from farfield.execution._pace import Pace, _by_length
from farfield.execution.internal import Job
from farfield.training.internal import Progress
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


def scored(step: int, seconds: float, times: int, ahead: int) -> Progress:
    """A report of a network of ten steps whose scorings take four seconds each."""
    return dataclasses.replace(
        progress(step, seconds), scored=4.0 * times, scorings=times, ahead=ahead
    )


def test_scorings_ahead_count_as_the_one_before_took(wall: Wall) -> None:
    """Steps of a second; of three scorings one is over, the next network has three."""
    experiment = tiny_experiment(steps=10)
    recipe = dataclasses.replace(experiment.recipe, evaluations=3)
    experiment = dataclasses.replace(experiment, recipe=recipe)
    first, _ = asked = [Job(experiment=experiment, seed=seed) for seed in (0, 1)]
    pace = pace_of(wall, asked)
    pace.note(first, scored(1, 1.0, 0, 3))
    pace.note(first, scored(2, 2.0, 0, 3))
    wall.at += 2
    assert pace.left().is_least
    pace.note(first, scored(6, 10.0, 1, 2))
    wall.at += 8
    left = pace.left()
    assert (left.seconds, left.is_least) == (pytest.approx(4 + 2 * 4 + 10 + 3 * 4), False)
    pace.note(first, scored(10, 14.0, 1, 1))  # all that is left of it is scored
    wall.at += 4
    assert pace.left().seconds == pytest.approx(4 + 10 + 3 * 4)


def test_the_last_scoring_is_counted_once(wall: Wall) -> None:
    """A network took ten steps of a second and scored for four; another one does."""
    first, _ = asked = jobs(2)
    pace = pace_of(wall, asked)
    pace.note(first, scored(1, 1.0, 0, 1))
    pace.note(first, scored(10, 10.0, 0, 1))
    wall.at += 14
    pace.note(first, None)
    assert pace.left().seconds == pytest.approx(14)


@pytest.mark.parametrize(
    ("seen", "length", "expected"),
    [
        ([], 5, 0.0),
        ([(2, 1.0)], 20, 1.0),  # what its own rate tells
        ([(2, 1.0), (2, 3.0)], 20, 2.0),
        ([(2, 1.0), (4, 1.5)], 20, 5.5),  # half a second, and a quarter for each item
        ([(2, 3.0), (4, 1.0)], 20, 2.0),  # no longer problem takes less
        ([(2, 1.0), (4, 4.0)], 20, 18.0),  # nor a short one less than nothing
    ],
)
def test_steps_of_other_lengths_take_what_was_measured(
    seen: list, length: int, expected: float
) -> None:
    assert _by_length(seen)(length) == pytest.approx(expected)


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
