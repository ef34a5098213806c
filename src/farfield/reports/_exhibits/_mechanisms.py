"""Active mechanisms over the steps of a sequence, and over an episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from farfield._text import fixed
from farfield.analysis import watch_episode
from farfield.analysis.internal import WatchedEpisode, active_of, phase_difference
from farfield.core import stream
from farfield.metrics import mean_and_standard_error
from farfield.reports._exhibits._exhibit import Evidence, Plate, network_exhibit
from farfield.reports._exhibits._films import FRAMES, strip_panel
from farfield.reports._exhibits._frames import Bars, Drawing, Images, Panel
from farfield.reports._profile._series import score_label
from farfield.reports._report import _text as text
from farfield.reports._report._report import Row
from farfield.tasks import Environment

SEQUENCES: Final = 100
"""Number of sequences of each network that are compared."""
EPISODES: Final = 50
"""Number of episodes of each network over which sets of active mechanisms are counted."""

ACTIVATION: Final = (
    "Mechanisms over the steps of one sequence, seed {seed}: filled where active. Between the "
    "lines is the dormant phase. Differs: share of dormant steps whose active set occurs at no "
    "step of reading the symbols. Changes: share of dormant steps whose active set is not that of "
    "the step before. Both over {sequences} sequences of each network."
)
FILMSTRIPS: Final = (
    "One episode of an agent in {regime}, the first of seed {seed} that takes {least} steps or "
    "more and ends with success: the view from outside before up to {frames} of its "
    "steps, which are above. Below them is a line for each mechanism of the agent, with a bar "
    "where it is active. Of the agents of this figure only {shown} have mechanisms. Active sets: "
    "number of sets of mechanisms that are active at a twentieth of the steps or more, over "
    "{episodes} episodes of each network."
)


@network_exhibit
def activation_over_time(
    evidence: Evidence, *, regime: str, reading: tuple[int, int], dormant: tuple[int, int]
) -> Plate:
    """Measure the activity of the mechanisms of RIMs by step, and the difference of two phases.

    The quantities are the fields of `farfield.analysis.internal.PhaseDifference`.

    Args:
        evidence: Networks of sequences.
        regime: Regime of the sequences.
        reading: First step of the phase of reading, and the step after its last.
        dormant: First step of the dormant phase, and the step after its last.
    """
    panels, findings = [], []
    phases = slice(*reading), slice(*dormant)
    for row in evidence.run:
        runs = [evidence.looked_into(row, record) for record in row.records]
        active = [active_of(run.network, run.sets[regime][:SEQUENCES]) for run in runs]
        found = [phase_difference(one, *phases) for one in active]
        for name, what in (
            ("differing", "dormant steps whose active set differs from all of reading"),
            ("changing", "dormant steps whose active set changes"),
        ):
            shares = text.over_counted([100 * getattr(one, name) for one in found])
            findings.append(evidence.finding(f"{row.claim.row}: {what}", name, shares))
        length, count = active[0].shape[1:]
        steps, mechanisms = np.nonzero(active[0][0].numpy())
        panels.append(
            Panel(
                marks=(Bars(left=steps + 0.5, at=mechanisms + 1),),
                title=f"{row.claim.row}, {text.budget(row)} of steps, seed {row.records[0].seed}",
                x_limits=(0.5, length + 0.5),
                y_limits=(count + 0.6, 0.4),
                y_ticks=range(1, count + 1),
                y_label="mechanism",
                edges=tuple(edge + 0.5 for edge in dormant),
            )
        )
    absent = [row.claim.row for row in evidence.report.rows if not row.records]
    return Plate(
        name="activation",
        title="Which mechanisms are active",
        caption=ACTIVATION.format(seed=evidence.run[0].records[0].seed, sequences=SEQUENCES),
        draw=Drawing(
            rows=[[panel] for panel in panels],
            height=0.6 + 0.85 * len(panels),
            shares="x",
            x_label=f"step: reading to {dormant[0]}, dormant phase {dormant[0] + 1}–{dormant[1]} "
            f"(between the lines), recall from {dormant[1] + 1}"
            + f"\nnot run: {', '.join(absent)}"
            * bool(absent),
        ),
        findings=tuple(findings),
    )


@network_exhibit
def filmstrips(evidence: Evidence, *, regime: str, least: int = 6) -> Plate | None:
    """Measure an episode of each row with mechanisms, and count the sets of active mechanisms.

    The quantities are named by the row, e.g. `rims/sets`.

    Args:
        evidence: Networks of agents.
        regime: Regime of the episodes.
        least: Minimum number of steps of an episode that is drawn.
    """
    watched = {row.name: _watched(evidence, row, regime) for row in evidence.run}
    rows = [row for row in evidence.run if watched[row.name][0][0].active.shape[1]]
    if not rows:
        return None
    means = [mean_and_standard_error(row.values).mean for row in evidence.run]
    rivals = f"all agents: {text.span(fixed(min(means), 1), fixed(max(means), 1))}"
    panels = [_strip(row, _typical(watched[row.name][0], least), rivals) for row in rows]
    sizes = [panel.marks[0].size for panel in panels if isinstance(panel.marks[0], Images)]
    return Plate(
        name="filmstrips",
        title="Episodes and active mechanisms",
        caption=FILMSTRIPS.format(
            regime=regime,
            seed=rows[0].records[0].seed,
            least=least,
            frames=FRAMES,
            episodes=EPISODES,
            shown=" and ".join(row.claim.row for row in rows),
        ),
        draw=Drawing(
            rows=[[panel] for panel in panels],
            height=[0.6 + height for _, height in sizes],
            width=max(width for width, _ in sizes),
        ),
        findings=tuple(
            evidence.finding(
                f"{row.claim.row}: active sets",
                f"{row.claim.cell.partition('/')[0]}/sets",
                text.over_counted([float(_sets(own)) for own in watched[row.name]], unit=""),
            )
            for row in rows
        ),
    )


def _watched(evidence: Evidence, row: Row, regime: str) -> list[list[WatchedEpisode]]:
    """Watch episodes of each network of a row."""
    found = []
    for record in row.records:
        agent, task = evidence.network(row, record), row.claim.experiment.task
        assert isinstance(task, Environment)  # noqa: S101 — what a type checker cannot see
        source = stream(record.seed, "filmstrip")
        found.append([watch_episode(agent, task, regime, source.child(n)) for n in range(EPISODES)])
    return found


def _typical(episodes: Sequence[WatchedEpisode], least: int) -> WatchedEpisode:
    """Choose the first episode that succeeds and is long enough, or else the longest."""
    for episode in episodes:
        if episode.score > 0 and len(episode.pictures) >= least:
            return episode
    return max(episodes, key=lambda episode: len(episode.pictures))


def _sets(episodes: Sequence[WatchedEpisode]) -> int:
    """Count the sets of mechanisms that are active at a twentieth of the steps or more."""
    active = np.concatenate([episode.active.numpy() for episode in episodes])
    _, counts = np.unique(active, axis=0, return_counts=True)
    return int((counts >= len(active) / 20).sum())


def _strip(row: Row, episode: WatchedEpisode, rivals: str) -> Panel:
    """Lay out an episode beside the scores of all networks of a row."""
    score = text.over_networks(row.values, digits=1, unit="")
    note = (
        f"1 of {text.networks(len(row.records))}, seed {row.records[0].seed}, {text.budget(row)} "
        f"of steps; {score_label(row)} of these {score} (mean ± standard error), {rivals}, "
        f"chance {text.floor(row)}; bar: active"
    )
    return strip_panel(episode, f"{row.claim.row}, task “{episode.mission}”", note)
