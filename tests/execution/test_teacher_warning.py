"""Warnings of teachers that remain near untrained weights at the end of training."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path

import pytest

from farfield.execution import Here, jobs_of, run
from farfield.objectives import ICT, MeanTeacher, Objective, Supervised
from farfield.objectives.internal import teacher_warning
from farfield.records import Store
from small import tiny_experiment


def warned(rules: list[Objective], steps: int, folder: Path) -> list[str]:
    """Train two seeds under each rule, and list the warnings."""
    tiny = tiny_experiment(steps=steps)
    experiments = [dataclasses.replace(tiny, objective=rule) for rule in rules]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run(jobs_of(experiments, range(2)), Store(folder), Here())
    return [str(each.message) for each in found]


def test_a_run_warns_once_of_each_teacher_that_stays_near_its_start(tmp_path: Path) -> None:
    rules = [MeanTeacher(decay=0.9), MeanTeacher(decay=0.9, weight=2.0), Supervised()]
    (text,) = warned(rules, 4, tmp_path)
    assert text == (
        "decay of MeanTeacher must make decay ** steps at most 0.1, got 0.9 ** 4 = 0.66, the part "
        "of untrained weights in the teacher; take at most 0.562, warmup=True or more steps"
    )
    assert warned(rules, 4, tmp_path) == []  # nothing is left to train
    assert warned([MeanTeacher(decay=0.562)], 4, tmp_path) == []


@pytest.mark.parametrize(
    ("rule", "steps", "is_warned"),
    [
        (MeanTeacher(decay=0.99), 229, True),  # 0.99 ** 229 = 0.1001
        (MeanTeacher(decay=0.99), 230, False),
        (ICT(), 2302, False),
        (ICT(), 2301, True),  # 0.999 ** 2301 = 0.1000
        (ICT(warmup=True), 10, False),
        (ICT(decay=None), 10, False),
        (MeanTeacher(decay=1.0), 10**6, True),
        (Supervised(), 1, False),
    ],
)
def test_the_bound_is_a_tenth(rule: Objective, steps: int, is_warned: bool) -> None:
    text = teacher_warning(rule, steps)
    assert (text is not None) is is_warned
    assert text is None or f" ** {steps:,} = " in text
