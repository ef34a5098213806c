"""Representations by component: embeddings by dimension, and keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import torch
from torch import Tensor, nn

from farfield.analysis import embeddings_of, principal_components
from farfield.analysis.internal import (
    ComponentFit,
    FirstComponent,
    KeyOverlap,
    Keys,
    PrincipalComponents,
    first_component,
    key_overlap,
    keys_of,
    mean_line,
)
from farfield.core import stream
from farfield.experiments import Experiment, ScoringNetwork
from farfield.records import Record
from farfield.reports._exhibits._exhibit import Evidence, Finding, Plate, network_exhibit
from farfield.reports._exhibits._frames import FAINT, Color, Curve, Dots, Drawing, Label, Panel
from farfield.reports._report import _text as text
from farfield.reports._report._report import Row
from farfield.tasks import TRAINING
from farfield.tasks.internal import Candidates, HasSubsets
from farfield.training.internal import problems_of_run

EMBEDDED: Final = 512
"""Maximum number of embedded problems of a region: whole test batches of 32."""
POINTS: Final = 600
"""Maximum number of points of a panel of embeddings."""
BINS: Final = 29
"""Number of bins of the mean line; each level of a region has a bin."""
KEYED: Final = 360
"""Maximum number of problems of a set whose keys are measured; both sets have equal weight."""
DRAWN: Final = 120
"""Maximum number of problems of a set whose keys are drawn."""
ROOM: Final = 0.12
"""Room beside the points of a panel of keys, as a share of their range."""
BESIDE: Final = ((-7.0, 5.0), (3.0, 9.0), (8.0, -6.0))
"""Offsets of the numbers of the first positions from their means, in points; later: 0."""

EMBEDDINGS: Final = (
    "Embeddings as the scorer receives them, premises once for each candidate, of {problems} "
    "problems; every point is one, of the network of seed {seed}. Up: along the first principal "
    "component of all of them, its sign arbitrary. Across: the level that the picture was drawn "
    "with. Under a normalization the level is normalized in the same way, without gain and shift, "
    "and only problems that vary along the dimension are shown; without one the level is unchanged "
    "and all are shown. Thick line: mean in {bins} bins of equal width. Thin line: least squares, "
    "with its R². The paper shows the network with the highest test accuracy; we show the first "
    "and measure all, since test problems select nothing here. Linearity: R² along the dimension."
)
KEYS: Final = (
    "Keys along the first two principal components of all keys shown, those of seed {seed}; "
    "{problems} problems of each set. (a) Written at each position, training problems. (b) Written "
    "at the first {first} positions. (c) Read where the items of the first {first} positions come "
    "again. Numbers stand at the means. Distances are in units of the root mean square distance "
    "between the mean keys of the first {first} positions. Nearest: of the mean keys written at "
    "all {length} positions on training problems. Distinguished: share of keys nearer to the mean "
    "of their set, of two sets, cross-validated; 50 % is complete overlap. Keys of positions 1 and "
    "2 are the same for every problem by construction: when they are written, the controller has "
    "read nothing."
)


@network_exhibit
def embeddings_by_dimension(evidence: Evidence) -> Plate:
    """Measure the first principal component of the embeddings against each latent dimension.

    A row's quantities have the name of its cells without the regime, then `share` for the
    component's share of the variance and `linearity/` with the dimension for the R² of the
    straight line, e.g. `context-norm/share` and `context-norm/linearity/size`.

    Args:
        evidence: Networks of analogies drawn from levels, with a subset for each dimension.
    """
    rows, findings = list[list[Panel]](), list[Finding]()
    problems = 0
    for row in evidence.run:
        task = row.claim.experiment.problem_task
        if not isinstance(task, HasSubsets) or not isinstance(task, Candidates):
            raise ValueError(f"{row.name} must be of analogies in parts, got {type(task).__name__}")
        some = problems_of_run(task, row.records[0].seed)[row.claim.regime][:EMBEDDED]
        problems = problems or len(some)
        dimensions = tuple(task.parts(some))
        components = [_component(evidence, row, record) for record in row.records]
        name = row.claim.cell.rpartition("/")[0]
        shares = text.over_counted([100 * one.share for one in components])
        what = f"{row.claim.row}: share of variance of component 1"
        findings.append(evidence.finding(what, f"{name}/share", shares))
        for number, dimension in enumerate(dimensions):
            fits = [one.along[number].fit.share for one in components]
            ours = text.over_counted(fits, digits=3, unit="")
            what = f"{row.claim.row}: linearity along {dimension}"
            findings.append(evidence.finding(what, f"{name}/linearity/{dimension}", ours))
        titles = [dimension.replace("-", " ").title() * (not rows) for dimension in dimensions]
        label = f"{row.claim.row}\ncomponent 1 ({100 * components[0].share:.0f} %)"
        is_normalized = cast("ScoringNetwork", row.claim.experiment.model).context is not None
        rows.append(
            [
                _embeddings(along, title, label * (along is components[0].along[0]), is_normalized)
                for title, along in zip(titles, components[0].along, strict=True)
            ]
        )
    claim = evidence.run[0].claim
    return Plate(
        name="embeddings",
        title="Embeddings against drawn levels",
        caption=EMBEDDINGS.format(problems=problems, seed=evidence.seed, bins=BINS),
        draw=Drawing(
            rows=rows,
            height=1.55 * len(rows) + 0.55,
            note=f"{claim.subject}, {claim.column}: seed {evidence.seed}, {evidence.steps}",
            shares="y",
        ),
        findings=tuple(findings),
    )


def _component(evidence: Evidence, row: Row, record: Record) -> FirstComponent:
    """Fit the first component in a run's network."""
    run = evidence.looked_into(row, record)
    problems = run.sets[row.claim.regime][:EMBEDDED]
    parts = cast("HasSubsets", run.task).parts(problems)
    context = _context(row.claim.experiment, len(parts))
    everything = [chosen | True for chosen in parts.values()]
    shown = everything if context is None else [*parts.values()]
    return first_component(embeddings_of(run.network, problems, context), shown)


def _context(experiment: Experiment, num_values: int) -> nn.Module | None:
    """Build the normalization of an experiment for some values; `None` where it has none."""
    model, task = experiment.model, experiment.problem_task
    if not isinstance(model, ScoringNetwork):
        raise ValueError(f"model must be a ScoringNetwork, got {type(model).__name__}")
    if model.context is None:
        return None
    offered: dict[str, object] = {"num_features": num_values, "segments": task.segments}
    return model.context.build(offered, stream(0, "values")).double().eval()


def _embeddings(along: ComponentFit, title: str, label: str, is_normalized: bool) -> Panel:
    """Lay out points, their mean and the line through them."""
    some = stream(0, "points", "drawn").numpy().permutation(len(along.values))[:POINTS]
    x, y = mean_line(along.values, along.heights, BINS).numpy()
    ends = [float(along.values.min()), float(along.values.max())]
    fit = [along.fit.intercept + along.fit.slope * end for end in ends]
    inside = (0.97 if along.fit.slope < 0 else 0.03, 0.95)
    return Panel(
        marks=(
            Dots(x=along.values[some], y=along.heights[some], size=3, color=0, opacity=0.3,
                 name="embedding"),
            Curve(x=x, y=y, width=1.6, name="mean"),
            Curve(x=ends, y=fit, color=1, width=0.9, name="linear fit"),
            Label(text=f"R² {along.fit.share:.2f}", at=inside, inside=True),
        ),
        title=title,
        x_label=f"{'normalized ' * is_normalized}level",
        y_label=label,
    )  # fmt: skip


@network_exhibit
def keys_by_position(evidence: Evidence) -> Plate:
    """Measure principal components of the keys of an ESBN, and their overlap.

    The quantities are the fields of `farfield.analysis.internal.KeyOverlap`.

    Args:
        evidence: Networks with keys, of one cell.
    """
    if len(evidence.report.rows) != 1:
        raise ValueError(
            f"{evidence.report.key} must have one cell, got {len(evidence.report.rows)}"
        )
    (row,) = evidence.run
    networks = [_keys(evidence, row, record) for record in row.records]
    overlaps = [key_overlap(*one) for one in networks]
    training, _ = networks[0]
    problems, length, _ = training.written.shape
    first = training.recalled.shape[1]
    return Plate(
        name="keys",
        title="Keys written and recalled",
        caption=KEYS.format(
            seed=row.records[0].seed, problems=problems, first=first, length=length
        ),
        draw=_keys_drawing(row, *networks[0]),
        findings=_overlaps(evidence, overlaps),
    )


def _keys(evidence: Evidence, row: Row, record: Record) -> tuple[Keys, Keys]:
    """Read the keys of a run's network, on as many training problems as test problems."""
    run, names = evidence.looked_into(row, record), (TRAINING, row.claim.regime)
    count = min(KEYED, *(len(run.sets[name]) for name in names))
    training, test = (keys_of(run.network, run.sets[name][:count]) for name in names)
    return training, test


def _overlaps(evidence: Evidence, overlaps: Sequence[KeyOverlap]) -> tuple[Finding, ...]:
    """Write the overlaps over the networks."""
    first, length = len(overlaps[0].recognized), len(overlaps[0].spread)
    earlier, later = f"positions 1–{first}", f"positions {first + 1}–{length}"
    each = ", ".join(str(number) for number in range(1, first + 1))

    def column(name: str) -> list[list[float]]:
        """Collect a quantity of each position over the networks."""
        return [list(values) for values in zip(*(getattr(o, name) for o in overlaps), strict=True)]

    def average(name: str, start: int, stop: int) -> list[float]:
        return [sum(getattr(o, name)[start:stop]) / (stop - start) for o in overlaps]

    spread = [average("spread", 0, first), average("spread", first, length)]
    rows: tuple[tuple[str, str, list[list[float]], bool], ...] = (
        ("spread", f"spread of the keys written, mean over {earlier}; over {later}", spread, False),
        ("confused", f"keys of {later} nearest to one of {earlier}",
         [[overlap.confused for overlap in overlaps]], True),
        ("written_shift", f"written, positions {each}: shift from training to test",
         column("written_shift"), False),
        ("written_accuracy", f"written, positions {each}: training distinguished from test",
         column("written_accuracy"), True),
        ("recognized", f"written on test problems, positions {each}: nearest to their own",
         column("recognized"), True),
        ("recalled",
         f"recalled on test problems, positions {each}: nearest to the key written there",
         column("recalled"), True),
        ("recalled_shift", f"recalled, positions {each}: shift from training to test",
         column("recalled_shift"), False),
        ("recalled_accuracy", f"recalled, positions {each}: training distinguished from test",
         column("recalled_accuracy"), True),
    )  # fmt: skip
    return tuple(
        evidence.finding(what, name, _written(parts, len(overlaps), is_share=is_share))
        for name, what, parts, is_share in rows
    )


def _written(parts: Sequence[Sequence[float]], networks: int, *, is_share: bool) -> str:
    """Format mean and standard error of quantities, e.g. `0.01 ± 0.00; 0.5 ± 0.1`."""
    scale, digits, unit = (100, 1, " %") if is_share else (1, 3, "")
    written = [
        text.over_networks([scale * value for value in values], digits=digits, unit=unit)
        for values in parts
    ]
    return f"{'; '.join(written)} ({text.networks(networks)})"


def _keys_drawing(row: Row, training: Keys, test: Keys) -> Drawing:
    """Lay out panels (a), (b) and (c)."""
    points = [part.flatten(0, 1) for keys in (training, test) for part in keys]
    components = principal_components(torch.cat(points))
    first = training.recalled.shape[1]
    contents = {
        "a  written, training": [training.written],
        f"b  written, positions 1–{first}": [keys.written[:, :first] for keys in (training, test)],
        "c  read when seen again": [keys.recalled for keys in (training, test)],
    }
    wide, *near = contents.values()
    shared = _limits(components, [keys for sets in near for keys in sets])  # of (b) and (c)
    limits = [_limits(components, wide), shared, shared]
    panels = [
        Panel(
            marks=_key_marks(components, sets, first),
            x_limits=ends[0],
            y_limits=ends[1],
            title=title,
            x_label=_component_label(components, 0),
            y_label=_component_label(components, 1) * (len(sets) == 1),
        )
        for (title, sets), ends in zip(contents.items(), limits, strict=True)
    ]
    claim = row.claim
    return Drawing(
        rows=[panels],
        height=2.75,
        note=f"{claim.subject}, {claim.row}, {claim.column}: seed {row.records[0].seed}, "
        f"{text.budget(row)} of steps",
        legend=(
            Dots(name="training", size=9),
            Dots(name="test, withheld shapes", marker="D", size=26, is_filled=False),
        ),
    )


def _limits(
    components: PrincipalComponents, sets: Sequence[Tensor]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Find the ends of both axes, with room for numbers beside the points."""
    points = torch.cat([components.project(keys[:DRAWN]).flatten(0, 1) for keys in sets])
    low, high = points.amin(0), points.amax(0)
    room = ROOM * (high - low)
    (left, below), (right, above) = (low - room).tolist(), (high + room).tolist()
    return (left, right), (below, above)


def _key_marks(
    components: PrincipalComponents, sets: Sequence[Tensor], first: int
) -> tuple[Dots | Label, ...]:
    """Lay out keys of one or two sets, a color for each position, a number at each mean."""
    length = sets[0].shape[1]
    late = max(1, length - first)
    colors: list[Color] = [
        number if number < first else f"{0.75 * (number - first) / max(1, late - 1):.2f}{FAINT}"
        for number in range(length)
    ]
    marks: list[Dots | Label] = []
    for number, keys in reversed(list(enumerate(sets))):
        points = components.project(keys[:DRAWN]).numpy()
        marks += [
            Dots(
                x=points[:, position, 0],
                y=points[:, position, 1],
                color=colors[position],
                marker="oD"[number],
                size=(9, 26)[number],
                is_filled=number == 0,
                opacity=0.75,
            )
            for position in reversed(range(length))
        ]
    for position in range(length):
        x, y = components.project(sets[0][:, position]).mean(0).tolist()
        is_first = position < len(BESIDE)
        marks.append(
            Label(
                text=str(position + 1),
                at=(x, y),
                offset=BESIDE[position] if is_first else (0.0, 0.0),
                color=colors[position] if is_first else "foreground",
                is_bold=True,
            )
        )
    return tuple(marks)


def _component_label(components: PrincipalComponents, axis: int) -> str:
    """Label a component with its share of the variance."""
    return f"component {axis + 1} ({100 * float(components.shares[axis]):.0f} % of variance)"
