"""Scores of trained networks in every regime of a task."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import vmap
from torch.nn.utils.rnn import pad_sequence

from farfield.core import Problems, Stream, stream
from farfield.core.internal import (
    RaggedItems,
    check_arguments,
    floating_dtype,
    forked_generators,
    joined,
)
from farfield.experiments import Experiment, Perturbation
from farfield.experiments.internal import ChangesNetwork
from farfield.models.internal import CarriesState, EncodesItems, NeedsCalibration
from farfield.objectives import Bound
from farfield.records import Score
from farfield.tasks import TRAINING, ProblemTask
from farfield.tasks.internal import (
    Consecutive,
    FurtherScores,
    HasSubsets,
    MultiOutput,
    PooledScores,
    SetScores,
    metric_of,
    scored_sets,
)
from farfield.training._settings import fixed_settings

CHUNK = 512
"""Problems scored at once: large enough to fill the products, small enough for the cache."""

GROUP = 32
"""Problems are cut between groups of so many only: statistics of a test batch are over a group."""

NUMBERS = 5_000_000
"""Most numbers in the items of problems that are scored at once, if it is more than one group."""

ITEMS = 512
"""Items encoded at once."""

RENEWAL = 500
"""Most batches behind new statistics of batch normalization."""

Outputs = Callable[[Tensor, Tensor], Tensor]
"""Function from `(items, index)` to outputs."""

Values = dict[str, Float[Tensor, " batch"]]
"""Measures of every problem, by name."""

Answered = tuple[Tensor, list[tuple[Tensor, Problems]]]
"""Rows of a set, and for each network its outputs beside the problems there."""


def problems_of_run(task: ProblemTask, seed: int) -> dict[str, Problems]:
    """Draw the sets of problems that run `seed` trains on and is scored on, by regime.

    Args:
        seed: Number of the run; every model sees the same problems under the same seed.
    """
    problems = stream(seed, "problems")
    with fixed_settings(), forked_generators(problems):
        return task.draw(problems)


def score_problems(
    model: Outputs, task: ProblemTask, problems: Problems
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """Score and loss of every problem, without gradients and in large batches.

    A model of two stages encodes each distinct item once where items occur more than once.

    Args:
        model: From `(items, index)` to outputs.
        task: Whose score and loss.
    """
    [measured] = measured_of(task, _answered(model, task, problems))
    return measured[metric_of(task)], measured["loss"]


def measured_of(
    task: ProblemTask, answered: Iterable[Answered], keep: list[list[Tensor]] | None = None
) -> list[Values]:
    """Compute metric, loss and further scores of every problem, and scores of its answers.

    Args:
        task: Whose metric and loss.
        answered: All problems of one or more networks, some at a time.
        keep: The outputs of each are added to it, where it is given.
    """
    found, order = [], []
    with torch.inference_mode():
        for rows, pairs in answered:
            order.append(rows)
            found.append([_measures(task, outputs, part) for outputs, part in pairs])
            if keep is not None:
                keep.append([outputs for outputs, _ in pairs])
    rows = torch.cat(order).argsort()
    return [
        {
            name: (value := torch.cat([part[name] for part in own]))[rows.to(value.device)]
            for name in own[0]
        }
        for own in zip(*found, strict=True)
    ]


def _answered(model: Outputs, task: ProblemTask, problems: Problems) -> Iterator[Answered]:
    """Answer all problems by one network, problems of a shape in their order."""
    for rows, some in problems.by_shape():
        same = some.compact()
        answer, chunk = _answers(model, same)
        if isinstance(task, Consecutive):
            answer, chunk = _continuing(model) if carries_state(model) else answer, GROUP
        for start in range(0, len(same), chunk):
            part = same[start : start + chunk]
            yield rows[start : start + chunk], [(answer(part), part)]


def _measures(
    task: ProblemTask, outputs: Tensor, problems: Problems
) -> dict[str, Float[Tensor, " batch"]]:
    """Measure outputs; the measures have their names in records."""
    metric = metric_of(task)
    several = task.answer_scores(outputs, problems) if isinstance(task, MultiOutput) else {}
    further = task.further_scores(outputs, problems) if isinstance(task, FurtherScores) else {}
    return {
        metric: task.score(outputs, problems),
        "loss": task.loss(outputs, problems),
        **{f"{metric}/{answer}": scores for answer, scores in several.items()},
        **further,
    }


def _answers(model: Outputs, problems: Problems) -> tuple[Callable[[Problems], Tensor], int]:
    """Choose a function from problems to outputs, and its largest number of problems."""
    if isinstance(model, EncodesItems) and repeats(problems):
        embeddings = encode_all(model, problems)
        return (lambda part: model.answer(embeddings, part.index)), CHUNK

    def whole(part: Problems) -> Tensor:
        part = part.compact()
        return model(part.table(), part.index)

    return whole, chunk_of(problems)


def repeats(problems: Problems) -> bool:
    """Tell if an item occurs at several positions, so that items are worth encoding before.

    Args:
        problems: Over a table of items that occur.
    """
    return len(problems.items) < problems.index.numel()


def chunk_of(problems: Problems, networks: int = 1) -> int:
    """Make problems of each network that are answered at once where items are not encoded before.

    Args:
        problems: Those of one of them.
        networks: How many networks answer.
    """
    numbers = networks * problems.index.shape[1] * math.prod(problems.items.shape[1:])
    groups = NUMBERS // max(1, GROUP * numbers)
    return min(CHUNK, GROUP * max(1, groups))


def carries_state(model: object) -> TypeGuard[CarriesState]:
    """Tell if a model goes on from a state where problems follow each other.

    Args:
        model: Any model.
    """
    return isinstance(model, CarriesState) and model.carries_state


def _continuing(model: CarriesState) -> Callable[[Problems], Tensor]:
    """Make a function from problems to outputs that reads all problems as one sequence."""
    state: tuple[Tensor, ...] | None = None

    def answer(part: Problems) -> Tensor:
        nonlocal state
        part = part.compact()
        outputs, state = model.continued(part.table(), part.index.reshape(1, -1), state)
        return outputs.reshape(*part.index.shape, -1)

    return answer


def encode_all(model: EncodesItems, problems: Problems) -> Float[Tensor, "item ..."]:
    """Compute embeddings of all items of the table, some of them at a time.

    Args:
        model: Model with an encoder.
        problems: Whose table of items.
    """
    rows = torch.arange(len(problems.items), device=problems.index.device)
    parts = [
        model.encode(problems.items.index_select(0, some)) for some in torch.split(rows, ITEMS)
    ]
    return torch.cat(parts)


def calibrate(model: nn.Module, problems: Problems) -> None:
    """Bring a model into evaluation mode, with its statistics of the training problems.

    A model of two stages that wants statistics of the training problems is given all of them:
    batch normalization with statistics of training takes them here, exactly and not as an average
    over past weights.

    Args:
        model: The network, changed in place.
        problems: All training problems.
    """
    model.eval()
    if wants_statistics(model):
        problems = problems.compact()
        with torch.no_grad():
            model.calibrate(encode_all(model, problems), problems.index)


def calibrated_on(model: nn.Module, some: Problems) -> nn.Module:
    """Bring a model into evaluation mode; a copy with statistics of `some` if it has any.

    Args:
        model: The network; only its mode is changed.
        some: Training problems, not all of them.
    """
    keeps = wants_statistics(model)
    own = copy.deepcopy(model) if keeps else model
    calibrate(own, some)
    return own


def renew_statistics(model: nn.Module, problems: Problems, seed: int) -> None:
    """Estimate running statistics of batch normalization anew, as means over training batches.

    Args:
        model: The network in evaluation mode, changed in place.
        problems: Training problems.
        seed: Seed of the run, from which the order of the problems is drawn.
    """
    layers: list[Any] = [
        layer
        for layer in model.modules()
        if isinstance(getattr(layer, "running_mean", None), Tensor) and hasattr(layer, "momentum")
    ]
    if not layers:
        return
    before = [layer.momentum for layer in layers]
    order = stream(seed, "statistics").numpy().permutation(len(problems))[: RENEWAL * CHUNK]
    with torch.no_grad():
        for count, rows in enumerate(torch.split(torch.from_numpy(order), CHUNK), 1):
            for layer in layers:
                layer.momentum = 1 / count
                layer.train()
            part = problems[rows.to(problems.index.device)].compact()
            model(part.table(), part.index)
    for layer, momentum in zip(layers, before, strict=True):
        layer.momentum = momentum
        layer.eval()


def loss_on(model: Outputs, task: ProblemTask, sets: Mapping[str, Problems], name: str) -> float:
    """Compute the mean loss of a network on a set.

    Args:
        model: The network, in evaluation mode.
        task: Whose loss.
        sets: Problems by the name of their set.
        name: Name of the set.

    Raises:
        ValueError: If the task has no such set.
    """
    if name not in sets:
        raise ValueError(
            f"validation must name a set that the task draws ({', '.join(sets)}), got {name!r}"
        )
    return float(score_problems(model, task, sets[name])[1].double().mean())


def wants_statistics(model: object) -> TypeGuard[NeedsCalibration]:
    """Tell if a model uses statistics of the training problems.

    Args:
        model: Any model.
    """
    return isinstance(model, NeedsCalibration) and model.wants_statistics


def metric_points(
    step: int, task: ProblemTask, scores: Float[Tensor, " batch"], losses: Float[Tensor, " batch"]
) -> list[Score]:
    """Make points of the training curve: the mean metric and the mean loss.

    Args:
        step: Updates done so far, noted in the points.
        task: Whose metric.
        scores: Score of each problem.
        losses: Its loss.
    """
    return [
        _mean_score(step, TRAINING, name, values)
        for name, values in ((metric_of(task), scores), ("loss", losses))
    ]


def score_regimes(
    model: Outputs,
    task: ProblemTask,
    sets: Mapping[str, Problems],
    step: int,
    perturbations: Sequence[Perturbation] = (),
    noise: Stream | None = None,
) -> list[Score]:
    """Score a model in every regime, and in the parts of each regime.

    The metric of a part, and that of each answer where a task asks for several, has the name of
    the part or answer behind a slash. Further scores and scores of whole sets have their own.

    Args:
        model: From `(items, index)` to outputs.
        task: Whose regimes.
        sets: Problems by regime.
        step: Updates done so far, noted in the scores.
        perturbations: Regimes that are made from the model.
        noise: Random numbers of the perturbations.
    """
    found: list[Score] = []
    asked = scored_sets(task, sets)
    for regime, problems in asked.items():
        found += _scores(model, task, problems, step, regime)
    for change in perturbations:
        name = change.regime.name
        numbers = (noise or stream(0)).child(name)
        changed = _perturbed(model, task, asked[change.of], change, numbers)
        answers = model
        if isinstance(change, ChangesNetwork) and isinstance(model, nn.Module):
            answers = change.network(model, numbers.child("network"))
        found += _scores(answers, task, changed, step, name)
    return found


def _scores(
    model: Outputs, task: ProblemTask, problems: Problems, step: int, regime: str
) -> list[Score]:
    """Score one set."""
    answered = _answered(model, task, problems)
    [found] = scores_of(task, [problems], answered, step, regime, model)
    return found


def scores_of(
    task: ProblemTask,
    several: Sequence[Problems],
    answered: Iterable[Answered],
    step: int,
    regime: str,
    model: object = None,
) -> list[list[Score]]:
    """Score one set of each of several networks.

    Args:
        task: Whose regime.
        several: The set of each.
        answered: The same with the outputs, some at a time.
        step: Updates done so far, noted in the scores.
        regime: Name of the set.
        model: A model that may judge its outputs itself.
    """
    both: tuple[object, object] = (task, model)
    judges = [judge for judge in both if isinstance(judge, SetScores)]
    outputs: list[list[Tensor]] = []
    measured = measured_of(task, answered, outputs if judges else None)
    scores = []
    for number, (values, problems) in enumerate(zip(measured, several, strict=True)):
        if isinstance(task, HasSubsets):
            metric, parts = metric_of(task), task.parts(problems)
            values |= {f"{metric}/{part}": values[metric][rows] for part, rows in parts.items()}
        pooled: dict[str, float] = {}
        for judge in judges:
            pooled |= judge.set_scores(torch.cat([each[number] for each in outputs]), problems)
        if isinstance(task, PooledScores):
            pooled |= task.pooled_scores(values["loss"], problems)
        found = [_mean_score(step, regime, name, value) for name, value in values.items()]
        found += [
            Score(step=step, regime=regime, metric=name, value=value, count=len(problems))
            for name, value in pooled.items()
        ]
        scores.append(found)
    return scores


def _perturbed(
    model: Outputs, task: ProblemTask, problems: Problems, change: Perturbation, noise: Stream
) -> Problems:
    """Select the problems of a perturbation, changed some at a time."""
    _, chunk = _answers(model, problems.compact())
    parts = []
    for start in range(0, len(problems), chunk):
        part = problems[start : start + chunk].compact()
        parts.append(change(model, part, task.loss, noise.child(start)))
        if len(parts[-1]) != len(part):
            raise ValueError(
                f"perturbations must give as many problems as they take ({len(part)}), "
                f"got {len(parts[-1])} from {change!r}"
            )
    return joined(parts)


def score_all(
    experiment: Experiment, model: Outputs, sets: Mapping[str, Problems], step: int, seed: int
) -> list[Score]:
    """Score a network in every regime of its experiment, perturbed regimes included.

    Args:
        experiment: Its experiment.
        model: The network.
        sets: Problems by regime.
        step: Updates done so far, noted in the scores.
    """
    noise = stream(seed, "perturbations")
    return score_regimes(
        model, experiment.problem_task, sets, step, experiment.perturbations, noise
    )


def scoring_stream(seed: int) -> Stream:
    """Return the stream of random numbers of models in evaluation, equal at every scoring."""
    return stream(seed, "scoring")


def _mean_score(step: int, regime: str, metric: str, values: Float[Tensor, " batch"]) -> Score:
    """Compute the mean over problems."""
    mean = float(values.double().mean())
    return Score(step=step, regime=regime, metric=metric, value=mean, count=len(values))


@check_arguments
def evaluate(model: nn.Module, task: ProblemTask, *, seed: int = 0) -> dict[str, float]:
    """Compute the mean score of a network in every regime of a task: the extrapolation profile.

    The network is used in evaluation mode and is left as it was found.

    Args:
        model: Any module from `(items, index)` to outputs, e.g. `Relational`.
        seed: Which run's problems; a network should be scored with the split of shapes that it was
            trained with.

    Returns:
        Mean score by regime, from 0 to 1.

    Example:
        >>> from farfield.core import stream
        >>> from farfield.experiments import Network, Spec
        >>> from farfield.models import ESBN
        >>> from farfield.tasks import SameDifferent
        >>> task = SameDifferent(withheld=98)
        >>> network = Network(reasoner=Spec(ESBN)).build(task, stream(0, "weights"))
        >>> list(evaluate(network, task))
        ['training', 'withheld-98']
    """
    device = next(model.parameters(), torch.zeros(())).device
    was_training = model.training
    sets = problems_of_run(task, seed)
    model.eval()
    try:
        with forked_generators(scoring_stream(seed)):
            return {
                regime: float(score_problems(model, task, problems)[0].double().mean())
                for regime, whole in scored_sets(task, sets).items()
                for problems in [whole.to(device, floating_dtype(model) or torch.float32)]
            }
    finally:
        model.train(was_training)


@final
@dataclass(frozen=True)
class Together:
    """Networks of several seeds, called as one.

    Args:
        module: One of them, in evaluation mode.
        tensors: Parameters and buffers of all, by name, with an axis of networks before.
    """

    module: nn.Module
    tensors: Mapping[str, Tensor]

    def call(self, method: str, *inputs: Tensor) -> Tensor:
        """Call a method of every network; results have an axis of networks before.

        Args:
            method: Name of the method, e.g. `"forward"`.
            inputs: Its arguments, likewise.
        """

        def one(tensors: dict[str, Tensor], *own: Tensor) -> Tensor:
            found: Tensor = Bound(module=self.module, parameters=tensors).call(method, *own)
            return found

        return vmap(one)(dict(self.tensors), *inputs)

    def answered(self, several: Sequence[Problems]) -> Iterator[Answered]:
        """Select the problems with the outputs, some of every network at a time.

        Items that come again are encoded once. Tables of different lengths are filled with zeros.

        Args:
            several: The problems of each network, `can_be_together`.
        """
        several = [problems.compact() for problems in several]
        chunk, embeddings = chunk_of(several[0], len(several)), None
        if isinstance(self.module, EncodesItems) and all(map(repeats, several)):
            items = pad_sequence([problems.table() for problems in several], batch_first=True)
            found = [self.call("encode", some) for some in torch.split(items, ITEMS, dim=1)]
            embeddings, chunk = torch.cat(found, dim=1), CHUNK
        for start in range(0, len(several[0]), chunk):
            parts = [problems[start : start + chunk] for problems in several]
            if embeddings is None:
                parts = [part.unshared() for part in parts]
                method, read = "forward", torch.stack([part.table() for part in parts])
            else:
                method, read = "answer", embeddings
            outputs = self.call(method, read, torch.stack([part.index for part in parts]))
            rows = torch.arange(start, start + len(parts[0]))
            yield rows, list(zip(outputs.unbind(), parts, strict=True))


def can_be_together(model: nn.Module, task: ProblemTask, several: Sequence[Problems]) -> bool:
    """Tell if networks of several seeds can answer their problems as one, each by itself.

    Args:
        model: One of the networks.
        several: The problems of each.
    """
    shapes = {problems.index.shape for problems in several}
    kinds = (part for problems in several for part in (problems.items, problems.target))
    return not (
        len(shapes) > 1
        or isinstance(task, Consecutive)
        or isinstance(model, SetScores)
        or wants_statistics(model)
        or any(isinstance(kind, RaggedItems) for kind in kinds)
    )
