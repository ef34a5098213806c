"""A matrix with the scores that trained networks give its candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, final

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from torch import Tensor

from farfield.core import Problems
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.training import score_problems

PROBLEMS: Final = 200
"""Problems that are answered, the first of the regime."""
SIDE: Final = 3
FOOT: Final = 0.25
"""Height of what stands at the foot, inches."""
SAYS: Final = (
    "Share of each candidate, %; bold: the choice of the model; green frame: the right answer."
)
CONTEXT: Final = SIDE * SIDE - 1

CAPTION: Final = (
    "The first matrix of {regime} of seed {seed}, and its candidates with the share that the "
    "softmax of each row gives them, in percent; the right one is framed, and the choice of each "
    "row is bold. Right: over the first {problems} problems of each network."
)


class _Answers(NamedTuple):
    """Answers of a row to the first matrix.

    Attributes:
        row: The cell.
        shares: Of the candidates, in percent.
    """

    row: Row
    shares: Tensor


@final
@dataclass(frozen=True, kw_only=True)
class ScoredMatrix:
    """A matrix with the scores of each row for its candidates.

    The quantity is named `right`.

    Args:
        regime: Whose problems are shown.
    """

    regime: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """A matrix with the scores of every row that was run; `None` where none was.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        if not report.run:
            return None
        seed = report.run[0].records[0].seed
        shown: Problems | None = None
        answers, findings = [], []
        for row in report.run:
            right = []
            for record in row.records:
                looked = looked_into(row, record, store)
                some = looked.sets[self.regime][:PROBLEMS]
                scores, _ = score_problems(looked.network, looked.task, some)
                right.append(100 * float(scores.double().mean()))
                if record.seed == seed:
                    shown = some[:1].compact()
                    with torch.inference_mode():
                        outputs = looked.network(shown.table(), shown.index)[0]
                    answers.append(_Answers(row, 100 * outputs.softmax(-1)))
            findings.append(
                Finding(
                    what=f"{row.claim.row}: right answers",
                    paper="",
                    ours=text.over_counted(right),
                )
            )
        if shown is None:
            return None
        target = int(shown.target[0])
        right_here = [one.row.claim.row for one in answers if int(one.shares.argmax()) == target]
        findings.append(
            Finding(
                what="the matrix that is shown: who is right",
                paper=figure.words("shown"),
                ours=", ".join(right_here) or "none",
            )
        )
        return Plate(
            name="matrix",
            title="A matrix and its candidates",
            caption=CAPTION.format(regime=self.regime, seed=seed, problems=PROBLEMS),
            draw=partial(_draw, shown, answers),
            findings=tuple(findings),
        )


@in_style
def _draw(problem: Problems, answers: Sequence[_Answers], theme: Theme) -> Picture:
    """The matrix on the left, the candidates on the right with a line of shares for each row."""
    panels = problem.sequences()[0].numpy()
    target = int(problem.target[0])
    height = 2 + 0.25 * len(answers)
    picture = Picture(figsize=(WIDTH, height + FOOT))
    whole, foot = picture.subfigures(2, 1, height_ratios=(height, FOOT), squeeze=False)[:, 0]
    halves = whole.subfigures(1, 2, width_ratios=(1, 1.75), squeeze=False)[0]
    for part in (whole, foot, *halves):
        part.set_facecolor(theme.background)
    fractions = [answer.row.judgement.fraction or 0.0 for answer in answers]
    foot.text(
        0.006, 0.5, f"{SAYS} {text.shares(min(fractions), max(fractions))} of steps.",
        va="center", fontsize=7, color=theme.muted,
    )  # fmt: skip
    for place, axes in enumerate(halves[0].subplots(SIDE, SIDE).flat):
        _frame(axes, theme.muted)
        axes.set_anchor("SCN"[place // SIDE])  # the rows close to each other
        if place < CONTEXT:
            axes.imshow(panels[place], cmap="gray", vmin=0, vmax=255)
        else:
            axes.set_aspect(1)
            axes.text(0.5, 0.5, "?", ha="center", va="center", color=theme.foreground, fontsize=13)
    columns = (len(panels) - CONTEXT) // 2
    for place, axes in enumerate(halves[1].subplots(2, columns).flat):
        is_right = place == target
        _frame(axes, theme.models[2] if is_right else theme.muted, 2.2 if is_right else 0.8)
        axes.imshow(panels[CONTEXT + place], cmap="gray", vmin=0, vmax=255)
        for line, answer in enumerate(answers):
            chosen = int(answer.shares.argmax()) == place
            under = partial(
                axes.annotate, xytext=(0, -9 * line), xycoords="axes fraction",
                textcoords="offset points", va="top", fontsize=6.5, color=theme.foreground,
            )  # fmt: skip
            under(
                f"{float(answer.shares[place]):.0f}", (0.5, -0.06), ha="center",
                weight="bold" if chosen else "normal",
            )  # fmt: skip
            if place % columns == 0:
                under(answer.row.claim.row, (-0.06, -0.06), ha="right")
    return picture


def _frame(axes: Axes, color: str, width: float = 0.8) -> None:
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set(visible=True, color=color, linewidth=width)
