"""Networks whose loss is not finite: marked, with the step, and no harm to others."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from farfield.records import Record, Score
from farfield.records.internal import DIVERGED
from farfield.tasks import TRAINING
from farfield.training import train
from farfield.training._progress import mark, not_finite_since
from farfield.training.internal import Clock, OneNetwork, Progress, Stack
from small import SMALL_LSTM, small_experiment

pytestmark = pytest.mark.processor

EXPERIMENT = small_experiment(steps=8, evaluations=2, reasoner=SMALL_LSTM)
BROKEN_AT = 5
"""Number of the first step that a broken network does not survive, counted from 1."""


def breaking(learner: OneNetwork | Stack) -> OneNetwork | Stack:
    """The same, but before a step the parameters of its last network become infinite."""
    update = learner.update

    def breaking_update(step: int) -> torch.Tensor:
        if step == BROKEN_AT - 1:
            with torch.no_grad():
                for parameter in learner._learned.values():
                    (parameter if isinstance(learner, OneNetwork) else parameter[-1]).fill_(
                        math.inf
                    )
        return update(step)

    learner.update = breaking_update  # type: ignore[method-assign]
    return learner


def marks(scores: list[Score]) -> list[tuple[int, str]]:
    return [(score.step, score.regime) for score in scores if score.metric == DIVERGED]


def test_a_network_alone_is_marked_at_the_step() -> None:
    [scores], _ = train(breaking(OneNetwork(EXPERIMENT, 1)), EXPERIMENT)
    assert marks(scores) == [(BROKEN_AT, TRAINING)]


def test_in_a_stack_the_others_are_unharmed() -> None:
    whole = Stack(EXPERIMENT, (1, 2, 3))
    expected, _ = train(whole, EXPERIMENT)
    broken = breaking(Stack(EXPERIMENT, (1, 2, 3)))
    scores, _ = train(broken, EXPERIMENT)
    assert [marks(own) for own in scores] == [[], [], [(BROKEN_AT, TRAINING)]]
    assert scores[:2] == expected[:2]
    for ours, theirs in zip(broken.weights()[:2], whole.weights()[:2], strict=True):
        assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


class StoppedError(Exception):
    """Stands in for the end of the process."""


def test_the_step_survives_a_stop(tmp_path: Path) -> None:
    clock = Clock(report_seconds=-1.0, checkpoint_seconds=-1.0)

    def interrupt(progress: Progress) -> None:
        if progress.step == BROKEN_AT + 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        train(
            breaking(OneNetwork(EXPERIMENT, 1)),
            EXPERIMENT,
            checkpoint=tmp_path / "c",
            report=interrupt,
            clock=clock,
        )
    shown: list[Progress] = []
    resumed = OneNetwork(EXPERIMENT, 1)
    [scores], _ = train(
        resumed, EXPERIMENT, checkpoint=tmp_path / "c", report=shown.append, clock=clock
    )
    assert shown[0].step == BROKEN_AT + 2
    assert marks(scores) == [(BROKEN_AT, TRAINING)]


def test_progress_names_seed_and_step_at_once() -> None:
    shown: list[Progress] = []
    train(
        breaking(Stack(EXPERIMENT, (4, 7))),
        EXPERIMENT,
        report=shown.append,
        clock=Clock(report_seconds=-1.0),
    )
    assert [progress.diverged for progress in shown[: BROKEN_AT - 1]] == [()] * (BROKEN_AT - 1)
    assert {progress.diverged for progress in shown[BROKEN_AT - 1 :]} == {((7, BROKEN_AT),)}


def test_a_loss_that_is_finite_again_starts_the_count_anew() -> None:
    since = torch.zeros(3, dtype=torch.int64)
    courses = [[1.0, math.inf, 1.0, 1.0], [1.0, math.nan, 1.0, -math.inf], [math.nan] * 4]
    for step, losses in enumerate(zip(*courses, strict=True), 1):
        since = not_finite_since(since, torch.tensor(losses), step)
    assert since.tolist() == [0, 4, 1]


@pytest.mark.parametrize(
    ("since", "loss", "expected"),
    [(3, math.nan, [3]), (0, math.inf, [8]), (8, 0.5, []), (0, 0.5, [])],
)
def test_what_is_not_finite_in_the_end_is_marked(
    since: int, loss: float, expected: list[int]
) -> None:
    """A last batch alone is no divergence; a last step may be one."""
    scores = [Score(step=8, regime=TRAINING, metric="loss", value=loss, count=4)]
    mark(scores, since, 8)
    assert [step for step, _ in marks(scores)] == expected


def record(*scores: tuple[int, str, float]) -> Record:
    return Record(
        key="k",
        experiment={},
        seed=0,
        steps=8,
        scores=tuple(
            Score(step=step, regime=regime, metric="loss", value=value, count=4)
            for step, regime, value in scores
        ),
        seconds=1.0,
        environment={},
    )


def test_records_without_a_mark_tell_by_their_curve() -> None:
    curve = [(1, TRAINING, math.nan), (2, TRAINING, 1.0), (4, TRAINING, math.nan)]
    assert record(*curve, (8, TRAINING, math.nan)).diverged() == 4
    assert record(*curve, (8, TRAINING, 1.0)).diverged() is None


def test_a_network_may_diverge_far_from_training_alone() -> None:
    far = record((8, TRAINING, 1.0), (8, "far", math.inf), (8, "near", 1.0))
    assert (far.diverged(), far.diverged("near"), far.diverged("far")) == (None, None, 8)
