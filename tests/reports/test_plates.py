"""What figures measure: the numbers beside the paper's words, and what the pictures show."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.markers import MarkerStyle
from rich.console import Console

from farfield import reports
from farfield.metrics import paired_t_test
from farfield.records import Record, Score, Store
from farfield.reports import FIGURES, Figure, Finding, Plate, illustrate, png, tabulate
from farfield.reports._exhibits._time_courses import time_courses
from farfield.reports.internal import LIGHT, terminal, write_report
from farfield.reproductions import TABLES
from reproductions import made_up


def marker_of(dots: PathCollection) -> str:
    """The marker of drawn points."""
    (path,) = dots.get_paths()
    known = {
        mark: MarkerStyle(mark).get_path().transformed(MarkerStyle(mark).get_transform())
        for mark in "oxD"
    }
    return next(mark for mark, own in known.items() if len(own) == len(path))


def nothing(claim) -> list[Record]:
    return []


def illustrated(number: int, find, store: Store) -> tuple[Figure, tuple[Plate, ...]]:
    figure = FIGURES[f"webb2021/figure-{number}"]
    return figure, illustrate(figure, tabulate(figure.table, find), store)


# --- Time courses --------------------------------------------------------------------------------

STEPS = (1, 2, 4, 8, 16)
CURVES = {
    "ESBN + TCN": (0.5, 0.9, 0.96, 0.97, 1.0),
    "RN + TCN": (0.5, 0.6, 0.96, 0.6, 0.7),
}


def with_curve(record: Record, curve: tuple[float, ...], lift: float) -> Record:
    points = [
        Score(step=step, regime="training", metric="accuracy", value=value + lift, count=256)
        for step, value in zip(STEPS, curve, strict=True)
    ]
    kept = [score for score in record.scores if score.regime != "training"]
    return msgspec.structs.replace(record, scores=(*kept, *points))


def curved(claim) -> list[Record]:
    """Three networks of two models with curves, one of a third without."""
    if claim.row in CURVES:
        records = made_up.records(claim, [50.0, 60.0, 70.0], steps=STEPS[-1])
        return [
            with_curve(record, CURVES[claim.row], lift)
            for record, lift in zip(records, (-0.01, 0.0, 0.01), strict=True)
        ]
    return made_up.records(claim, [50.0], steps=STEPS[-1]) if claim.row == "LSTM + TCN" else []


def test_updates_until_the_level_stand_beside_the_paper_s_words(store: Store) -> None:
    figure, (plate,) = illustrated(8, curved, store)
    assert [(finding.what, finding.ours) for finding in plate.findings] == [
        (f"Relational match-to-sample, {row}: updates until the mean stays at 95 %", ours)
        for row, ours in (
            ("ESBN + TCN", "4; median 4 (3 networks)"),
            ("LSTM + TCN", "only the last point recorded: 100.0 % (1 network)"),
            ("RN + TCN", "not reached: 70.0 % after 16; median not reached (3 networks)"),
        )
    ]
    assert plate.findings[0].paper == figure.words("table-10/esbn+tcn/withheld-0") != ""


def test_courses_are_drawn_where_the_records_are(store: Store) -> None:
    _, (plate,) = illustrated(8, curved, store)
    (axes,) = plate.draw(LIGHT).axes
    assert axes.get_xscale() == "log"
    drawn = [line for line in axes.lines if list(line.get_xdata()) == list(STEPS)]
    assert [list(line.get_ydata()) for line in drawn] == [
        pytest.approx([100 * value for value in CURVES[row]]) for row in ("ESBN + TCN", "RN + TCN")
    ]
    dots = [part for part in axes.collections if isinstance(part, PathCollection)]
    bands = [part.get_paths()[0].vertices for part in axes.collections if part not in dots]
    spread = 1 / 3**0.5
    for band, row in zip(bands, ("ESBN + TCN", "RN + TCN"), strict=True):
        assert band[:, 1].max() == pytest.approx(min(100 * max(CURVES[row]) + spread, 100))
        assert band[:, 1].min() == pytest.approx(100 * min(CURVES[row]) - spread)
    rings = [ring for ring in dots if ring.get_linewidth()[0] > 0]
    assert [tuple(ring.get_offsets()[0]) for ring in rings] == [(4, pytest.approx(96.0))]
    names = {text.get_text().partition(" (")[0] for text in axes.texts}
    assert names >= {"● ESBN", "● LSTM", "● RN"}
    assert any("1–3 networks each; not run: 6 rows" in text.get_text() for text in axes.texts)


def test_marks_that_do_not_occur_in_courses_are_not_explained(store: Store) -> None:
    def alone(claim) -> list[Record]:
        return [with_curve(record, (0.5, 0.5, 0.6, 0.6, 0.7), 0.0) for record in curved(claim)[:1]]

    def explained(find) -> set[str]:
        _, (plate,) = illustrated(8, find, store)
        (legend,) = plate.draw(LIGHT).legends
        return {text.get_text() for text in legend.get_texts()}

    assert explained(curved) - explained(alone) == {"± standard error", "stays at 95 %"}


def test_courses_that_end_at_chance_say_so(store: Store) -> None:
    idle, learned = (0.5,) * 5, (0.5, 0.5, 0.6, 0.6, 0.7)

    def plate_of(course: tuple[float, ...]) -> Plate:
        def find(claim) -> list[Record]:
            is_idle = claim.row.startswith("ESBN")
            return [with_curve(one, idle if is_idle else course, 0.0) for one in curved(claim)]

        _, (plate,) = illustrated(8, find, store)
        return plate

    mixed = [text.get_text() for text in plate_of(learned).draw(LIGHT).axes[0].texts]
    assert any(one.startswith("● ESBN") and one.endswith("at chance") for one in mixed)
    assert not any(one.startswith("● LSTM") and one.endswith("at chance") for one in mixed)
    plate = plate_of(idle)
    assert plate.draw is None  # nothing is to be seen in it
    assert plate.caption.startswith("There is no picture: after 0.102 % of the steps all")
    assert plate.findings


LOSSES = {
    "Context norm.": ((1.9, 1.0, 0.1, 0.5, 0.05), (2.1, 0.1, 0.1, 0.1, 0.05)),
    "No norm.": ((1.9, 1.9, 1.9, 1.9, 1.8), (1.9, 1.9, 1.9, 1.9, 1.8)),
}


def lost(claim) -> list[Record]:
    """Two networks of two models with curves of the loss."""
    if claim.row not in LOSSES:
        return []
    made = made_up.records(claim, [50.0, 60.0], steps=STEPS[-1])
    return [
        msgspec.structs.replace(
            record,
            scores=(
                *record.scores,
                *(
                    Score(step=step, regime="training", metric="loss", value=value, count=256)
                    for step, value in zip(STEPS, losses, strict=True)
                ),
            ),
        )
        for record, losses in zip(made, LOSSES[claim.row], strict=True)
    ]


def test_losses_fall_to_a_level(store: Store) -> None:
    figure = dataclasses.replace(
        FIGURES["webb2020/figure-s1"],
        table=TABLES["webb2020/table-1"].select("context-norm/training", "no-norm/training"),
    )
    (plate,) = illustrate(figure, tabulate(figure.table, lost), store)
    assert [(finding.what, finding.ours) for finding in plate.findings] == [
        (f"VAEC, regions, {row}: updates until the mean loss stays at or below 0.2", ours)
        for row, ours in (
            ("Context norm.", "16; median 9 (2 networks)"),
            ("No norm.", "not reached: 1.800 after 16; median not reached (2 networks)"),
        )
    ]
    assert all(finding.paper == figure.says[0].words for finding in plate.findings)
    for words in ("Mean loss on", "at or below 0.2", "held equally likely"):
        assert words in plate.caption
    (axes,) = plate.draw(LIGHT).axes
    assert axes.get_ylabel() == "training loss"
    drawn = [line for line in axes.lines if list(line.get_xdata()) == list(STEPS)]
    for line, losses in zip(drawn, LOSSES.values(), strict=True):
        assert list(line.get_ydata()) == pytest.approx(np.mean(losses, axis=0))
    heights = [line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1]
    assert {round(float(height), 3) for height in heights} >= {0.2, round(math.log(7), 3)}
    assert axes.get_ylim()[0] == 0


def test_the_share_of_steps_is_in_the_picture(store: Store) -> None:
    _, (plate,) = illustrated(8, curved, store)
    (axes,) = plate.draw(LIGHT).axes
    assert any("% of steps" in text.get_text() for text in axes.texts)


# --- Paired differences --------------------------------------------------------------------------

LESS = {"conv": 0.0, "MLP": 1.0, "rand": 4.0}


def encoded(claim) -> list[Record]:
    """Two networks; other encoders fall behind, the more the more shapes are withheld."""
    if claim.subject == "Identity rules":
        return []
    encoder = re.search(r"\((\w+)\)", claim.row)[1]
    behind = LESS[encoder] * (1 + claim.experiment.task.withheld / 100)
    return made_up.records(claim, [89 - behind, 91 - behind], steps=1)


def test_tests_are_those_of_the_means(store: Store) -> None:
    _, (plate,) = illustrated(6, encoded, store)
    ours = [finding for finding in plate.findings if finding.what.endswith(", ours")]
    behind = [1 + withheld / 100 for withheld in (0, 50, 85, 95, 98, 0, 50, 85, 95, 0, 50, 85, 95)]
    for finding, factor in zip(ours, (1.0, 4.0, 1.0, 4.0), strict=True):
        test = paired_t_test([-factor * value for value in behind], [0.0] * 13)
        assert f"t = {test.t:.2f}".replace("-", "−") in finding.ours
        assert f"{test.difference:.2f} points".replace("-", "−") in finding.ours
        assert "13 of 17 conditions, 2 networks each" in finding.ours
    printed = [finding for finding in plate.findings if "published means" in finding.what]
    assert [finding.paper for finding in printed] == [
        "t = −1.7, p = 0.1",
        "t = 1.6, p = 0.13",
        "t = −1.6, p = 0.14",
        "t = −4.0, p = 0.001",
    ]
    assert "t = −1.74, p = 0.1 (17 conditions)" in printed[0].ours


def test_tests_of_the_print_need_no_run(store: Store) -> None:
    _, (plate,) = illustrated(6, nothing, store)
    assert [f.ours for f in plate.findings if f.what.endswith(", ours")] == [
        "0 of 17 conditions run"
    ] * 4
    assert len(plate.draw(LIGHT).axes) == 2


def chosen(pattern: str, find, store: Store) -> tuple[Plate, ...]:
    figure = FIGURES["webb2021/figure-6"]
    return illustrate(figure, tabulate(figure.table.select(pattern), find), store)


def test_what_a_selection_of_cells_leaves_untested_is_said(store: Store) -> None:
    assert chosen("table-16/esbn-conv/*", encoded, store) == ()
    (plate,) = chosen("table-16/esbn-*/withheld-0", encoded, store)
    assert [finding.ours for finding in plate.findings] == [
        "one condition, no test",
        "1 of 1 conditions run",
    ] * 2
    assert len(plate.draw(LIGHT).axes) == 1


def test_equal_rows_have_no_statistic(store: Store) -> None:
    def equal(claim) -> list[Record]:
        return made_up.records(claim, [99, 100], steps=1)

    (plate,) = chosen("table-15/*", equal, store)
    assert plate.findings[0].ours == "no difference in any condition (5 conditions)"
    assert plate.findings[1].ours.startswith("no difference in any condition (5 of 5 conditions")


def test_conditions_with_fewer_steps_or_networks_are_pale(store: Store) -> None:
    def some(claim) -> list[Record]:
        full = claim.row.startswith("ESBN") and claim.subject == "Same/different"
        steps = claim.experiment.recipe.steps if full else 1
        return made_up.records(claim, made_up.spread_out(80, 1)[: 10 if full else 2], steps=steps)

    _, (plate,) = illustrated(6, some, store)
    for axes, strong in zip(plate.draw(LIGHT).axes, (2 * 5, 0), strict=True):
        ours = [dots.get_alpha() for dots in axes.collections if marker_of(dots) == "o"]
        assert ours.count(1.0) == strong
        assert len(ours) == 2 * 17
        assert any("networks each" in text.get_text() for text in axes.texts)


def test_conditions_with_both_rows_at_their_floor_are_crosses(store: Store) -> None:
    def floored(claim) -> list[Record]:
        idle = claim.row.startswith("Transformer") and claim.subject == "Same/different"
        return made_up.records(claim, [51.0, 52.0] if idle else [89.0, 91.0], steps=1)

    _, (plate,) = illustrated(6, floored, store)
    picture = plate.draw(LIGHT)
    for axes, crosses in zip(picture.axes, (0, 2 * 5), strict=True):
        assert sum(marker_of(dots) == "x" for dots in axes.collections) == crosses
    assert "both at the floor" in {text.get_text() for text in picture.legends[0].get_texts()}


def test_every_condition_is_a_dot(store: Store) -> None:
    _, (plate,) = illustrated(6, encoded, store)
    for axes in plate.draw(LIGHT).axes:
        dots = {
            mark: sorted(
                float(found.get_offsets()[0, 1])
                for found in axes.collections
                if marker_of(found) == mark
            )
            for mark in ("o", "D")
        }
        assert (len(dots["o"]), len(dots["D"])) == (2 * 13, 2 * 17)
        assert dots["o"][0] == pytest.approx(-4 * 1.98)
        assert [label.get_text() for label in axes.get_xticklabels()] == [
            "MLP − conv",
            "rand − conv",
        ]


# --- How far they hold ---------------------------------------------------------------------------


def held(claim) -> list[Record]:
    """The ESBN at 99 and once at 96, the Transformer at 60, the LSTM at 70."""
    scores = {"ESBN + TCN": 99.0, "Transformer + TCN": 60.0, "LSTM + TCN": 70.0}
    if claim.row not in scores or claim.subject == "Identity rules":
        return []
    worst = claim.row == "ESBN + TCN" and claim.name.endswith("table-10/esbn+tcn/withheld-85")
    return made_up.records(claim, [96.0 if worst else scores[claim.row]] * 2, steps=1)


def test_the_lowest_of_one_and_the_highest_of_others_are_found(store: Store) -> None:
    figure, (plate,) = illustrated(3, held, store)
    lowest, others = plate.findings
    assert lowest.ours == "96.0 ± 0.0 (2) ESBN + TCN, m = 85, of 13 of 17 regimes run"
    assert (lowest.paper, others.paper) == (figure.words("lowest"), figure.words("others"))
    assert others.ours.split("; ") == [
        "Same/different 70.0 ± 0.0 (2) LSTM + TCN, m = 98",
        "Relational match-to-sample 70.0 ± 0.0 (2) LSTM + TCN, m = 95",
        "Distribution-of-three 70.0 ± 0.0 (2) LSTM + TCN, m = 95",
    ]
    subjects = {claim.subject for claim in figure.table.claims}
    panels = plate.draw(LIGHT).axes
    assert {axes.get_title("left") for axes in panels} == subjects


# --- Where plates are shown ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown(store: Store):
    figure, plates = illustrated(6, encoded, store)
    bare = Plate(
        name="bare",
        title="Bare",
        caption="No picture.",
        draw=None,
        findings=(Finding(what="a | b", paper="", ours="<3>"),),
    )
    return tabulate(figure.table.select("table-15/*"), encoded), (*plates, bare)


def test_every_finding_and_picture_is_in_every_form_of_the_report(shown, tmp_path: Path) -> None:
    report, plates = shown
    written = write_report(report, tmp_path, None, plates, vector=True)
    names = ["report.html", "report.md", "profiles.png", "differences.png"]
    assert [path.name for path in written] == names
    page, text = (path.read_text("utf-8") for path in written[:2])
    console = Console(width=300, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(terminal(report, plates))
    for plate in plates:
        for form in (page, text, capture.get()):
            assert plate.title in form
        for form in (page, text):
            assert plate.caption in form
        for finding in plate.findings[:-1]:
            for cell in finding.cells:
                assert cell in page
                assert cell in text
                assert cell in capture.get()
    assert "<3>" not in page
    assert "&lt;3&gt;" in page
    assert r"| a \| b | – | &lt;3&gt; |" in text
    assert page.count("data:image/svg+xml") == 4
    assert "![Paired differences between encoders](differences.png)" in text
    assert "bare.png" not in text
    assert written[-1].read_bytes() == png(plates[0].draw(LIGHT))


def test_a_former_class_is_a_function_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match=r"TimeCourses is no class any more"):
        made = reports.TimeCourses(level=0.95)
    assert made == time_courses(level=0.95)
    with pytest.raises(AttributeError, match=r"'farfield\.reports' has no attribute 'TimeCurves'"):
        _ = reports.TimeCurves
