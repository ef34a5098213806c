"""Answer of a trained network to one problem, with its attention or memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.analysis import attention_of, routing_of
from farfield.analysis.internal import WatchedEpisode, active_of, layer_reads_of
from farfield.core import Problems
from farfield.models import ESBN
from farfield.models.internal import Relational
from farfield.tasks import ProblemTask
from farfield.tasks.internal import metric_of
from farfield.training.internal import score_problems

MOST_ANSWERS: Final = 32
"""Maximum number of possible answers, or of positions, that are shown."""

MOST_COLUMNS: Final = 64
"""Columns of a map; of more, stretches of equal length are averaged."""


@final
@dataclass(frozen=True, kw_only=True)
class Map:
    """Numbers 0…1 in rows and columns.

    Args:
        title: Name of the numbers.
        corner: Names of rows and columns.
        rows: Name of each row.
        columns: Name of each column.
        values: Row by row.
    """

    title: str
    corner: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]


def map_of(title: str, corner: str, values: Tensor, *, first: int = 1) -> Map:
    """Build a matrix with numbered rows and columns; many columns are averaged in stretches.

    Args:
        title: Name of the matrix.
        corner: Names of rows and columns.
        values: The numbers, (row, column).
        first: Number of the first row; columns begin with 1.
    """
    height, width = values.shape
    length = -(-width // MOST_COLUMNS)
    ends = [(start, min(start + length, width)) for start in range(0, width, length)]
    stretches = [values[:, low:high].double().mean(1).tolist() for low, high in ends]
    return Map(
        title=title,
        corner=corner,
        rows=tuple(map(str, range(first, first + height))),
        columns=tuple(f"{low + 1}–{high}" if length > 1 else f"{high}" for low, high in ends),
        values=tuple(zip(*stretches, strict=True)),
    )


def answer_of(network: nn.Module, task: ProblemTask, problem: Problems) -> list[tuple[str, str]]:
    """Describe the answer to a problem, and the correct answer.

    Args:
        network: A trained network.
        task: Whose problem.
        problem: A set of one problem.
    """
    problem = problem.compact()
    score, loss = score_problems(network, task, problem)
    lines = [(metric_of(task), f"{float(score[0]):.4g}"), ("loss", f"{float(loss[0]):.4g}")]
    with torch.inference_mode():
        outputs = network(problem.table(), problem.index)
    target = problem.target
    if not isinstance(target, Tensor) or target.is_floating_point():
        return lines
    if outputs.ndim == 2 and target.ndim == 1 and outputs.shape[1] <= MOST_ANSWERS:
        logits = F.pad(outputs, (1, 0)) if outputs.shape[1] == 1 else outputs  # a yes or no
        for number, share in enumerate(logits[0].softmax(-1).tolist()):
            sign = ", the right one" if number == int(target[0]) else ""
            lines.append((f"answer {number}{sign}", f"{100 * share:.1f} %"))
    elif outputs.ndim == 3 and target.shape == outputs.shape[:2]:
        said, right = outputs[0].argmax(-1)[-MOST_ANSWERS:], target[0][-MOST_ANSWERS:]
        lines.append(("answers at the last positions", " ".join(map(str, said.tolist()))))
        lines.append(("right there", " ".join(map(str, right.tolist()))))
    return lines


def maps_of(network: nn.Module, problem: Problems) -> list[Map]:
    """Compute the attention, keys or mechanisms of a network on a problem, if its kind has any.

    Args:
        network: A trained network.
        problem: A set of one problem.
    """
    found: list[Map] = []
    for look in LOOKS:
        try:
            found += look(network, problem.compact())
        except ValueError:  # of another kind
            continue
    return found


def mechanisms_of(episode: WatchedEpisode) -> list[Map]:
    """Show the active mechanisms of an agent over an episode; none of an agent without any.

    Args:
        episode: The episode.
    """
    if not episode.active.shape[1]:
        return []
    return [map_of("Active mechanisms, step by step", "mechanism ╲ step", episode.active.T)]


def _recalled(network: nn.Module, problem: Problems) -> list[Map]:
    """Compute the cosine of the keys that an ESBN reads to the keys that it wrote."""
    if not isinstance(network, Relational) or not isinstance(network.reasoner, ESBN):
        raise ValueError("the network has no keys")
    with torch.inference_mode():
        keys = network.reasoner.keys(network.embed(problem.table(), problem.index))
    read, written = keys.read[0, 1:], keys.written[0]
    alike = F.cosine_similarity(read[:, None], written[None], dim=-1).clamp(0, 1)
    title = "Keys: likeness (cosine) of the key read at a time step to the keys written"
    return [map_of(title, "read ╲ written", alike, first=2)]


def _attended(network: nn.Module, problem: Problems) -> list[Map]:
    weights = attention_of(network, problem)[0]
    return [
        map_of(f"Attention, head {number}", "position ╲ to", head)
        for number, head in enumerate(weights, 1)
    ]


def _active(network: nn.Module, problem: Problems) -> list[Map]:
    active = active_of(network, problem)[0].T
    return [map_of("Active mechanisms, step by step", "mechanism ╲ step", active)]


def _routed(network: nn.Module, problem: Problems) -> list[Map]:
    return [
        map_of(f"Access of functions to elements, iteration {number}", "function ╲ element", one)
        for number, one in enumerate(routing_of(network, problem).compatibility[:, 0], 1)
    ]


def _read(network: nn.Module, problem: Problems) -> list[Map]:
    """Compute the attention of the layers of a network with neural function modules, over heads."""
    reads = layer_reads_of(network, problem)
    return [
        Map(
            title=f"Read by layer {read.reader[1]} in pass {read.reader[0]}, mean over heads",
            corner="",
            rows=("weight",),
            columns=("nothing", *(f"{layer}, pass {number}" for number, layer in read.written)),
            values=(tuple(read.attention[0].flatten(0, -2).mean(0).tolist()),),
        )
        for read in reads
    ]


LOOKS: Final[Sequence[Callable[[nn.Module, Problems], list[Map]]]] = (
    _recalled,
    _attended,
    _active,
    _routed,
    _read,
)
"""Function of each kind of network to the maps of it; `ValueError` for another kind."""
