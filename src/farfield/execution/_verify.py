"""Verification of records: the same networks trained anew, and compared."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, final

import torch
from torch import Tensor

from farfield.core import stream
from farfield.core.internal import Limits, NonNegativeInt, check_arguments
from farfield.execution._job import ExecutionError, Job, News, distinct_jobs
from farfield.execution._run import run
from farfield.metrics.internal import Summary, shared_spread_interval
from farfield.records import Record, Store, StoreError
from farfield.records.internal import to_tensors
from farfield.tasks import is_at_hand
from farfield.tasks.internal import metric_of
from farfield.training.internal import Matmul, changed_inputs

Verdict = Literal["same bytes", "same scores", "close scores", "differs", "not judged"]
"""Outcome of a comparison."""

KIND: Final = (
    "device", "platform", "processor", "capability", "torch", "numpy", "matmul", "engine",
)  # fmt: skip
"""Parts of a record's environment on which the bytes of a network depend."""

FEWEST: Final = 3
"""Smallest number of seeds that have a spread to compare with."""

CONFIDENCE: Final = 0.999
"""Share of further seeds that are within the spread."""


@final
@dataclass(frozen=True, kw_only=True)
class Verification:
    """A record beside the same network trained anew.

    Args:
        job: The network.
        verdict: `"same bytes"`: the trained network is the same, byte by byte, and so are all
            scores. `"same scores"`: the scores are, and there is no network to compare, or its file
            is of another make.
            `"close scores"`: on another kind of machine, the last scores are within the spread of
            the seeds. `"differs"`: neither. `"not judged"`: the network was not trained anew, or
            there are too few seeds for a spread.
        reason: The difference, or why it was not judged.
    """

    job: Job
    verdict: Verdict
    reason: str = ""


@check_arguments
def draw_share(
    jobs: Iterable[Job],
    share: Annotated[float, Limits(above=0, at_most=1)],
    *,
    seed: NonNegativeInt = 0,
) -> list[Job]:
    """Draw a share of jobs, rounded up, by a seed: the same for the same jobs in any order.

    Args:
        jobs: Jobs to draw from.
        share: Share of them, in (0, 1].
        seed: Seed of the draw.

    Raises:
        ValueError: If the share is not in (0, 1], or something is not a job.
    """
    ordered = sorted(distinct_jobs(jobs), key=lambda job: (job.experiment.key, job.seed))
    count = math.ceil(share * len(ordered))
    drawn = stream(seed, "verify").numpy().permutation(len(ordered))[:count]
    return [ordered[place] for place in sorted(drawn.tolist())]


@check_arguments
def verify(
    jobs: Iterable[Job],
    records: Iterable[Record],
    *,
    networks: Store | None = None,
    device: str = "cpu",
    workers: int | None = None,
    matmul: Matmul = "float32",
    report: Callable[[News], None] | None = None,
) -> list[Verification]:
    """Train recorded networks anew, in fresh processes, and compare them with their records.

    On the same kind of machine, by the processor and the versions of torch and NumPy in both
    records' environments, a network has the same bytes. Kinds differ in
    rounding, which training amplifies until the network is as good as one of another seed: there,
    each score after the last step must be within a 99.9 % prediction interval for one more seed,
    from all recorded seeds of the experiment. Nothing that is recorded is changed.

    Args:
        jobs: Jobs to train anew.
        records: Their records, and those of other seeds, for the spread.
        networks: Where the trained networks of the records lie; `None` where they were not kept.
        device: `"cpu"` or `"cuda"`.
        workers: Number of processes, as `run` has it.
        matmul: How a GPU multiplies matrices of float32.
        report: Takes the news of every job.

    Returns:
        A verdict for each job, in their order.

    Raises:
        ValueError: If a job has no record, or as `run`.
    """
    jobs, by_key = distinct_jobs(jobs), dict[str, dict[int, Record]]()
    for one in records:
        by_key.setdefault(one.key, {})[one.seed] = one
    pairs = {job: by_key.get(job.experiment.key, {}).get(job.seed) for job in jobs}
    for job, record in pairs.items():
        if record is None:
            raise ValueError(
                f"records must hold seed {job.seed} of {job.experiment.key}, got none of it"
            )
    kept = {job: record for job, record in pairs.items() if record is not None}
    hindered = {job: words for job, record in kept.items() if (words := _hindrance(job, record))}
    able = [job for job in jobs if job not in hindered]
    with tempfile.TemporaryDirectory(prefix="farfield-verify-") as folder:
        fresh, failure = Store(Path(folder)), ""
        try:
            run(able, fresh, device=device, workers=workers, matmul=matmul, report=report)
        except ExecutionError as error:
            failure = str(error)
        found = list[Verification]()
        for job in jobs:
            recorded, peers = kept[job], [*by_key[job.experiment.key].values()]
            anew = fresh.find(job.experiment.key, job.seed)
            verdict: tuple[Verdict, str]
            if job in hindered:
                verdict = "not judged", hindered[job]
            elif anew is None:
                verdict = "differs", failure
            else:
                same = _same_network(recorded, anew, networks, fresh)
                verdict = _verdict(recorded, anew, peers, same, metric_of(job.experiment.task))
            found.append(Verification(job=job, verdict=verdict[0], reason=verdict[1]))
    return found


def _hindrance(job: Job, record: Record) -> str:
    """Reason that a network cannot be trained anew; empty if there is none."""
    if not is_at_hand(job.experiment.task):
        return "the files of its task are not on this machine"
    changed = changed_inputs(job.experiment, record.files)
    return f"its files have changed: {'; '.join(changed[:3])}" if changed else ""


def _same_network(
    record: Record, anew: Record, networks: Store | None, fresh: Store
) -> bool | None:
    """Tell if two trained networks have the same bytes, `None` if the first was not kept."""
    if record.weights and record.weights == anew.weights:
        return True
    if networks is None or not networks.weights_path(record.key, record.seed).is_file():
        return None
    try:
        first = to_tensors(networks.weights(record.key, record.seed))
    except StoreError:
        return None
    second = to_tensors(fresh.weights(anew.key, anew.seed))
    return first.keys() == second.keys() and all(
        map(_equal, first.values(), map(second.get, first))
    )


def _equal(first: Tensor, second: Any) -> bool:
    """Tell if two tensors are of one type and shape and have the same bytes."""
    alike = (first.dtype, first.shape) == (second.dtype, second.shape)
    return alike and _bytes(first) == _bytes(second)


def _bytes(tensor: Tensor) -> bytes:
    return tensor.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def _verdict(
    record: Record,
    anew: Record,
    peers: Sequence[Record],
    same: bool | None,
    metric: str,
) -> tuple[Verdict, str]:
    """Judge a record, and give the reason.

    Args:
        record: The record.
        anew: Record of the same network, trained anew.
        peers: Records of all seeds of the experiment.
        same: Whether their networks have the same bytes; `None` where nobody knows.
        metric: Name of the score.
    """
    other, kind = _other_score(record, anew), other_kind(record, anew)
    if same and not other:
        return "same bytes", ""
    if not other and (same is None or kind):
        return "same scores", kind
    if not kind:
        return "differs", other or "the network has other bytes"
    return _close(record, anew, peers, metric, kind)


def other_kind(record: Record, anew: Record) -> str:
    """Describe the first difference between the kinds of machine of two records; empty if none.

    Args:
        record: One of them. Old ones do not say which instructions the processor has, so that
            nobody knows.
        anew: The other.
    """
    for name in KIND:
        first, second = (_part(one.environment, name) for one in (record, anew))
        if first != second:
            return f"another kind of machine: {name} {second}, recorded {first or 'none'}"
    return ""


def _part(environment: Mapping[str, str], name: str) -> str:
    """Read a part of an environment; of the engine only the number of networks in one program."""
    part = environment.get(name, "")
    return part if name != "engine" or part.startswith("vmap") else "one by one"


def _scores(record: Record) -> dict[tuple[int, str, str], float]:
    return {(s.step, s.regime, s.metric): s.value for s in record.scores}


def _other_score(record: Record, anew: Record) -> str:
    """Describe the first score that differs; empty if there is none."""
    first, second = _scores(record), _scores(anew)
    for place in sorted(first):
        if place not in second:
            return f"{_words(place)} is missing"
        if repr(first[place]) != repr(second[place]):
            return f"{_words(place)} is {second[place]:.6g}, recorded {first[place]:.6g}"
    return ""


def _words(place: tuple[int, str, str]) -> str:
    step, regime, metric = place
    return f"{metric} of {regime} at step {step}"


def _close(
    record: Record, anew: Record, peers: Sequence[Record], metric: str, kind: str
) -> tuple[Verdict, str]:
    """Judge a record of another kind of machine by the spread of the seeds."""
    if len(peers) < FEWEST:
        return "not judged", f"{kind}; fewer than {FEWEST} seeds for a spread"
    second = _scores(anew)
    for score in record.scores:
        place = score.step, score.regime, score.metric
        if score.step != record.steps or score.metric != metric:
            continue
        values = [_scores(peer).get(place, math.nan) for peer in peers]
        got = second.get(place, math.nan)
        if not all(map(math.isfinite, (*values, got))):
            return "not judged", f"{kind}; {_words(place)} is not finite"
        margin = _margin(values, score.count if metric == "accuracy" else 0)
        if abs(got - (mean := statistics.fmean(values))) > margin:
            return "differs", (
                f"{_words(place)} is {got:.6g}, not within {mean:.6g} ± {margin:.2g} of the "
                f"{len(values)} seeds"
            )
    return "close scores", kind


def _margin(values: Sequence[float], count: int) -> float:
    """Compute half a prediction interval for the score of one more seed.

    Args:
        values: Scores of the seeds.
        count: Problems of a score that is a share of right answers, whose spread is at least that
            of counting so many; 0 for another.
    """
    variance = statistics.variance(values)
    if count:
        share = (sum(values) * count + 1) / (len(values) * count + 2)
        variance = max(variance, share * (1 - share) / count)
    error = math.sqrt(variance / len(values))
    seeds = Summary(mean=0.0, standard_error=error, count=len(values))
    one_more = Summary(mean=0.0, standard_error=0.0, count=1)
    return shared_spread_interval(seeds, one_more, CONFIDENCE).interval.high
