"""Properties of every learner: a stack trains its networks as alone, a stopped run goes on."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.experiments import Experiment
from farfield.training import train
from farfield.training.internal import Clock, Learner, OneNetwork, Progress, Stack

EVERY_STEP = Clock(report_seconds=-1.0, checkpoint_seconds=-1.0)


def check_together(
    experiment: Experiment,
    *,
    seeds: tuple[int, ...] = (0, 3),
    steps: int = 2,
    starts: Sequence[Mapping[str, Tensor]] | None = None,
) -> OneNetwork:
    """Compare a stack in float64 with each of its networks alone; returns the last one."""
    given = {} if starts is None else {"starts": starts}
    together = Stack(experiment, seeds, dtype=torch.float64, **given)
    learners = [
        OneNetwork(experiment, seed, dtype=torch.float64, start=starts and starts[position])
        for position, seed in enumerate(seeds)
    ]
    for step in range(steps):
        losses = torch.cat([learner.update(step) for learner in learners])
        torch.testing.assert_close(together.update(step), losses, rtol=1e-9, atol=1e-12)
    scores = [together.score(steps), together.training_metrics(steps)]
    states = together.state(), together.weights()
    for position, learner in enumerate(learners):
        alone = [learner.score(steps), learner.training_metrics(steps)]
        for several, [wanted] in zip(scores, alone, strict=True):
            for found, score in zip(several[position], wanted, strict=True):
                assert found == msgspec.structs.replace(score, value=found.value)
                assert found.value == pytest.approx(score.value, rel=1e-7, nan_ok=True)
        own, kept = learner.state(), learner.weights()[0]
        assert kept.keys() == states[1][position].keys()
        pairs = {name: (states[1][position][name], tensor) for name, tensor in kept.items()}
        pairs |= {
            name: (states[0][name][position], own[name])
            for name in states[0].keys() & own.keys()
            if not name.startswith("optimizer.")
        }
        for name, (found, wanted) in pairs.items():
            # Adam divides small gradients by their size, rounding errors and all.
            torch.testing.assert_close(found, wanted, rtol=1e-8, atol=1e-8, msg=name)
    return learners[-1]


class StoppedError(Exception):
    """Stands in for the end of the process."""


def check_resumed(
    make: Callable[[], Learner], experiment: Experiment, path: Path, *, stop: int
) -> Learner:
    """Stop a run after a step and go on in a new learner; returns one that ran through.

    Scores and bytes of all states must be equal, whatever drew from global generators meanwhile.
    """

    def interrupt(progress: Progress) -> None:
        if progress.step == stop + 1:
            raise StoppedError

    whole, resumed, seen = make(), make(), list[int]()
    expected, _ = train(whole, experiment)
    set_global_generators()
    with pytest.raises(StoppedError):
        train(make(), experiment, checkpoint=path, report=interrupt, clock=EVERY_STEP)
    set_global_generators()
    scores, _ = train(
        resumed,
        experiment,
        checkpoint=path,
        report=lambda progress: seen.append(progress.step),
        clock=EVERY_STEP,
    )
    assert seen[0] == stop + 1
    assert scores == expected
    pairs = [(whole.state(), resumed.state())]
    pairs += zip(whole.weights(), resumed.weights(), strict=True)
    for wanted, found in pairs:
        assert found.keys() == wanted.keys()
        for name, value in wanted.items():
            one, two = (v.numpy() if isinstance(v, Tensor) else v for v in (found[name], value))
            np.testing.assert_array_equal(one, two, name)
    return whole


def set_global_generators() -> None:
    """Set the global generators, as another program may between two parts of a run."""
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    torch.manual_seed(5)
