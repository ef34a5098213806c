"""The table in a terminal, in Markdown and in HTML."""

import dataclasses
import math
import re
from html.parser import HTMLParser

import msgspec
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from farfield.metrics import Difference, Interval
from farfield.metrics.internal import measure_of
from farfield.reports import FIGURES, Finding, Plate, html, markdown, tabular_of, tabulate
from farfield.reports._report import _text as text
from farfield.reports._tables._grid import small_pictures
from farfield.reports.internal import terminal, write_report
from farfield.reproductions import TABLES, Budget, Table
from reproductions import made_up

DEMO = TABLES["webb2021/demo"]


def some(claim):
    """Ten networks of ESBN, one of the Transformer, none of the LSTM."""
    count = {"ESBN + TCN": 10, "Transformer + TCN": 1}.get(claim.row, 0)
    values = made_up.spread_out(made_up.number_of(claim) - 1, 0.05, 10)[:count]
    return made_up.records(claim, values, steps=claim.at(Budget.QUICK).recipe.steps)


@pytest.fixture(scope="module")
def report():
    return tabulate(DEMO, some, Budget.QUICK)


@pytest.fixture(scope="module")
def page(report):
    """The report in HTML, with a sheet whose name is markup."""
    return html(report, {"<script>alert(1)</script>": b"\x89PNG"})


def shown(report, width):
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(terminal(report))
    return capture.get()


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_the_terminal_shows_every_number_whole(report, width):
    lines = shown(report, width)
    assert "…" not in lines
    squeezed = re.sub(r"\s+", " ", lines)
    for row in report.rows:
        assert squeezed.count(text.published(row)) >= 1
        assert text.ours(row) in squeezed
        assert text.difference(row) in squeezed
        assert text.verdict(row) in squeezed


def test_what_data_a_table_needs_stands_once_beneath_it(report, monkeypatch, tmp_path):
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    lacking = tabulate(TABLES["webb2020/table-3"], lambda claim: [])
    for written in (markdown(lacking), shown(lacking, 200), html(lacking)):
        assert written.count("Hill et al. 2019 in FARFIELD_DATA/analogies.") == 1
    assert "Needs data" not in markdown(report)


def test_each_measure_of_a_table_is_named_with_its_unit():
    one, several = (
        text.notes(tabulate(TABLES[key], lambda _: []))
        for key in ("webb2021/demo", "gondal2021/beyond")
    )
    mean = "ean ± standard error of the mean over n trained networks"
    assert [note for note in one if mean in note] == [f"M{mean}, in percent."]
    assert [note for note in several if mean in note] == [
        f"Coefficient of determination: m{mean}.",
        f"Accuracy: m{mean}, in percent.",
    ]


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_terminal_keeps_to_its_width(report, width):
    assert max(len(line.rstrip()) for line in shown(report, width).splitlines()) <= width


def test_a_narrow_terminal_has_the_numbers_of_a_cell_in_one_line_however_long_its_name():
    report = tabulate(FIGURES["webb2021/figure-8"].table, some, Budget.QUICK)
    lines = shown(report, 80).splitlines()
    for row in report.rows:
        first = (text.published(row), text.ours(row), text.verdict(row))
        assert any(
            re.fullmatch(r" +".join(map(re.escape, ("", *first))), line.rstrip()) for line in lines
        )
    assert max(map(len, lines)) <= 80


def test_a_wide_terminal_has_a_line_for_each_cell(report):
    lines = shown(report, 150).splitlines()
    for row in report.rows:
        (line,) = [line for line in lines if text.published(row) in line and row.claim.row in line]
        for write in text.COLUMNS.values():
            assert write(row) in line


def test_a_color_is_never_all_that_tells_a_verdict(report):
    assert "underpowered" in shown(report, 150)
    assert "not run" in shown(report, 150)


def test_markdown_has_a_row_for_each_cell(report):
    page = markdown(report)
    rows = [line for line in page.splitlines() if line.startswith("| ") and "withheld" in line]
    assert len(rows) == len(report.rows)
    for row, line in zip(report.rows, rows, strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells == [
            text.label(row),
            *(write(row) for write in text.COLUMNS.values()),
            f"`{row.command}`",
        ]


class Page(HTMLParser):
    """Collects what a page refers to, and which tags are left open."""

    VOID = frozenset({"meta", "img", "source", "br"})

    def __init__(self, page):
        super().__init__()
        self.links, self.open, self.tags, self.words = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "srcset", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_html_needs_nothing_but_itself(page):
    parsed = Page(page)
    assert parsed.open == []
    assert len(parsed.links) == 3
    assert all(link.startswith("data:image/") for link in parsed.links)
    assert not {"script", "link", "iframe"} & set(parsed.tags)
    assert "url(" not in page
    assert "@import" not in page


def test_html_holds_plates_and_still_needs_nothing_but_itself(report):
    finding = Finding(what="a", paper="", ours="b")
    plates = [
        Plate(name=name, title=name, caption="c", draw=draw, findings=(finding,))
        for name, draw in (("with", lambda _: Figure(figsize=(1, 1))), ("without", None))
    ]
    parsed = Page(html(report, None, plates))
    assert parsed.open == []
    assert len(parsed.links) == 4
    assert all(link.startswith("data:image/") for link in parsed.links)
    assert parsed.words.count("–") >= 2


def test_html_shows_every_number(report, page):
    words = re.sub(r"\s+", " ", " ".join(Page(page).words))
    for row in report.rows:
        for write in text.COLUMNS.values():
            assert write(row) in words
        assert row.command in words
        assert row.judgement.reason in words


def test_html_takes_names_as_text_and_not_as_markup(page):
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_markdown_takes_what_a_record_says_as_text_and_not_as_markup():
    def find(claim):
        found = some(claim)
        where = {"processor": "<script>\n# Hi", "engine": "a|b_c"}
        return [msgspec.structs.replace(record, environment=where) for record in found]

    page = markdown(tabulate(DEMO, find, Budget.QUICK))
    assert "- Trained on: processor &lt;script&gt; # Hi, engine a\\|b\\_c.\n" in page


def test_html_shows_no_sign_that_turns_the_reading_order():
    def find(claim):
        where = {"processor": "abc\u202edcba\x1b[2J"}
        return [msgspec.structs.replace(record, environment=where) for record in some(claim)]

    page = html(tabulate(DEMO, find, Budget.QUICK))
    assert "abc\\u202edcba\\x1b[2J" in page
    assert "\u202e" not in page


def test_files_are_written_beside_each_other(report, tmp_path):
    paths = write_report(report, tmp_path / "new" / "folder")
    assert sorted(path.name for path in paths) == ["profiles.png", "report.html", "report.md"]
    assert sorted(tmp_path.rglob("*.*")) == sorted(paths)
    assert (tmp_path / "new/folder/profiles.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "new/folder/report.md").read_text(encoding="utf-8") == markdown(report)


@pytest.mark.parametrize(
    "value, digits, written",
    [
        (0.44, 1, "+0.4"),
        (-0.44, 1, "−0.4"),
        (0.04, 1, "0.0"),
        (-0.04, 1, "0.0"),
        (math.inf, 1, "+∞"),
        (-math.inf, 1, "−∞"),
        (-0.014, 2, "−0.01"),
    ],
)
def test_signs(value, digits, written):
    assert text.signed(value, digits) == written


def test_numbers_are_written_to_the_digits_of_print(report):
    ten, one, none = report.rows[3:6]
    assert text.published(ten) == "95.0 ± 0.7 (10)"
    assert text.ours(ten) == "94.0 ± 0.1 (10)" or text.ours(ten) == "94.0 ± 0.0 (10)"
    assert text.ours(one).endswith(" (1)")
    assert "±" not in text.ours(one)
    assert text.difference(one).endswith("[−100.0, +100.0]")
    assert text.budget(ten) == f"{100 * ten.claim.quick:.0f} %"
    assert [text.ours(none), text.difference(none), text.budget(none), text.seconds(none)] == [
        text.MISSING
    ] * 4


def test_a_difference_shows_its_interval(report):
    row = report.rows[0]
    found = Difference(value=-1.25, interval=Interval(low=-2.5, high=0.04), degrees=9.0)
    object.__setattr__(row.judgement, "difference", found)
    assert text.difference(row) in ("−1.2 [−2.5, 0.0]", "−1.3 [−2.5, 0.0]")


def one_row(claim, records):
    table = Table(key="webb2021/table-11", title="", claims=(claim,))
    return tabulate(table, lambda own: records)


def test_an_interval_without_zero_is_marked():
    cell = made_up.claim(90.0, 0.5)
    written = {
        mean: text.difference(
            one_row(cell, made_up.records(cell, made_up.spread_out(mean, 0.5))).rows[0]
        )
        for mean in (90.2, 80.0)
    }
    assert written == {90.2: "+0.2 [−1.3, +1.7]", 80.0: "−10.0 [−11.5, −8.5] †"}
    assert any(note.startswith("†: ") for note in text.COMMON_NOTES)


@pytest.mark.parametrize(
    "mean, deviation, strip",
    [
        (90.0, 0.0, "····░══●══░····"),
        (90.8, 0.5, "····░░═┼●══─···"),
        (91.5, 2.0, "··──═══┼══●───▸"),
        (96.0, 1.0, "····░░░│░░░··─▸"),
        (92.0, 0.5, "····░░░│══●───·"),
        (91.7, 0.5, "····░░░│══●───·"),
        (86.0, 0.9, "◂●──═░░│░░░····"),
    ],
)
def test_an_interval_is_drawn_against_the_margin(mean, deviation, strip):
    """±2, of two points and 3 standard errors of 0.5 the larger; a sign is 0.57 points."""
    cell = made_up.claim(90.0, 0.5)
    (row,) = one_row(cell, made_up.records(cell, made_up.spread_out(mean, deviation))).rows
    assert small_pictures(row) == [strip]


@pytest.mark.parametrize(
    "goal, percents, strip",
    [
        (90.0, [92.0, 91.0, 91.5], "·······│══●══░░"),
        (90.0, [89.9, 89.9, 89.9], "······●│░░░░░░░"),
        (90.0, [89.8, 90.1, 89.95], "······●┼═░░░░░░"),
        (100.0, [100.0, 100.0, 100.0], "·······●░░░░░░░"),
    ],
)
def test_a_mean_is_drawn_against_its_goal(goal, percents, strip):
    cell = made_up.unpublished(goal=goal)
    cell = dataclasses.replace(cell, published=dataclasses.replace(cell.published, runs=3))
    assert small_pictures(one_row(cell, made_up.records(cell, percents)).rows[0]) == [strip]


def test_a_spread_of_unknown_kind_is_drawn_as_both():
    number = dataclasses.replace(made_up.published(90.0, 2.0), spread_kind="not said")
    cell = dataclasses.replace(made_up.claim(), published=number)
    report = one_row(cell, made_up.records(cell, made_up.spread_out(91.0, 0.1)))
    assert small_pictures(report.rows[0]) == ["SE ····░══┼●══····", "SD ····░░═┼═●═─···"]
    assert "LSTM + TCN" in next(n for n in text.own_notes(report) if n.startswith("SD or SE"))


def test_networks_of_two_kinds_are_dots():
    cell = made_up.unpublished()
    report = one_row(cell, made_up.records(cell, [100.0] * 8 + [75.0, 50.0]))
    assert small_pictures(report.rows[0]) == ["●●●●●●●●◐○"]
    assert f"Of two kinds: {text.label(report.rows[0])}: 8 of 10 networks solve it." in (
        text.own_notes(report)
    )


def test_a_number_of_networks_that_is_not_said_is_marked():
    number = dataclasses.replace(made_up.published(90.0, 0.5), runs_assumed=True)
    report = one_row(dataclasses.replace(made_up.claim(), published=number), [])
    assert text.published(report.rows[0]) == "90.0 ± 0.5 (10 assumed)"
    assert (
        "The paper does not say how many networks its numbers are of; assumed: 10 for 1 cell."
        in text.own_notes(report)
    )


def test_a_network_that_diverged_is_in_every_form_of_the_table():
    cell = made_up.claim(90.0, 0.5)
    lost = made_up.diverged(made_up.records(cell, [90.0] * 10), seed=3, step=20)
    report = one_row(cell, lost)
    for page in (shown(report, 200), shown(report, 80), markdown(report), html(report)):
        words = " ".join(page.split())
        assert "90.0 ± 0.0 (9 of 10, 1 diverged)" in words
        assert "seed 3 at step 20" in words


def test_seeds_that_were_trained_by_different_code_are_named():
    cell = made_up.claim(90.0, 0.5)
    codes = ["old", None, "old", "old", "new", "old", "new", "new", "new", "new"]
    records = [
        msgspec.structs.replace(record, environment={"code": code} if code else {})
        for record, code in zip(made_up.records(cell, [90.0] * 10), codes, strict=True)
    ]
    note = f"Trained by different code: {text.label(one_row(cell, records).rows[0])}: "
    said = f"{note}Farfield's code old of seeds 0, 2–3, 5; new of seeds 4, 6–9."
    assert said in text.own_notes(one_row(cell, records))
    assert said in markdown(one_row(cell, records))
    for alike in (records[:4], records[1:2]):  # a record that does not say is no difference
        assert not [n for n in text.own_notes(one_row(cell, alike)) if n.startswith("Trained by")]


def test_where_all_diverged_there_is_no_mean():
    cell = made_up.unpublished()
    report = one_row(cell, made_up.diverged(made_up.records(cell, [90.0]), seed=0, step=2))
    (row,) = report.rows
    assert (text.ours(row), text.difference(row), text.verdict(row)) == (
        "– (1 diverged)",
        "–",
        "diverged",
    )
    assert "seed 0 at step 2" in markdown(report)
    assert html(report)


def test_the_goal_of_an_error_is_a_largest_one():
    cell = dataclasses.replace(made_up.unpublished(goal=0.5), metric="mse")
    report = one_row(cell, [])
    assert text.published(report.rows[0]) == "≤ 0.5"
    assert [note for note in text.own_notes(report) if note.startswith("≤: a goal")]


@pytest.mark.parametrize(
    ("value", "written"),
    [(-0.408, "−0.41"), (0.408, "0.41"), (-0.001, "0.00"), (0.0, "0.00"), (math.nan, "nan")],
)
def test_negative_numbers_have_a_minus(value: float, written: str) -> None:
    assert text.plain(value, 2) == written


@pytest.mark.parametrize(
    "percents, written",
    [
        ((99.9, 100, 100), "99.97 ± 0.03 (3)"),
        ((99.99, 100, 100), "99.997 ± 0.003 (3)"),
        ((99, 99, 99.9), "99.3 ± 0.3 (3)"),
        ((100, 100, 100), "100.0 ± 0.0 (3)"),
    ],
)
def test_a_goal_that_is_missed_does_not_read_as_reached(percents, written):
    claim = made_up.unpublished(goal=100.0)
    table = Table(key="webb2021/table-11", title="", claims=(claim,))
    (row,) = tabulate(table, lambda own: made_up.records(own, percents)).rows
    assert text.ours(row) == written


def test_every_view_of_a_mean_rounds_it_alike():
    claim = DEMO.claims[0]
    found = tabulate(
        Table(key=DEMO.key, title="", claims=(claim,)),
        lambda claim: made_up.records(claim, [12.25], steps=claim.at(Budget.QUICK).recipe.steps),
        Budget.QUICK,
    )
    table = tabular_of(found)
    views = [shown(found, 200), markdown(found), html(found), str(table), table.latex()]
    assert all("12.3 (1)" in view and "12.2" not in view for view in views)
    assert measure_of("accuracy").written(0.1225) == "12.3"
    assert text.signed(-12.25, 1) == "−12.3"


def test_a_table_without_results_has_no_picture(tmp_path):
    found = tabulate(DEMO, lambda _: [], Budget.QUICK)
    assert {path.name for path in write_report(found, tmp_path)} == {"report.html", "report.md"}
    for page in (html(found), html(found, pictures={})):
        assert "<img" not in page
        assert "not run" in page
