"""What tasks say of their problems, and what follows for those that say nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from farfield.core import Problems, stream
from farfield.tasks import (
    RAVEN,
    TASKS,
    TRAINING,
    BouncingBalls,
    Digits,
    ProblemTask,
    PublishedMatrices,
    PublishedVisualAnalogies,
    Regime,
    Task,
    VAECScale,
    is_at_hand,
)
from farfield.tasks.internal import (
    Candidates,
    Form,
    HasForm,
    form_of,
    metric_of,
    scored_of,
    scored_sets,
)
from plain import Plain

EVERY = {**{name: cls() for name, cls in TASKS.items()}, "raven": RAVEN()}
EVERY |= {"matrices": PublishedMatrices(), "analogies": PublishedVisualAnalogies()}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A task that asks, and draws no problems."""

    name: ClassVar[str] = "asked"
    version: ClassVar[int] = 1
    regimes: ClassVar[tuple[Regime, ...]] = ()

    def chance(self, regime: str) -> float:
        return 0.5


@dataclass(frozen=True, kw_only=True)
class Chosen(Plain):
    num_candidates: int = 3


@dataclass(frozen=True, kw_only=True)
class Stated(Plain):
    form: Form


def test_a_task_that_draws_no_problems_is_a_task_and_no_problem_task() -> None:
    assert isinstance(Asked(), Task)
    assert not isinstance(Asked(), ProblemTask)
    for task in EVERY.values():
        assert isinstance(task, Task)
        assert isinstance(task, ProblemTask)


CHANNELS = {"grid-rules": 11, "digit-domains": 2}
"""Channels of images that are no colors."""


@pytest.mark.parametrize("name", EVERY)
def test_every_task_states_a_form_that_agrees_with_its_problems(name: str) -> None:
    task = EVERY[name]
    assert isinstance(task, HasForm)
    form = form_of(task)
    assert form is task.form
    assert (form.arrangement == "single") == (task.length == 1)
    assert (form.answer == "candidates") == isinstance(task, Candidates)
    sizes = dict(zip(form.axes, task.item_shape, strict=True))
    assert sizes.get("channel", 3) == CHANNELS.get(name, 3)


@pytest.mark.parametrize(
    "task, readings",
    [
        ("same-different", ("group", "sequence")),
        ("raven", ("candidates",)),
        ("adding", ("sequence",)),
        ("bouncing-balls", ("sequence",)),
        ("digits", ("elements", "item", "maps")),
        ("fuzzy-boolean", ("elements", "item")),
        ("object-frames", ("items",)),
        ("dynamic-objects", ("items",)),
        ("super-resolution", ("restoration",)),
        ("image-generation", ("generation",)),
    ],
)
def test_a_form_says_how_problems_can_be_read(task: str, readings: tuple[str, ...]) -> None:
    assert form_of(EVERY[task]).readings == readings


@pytest.mark.parametrize(
    "task, axes, arrangement, answer",
    [
        (Plain(item_shape=(16,)), ("feature",), "group", "once"),
        (Plain(item_shape=(3, 32, 32)), ("channel", "height", "width"), "group", "once"),
        (Plain(item_shape=(32, 32, 3)), ("height", "width", "channel"), "group", "once"),
        (Plain(item_shape=(3, 3), length=1), ("height", "width"), "single", "once"),
        (Chosen(item_shape=(3,)), ("feature",), "group", "candidates"),
    ],
)
def test_the_form_of_a_task_that_states_none_follows_from_its_shapes(
    task: Plain, axes: tuple[str, ...], arrangement: str, answer: str
) -> None:
    assert form_of(task) == Form(axes=axes, arrangement=arrangement, answer=answer)


@pytest.mark.parametrize("cls", [Digits, VAECScale])
def test_the_rule_for_shapes_agrees_with_what_image_tasks_state(cls: type) -> None:
    task = cls()
    found = Chosen if isinstance(task, Candidates) else Plain
    assert form_of(found(item_shape=task.item_shape, length=task.length)) == task.form


def test_a_form_that_is_not_of_the_items_is_refused(unchecked) -> None:
    task = Stated(item_shape=(32, 32), form=BouncingBalls.form)
    assert form_of(task) is BouncingBalls.form
    with pytest.raises(ValueError, match=r"an axis for each size of \(16,\), got Form"):
        form_of(Stated(item_shape=(16,), form=BouncingBalls.form))
    with pytest.raises(ValueError, match="arrangement must be"):
        Form(axes=("feature",), arrangement="pile")


@dataclass(frozen=True, kw_only=True)
class Large(Plain):
    metric: ClassVar[str] = "mse"
    training_scored: ClassVar[int] = 7


def test_of_a_large_training_set_the_first_problems_are_scored() -> None:
    problems = Plain().draw(stream(0))[TRAINING]
    assert len(scored_of(Large(), TRAINING, problems)) == 7
    for task, regime in ((Large(), "test"), (Plain(), TRAINING)):
        assert len(scored_of(task, regime, problems)) == len(problems)


def test_of_a_larger_one_of_any_task_a_million_are_scored() -> None:
    wanted = torch.zeros(1, dtype=torch.long).expand(1_000_007)
    problems = Problems(items=torch.zeros(1, 3), index=wanted[:, None], target=wanted)
    assert len(scored_of(Plain(), TRAINING, problems)) == 1_000_000
    assert len(scored_of(Plain(), "test", problems)) == 1_000_007


def test_sets_that_are_no_regime_are_not_scored() -> None:
    problems = Plain().draw(stream(0))[TRAINING]
    sets = {"others": problems, TRAINING: problems, "more": problems}
    assert {name: len(kept) for name, kept in scored_sets(Large(), sets).items()} == {TRAINING: 7}
    assert scored_sets(Plain(), {"others": problems}) == {}


def test_a_task_names_its_metric_or_measures_accuracy() -> None:
    assert (metric_of(Large()), metric_of(Plain())) == ("mse", "accuracy")

    class Wrapped:
        def __getattr__(self, name: str) -> object:
            return getattr(Large(), name)

    assert metric_of(Wrapped()) == "mse"
    assert is_at_hand(Plain())
