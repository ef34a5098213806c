"""Active mechanisms over the steps of a sequence, and over an episode."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from torch import Tensor

from farfield._text import fixed
from farfield.analysis import watch_episode
from farfield.analysis.internal import PhaseDifference, WatchedEpisode, active_of, phase_difference
from farfield.core import stream
from farfield.metrics import mean_and_standard_error
from farfield.records import Record, Store
from farfield.reports._exhibits._exhibit import Figure, Finding, Plate
from farfield.reports._exhibits._looked_into import looked_into, network_of
from farfield.reports._profile._axes import WIDTH, score_label
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import Environment

SEQUENCES: Final = 100
"""Sequences that are looked at."""

ACTIVATION_CAPTION: Final = (
    "Mechanisms over the steps of one sequence, seed {seed}: filled where active. Between the "
    "lines is the dormant phase. Differs: share of dormant steps whose active set occurs at no "
    "step of reading the symbols. Changes: share of dormant steps whose active set is not that of "
    "the step before. Both over {sequences} sequences of each network."
)


@final
@dataclass(frozen=True, kw_only=True)
class _Network:
    """Activity of one trained network.

    Args:
        seed: Number of its run.
        active: Which mechanisms are active on the first sequence, `(time, mechanism)`.
        difference: Of the dormant phase from that of reading, over all sequences.
    """

    seed: int
    active: Tensor
    difference: PhaseDifference


@final
@dataclass(frozen=True, kw_only=True)
class ActivationOverTime:
    """Activity of the mechanisms of RIMs by step, and the difference of two phases.

    The quantities are named after the fields of `farfield.analysis.PhaseDifference`.

    Args:
        regime: Whose sequences are shown.
        reading: First step of the phase of reading, and the one after its last.
        dormant: The same of the dormant phase.
    """

    regime: str
    reading: tuple[int, int]
    dormant: tuple[int, int]

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The mechanisms of each row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        shown = [
            (row, [_network(row, record, self, store) for record in row.records])
            for row in report.rows
            if row.records
        ]
        if not shown:
            return None
        seed = shown[0][1][0].seed
        return Plate(
            name="activation",
            title="Which mechanisms are active",
            caption=ACTIVATION_CAPTION.format(seed=seed, sequences=SEQUENCES),
            draw=partial(
                _draw_activation,
                [(row, networks[0]) for row, networks in shown],
                [row.claim.row for row in report.rows if not row.records],
                self,
            ),
            findings=tuple(
                finding for row, networks in shown for finding in _findings(figure, row, networks)
            ),
        )


def _network(row: Row, record: Record, analysis: ActivationOverTime, store: Store) -> _Network:
    run = looked_into(row, record, store)
    active = active_of(run.network, run.sets[analysis.regime][:SEQUENCES])
    first, second = (slice(*steps) for steps in (analysis.reading, analysis.dormant))
    return _Network(
        seed=record.seed,
        active=active[0],
        difference=phase_difference(active, first, second),
    )


def _findings(figure: Figure, row: Row, networks: Sequence[_Network]) -> tuple[Finding, ...]:
    """Both shares of a row, over its networks."""
    found = []
    for name, what in (
        ("differing", "dormant steps whose active set differs from all of reading"),
        ("changing", "dormant steps whose active set changes"),
    ):
        shares = [100 * getattr(network.difference, name) for network in networks]
        found.append(
            Finding(
                what=f"{row.claim.row}: {what}",
                paper=figure.words(name),
                ours=text.over_counted(shares),
            )
        )
    return tuple(found)


@in_style
def _draw_activation(
    rows: Sequence[tuple[Row, _Network]],
    absent: Sequence[str],
    analysis: ActivationOverTime,
    theme: Theme,
) -> Picture:
    """A strip for each row: mechanisms against steps, with the phases named at the foot."""
    picture = Picture(figsize=(WIDTH, 0.6 + 0.85 * len(rows)))
    panels = picture.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (row, network) in zip(panels, rows, strict=True):
        steps, mechanisms = np.nonzero(network.active.numpy())
        axes.barh(
            mechanisms + 1, 1.0, left=steps + 0.5, height=0.72, color=theme.foreground, linewidth=0
        )
        for edge in analysis.dormant:
            axes.axvline(edge + 0.5, color=theme.models[0], linewidth=1.0)
        length, count = network.active.shape
        axes.set(xlim=(0.5, length + 0.5), ylim=(count + 0.6, 0.4), ylabel="mechanism")
        axes.set_yticks(range(1, count + 1))
        axes.yaxis.label.set(fontsize=7, color=theme.foreground)
        axes.set_title(f"{row.claim.row}, {text.budget(row)} of steps, seed {network.seed}")
    start, stop = analysis.dormant
    phases = (
        f"step: reading to {start}, dormant phase {start + 1}–{stop} (between the lines), "
        f"recall from {stop + 1}"
    )
    panels[-1].set_xlabel(phases + f"\nnot run: {', '.join(absent)}" * bool(absent))
    return picture


EPISODES: Final = 50
"""Episodes of each network over which sets of active mechanisms are counted."""
FRAMES: Final = 10
"""Frames of an episode that are shown, evenly spaced, the first and the last among them."""

WIDEST: Final = 0.7
"""Largest width of a frame, inches."""
NAMES: Final = 1.1
"""Room for the names of mechanisms, in widths of a frame."""
LETTERS: Final = 19
"""Letters of the note in an inch."""
BAR: Final = 0.16
"""Height of the row of a mechanism, in widths of a frame."""

FILMSTRIPS_CAPTION: Final = (
    "One episode of an agent in {regime}, the first of seed {seed} that takes {least} steps or "
    "more and ends with success: what could be seen from outside before up to {frames} of its "
    "steps, which stand above. Below them is a line for each mechanism of the agent, with a bar "
    "where it is active. Of the agents of this figure only {shown} have mechanisms. Active sets: "
    "number of sets of mechanisms that are active at a twentieth of the steps or more, over "
    "{episodes} episodes of each network."
)


@final
@dataclass(frozen=True, kw_only=True)
class Filmstrips:
    """An episode of each row whose agents have mechanisms, and how many sets of them are active.

    The quantities are named by the row, e.g. `rims/sets`.

    Args:
        regime: Whose episodes are shown.
        least: Fewest steps of an episode that is shown.
    """

    regime: str
    least: int = 6

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The episodes; `None` where no agent with mechanisms was run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        found = [
            (row, networks)
            for row in report.run
            if (networks := _watched(row, self.regime, store))[0][0].active.shape[1]
        ]
        if not found:
            return None
        shown = [(row, _typical(networks[0], self.least)) for row, networks in found]
        return Plate(
            name="filmstrips",
            title="Episodes and active mechanisms",
            caption=FILMSTRIPS_CAPTION.format(
                regime=self.regime,
                seed=found[0][0].records[0].seed,
                least=self.least,
                frames=FRAMES,
                episodes=EPISODES,
                shown=" and ".join(row.claim.row for row, _ in found),
            ),
            draw=partial(_draw_filmstrips, shown, _rivals(report)),
            findings=tuple(
                Finding(
                    what=f"{row.claim.row}: active sets",
                    paper=figure.words(f"{row.claim.cell.partition('/')[0]}/sets"),
                    ours=text.over_counted([float(_sets(own)) for own in networks], unit=""),
                )
                for row, networks in found
            ),
        )


def _watched(row: Row, regime: str, store: Store) -> list[list[WatchedEpisode]]:
    """Episodes of each network of a row."""
    found = []
    for record in row.records:
        agent, task = network_of(row, record, store), row.claim.experiment.task
        assert isinstance(task, Environment)  # noqa: S101 — what a type checker cannot see
        place = stream(record.seed, "filmstrip")
        found.append([watch_episode(agent, task, regime, place.child(n)) for n in range(EPISODES)])
    return found


def _typical(episodes: Sequence[WatchedEpisode], least: int) -> WatchedEpisode:
    """The first that succeeds and is long enough, or else the longest."""
    for episode in episodes:
        if episode.score > 0 and len(episode.pictures) >= least:
            return episode
    return max(episodes, key=lambda episode: len(episode.pictures))


def _sets(episodes: Sequence[WatchedEpisode]) -> int:
    """Number of sets of mechanisms that are active at a twentieth of the steps or more."""
    active = np.concatenate([episode.active.numpy() for episode in episodes])
    _, counts = np.unique(active, axis=0, return_counts=True)
    return int((counts >= len(active) / 20).sum())


def _rivals(report: Report) -> str:
    """Range of the scores of all rows, with their unit."""
    means = [mean_and_standard_error(row.values).mean for row in report.run]
    return f"all agents: {text.span(fixed(min(means), 1), fixed(max(means), 1))}"


def _note(row: Row, rivals: str) -> str:
    """Networks and steps behind an episode, and how well they do."""
    score = text.over_networks(row.values, digits=1, unit="")
    return (
        f"1 of {text.networks(len(row.records))}, seed {row.records[0].seed}, {text.budget(row)} "
        f"of steps; {score_label(row)} of these {score} (mean ± standard error), {rivals}, "
        f"chance {text.floor(row)}; bar: active"
    )


@in_style
def _draw_filmstrips(
    shown: Sequence[tuple[Row, WatchedEpisode]], rivals: str, theme: Theme
) -> Picture:
    """A strip for each row: frames, and mechanisms under them."""
    heights = [1.5 + BAR * episode.active.shape[1] for _, episode in shown]
    most = max(min(len(episode.pictures), FRAMES) for _, episode in shown)
    unit = min(WIDTH / (NAMES + most), WIDEST)
    picture = Picture(figsize=(unit * (NAMES + most), 0.55 * len(shown) + unit * sum(heights)))
    letters = round(LETTERS * picture.get_figwidth())
    panels = picture.subplots(len(shown), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (row, episode) in zip(panels, shown, strict=True):
        last = len(episode.pictures) - 1
        steps = np.unique(np.linspace(0, last, min(last + 1, FRAMES)).round().astype(int))
        for place, step in enumerate(steps.tolist()):
            _draw_frame(axes, place, episode.pictures[step])
            axes.text(place, 0.48, f"{step + 1}", ha="center", va="bottom", fontsize=6.5)
        _draw_mechanisms(axes, episode.active.numpy()[steps], theme)
        axes.text(-0.6, 0.48, "step", ha="right", va="bottom", fontsize=6.5)
        axes.set(xlim=(-0.5 - NAMES, most - 0.5), ylim=(-0.55 - BAR * episode.active.shape[1], 0.7))
        axes.set_aspect("equal", anchor="SW")
        axes.axis("off")
        note = textwrap.fill(_note(row, rivals), letters)
        axes.set_title(
            f"{row.claim.row}, task “{episode.mission}”", pad=6 + 8 * note.count("\n") + 8
        )
        axes.annotate(
            note, (0, 1), (0, 5), "axes fraction", textcoords="offset points",
            fontsize=6.5, color=theme.muted, va="bottom",
        )  # fmt: skip
    return picture


def _draw_frame(axes: Axes, place: int, shown: np.ndarray) -> None:
    high, wide = (0.45 * side / max(shown.shape[:2]) for side in shown.shape[:2])
    axes.imshow(shown, extent=(place - wide, place + wide, -high, high))


def _draw_mechanisms(axes: Axes, active: np.ndarray, theme: Theme) -> None:
    """Bars under the frames where a mechanism is active, a line for each."""
    for mechanism in range(active.shape[1]):
        height, steps = -0.55 - BAR * mechanism, np.flatnonzero(active[:, mechanism])
        axes.barh(
            np.full(len(steps), height), 0.9, left=steps - 0.45, height=0.7 * BAR,
            color=theme.foreground, linewidth=0,
        )  # fmt: skip
        axes.text(-0.6, height, f"mechanism {mechanism + 1}", ha="right", va="center", fontsize=6.5)
