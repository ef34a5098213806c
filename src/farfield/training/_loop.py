"""The training loop on one page: `update` is a step, `train` repeats it, scores, records and saves.

A network alone (`OneNetwork`), several seeds as one program (`Stack`) and agents (`OneAgent`) are
learners; they differ in how they draw a batch and find gradients. Players, optimizers and clipping
are in `_turns`, checkpoints in `_checkpoint`, reports and the training curve in `_progress`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from torch import Tensor

from farfield.core import stream
from farfield.core.internal import forked_generators
from farfield.experiments import Experiment, Recipe
from farfield.records import Score
from farfield.training._checkpoint import Checkpoint
from farfield.training._learner import Learner, Moves
from farfield.training._progress import Clock, Progress, Reports, curve_steps
from farfield.training._repeatable import FirstStep, Inputs
from farfield.training._settings import Matmul, fixed_settings
from farfield.training._state import OutsideState


def update(learner: Moves, recipe: Recipe, step: int) -> Tensor:
    """Do update number `step`, counted from 0, in every network; return the loss of each.

    Args:
        learner: The networks, changed in place.
        recipe: The recipe.
        step: Number of the step.
    """
    losses = []
    for turn, batch in learner.draw(step):
        loss, state = learner.differentiate(turn, batch)
        losses.append(loss)
        if state is None:
            break
        if recipe.clip_norm is not None:
            turn.clip_grad_norm(recipe.clip_norm)
        turn.restart(step)
        turn.set_learning_rate(recipe.schedule.factor(step, recipe.steps))
        turn.step()
        learner.remember(turn, batch, state, step)
    return learner.join(losses)


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
        experiment: Their experiment.
        checkpoint: File that holds the state between sittings; removed by nobody here.
        report: Shown how far the run is, about once in `clock.report_seconds`.
        clock: How often to report and to save.
        matmul: How a GPU multiplies matrices of float32; one `"tf32"` rounds them first.
        inputs: Files that the run reads; a checkpoint of a run that read others is set aside.

    Returns:
        The scores, one list per seed, and the seconds it took: every regime at every evaluation
        point, and between them, after `curve_steps`, the metric and the loss on some training
        problems. A network that diverged has the mark `DIVERGED` at the first of the last steps
        without a finite loss; it is trained to the last step like the others.

    Raises:
        StoreError: If the checkpoint cannot be written, or is a folder.
    """
    recipe, clock = experiment.recipe, clock or Clock()
    points = set(recipe.evaluation_steps)
    curve = set(curve_steps(recipe.steps)) - points
    kept = Checkpoint(checkpoint, learner, experiment, clock, inputs)
    with (
        fixed_settings(flush_denormal=True, matmul=matmul),
        forked_generators(stream(learner.seeds[0], "noise")),
    ):
        run = kept.resume()
        first = FirstStep(learner, experiment, run.step)
        outside = OutsideState(getattr(learner, "model", None) if checkpoint else None)
        reports = Reports(learner, recipe, run, clock, report)
        while run.step < recipe.steps:
            losses = learner.update(run.step)  # by `update`, above
            first.check(learner, losses)
            run.count(losses)
            if run.step in points:
                with reports.scoring():
                    run.add(learner.score(run.step))
            if run.step in curve:
                run.add(learner.training_metrics(run.step))
            reports.show(run)
            if kept.is_due(run) and not outside.changes():
                kept.save(run, reports.seconds)
        return run.finish(), reports.seconds
