"""Routing within trained networks: paths, types, and reads between layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from farfield._text import fixed
from farfield.analysis import clustering, routing_of, tsne
from farfield.analysis.internal import Routing, layer_reads_of, path_similarity
from farfield.nn import MultiPass
from farfield.nn.internal import LayerRead
from farfield.reports._exhibits._exhibit import (
    Evidence,
    Finding,
    OneNetwork,
    Plate,
    network_exhibit,
)
from farfield.reports._exhibits._frames import Cells, Curve, Dots, Drawing, Panel
from farfield.reports._profile._theme import LEGEND
from farfield.reports._report import _text as text
from farfield.reports._report._report import Row

SHOWN: Final = 3
"""Number of samples whose paths are drawn."""
COMPARED: Final = 50
"""Number of samples whose paths are compared."""
WIDTHS: Final = (0.2, 4.0)
"""Widths in points of the lines that the fewest and the most elements follow."""
AREA: Final = 200.0
"""Area of a dot with access to all elements, square points."""
TYPED: Final = 12
"""Number of samples whose types are drawn."""
DRAWN: Final = 3
"""Maximum number of networks whose types are drawn; all are measured."""
ACROSS: Final = 4
"""Maximum number of iterations whose types are drawn, evenly spaced."""
PROBLEMS: Final = 100
"""Number of problems over which attention is averaged, the first of the regime."""

PATHS: Final = (
    "Three samples of {row}, seed {seed}. A dot is a function in an iteration, one color each, its "
    "area the share of the elements that it has access to; a line is the wider, the more of the "
    "elements go from one function to the next. Similarity of paths: the part of the routing that "
    "two samples have in common, element by element, over all pairs of {samples} samples; 100 % "
    "where all are routed alike."
)
TYPES: Final = (
    "Types of the elements of {samples} samples in {row}, a row of panels for each seed ({seeds}), "
    "on a plane (t-SNE, each iteration by itself); colors tell the function whose signature is "
    "nearest. Clustering, of every network: share "
    "of the variance of the types that lies between the groups of one nearest function."
)
SCRIPTS: Final = " Colors mean other functions in each script."
READS: Final = (
    "Attention of each layer that reads (rows) to the null element and to the layers of this pass "
    "and those before (columns) in percent: means over heads, positions and the first {problems} "
    "problems of each network. A layer reads its own output too."
)


def _routings(evidence: Evidence, regime: str, samples: int) -> tuple[Row, list[Routing]]:
    """Route samples in the networks of the row that was trained for most of its steps."""
    row = max(evidence.run, key=lambda row: row.judgement.fraction or 0.0)
    runs = (evidence.looked_into(row, record) for record in row.records)
    return row, [routing_of(run.network, run.sets[regime][:samples]) for run in runs]


@network_exhibit
def routing_paths(evidence: Evidence, *, regime: str) -> Plate:
    """Measure the paths of elements through the functions of a Neural Interpreter.

    The quantity is named `similarity`.

    Args:
        evidence: Networks with functions.
        regime: Regime of the samples.
    """
    row, found = _routings(evidence, regime, COMPARED)
    seed = row.records[0].seed
    similarity = [100 * path_similarity(routing.compatibility) for routing in found]
    shown = found[0].compatibility[:, :SHOWN]
    shares = shown / shown.sum(2, keepdim=True).clamp(min=1e-12)
    flows = (shares[:-1] @ shares[1:].transpose(2, 3) / shares.shape[-1]).numpy()
    ends = float(flows.min()), float(flows.max())
    panels = [
        _paths(shares[:, number], np.interp(flows[:, number], ends, WIDTHS), f"sample {number + 1}")
        for number in range(shown.shape[1])
    ]
    legend = (
        Curve(
            color="muted",
            width=float(np.interp(share, ends, WIDTHS)),
            name=f"{100 * share:.1f} % of elements",
        )
        for share in np.linspace(*ends, 3)
    )
    return Plate(
        name="paths",
        title="Paths through the functions",
        caption=PATHS.format(row=row.claim.row, seed=seed, samples=COMPARED),
        draw=Drawing(
            rows=[panels],
            height=2.5,
            note=f"{row.claim.row}, {text.budget(row)} of steps, seed {seed}",
            y_label="function",
            legend=tuple(legend),
        ),
        findings=(
            evidence.finding(
                f"{row.claim.row}: similarity of the paths of two samples",
                "similarity",
                text.over_counted(similarity),
            ),
        ),
    )


def _paths(
    shares: Float[Tensor, "iteration function item"],
    widths: Float[np.ndarray, "step function function"],
    title: str,
) -> Panel:
    """Lay out functions from top to bottom and iterations from left to right."""
    iterations, functions, _ = shares.shape
    lines = [
        Curve(
            x=(step + 1, step + 2),
            y=(first + 1, second + 1),
            color="muted",
            width=float(widths[step, first, second]),
        )
        for step, first, second in np.ndindex(widths.shape)
    ]
    sizes = AREA * shares.mean(2).numpy()
    steps = range(1, iterations + 1)
    dots = [
        Dots(x=steps, y=[number + 1] * iterations, size=sizes[:, number], color=number)
        for number in range(functions)
    ]
    return Panel(
        marks=(*lines, *dots),
        title=title,
        x_label="iteration",
        x_ticks=steps,
        y_ticks=range(1, functions + 1),
        x_limits=(0.5, iterations + 0.5),
        y_limits=(functions + 0.5, 0.5),
        frame="ticks",
    )


@network_exhibit
def types_by_iteration(evidence: Evidence, *, regime: str) -> Plate:
    """Measure the types of elements in a Neural Interpreter, and their clustering.

    The quantity is named `rise`.

    Args:
        evidence: Networks with functions.
        regime: Regime of the samples.
    """
    row, found = _routings(evidence, regime, TYPED)
    courses = [clustering(routing.types, routing.nearest) for routing in found]
    iterations = len(found[0].types)
    count = min(ACROSS, iterations)
    chosen = [round(number * (iterations - 1) / max(1, count - 1)) for number in range(count)]
    drawn = list(zip(row.records, found[:DRAWN], strict=False))
    named = sorted({n for _, one in drawn for n in one.nearest[chosen].flatten().tolist()})
    return Plate(
        name="types",
        title="Types of the elements",
        caption=TYPES.format(
            row=row.claim.row,
            samples=TYPED,
            seeds=" and ".join(str(record.seed) for record, _ in drawn),
        )
        + (SCRIPTS if found[0].script.any() else ""),
        draw=Drawing(
            rows=[
                [
                    _types(routing, step, f"seed {record.seed}" * (step == chosen[0]))
                    for step in chosen
                ]
                for record, routing in drawn
            ],
            height=1.9 * len(drawn) + LEGEND + 0.2,
            note=f"{row.claim.row}, {text.budget(row)} of steps, {text.networks(len(drawn))}",
            legend=tuple(Dots(color=n, name=f"function {n + 1}") for n in named),
            columns=len(named),
        ),
        findings=tuple(
            evidence.finding(
                f"{row.claim.row}: clustering of types, first → last iteration",
                "rise",
                f"{fixed(100 * course[0], 1)} → {fixed(100 * course[-1], 1)} %",
                OneNetwork(cell=row.claim.cell, seed=record.seed, change=course[-1] - course[0]),
            )
            for record, course in zip(row.records, courses, strict=True)
        ),
    )


def _types(routing: Routing, step: int, label: str) -> Panel:
    """Lay out the types of one iteration on a plane."""
    points = tsne(routing.types[step].flatten(0, 1)).numpy()
    nearest = routing.nearest[step].flatten().tolist()
    return Panel(
        marks=(Dots(x=points[:, 0], y=points[:, 1], size=4, color=nearest),),
        title=_iteration(routing, step),
        y_label=label,
        frame="box",
    )


def _iteration(routing: Routing, step: int) -> str:
    """Name an iteration, with its script where there are several."""
    if not routing.script.any():
        return f"iteration {step + 1}"
    script = int(routing.script[step])
    before = int((routing.script < script).sum())
    return f"script {script + 1}, iteration {step - before + 1}"


class _Reads(NamedTuple):
    """Reads of the networks of a row.

    Attributes:
        row: The cell.
        readers: Pass and name of each layer that reads.
        written: Pass and name of each layer that is read.
        shares: Attention of each network to the null element, then to each layer: (network,
            reader, entry).
    """

    row: Row
    readers: tuple[tuple[int, str], ...]
    written: tuple[tuple[int, str], ...]
    shares: Tensor


@network_exhibit
def layer_reads(evidence: Evidence, *, regime: str) -> Plate | None:
    """Measure the attention of neural function modules to layers.

    The quantities are named by the row, e.g. `nfm-two-passes/above`: attention to layers above, in
    the passes before, in shares of all attention to layers, where there are several passes; and
    `…/null`: attention to the null element.

    Args:
        evidence: Networks with or without such modules.
        regime: Regime of the problems.
    """
    found = [each for row in evidence.run if (each := _reads(evidence, row, regime))]
    if not found:
        return None
    heights = [1 + len(each.readers) for each in found]
    return Plate(
        name="reads",
        title="Which layers are read",
        caption=READS.format(problems=PROBLEMS),
        draw=Drawing(
            rows=[[_matrix(each)] for each in found],
            height=[0.27 * height + 0.5 / len(found) for height in heights],
            x_label="layer that is read",
            y_label="reader",
        ),
        findings=tuple(finding for each in found for finding in _attention(evidence, each)),
    )


def _reads(evidence: Evidence, row: Row, regime: str) -> _Reads | None:
    """Read the attention of a row's networks; `None` if they do not read."""
    shares, reads = [], tuple[LayerRead, ...]()
    for record in row.records:
        run = evidence.looked_into(row, record)
        if not any(isinstance(part, MultiPass) for part in run.network.modules()):
            return None
        reads = layer_reads_of(run.network, run.sets[regime][:PROBLEMS])
        shares.append(_shares(reads))
    written = reads[-1].written
    return _Reads(row, tuple(read.reader for read in reads), written, torch.stack(shares))


def _shares(reads: Sequence[LayerRead]) -> Tensor:
    """Average attention (reader, entry); NaN where there was nothing to read yet."""
    found = torch.full((len(reads), len(reads[-1].written) + 1), torch.nan)
    for number, read in enumerate(reads):
        own = read.attention.flatten(0, -2).mean(0)
        found[number, : len(own)] = own
    return found


def _attention(evidence: Evidence, found: _Reads) -> list[Finding]:
    """Measure reads from above, and attention to the null element."""
    layers = [name for number, name in found.written if number == found.written[0][0]]
    above = torch.tensor(
        [
            [
                number < own[0] and layers.index(name) > layers.index(own[1])
                for number, name in found.written
            ]
            for own in found.readers
        ]
    )
    read = found.shares[..., 1:].nan_to_num()
    from_above = (read * above).sum((1, 2)) / read.sum((1, 2))
    name, row = found.row.claim.cell.partition("/")[0], found.row.claim.row
    parts = {
        "above": ("share of reads from layers above in an earlier pass", from_above),
        "null": ("attention to the null element", found.shares[..., 0].mean(1)),
    }
    if not above.any():
        del parts["above"]
    return [
        evidence.finding(
            f"{row}: {what}",
            f"{name}/{key}",
            text.over_counted([100 * float(value) for value in values]),
        )
        for key, (what, values) in parts.items()
    ]


def _matrix(found: _Reads) -> Panel:
    """Lay out readers from the top, and layers across."""
    shares = found.shares.mean(0)
    spots = [(row, column) for row, column in torch.nonzero(~shares.isnan()).tolist()]
    written = ["null", *(f"{name}\npass {number}" for number, name in found.written)]
    readers = [f"{name}, pass {number}" for number, name in found.readers]
    return Panel(
        marks=(
            Cells(
                tints={0: shares.numpy()},
                texts={spot: f"{100 * float(shares[spot]):.0f}" for spot in spots},
            ),
        ),
        title=found.row.claim.row,
        x_ticks=dict(enumerate(written)),
        y_ticks=dict(enumerate(readers)),
        frame="ticks",
    )
