"""The training loop, and the checkpoints that let it stop and go on."""

from __future__ import annotations

import hashlib
import math
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import msgspec
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from farfield.core import stream
from farfield.core.internal import expand_home, forked_generators, from_line, to_line
from farfield.experiments import Experiment
from farfield.records import Score, StoreError
from farfield.records.internal import DIVERGED, JSON, read_tensors, set_aside, write_tensors
from farfield.tasks import TRAINING
from farfield.training._learner import Learner
from farfield.training._repeatable import FirstStep, Inputs, changed_inputs
from farfield.training._settings import Matmul, fixed_settings
from farfield.training._state import BUFFER, PLAIN, PREFIX, OutsideState
from farfield.training._turns import REMEMBERED


def not_finite_since(
    before: Int64[Tensor, " seed"], losses: Float[Tensor, " seed"], step: int
) -> Int64[Tensor, " seed"]:
    """First step of the losses that are not finite, 0 where they are.

    On the device of the losses, and without waiting for it.

    Args:
        before: What this gave at the step before; zeros at first.
        losses: Loss of each network at this step.
        step: Number of the step, counted from 1.
    """
    before = before.to(losses.device)
    since = torch.where(before > 0, before, step)
    return torch.where(losses.isfinite(), 0, since)


def mark(scores: list[Score], since: int, steps: int) -> None:
    """Mark the scores of a finished network that diverged.

    It did if its loss on training problems is not finite after the last step. A loss that was
    infinite on the way, or on the last batch alone, is not a divergence.

    Args:
        scores: Of one network, all of them; added to in place.
        since: From `not_finite_since` at the last step.
        steps: Number of the last step.
    """
    if not _all_finite(scores, steps):
        point = Score(step=since or steps, regime=TRAINING, metric=DIVERGED, value=1.0, count=1)
        scores.append(point)


def _all_finite(scores: Sequence[Score], step: int) -> bool:
    """True if the scores and losses on training problems are finite at a step."""
    last = [score.value for score in scores if (score.step, score.regime) == (step, TRAINING)]
    return all(map(math.isfinite, last))


@final
@dataclass(frozen=True, kw_only=True)
class Progress:
    """Progress of a run.

    Args:
        step: Updates done.
        steps: Updates in all.
        score: Mean score on some of the training problems.
        seconds: Seconds so far, over all sittings.
        share: Part of a core that this process got since the report before; above 1 with threads.
        diverged: Seeds of the networks whose loss is not finite now, each with the step since which
            it has not been.
        scored: Seconds that scorings of all regimes took in this sitting.
        scorings: Number of those scorings.
        ahead: Number of scorings ahead.
    """

    step: int
    steps: int
    score: float
    seconds: float
    share: float = 1.0
    diverged: tuple[tuple[int, int], ...] = ()
    scored: float = 0.0
    scorings: int = 0
    ahead: int = 0


@final
@dataclass(frozen=True, kw_only=True)
class Clock:
    """Intervals of reports and checkpoints; neither changes the result of a run.

    Args:
        report_seconds: Seconds between two reports.
        checkpoint_seconds: Seconds between two checkpoints.
    """

    report_seconds: float = 1.0
    checkpoint_seconds: float = 30.0


PAUSE = 10.0
"""Factor by which reports become rarer for each second of processor time that one takes."""


def curve_steps(steps: int) -> tuple[int, ...]:
    """The updates after which a point of the training curve is taken: four an octave.

    What costs as little at every length of training, and shows the first hundred updates of a
    network that needs no more as well as the ten thousand of another.

    Args:
        steps: Updates in all.
    """
    octaves = range(4 * steps.bit_length() + 1)
    points = sorted({round(2 ** (quarter / 4)) for quarter in octaves})
    return tuple(point for point in points if point <= steps)


class _Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Contents of a checkpoint beside tensors."""

    key: str
    engine: str
    seeds: tuple[int, ...]
    tensors: dict[str, str]
    step: int
    seconds: float
    scores: tuple[tuple[Score, ...], ...]
    since: tuple[int, ...]
    digest: str = ""
    files: dict[str, str] | msgspec.UnsetType = msgspec.UNSET

    def digest_with(self, tensors: Mapping[str, Tensor]) -> str:
        """SHA-256 of a checkpoint: of all that stands here and of the tensors beside it."""
        digest = hashlib.sha256(to_line(msgspec.structs.replace(self, digest="")).encode())
        for name in sorted(tensors):
            content = tensors[name].detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(name.encode())
            digest.update(content.numpy().data)
        return digest.hexdigest()


def train(
    learner: Learner,
    experiment: Experiment,
    *,
    checkpoint: Path | None = None,
    report: Callable[[Progress], None] | None = None,
    clock: Clock | None = None,
    matmul: Matmul = "float32",
    inputs: Inputs | None = None,
) -> tuple[list[list[Score]], float]:
    """Train to the last step of the recipe, from the checkpoint if there is one.

    Stopped at any moment and started again on the same machine with the same kind of learner, the
    networks end with the same bytes, whatever settings of torch the caller has, and whatever was
    drawn from the global generators before: both are as they were afterwards.

    Args:
        learner: The networks.
        experiment: What they are trained on.
        checkpoint: File that holds the state between sittings; removed by nobody here.
        report: Shown how far the run is, about once in `clock.report_seconds`.
        clock: How often to report and to save.
        matmul: How a GPU multiplies matrices of float32; one `"tf32"` rounds them first.
        inputs: Files that the run reads; a checkpoint of a run that read others is set aside.

    Returns:
        The scores, one list per seed, and the seconds it took: every regime at every evaluation
        point, and between them, after `curve_steps`, the metric and the loss on some training
        problems. A network that diverged has the mark `DIVERGED` at the step since which its loss
        has not been finite; it is trained to the last step like the others.

    Raises:
        StoreError: If the checkpoint cannot be written, or is a folder.
    """
    clock, checkpoint = clock or Clock(), None if checkpoint is None else expand_home(checkpoint)
    steps, points = experiment.recipe.steps, set(experiment.recipe.evaluation_steps)
    curve = set(curve_steps(steps)) - points
    with (
        fixed_settings(flush_denormal=True, matmul=matmul),
        forked_generators(stream(learner.seeds[0], "noise")),
    ):
        step, before, scores, since = _resume(learner, experiment, checkpoint)
        first = FirstStep(learner, experiment, step)
        outside = OutsideState(getattr(learner, "model", None) if checkpoint else None)
        started = reported = saved = time.monotonic()
        worked = time.process_time()
        pause = clock.report_seconds
        scored, scorings = 0.0, 0
        while step < steps:
            losses = learner.update(step)
            step += 1
            first.check(learner, losses)
            since = not_finite_since(since, losses, step)
            if step in points:
                began = time.monotonic()
                for place, new in enumerate(learner.score(step)):
                    scores[place] += new
                scored += time.monotonic() - began
                scorings += 1
            if step in curve:
                for place, new in enumerate(learner.training_metrics(step)):
                    scores[place] += new
            now = time.monotonic()
            is_due = now - reported > pause or step == 1
            if report and (is_due or (step == steps and since.any())):
                # The processor's time, for a machine may have slept meanwhile.
                earlier, worked = worked, time.process_time()
                share = (worked - earlier) / max(now - reported, 1e-6)
                seconds = before + now - started
                report(
                    _progress(
                        learner,
                        step,
                        since,
                        steps=steps,
                        seconds=seconds,
                        share=share,
                        scored=scored,
                        scorings=scorings,
                        ahead=sum(step < at for at in points),
                    )
                )
                took = time.process_time() - worked
                pause = clock.report_seconds * max(1.0, PAUSE * took)
                reported, worked = time.monotonic(), worked + took
            is_late = step < steps and now - saved > clock.checkpoint_seconds
            if checkpoint and is_late and not outside.changes():
                saved = now
                files = inputs.files() if inputs else {}
                seconds = before + now - started
                _save(learner, experiment, checkpoint, step, seconds, scores, since, files)
        for own, first in zip(scores, since.tolist(), strict=True):
            mark(own, first, steps)
        return scores, before + time.monotonic() - started


def _progress(learner: Learner, step: int, since: Tensor, **measured: Any) -> Progress:
    """Progress of the networks, on some of their training problems."""
    score = statistics.fmean(points[0].value for points in learner.training_metrics(step))
    pairs = zip(learner.seeds, since.tolist(), strict=True)
    return Progress(
        step=step,
        score=score,
        **measured,
        diverged=tuple((seed, first) for seed, first in pairs if first),
    )


_Sitting = tuple[int, float, list[list[Score]], Tensor]
"""Step, seconds, scores, and since when losses have not been finite."""


def _save(
    learner: Learner,
    experiment: Experiment,
    path: Path,
    step: int,
    seconds: float,
    scores: list[list[Score]],
    since: Tensor,
    files: Mapping[str, str],
) -> None:
    tensors = learner.state()
    note = _Note(
        key=experiment.key,
        engine=type(learner).__name__,
        seeds=learner.seeds,
        tensors=_kinds(tensors),
        step=step,
        seconds=seconds,
        scores=tuple(tuple(part) for part in scores),
        since=tuple(since.tolist()),
        files=dict(files) or msgspec.UNSET,
    )
    signed = msgspec.structs.replace(note, digest=note.digest_with(tensors))
    write_tensors(path, tensors, to_line(signed))


def _resume(learner: Learner, experiment: Experiment, path: Path | None) -> _Sitting:
    """State of the checkpoint, or a fresh start if there is no usable one.

    One that is damaged, or belongs elsewhere, is set aside with a warning.
    """
    fresh: _Sitting = 0, 0.0, [[] for _ in learner.seeds], torch.zeros(len(learner.seeds)).long()
    if path is None or not os.path.lexists(path):
        return fresh
    if path.is_dir():
        raise StoreError(f"checkpoint must be a file, got {path}: it is a folder; remove it")
    try:
        tensors, text = read_tensors(path)
        note = from_line(text, _Note)
        _check(note, tensors, learner, experiment)
    except (StoreError, ValueError) as error:
        set_aside(path, f"checkpoint {path} cannot be used: {error}")
        return fresh
    if (note.engine, note.seeds) != (type(learner).__name__, learner.seeds):
        return fresh  # of networks that were trained in another company
    learner.load_state(tensors)
    return note.step, note.seconds, [list(part) for part in note.scores], torch.tensor(note.since)


def _check(
    note: _Note, tensors: Mapping[str, Tensor], learner: Learner, experiment: Experiment
) -> None:
    """Raise `ValueError` if a checkpoint is damaged, or not of this run."""
    if note.digest != note.digest_with(tensors) or note.tensors != _kinds(tensors):
        raise ValueError("it is not what was written")
    if note.key != experiment.key or learner.seeds[0] not in note.seeds:
        raise ValueError(f"it is of seeds {note.seeds} of experiment {note.key}")
    several = {len(note.seeds), len(note.scores), len(note.since)}
    if note.files and (changed := changed_inputs(experiment, note.files)):
        raise ValueError(f"the run has read other files: {'; '.join(changed)}")
    if not 0 < note.step < experiment.recipe.steps or len(several) > 1:
        raise ValueError(f"it is of step {note.step}, with scores of {len(note.scores)} networks")
    same_engine = (note.engine, note.seeds) == (type(learner).__name__, learner.seeds)
    if same_engine and not _fits(note.tensors, _kinds(learner.state())):
        raise ValueError("its tensors are not those of the network")


def _kinds(tensors: Mapping[str, Tensor]) -> dict[str, str]:
    """Type and shape of every tensor, in words; those of a text are its own matter."""
    return {
        name: "JSON" if name.endswith(JSON) else f"{tensor.dtype} {tuple(tensor.shape)}"
        for name, tensor in tensors.items()
    }


def _fits(found: Mapping[str, str], own: Mapping[str, str]) -> bool:
    """True if a state fits the learner, whose optimizer and objectives may still be empty."""
    growing = (PREFIX, BUFFER, PLAIN, REMEMBERED)
    fixed = {name: kind for name, kind in own.items() if not name.startswith(growing)}
    more = found.keys() - fixed.keys()
    return fixed.items() <= found.items() and all(name.startswith(growing) for name in more)
