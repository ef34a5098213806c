"""Comparison of experiments of one's own: numbers, formats, and the picture."""

from __future__ import annotations

import csv
import dataclasses
import itertools
from pathlib import Path

import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy import stats

from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.metrics.internal import measure_of
from farfield.models import ESBN, LSTM
from farfield.records import Record, Score, Store
from farfield.reports import (
    Comparison,
    ExtrapolationProfile,
    Tabular,
    compare,
    pdf,
    tabular_of,
    tabulate,
)
from farfield.reports._profile._series import MARKERS
from farfield.reports._profile._style import label_powers
from farfield.reports.internal import LIGHT, Point
from farfield.reproductions import TABLES
from farfield.tasks import SameDifferent
from reproductions import made_up

TASK = SameDifferent(withheld=98)
NEAR, FAR = (regime.name for regime in TASK.regimes)
SCORES = {"lstm": {0: 0.5, 1: 0.75, 2: 0.625, 4: 0.75}, "esbn": {4: 0.875, 2: 0.75, 1: 1.0, 0: 1.0}}
EXPERIMENTS = {
    name: Experiment(task=TASK, model=Network(reasoner=Spec(cls)), recipe=Recipe(steps=10))
    for name, cls in (("lstm", LSTM), ("esbn", ESBN))
}


def record(experiment: Experiment, seed: int, score: float) -> Record:
    scores = [
        Score(step=10, regime=regime, metric=metric, value=value, count=8)
        for regime, value in ((NEAR, 1.0), (FAR, score))
        for metric in ("accuracy", "loss")
    ]
    return Record(
        key=experiment.key,
        experiment=experiment.to_json(),
        seed=seed,
        steps=10,
        scores=tuple(scores),
        seconds=1.0,
        environment={},
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = Store(tmp_path / "runs")
    for name, scores in SCORES.items():
        for seed, score in scores.items():
            found.write(record(EXPERIMENTS[name], seed, score), {})
    return found


def test_differences_are_those_of_the_same_seeds(store: Store) -> None:
    pairs = {pair.regime: pair for pair in compare(EXPERIMENTS, store).pairs}
    assert (pairs[FAR].first, pairs[FAR].second) == ("esbn", "lstm")
    expected = stats.ttest_rel([1.0, 1.0, 0.75, 0.875], [0.5, 0.75, 0.625, 0.75])
    assert (pairs[FAR].difference.value, pairs[FAR].difference.pairs) == (0.25, 4)
    assert pairs[FAR].p == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (pairs[FAR].interval.low, pairs[FAR].interval.high) == pytest.approx(
        (interval.low, interval.high)
    )


def test_a_difference_is_that_of_the_means_beside_it() -> None:
    """Also where one model has more networks, of seeds that the other lacks."""
    few, many = (
        ExtrapolationProfile(task="a task", points=(
            Point(regime="far", distance=1, unit="steps", values=values, floor=0.25,
                  seeds=tuple(range(len(values)))),
        ))
        for values in ((0.8, 0.8), (0.6, 0.6, *(0.95,) * 8))
    )  # fmt: skip
    table = Comparison(profiles=(("mine", few), ("recorded", many)), against="mine").tabular
    mean, difference, p = (table.cells[1][column] for column in (4, -2, -1))
    assert (mean, table.cells[1][7]) == ("88.0 ± 4.7 %", "10")
    assert difference.startswith("+8.0 [")
    assert difference.endswith("] (2)")  # pairs
    assert (p, table.values[1]["p"]) == ("–", None)


def test_every_format_has_the_numbers(store: Store, tmp_path: Path) -> None:
    comparison = compare(EXPERIMENTS, store, against="esbn")
    written = {path.name: path for path in comparison.write(tmp_path / "out")}
    rows = list(csv.DictReader(written["table.csv"].read_text().splitlines()))
    (row,) = [row for row in rows if (row["model"], row["regime"]) == ("lstm", FAR)]
    assert float(row["mean"]) == pytest.approx(sum(SCORES["lstm"].values()) / 4)
    assert float(row["difference"]) == pytest.approx(-0.25)
    assert (row["networks"], row["pairs"], float(row["distance"])) == ("4", "4", 98)
    assert (
        r"lstm & \textbf{100.0 $\pm$ 0.0} & 65.6 $\pm$ 6.0 \\" in written["table.tex"].read_text()
    )
    assert "65.6 ± 6.0 |" in written["table.md"].read_text() == f"{comparison}\n"
    (scores,) = (
        row for row in csv.DictReader(written["scores.csv"].read_text().splitlines())
        if row["model"] == "lstm"
    )  # fmt: skip
    assert float(scores[FAR]) == pytest.approx(float(row["mean"]))
    assert "-0.25" in written["differences.csv"].read_text()
    assert r"$-$25.0 [" in written["differences.tex"].read_text()
    assert "aggregates.csv" not in written  # of a single regime
    found = {name: path.read_bytes() for name, path in written.items()}
    assert found["profile.png"][1:4] == b"PNG"
    assert b"<svg" in found["profile.svg"]
    assert found["profile.pdf"] == pdf(comparison.figure())  # the same bytes again


HOSTILE = {
    r"$\frac{1$ of mine": (r"\$\\frac{1\$ of mine", r"\$\textbackslash{}frac\{1\$ of mine"),
    "two\nlines\n\nof it": ("two lines of it", "two lines of it"),
    "a | b `c` *d* <e>": (r"a \| b \`c\` \*d\* \<e>", "a | b `c` *d* $<$e$>$"),
    "100 % & #1_2 ^~": ("100 % & #1_2 ^~", r"100 \% \& \#1\_2 \textasciicircum{}\textasciitilde{}"),
    "\x1b[2J\udcff": (r"\\x1b[2J\\udcff", r"\textbackslash{}x1b[2J\textbackslash{}udcff"),
    "_$x$ and $y": (r"_\$x\$ and \$y", r"\_\$x\$ and \$y"),
}
"""Names as people write them, with their cells in Markdown and in LaTeX."""


def test_names_are_words_in_pictures_and_tables(store: Store, tmp_path: Path) -> None:
    named = dict.fromkeys(HOSTILE, EXPERIMENTS["lstm"])
    written = {path.name: path for path in compare(named, store).write(tmp_path / "out")}
    lines = written["table.md"].read_text().splitlines()
    assert [line.split(" | ")[0].removeprefix("| ").rstrip() for line in lines[2:8]] == [
        cell.split(" | ")[0] for cell, _ in HOSTILE.values()
    ]
    lines = written["table.tex"].read_text().split("\\midrule\n")[1].splitlines()
    assert [row.split(" & ")[0] for row in lines[:6]] == [cell for _, cell in HOSTILE.values()]
    with written["table.csv"].open(newline="") as file:
        models = [row["model"] for row in csv.DictReader(file)]
    assert [name.encode(errors="backslashreplace").decode() for name in HOSTILE] == models[:6]


def test_a_picture_shows_dollars_as_they_are_and_powers_of_ten(store: Store) -> None:
    figure = compare({"$x$ at 5 $": EXPERIMENTS["lstm"]}, store).figure()
    labels = [text for text in figure.findobj(Text) if "$" in text.get_text()]
    assert [(label.get_text(), label.get_parse_math()) for label in labels] == [
        ("● $x$ at 5 $", False)
    ]
    axes = Figure().subplots()
    axes.set(yscale="log", ylim=(1e-3, 2e4))
    label_powers(axes.yaxis)
    written = axes.yaxis.get_major_formatter().format_ticks([1e-3, 1.0, 1e4])
    assert written == ["10⁻³", "10⁰", "10⁴"]
    axes.set_ylim(0.5, 3)
    axes.figure.draw_without_rendering()
    assert "2×10⁰" in [label.get_text() for label in axes.get_yticklabels(minor=True)]


def test_frames_have_a_row_for_each_score_and_each_point(store: Store) -> None:
    pytest.importorskip("pandas", reason="data frames need pandas, an extra")
    scores = store.frame()
    assert len(scores) == 8 * 4
    assert set(scores["task"]) == {"SameDifferent(withheld=98)"}
    assert set(scores["model"]) == {"Network(reasoner=LSTM)", "Network(reasoner=ESBN)"}
    found = compare(EXPERIMENTS, store).tabular.frame()
    far = found[found["regime"] == FAR].set_index("model")["difference"]
    assert far["esbn"] == pytest.approx(0.25)


def test_what_was_not_run_is_named(store: Store) -> None:
    other = Experiment(task=TASK, model=EXPERIMENTS["lstm"].model, recipe=Recipe(steps=11))
    with pytest.raises(ValueError, match=f"'longer' \\({other.key}\\) without a record"):
        compare({**EXPERIMENTS, "longer": other}, store)
    with pytest.raises(ValueError, match=r"against must be one of the models \(lstm, esbn\), got"):
        compare(EXPERIMENTS, store, against="gru")


def test_runs_are_removed_for_good(store: Store) -> None:
    key, other = (one.key for one in EXPERIMENTS.values())
    assert store.delete(key, [1, 2, 3]) == [1, 2]
    assert [one.seed for one in store.records(key)] == [0, 4]
    assert not store.weights_path(key, 1).exists()
    assert store.delete(key) == [0, 4]
    assert store.keys() == [other]


def _on(task: str, *means: float) -> ExtrapolationProfile:
    return dataclasses.replace(_profile(*means), task=task)


def _row(*cells: str) -> str:
    return " & ".join(cells) + r" \\"


def test_latex_has_a_row_for_each_model_and_a_column_for_each_regime(tmp_path: Path) -> None:
    tasks = ("one", "two&three four&five")
    profiles = [(who, _on(task, 0.9, 0.8, 0.7)) for who in ("mine", "other") for task in tasks]
    profiles[0] = ("mine", _on("one", 0.9, 0.8, 0.1225))
    Comparison(profiles=tuple(profiles[:-1]), against="mine").write(tmp_path)
    lines = (tmp_path / "table.tex").read_text().splitlines()
    heads = [
        r"\shortstack[r]{" + "\\\\".join((*task, regime)) + "}"
        for task in (("one",), (r"two\&three", r"four\&five"))
        for regime in ("training", "far", "farther")
    ]
    high, far, low = (f"{mean} $\\pm$ 1.2" for mean in ("90.0", "80.0", "70.0"))
    bold = [r"\textbf{" + mean + "}" for mean in (high, far, low)]
    assert lines == [
        r"\begin{tabular}{@{}lrrrrrr@{}}",
        r"\toprule",
        _row("model", *heads),
        r"\midrule",
        _row("mine", bold[0], bold[1], r"12.3 $\pm$ 1.2", *bold),
        _row("other", *bold, "--", "--", "--"),
        _row("floor (guessing)", *["25"] * 6),
        r"\bottomrule",
        r"\end{tabular}",
        r"% Mean $\pm$ standard error of accuracy in \%; 3 networks; best mean in bold.",
    ]
    Comparison(profiles=(profiles[0],), against="mine").write(tmp_path)
    lines = (tmp_path / "table.tex").read_text().splitlines()
    assert lines[2] == r"model & training & far & farther \\"  # all of one task


def test_a_table_is_written_by_the_end_of_its_name(tmp_path: Path) -> None:
    table = Tabular(
        headings=("name", "50 % | x"), cells=(("a_b", "−1 ± 2"),), values=({"a": 1, "b": None},)
    )
    assert table.write(tmp_path / "t.csv").read_text() == "a,b\n1,\n"
    assert r"a\_b & $-$1 $\pm$ 2 \\" in table.latex()
    assert table.markdown().splitlines()[0] == "| name | 50 % \\| x |"
    with pytest.raises(ValueError, match=r"path must end with .csv, .md, .tex, got 't.xlsx'"):
        table.write("t.xlsx")


def test_a_report_of_claims_is_such_a_table() -> None:
    report = tabulate(TABLES["webb2021/demo"], lambda claim: made_up.records(claim, [90.0, 92.5]))
    table = tabular_of(report)
    assert len(table.cells) == len(table.values) == len(report.rows)
    assert "91.3 ± 1.3 (2)" in table.cells[0]


def _profile(*means: float) -> ExtrapolationProfile:
    regimes = ("training", "far", "farther")
    points = [
        Point(regime=regime, distance=place, unit="steps", values=(mean - 0.02, mean, mean + 0.02),
              floor=0.25, measure=measure_of("accuracy"), seeds=(0, 1, 2))
        for place, (regime, mean) in enumerate(zip(regimes, means, strict=True))
    ]  # fmt: skip
    return ExtrapolationProfile(task="a task", points=tuple(points))


def test_of_many_models_all_have_a_name_and_the_best_their_networks(check_baseline) -> None:
    profiles = [(f"rival {n}", _profile(0.95, 0.9 - n / 20, 0.8 - n / 15)) for n in range(9)]
    own = ("mine", _profile(0.97, 0.7, 0.5))
    comparison = Comparison(profiles=(own, *profiles), against="mine")
    figure = comparison.figure()
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert {"● mine", "● rival 0", "★ rival 7", "■ rival 8", "3 networks"} <= {*texts}
    assert sum("rival" in text for text in texts) == 9
    colors = {
        to_hex(text.get_color()) for text in figure.axes[0].texts if "rival" in text.get_text()
    }
    assert colors == {*LIGHT.models}
    (mine,) = (text for text in figure.axes[0].texts if "mine" in text.get_text())
    assert (mine.get_fontweight(), to_hex(mine.get_color())) == ("bold", LIGHT.foreground)
    drawn = {
        (MARKERS[str(line.get_marker())], to_hex(line.get_color())) for line in figure.axes[0].lines
    }
    labels = {
        (text.get_text()[0], to_hex(text.get_color()))
        for text in figure.axes[0].texts
        if text.get_text()[2:] in comparison.names
    }
    assert len(labels) == len(comparison.names)
    assert labels == drawn
    dots = [one for one in figure.axes[0].collections if isinstance(one, PathCollection)]
    assert len(dots) == len(LIGHT.models)
    check_baseline(figure, "comparison-crowded")


def _named(figure: Figure) -> set[str]:
    return {text.get_text() for text in figure.legends[0].get_texts()}


def test_a_legend_names_an_interval_where_one_is_drawn() -> None:
    few = tuple(
        dataclasses.replace(point, values=point.values[:2], seeds=(0, 1))
        for point in _profile(0.97, 0.7, 0.5).points
    )
    mine = ("mine", ExtrapolationProfile(task="a task", points=few))
    rivals = [(f"rival {n}", _profile(0.9, 0.8, 0.1)) for n in range(9)]
    best = [(f"best {n}", ExtrapolationProfile(task="a task", points=few)) for n in range(7)]
    crowded = Comparison(profiles=(mine, *rivals, *best), against="mine").figure()
    assert _named(crowded) == {"mean", "one network", "floor (guessing)", "mean alone"}
    three = Comparison(profiles=(mine, rivals[0]), against="mine").figure()
    assert _named(three) == {"mean, 95 % interval", "one network", "floor (guessing)"}
    assert "2–3 networks each" in {text.get_text() for text in three.axes[0].texts}


def test_words_of_an_axis_are_not_broken() -> None:
    points = [
        Point(regime=regime, distance=0, unit="steps", values=(0.4,), floor=0.25, seeds=(0,))
        for regime in ("training", "validation", "shifted-left-17")
    ]
    profile = ExtrapolationProfile(task="a task", points=tuple(points))
    axes = Comparison(profiles=(("mine", profile),), against="mine").figure().axes[0]
    shown = [label.get_text() for label in axes.get_xticklabels()]
    assert shown == ["training", "validation", "shifted-\nleft-17"]


def test_few_models_all_have_colors(check_baseline) -> None:
    profiles = (("mine", _profile(0.97, 0.7, 0.5)), ("other", _profile(0.9, 0.8, 0.75)))
    check_baseline(Comparison(profiles=profiles, against="mine").figure(), "comparison-few")


def _outwards(count: int, step: float) -> ExtrapolationProfile:
    points = [
        Point(regime=f"the regime {place}", distance=place * step, unit="steps",
              values=(0.4, 0.5, 0.6), floor=0.25, seeds=(0, 1, 2))
        for place in range(count)
    ]  # fmt: skip
    return ExtrapolationProfile(task="a task", points=tuple(points))


@pytest.mark.parametrize(("count", "step"), [(24, 0.0), (100, 0.0), (24, 100.0), (300, 1.0)])
def test_labels_of_many_regimes_do_not_overlap(count: int, step: float) -> None:
    profiles = (("mine", _outwards(count, step)),)
    figure = Comparison(profiles=profiles, against="mine").figure()
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    assert len(boxes) > 4
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_many_regimes_are_a_line_and_a_band() -> None:
    few, many = (
        Comparison(profiles=(("mine", _outwards(count, 1.0)),), against="mine").figure()
        for count in (30, 31)
    )
    assert [len(one.axes[0].collections) for one in (few, many)] == [
        3,
        2,
    ]  # dots, bars or band, floor
    assert [one.axes[0].lines[0].get_marker() for one in (few, many)] == ["o", ""]
    [floor] = many.axes[0].collections[-1].get_segments()
    assert floor.tolist() == [[-0.5, 25.0], [30.5, 25.0]]


def test_two_experiments_of_one_name_are_refused() -> None:
    profiles = (("mine", _profile(0.9, 0.8, 0.7)), ("mine", _profile(0.9, 0.8, 0.6)))
    with pytest.raises(ValueError, match=r"one of each model on a task, got 2 of 'mine' on a task"):
        Comparison(profiles=profiles, against="mine")
