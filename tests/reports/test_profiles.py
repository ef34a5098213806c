"""Profiles: layouts by baselines; the numbers, colors and words in them."""

import dataclasses
import io
from functools import cache

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from PIL import Image

from farfield.metrics import t_interval
from farfield.reports import png, problem_sheet, svg, tabulate
from farfield.reports._profile._panels import spread_apart
from farfield.reports._profile._series import MARKERS
from farfield.reports.internal import DARK, LIGHT, profiles
from farfield.reproductions import TABLES, Table, Unpublished
from farfield.tasks import SameDifferent
from reproductions import made_up


def trained(claim, count=10):
    steps = claim.experiment.recipe.steps
    mean = min(made_up.number_of(claim), 97.0)
    return made_up.records(claim, made_up.spread_out(mean, 0.8)[:count], steps=steps)


@cache
def report_of(*patterns, find=trained, table="webb2021/table-11"):
    return tabulate(TABLES[table].select(*patterns), find)


def marks(axes, *, filled):
    """Our means, which are filled, or the published ones, in the order drawn."""
    return [
        line
        for line in axes.lines
        if line.get_marker() in MARKERS
        and len(line.get_ydata()) == 1
        and line.get_gid() != "beyond"
        and (to_hex(line.get_markerfacecolor()) != LIGHT.background) == filled
    ]


def drawn_means(axes):
    """Height of every filled marker, in the order drawn."""
    return [float(line.get_ydata()[0]) for line in marks(axes, filled=True)]


@cache
def added(smallest):
    """Networks of the table of adding whose errors grow with the distance, the least as given."""

    def find(claim):
        regimes = {regime.name: regime for regime in claim.experiment.task.regimes}
        error = smallest + regimes[claim.regime].distance / 100
        return made_up.records(claim, [100 * error] * 2, steps=claim.experiment.recipe.steps)

    return profiles(report_of("*", table="lamb2022/adding", find=find))


def three_tasks():
    """Three panels, none of which is a list."""
    tables = [TABLES[f"webb2021/table-{number}"] for number in (9, 10, 11)]
    cells = ("esbn+tcn/withheld-0", "esbn+tcn/withheld-50")
    claims = tuple(table.cells[cell] for cell in cells for table in tables)
    return Table(key="webb2021/three", title="Three", claims=claims)


LAID_OUT = {
    "dark": lambda: profiles(report_of(*made_up.three("withheld-95")), DARK),
    "names-in-two-lines": lambda: profiles(
        report_of(table="gondal2021/table-1", find=lambda _: [])
    ),
    "many-models": lambda: profiles(report_of("*", table="webb2021/table-12")),
    "three-panels": lambda: profiles(tabulate(three_tasks(), trained)),
    "long-names": lambda: profiles(report_of("*", table="lamb2022/beyond")),
    "errors": lambda: added(smallest=0.1),
    "errors-by-logarithm": lambda: added(smallest=0.001),
}
"""Profiles with a baseline."""


@pytest.mark.parametrize("name", LAID_OUT)
def test_a_layout_is_that_of_its_baseline(name, check_baseline):
    check_baseline(LAID_OUT[name](), f"profile-{name}")


def test_models_of_one_distance_stand_side_by_side():
    report = report_of(*made_up.three("withheld-95"))
    (axes,) = profiles(report).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["ESBN", "Transformer", "LSTM"]
    assert drawn_means(axes) == pytest.approx([row.judgement.ours.mean for row in report.rows])
    dots = [part for part in axes.collections if isinstance(part, PathCollection)]
    for part, row in zip(dots, report.rows, strict=True):
        assert np.asarray(part.get_offsets())[:, 1] == pytest.approx(row.values)


@pytest.mark.parametrize("patterns", [made_up.three("withheld-95"), ("esbn+tcn/*", "lstm+tcn/*")])
def test_networks_that_diverged_are_crosses_below_the_others(patterns):
    def find(claim):
        found = trained(claim)
        return made_up.diverged(found, seed=2, step=7) if claim.row == "LSTM + TCN" else found

    report = report_of(*patterns, find=find)
    figure = profiles(report)
    crosses = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "x"]
    lost = [row for row in report.rows if row.judgement.diverged]
    assert len(crosses) == len(lost) > 0
    assert {float(line.get_ydata()[0]) for line in crosses} == {0.02}  # of the height
    dots = [p for axes in figure.axes for p in axes.collections if isinstance(p, PathCollection)]
    assert min(len(part.get_offsets()) for part in dots) == 9
    (shown,) = figure.legends
    assert "diverged" in [entry.get_text() for entry in shown.get_texts()]
    profiles(report_of(*patterns, find=lambda claim: find(claim)[2:3]))  # no number is left of it


def test_distances_of_many_models_are_divided():
    def divided(*patterns):
        (axes,) = profiles(report_of(*patterns, table="webb2021/table-12")).axes
        return [line.get_xdata()[0] for line in axes.lines if line.get_linewidth() == 0.5]

    assert divided("*") == [0.5, 1.5, 2.5]
    assert divided("esbn+tcn/*", "ntm/*") == []


def test_intervals_are_those_of_the_numbers():
    report = report_of(*made_up.three("withheld-95"))
    (axes,) = profiles(report).axes
    bars = [part.get_segments()[0] for part in axes.collections if isinstance(part, LineCollection)]
    ends = {tuple(np.round(bar[:, 1], 6)) for bar in bars}
    for row in report.rows:
        interval = t_interval(row.values)
        assert tuple(np.round([interval.low, min(interval.high, 100.0)], 6)) in ends
        mean, error = row.claim.published.mean, row.claim.published.spread
        assert tuple(np.round([mean - error, mean + error], 6)) in ends


def test_lines_run_over_the_distances():
    report = report_of("esbn*")
    (axes,) = profiles(report).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "50", "85", "95"]
    assert axes.get_xlabel() == "withheld shapes"
    lines = [line for line in axes.lines if len(line.get_ydata()) == 4]
    assert len(lines) == 2
    for line, row in zip(lines, ("ESBN + TCN", "ESBN"), strict=True):
        means = [part.judgement.ours.mean for part in report.rows if part.claim.row == row]
        assert list(line.get_ydata()) == pytest.approx(means)
    assert lines[0].get_color() == lines[1].get_color()
    assert lines[0].get_linestyle() != lines[1].get_linestyle()
    texts = {text.get_text() for text in axes.texts}
    assert {"● ESBN + TCN", "■ ESBN"} <= texts


def test_a_model_keeps_its_color_in_every_picture():
    def color(*patterns):
        (axes,) = profiles(report_of(*patterns)).axes
        labels = [*axes.get_xticklabels(), *axes.get_yticklabels()]
        return next(label.get_color() for label in labels if label.get_text() == "LSTM")

    assert color("lstm+tcn/withheld-95") == color("*+tcn/withheld-95")


def test_floor_and_ceiling_are_drawn():
    (axes,) = profiles(report_of(*made_up.three("withheld-95"))).axes
    levels = [
        float(line.get_ydata()[0])
        for line in axes.lines
        if list(line.get_ydata()) == [line.get_ydata()[0]] * 2
    ]
    assert levels == [25.0, 100.0]
    low, high = axes.get_ylim()
    assert low < levels[0] < levels[1] < high


def test_only_marks_that_occur_are_explained():
    def explained(table, find):
        (legend,) = profiles(tabulate(TABLES[table], find)).legends
        return [text.get_text() for text in legend.get_texts()]

    ours, printed, levels = (
        ["ours, 95 % interval", "one network"],
        "published ± SE",
        ["floor", "ceiling"],
    )
    assert explained("webb2021/demo", trained) == [*ours, printed, *levels]
    assert explained("webb2021/demo", lambda claim: []) == [printed, *levels]
    assert explained("webb2021/variants", trained) == [*ours, *levels]


def test_each_task_has_a_panel():
    figure = profiles(tabulate(TABLES["webb2021/demo"], lambda claim: []))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "Same/different",
        "Relational match-to-sample",
        "Distribution-of-three",
        "Identity rules",
    ]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_networks_make_a_picture_too(count):
    report = report_of("*95", find=lambda claim: trained(claim, count))
    assert len(png(profiles(report), dpi=50)) > 1000


def test_pictures_are_the_same_bytes_each_time():
    first, second = (profiles(report_of("esbn+tcn/*"), DARK) for _ in range(2))
    for write in (svg, lambda figure: png(figure, dpi=60)):
        assert write(first) == write(second)


def test_settings_of_the_user_change_no_picture(tmp_path):
    def pictures():
        figure = profiles(report_of("esbn+tcn/*"))
        sheet = problem_sheet(SameDifferent(max_problems=10), tmp_path / "sheet.png")
        return png(figure, dpi=60), svg(figure), sheet.read_bytes()

    before = pictures()
    settings = {
        "text.usetex": True,
        "savefig.bbox": "tight",
        "font.size": 20,
        "lines.linewidth": 7,
        "savefig.transparent": True,
    }
    with mpl.rc_context(settings):
        assert pictures() == before


def test_a_png_is_as_large_as_its_inches_say():
    figure = profiles(report_of(*made_up.three("withheld-95")))
    with Image.open(io.BytesIO(png(figure, dpi=100))) as picture:
        assert picture.size == tuple(round(100 * inches) for inches in figure.get_size_inches())
        assert picture.getpixel((0, 0))[:3] == (255, 255, 255)


def luminance(color):
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_colors_stand_out_from_the_paper(theme):
    def contrast(color):
        bright, dim = sorted([luminance(color), luminance(theme.background)], reverse=True)
        return (bright + 0.05) / (dim + 0.05)

    assert contrast(theme.foreground) >= 7
    assert contrast(theme.muted) >= 4.5
    assert min(contrast(color) for color in theme.models[:3]) >= 3


def test_labels_are_moved_apart_as_little_as_possible():
    assert spread_apart([0.0, 10.0, 20.0], 5.0) == [0.0, 10.0, 20.0]
    assert spread_apart([10.0, 10.0], 4.0) == [8.0, 12.0]
    assert spread_apart([0.0, 10.0, 11.0, 12.0], 5.0) == [0.0, 6.0, 11.0, 16.0]
    assert spread_apart([0.0, 10.0, 11.0, 12.0], 5.0, 14.0) == [-1.0, 4.0, 9.0, 14.0]
    assert spread_apart([0.0, 5.0, 12.0], 5.0, 13.0) == [0.0, 5.0, 12.0]
    moved = spread_apart(sorted(np.random.default_rng(0).uniform(0, 100, 12).tolist()), 5.0)
    assert min(np.diff(moved)) >= 5.0 - 1e-9


def test_many_models_stand_one_below_another():
    report = report_of("*/withheld-95", find=lambda c: [] if "ntm" in c.cell else trained(c))
    (axes,) = profiles(report).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [row.claim.row for row in report.rows]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first one on top
    rows = [row for row in report.rows if row.judgement.ours is not None]
    assert len(rows) == len(names) - 2
    means = [float(line.get_xdata()[0]) for line in marks(axes, filled=True)]
    assert means == pytest.approx([row.judgement.ours.mean for row in rows])
    bars = [part.get_segments()[0] for part in axes.collections if isinstance(part, LineCollection)]
    ends = {tuple(np.round(bar[:, 0], 6)) for bar in bars}
    for row in rows:
        interval = t_interval(row.values)
        assert tuple(np.round([interval.low, min(interval.high, 100.0)], 6)) in ends
    low, high = axes.get_xlim()
    assert low < report.rows[0].floor < 100 < high


def test_several_columns_of_one_distance_are_named():
    report = report_of("ni-small/*", "vit-small/mnist", table="gondal2021/digits", find=trained)
    (axes,) = profiles(report).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[:2] == ["NI, small, validation", "NI, small, mnist"]
    assert labels[-1] == "ViT, small"
    assert not any("mnist" in text.get_text() for text in axes.texts)


def test_models_in_a_list_without_a_number_are_left_out():
    table = TABLES["webb2020/beyond"]
    first = table.claims[0]

    def find(claim):
        return made_up.records(claim, [90.0], steps=1000) if claim is first else []

    (axes,) = profiles(tabulate(table, find)).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [first.row]
    nothing = profiles(tabulate(table, lambda _: []))
    assert len(nothing.axes) == 3


def test_panels_of_different_measures_have_axes_of_their_own():
    def find(claim):
        return trained(claim, count=1) if claim.group else made_up.records(claim, [0.9], steps=5)

    figure = profiles(report_of("*", table="gondal2021/beyond", find=find))
    functions, matrices = figure.axes
    assert functions.get_xlabel() == "coefficient of determination"
    assert matrices.get_xlabel() == "accuracy (%)"
    assert functions.get_xlim()[1] < 2
    assert matrices.get_xlim()[1] > 100


def test_a_panel_without_a_number_says_so():
    def find(claim):
        return trained(claim, count=1) if claim.group == "copying" else []

    copying, digits = profiles(report_of("*", table="lamb2022/beyond", find=find)).axes
    assert not any("not run" in text.get_text() for text in copying.texts)
    assert any("not run" in text.get_text() for text in digits.texts)


def test_no_two_models_of_a_paper_share_a_color():
    for theme in (LIGHT, DARK):
        assert len(set(theme.models)) == len(theme.models)
        axes = profiles(report_of("*+tcn/withheld-95"), theme).axes[0]
        colors = [label.get_color() for label in axes.get_yticklabels()]
        assert len(set(colors)) == len(colors) == 8


def test_variants_of_a_model_share_its_color_and_differ_in_their_lines():
    (axes,) = profiles(report_of("*", table="webb2021/table-17")).axes
    lines = [line for line in axes.lines if len(line.get_ydata()) == 4]
    colors = [line.get_color() for line in lines]
    assert len(lines) == 6
    assert (len(set(colors[:3])), len(set(colors[3:])), len(set(colors))) == (1, 1, 2)
    assert len({str(line.get_linestyle()) + str(line._dash_pattern) for line in lines[:3]}) == 3


def test_eight_variants_of_a_model_differ_in_their_lines():
    (axes,) = profiles(report_of("*", table="lamb2022/ablations")).axes
    lines = [line for line in axes.lines if len(line.get_ydata()) == 4]
    assert len({str(line._dash_pattern) for line in lines}) == len(lines) == 8


def test_each_unit_of_distance_has_a_panel_named_after_it():
    longer, more = added(smallest=0.1).axes
    ticks = [[label.get_text() for label in axes.get_xticklabels()] for axes in (longer, more)]
    assert ticks == [["0", "150", "950"], ["1", "2"]]
    units = [axes.get_xlabel() for axes in (longer, more)]
    assert units == ["places beyond training", "terms beyond training"]


def test_columns_of_several_units_have_a_line_each():
    report = report_of("nfm-one-pass/*", table="lamb2022/nfm-images-narrow")
    (axes,) = profiles(report).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        row.claim.column for row in report.rows
    ]


def test_ten_models_differ_in_color_or_line():
    axes = added(smallest=0.1).axes[0]
    lines = [line for line in axes.lines if len(line.get_ydata()) == 3]
    looks = {(line.get_color(), str(line._dash_pattern)) for line in lines}
    assert len(looks) == len(lines) == 10


@pytest.mark.parametrize(("smallest", "scale"), [(0.1, "linear"), (0.001, "log"), (0.0, "linear")])
def test_errors_of_several_orders_go_by_their_logarithms(smallest, scale):
    figure = added(smallest)
    axes = figure.axes[0]
    low, high = axes.get_ylim()
    assert axes.get_yscale() == scale
    assert low <= min(drawn_means(axes))
    assert max(drawn_means(axes)) < high
    explained = [text.get_text() for text in figure.legends[0].get_texts()]
    assert ("ceiling" in explained) == (scale == "linear")


def test_shares_of_several_budgets_are_a_span():
    def find(claim):
        steps = claim.experiment.recipe.steps
        return made_up.records(claim, [90.0, 91.0], steps=steps if "esbn" in claim.cell else 1)

    (axes,) = profiles(report_of("*+tcn/withheld-95", find=find)).axes
    assert any("–100 % of steps" in text.get_text() for text in axes.texts)


def bars(axes):
    """Both ends of every line that stands upright or lies flat, and its color."""
    return [
        (part.get_segments()[0], to_hex(part.get_color()[0]))
        for part in axes.collections
        if isinstance(part, LineCollection)
    ]


@pytest.mark.parametrize(("count", "intervals"), [(1, 0), (2, 0), (3, 3), (10, 3)])
def test_intervals_are_of_three_networks_or_more(count, intervals):
    def unprinted(claim):
        return trained(claim, count)

    table = dataclasses.replace(
        TABLES["webb2021/table-11"].select(*made_up.three("withheld-95")), key="webb2021/unprinted"
    )
    own = Unpublished(runs=2, selection="last", split="test")
    claims = tuple(dataclasses.replace(claim, published=own) for claim in table.claims)
    figure = profiles(tabulate(dataclasses.replace(table, claims=claims, others=()), unprinted))
    (axes,) = figure.axes
    assert len(bars(axes)) == intervals
    explained = [text.get_text() for text in figure.legends[0].get_texts()]
    assert explained[0] == ("ours, 95 % interval" if intervals else "ours, mean")


def test_columns_on_no_common_axis_have_a_line_each(check_baseline):
    table = TABLES["webb2021/table-11"].select("esbn+tcn/*", "lstm+tcn/*")
    again = [
        dataclasses.replace(claim, column=f"{claim.column}, again", group="again")
        for claim in table.claims
    ]
    twice = dataclasses.replace(
        table,
        key="webb2021/twice",
        claims=tuple(one for pair in zip(table.claims, again, strict=True) for one in pair),
        others=(),
    )
    report = tabulate(twice, trained)
    figure = profiles(report)
    (axes,) = figure.axes
    check_baseline(figure, "profile-columns")
    columns = [label.get_text() for label in axes.get_yticklabels()]
    assert columns[:3] == ["m = 0", "m = 0, again", "m = 50"]
    assert columns == list(dict.fromkeys(row.claim.column for row in report.rows))
    assert not any(line.get_linestyle() == "-" and len(line.get_xdata()) > 2 for line in axes.lines)
    means = sorted(float(line.get_xdata()[0]) for line in marks(axes, filled=True))
    assert means == pytest.approx(sorted(row.judgement.ours.mean for row in report.rows))
    assert {"● ESBN", "● LSTM"} <= {text.get_text() for text in axes.texts}


def ticks(axes):
    return [label.get_text() for label in axes.get_xticklabels()]


def test_columns_are_named_as_in_print_where_they_count_otherwise():
    (regions,) = profiles(report_of("context-norm/*", table="webb2020/table-1")).axes
    assert ticks(regions) == ["Region 1\n(training)", *(f"Region {n}" for n in range(2, 7))]
    assert regions.get_xlabel() == ""
    (copying,) = profiles(report_of("ntm/*", table="lamb2022/copying")).axes
    assert ticks(copying) == ["T = 200", "T = 1,000", "T = 10,000"]


def test_variants_of_a_model_have_markers_of_their_own_ours_and_published():
    (axes,) = profiles(report_of("batch*", table="webb2020/table-1")).axes
    for filled in (True, False):
        found = [line.get_marker() for line in marks(axes, filled=filled)]
        assert [found[at] for at in range(0, len(found), 6)] == ["o", "s", "^", "v"]
    names = {text.get_text().partition(" (")[0] for text in axes.texts}
    assert {"● Batch + context norm.", "■ Batch norm.", "▲ Batch norm. + dropout"} <= names


def test_rows_of_other_steps_or_networks_say_so():
    def find(claim):
        many = "esbn" in claim.cell
        steps = claim.experiment.recipe.steps // (1 if many else 2)
        return made_up.records(claim, [90.0, 91.0, 92.0][: 3 if many else 2], steps=steps)

    (axes,) = profiles(report_of("esbn+tcn/*", "lstm+tcn/*", find=find)).axes
    names = {text.get_text() for text in axes.texts}
    assert {"● ESBN (100 %, n = 3)", "● LSTM (50 %, n = 2)"} <= names
    (alike,) = profiles(report_of("esbn+tcn/*", "lstm+tcn/*")).axes
    assert {"● ESBN", "● LSTM"} <= {text.get_text() for text in alike.texts}
    assert any("10 networks each" in text.get_text() for text in alike.texts)


def test_an_interval_that_leaves_an_axis_of_logarithms_ends_in_an_arrow():
    def find(claim):
        errors = [0.01, 1.0, 2.0] if "ntm" in claim.cell else [0.001, 0.0011, 0.0012]
        steps = claim.experiment.recipe.steps
        return made_up.records(claim, [100 * error for error in errors], steps=steps)

    axes = profiles(report_of("*", table="lamb2022/adding", find=find)).axes[0]
    arrows = [line for line in axes.lines if line.get_gid() == "beyond"]
    assert {line.get_marker() for line in arrows} == {"v"}
    mean = 3.01 / 3
    assert [float(line.get_ydata()[0]) for line in arrows] == pytest.approx([0.45 * mean] * 3)
    highest = max(segment[:, 1].max() for segment, _ in bars(axes))
    assert highest == pytest.approx(t_interval([0.01, 1.0, 2.0]).high)


def test_a_panel_beside_a_list_has_numbers_at_its_axis():
    axes = profiles(report_of("*", table="webb2021/variants")).axes
    (tinted,) = (one for one in axes if "tint" in one.get_title("left"))
    assert tinted.get_ylabel() == "accuracy (%)"
    assert all(label.get_visible() for label in tinted.get_yticklabels())


def test_numbers_without_a_spread_are_published_alone():
    (legend,) = profiles(report_of("*", table="lamb2022/table-1-digits", find=lambda _: [])).legends
    assert legend.get_texts()[0].get_text() == "published"
