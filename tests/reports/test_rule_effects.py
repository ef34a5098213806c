"""What learning rules change: pairs of one seed, the farthest regime, and all that is corrected."""

from __future__ import annotations

import msgspec
import numpy as np
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.patches import Rectangle
from scipy import stats

from farfield.records import Record, Score
from farfield.reports import FIGURES, Plate, illustrate, tabulate
from farfield.reports.internal import DARK, LIGHT
from farfield.reproductions import Claim
from reproductions import made_up

FIGURE = FIGURES["lamb2022/rules-by-mechanism"]
STEPS = FIGURE.table.claims[0].experiment.recipe.steps
PLAIN = (50.0, 60.0, 90.0)
CHANGES = {
    "Mixup": (10.0, 12.0, 11.0),
    "Manifold Mixup": (-4.0, 6.0, 1.0),
    "activation L1": (-40.0, -40.0, -40.0),
}
"""What some rules add to every seed; consistency is not run."""


def plate(find) -> Plate:
    (found,) = illustrate(FIGURE, tabulate(FIGURE.table, find), None)
    return found


def made(claim: Claim) -> list[Record]:
    """ESBN on distribution-of-three, and RIMs with one seed each, which do not meet."""
    mechanism, _, rule = claim.row.partition(", ")
    if claim.subject != "Distribution-of-three":
        return []
    if mechanism == "RIMs" and rule in {"plain", "Mixup"}:
        return made_up.records(claim, [50.0], steps=STEPS, first_seed=int(rule == "plain"))
    if mechanism != "ESBN" or rule == "consistency":
        return []
    changes = CHANGES.get(rule, (0.0,) * 3)
    return made_up.records(claim, [p + c for p, c in zip(PLAIN, changes, strict=True)], steps=STEPS)


def test_differences_are_those_of_pairs_and_intervals_of_all_that_is_planned() -> None:
    told = {finding.what: finding.ours for finding in plate(made).findings}
    assert told["Mixup"].startswith("median +11.0 points; ")
    # Alone it would be certain, one of 144 it is not.
    alone, corrected = (stats.t.ppf(1 - 0.025 / n, 2) / 3**0.5 for n in (1, 144))
    assert alone < 11 < corrected
    assert "clearly ahead nowhere" in told["Mixup"]
    assert "1 of 36 run" in told["Mixup"]
    assert (
        "behind in 1, most −40.0 (ESBN, activation L1, Distribution-of-three)"
        in (told["activation L1"])
    )
    assert "consistency" not in told
    assert told["ESBN"].startswith("median +1.0 points; clearly ahead nowhere; clearly behind in 1")
    assert "3 of 24 run" in told["ESBN"]
    assert "RIMs" not in told


def test_what_is_certain_is_framed_and_what_is_not_run_left_out() -> None:
    for theme in (LIGHT, DARK):
        picture = plate(made).draw(theme)
        panel, beside = picture.axes
        assert beside.get_title(loc="left") == "in training"
        assert panel.get_title(loc="left") == "Distribution-of-three (chance: 25 %)"
        missing = (
            "Not run: Same/different, Relational match-to-sample, Identity rules, All the same, "
            "Tinted same/different. –: not run."
        )
        assert picture.get_suptitle().splitlines()[1] == missing
        assert plate(made).caption.endswith(missing)
        boxes = [part for part in panel.patches if isinstance(part, Rectangle)]
        frames = [box for box in boxes if box.get_edgecolor() == to_rgba(theme.foreground)]
        assert [round(box.get_x() + 0.46) for box in frames] == [4]
        # Of five mechanisms and five rules each, RIMs have a score to compare with; one of ESBN.
        words = [text.get_text() for text in panel.texts]
        assert words.count("–") == 5 * 5 - 1 + 1
        assert {*words} == {"67", "50", "+11", "+1", "−40", "–"}
        background = np.array(to_rgb(theme.background))
        tints = panel.images[0].get_array().reshape(-1, 3) - background
        ahead, behind = (np.array(to_rgb(color)) - background for color in theme.models[:2])
        strong = sorted(tints[np.abs(tints).sum(1) > 1e-6], key=np.linalg.norm)
        for tint, color in zip(strong, (0.015 * ahead, 0.165 * ahead, 0.6 * behind), strict=True):
            np.testing.assert_allclose(tint, color, atol=1e-6)


def test_training_stands_beside_each_matrix_and_is_gray_where_it_failed() -> None:
    def learned(claim: Claim) -> list[Record]:
        found = made(claim)
        if claim.row != "ESBN, activation L1":
            return found
        failed = Score(step=STEPS, regime="training", metric="accuracy", value=0.5, count=4)
        return [msgspec.structs.replace(one, scores=(failed, *one.scores[1:])) for one in found]

    shown = plate(learned)
    beside = shown.draw(LIGHT).axes[1]
    words = [text.get_text() for text in beside.texts]
    # Six cells with networks, of which one had learned a third of the way from 25 % to 100 %.
    assert (words.count("100"), words.count("50"), words.count("–")) == (5, 1, 24)
    tints = np.abs(beside.images[0].get_array() - np.array(to_rgb(LIGHT.background))).sum(-1)
    assert np.argwhere(tints > 1e-6).tolist() == [[2, 4]]
    told = {finding.what: finding.ours for finding in shown.findings}
    assert told["at least half learned in training"] == "5 of 6 cells that were run"


def test_of_several_regimes_the_farthest_counts() -> None:
    def tinted(claim: Claim) -> list[Record]:
        if claim.group != "tinted-same-different" or not claim.row.startswith("NFM"):
            return []
        lift = 5.0 if claim.row.endswith("Mixup") else 0.0
        far = 20.0 if claim.regime == "tint-reversed" else 80.0
        return made_up.records(claim, [far + lift], steps=STEPS)

    drawn = plate(tinted).draw(LIGHT).axes[0]
    assert {text.get_text() for text in drawn.texts} >= {"20"}
    assert "80" not in {text.get_text() for text in drawn.texts}


def test_a_matrix_is_that_of_its_baseline(check_baseline) -> None:
    """Every pair but one mechanism, with differences of every size."""

    def every(claim: Claim) -> list[Record]:
        mechanism, _, rule = claim.row.partition(", ")
        if mechanism == "Neural Interpreter" and claim.group == "all-same":
            return []
        level = 30 + 9 * sum(map(ord, mechanism + claim.group)) % 60
        change = (sum(map(ord, rule + mechanism + claim.group)) % 50 - 28) * (rule != "plain")
        wobble = (sum(map(ord, rule)) % 7) / 4
        scores = [min(max(level + change + wobble * seed, 0), 100) for seed in range(5)]
        return made_up.records(claim, scores, steps=STEPS)

    check_baseline(plate(every).draw(LIGHT), "rule-effects")
