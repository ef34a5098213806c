"""What figures measure as text that stays, and its place on the page of results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from farfield.records import Store
from farfield.reports import (
    export,
    export_figure,
    illustrate,
    load_figure,
    results_page,
    tabulate,
)
from farfield.reproductions import FIGURES, Budget
from reproductions import made_up

FIGURE = FIGURES["gondal2021/figure-5b"]
SMALL = FIGURE.table.select("*-small/*")
FILE = "gondal2021/figure-5b-paper.json"
PICTURE = "gondal2021/figure-5b-paper-curve.png"


def found(claim):
    return made_up.records(claim, (40.0, 42.0), steps=claim.experiment.recipe.steps)


def exported(folder: Path, seeds: int = 2) -> list[Path]:
    """The figure over made-up networks of its small rows, and these."""
    networks = lambda claim: found(claim)[:seeds] if claim in SMALL.claims else []  # noqa: E731
    export(SMALL, networks, folder)
    report = tabulate(FIGURE.table, networks)
    plates = illustrate(FIGURE, report, Store(folder / "runs"))
    return export_figure(report, plates, folder, Budget.PAPER)


def test_a_figure_stays_as_text_beside_its_picture(tmp_path: Path) -> None:
    assert exported(tmp_path) == [tmp_path / PICTURE, tmp_path / FILE]
    assert (tmp_path / PICTURE).read_bytes()[:4] == b"\x89PNG"
    kept = load_figure(tmp_path / FILE, tmp_path)
    assert [(network.cell, network.seed) for network in kept.networks] == [
        (cell, seed) for cell in SMALL.cells for seed in (0, 1)
    ]
    (plate,) = illustrate(FIGURE, tabulate(FIGURE.table, found), Store(tmp_path / "runs"))
    (exhibit,) = kept.exhibits
    assert (exhibit.title, exhibit.caption) == (plate.title, plate.caption)
    assert [finding.what for finding in exhibit.findings] == [
        finding.what for finding in plate.findings if "small" in finding.what
    ]


def test_the_same_networks_give_the_same_text(tmp_path: Path) -> None:
    exported(tmp_path / "one")
    exported(tmp_path / "other")
    for name in (FILE, PICTURE):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_without_anything_to_show_nothing_is_written(tmp_path: Path) -> None:
    report = tabulate(FIGURE.table, lambda claim: [])
    assert export_figure(report, (), tmp_path, Budget.PAPER) == []
    assert list(tmp_path.iterdir()) == []


def test_the_page_shows_figures_behind_tables(tmp_path: Path) -> None:
    exported(tmp_path)
    page = results_page(tmp_path, "seen/from/here")
    head, _, rest = page.partition("\n## gondal2021/figure-5b\n")
    assert "\n| [gondal2021/figure-5b](#gondal2021figure-5b) | " in head
    assert head.count("\n## gondal2021/k-mnist\n") == 1
    assert f"](seen/from/here/{PICTURE})\n" in rest
    kept = load_figure(tmp_path / FILE, tmp_path)
    for finding in kept.exhibits[0].findings:
        assert f"| {finding.what} | {finding.paper or '–'} | {finding.ours} |\n" in rest
    assert rest.count("\n### Networks after 100 % of the steps\n") == 1


def test_a_figure_of_networks_that_are_gone_is_refused(tmp_path: Path) -> None:
    exported(tmp_path)
    (tmp_path / "gondal2021" / "k-mnist.jsonl").unlink()
    export(SMALL, lambda claim: found(claim)[:1], tmp_path)
    with pytest.raises(ValueError, match=r"no line holds seed 1 of .*export the figure again"):
        results_page(tmp_path)


def damaged(path: Path, **fields: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), "not what a figure measures"),
        (lambda path: path.write_bytes(b"[" * 100_000), "not what a figure measures"),
        (lambda path: damaged(path, surplus=1), "not what a figure measures"),
        (lambda path: damaged(path, budget="quick"), "must be those of its name"),
        (lambda path: damaged(path, figure="gondal2021/figure-0"), "must be those of its name"),
        (
            lambda path: damaged(
                path,
                exhibits=[
                    {"name": "../x", "title": "", "caption": "", "drawn": True, "findings": []}
                ],
            ),
            "no picture can be called",
        ),
        (lambda path: path.with_name(Path(PICTURE).name).unlink(), "its picture .* is missing"),
    ],
    ids=["cut", "deep", "surplus", "budget", "figure", "name", "picture"],
)
def test_a_damaged_figure_is_refused(tmp_path: Path, damage, message: str) -> None:
    exported(tmp_path)
    damage(tmp_path / FILE)
    with pytest.raises(ValueError, match=message):
        results_page(tmp_path)


def test_nothing_in_a_figure_is_markup(tmp_path: Path) -> None:
    exported(tmp_path)
    kept = json.loads((tmp_path / FILE).read_text())
    markup = "<script>`x`</script>"
    kept["exhibits"][0] |= {
        "title": markup,
        "caption": markup,
        "findings": [{"what": "a|b", "paper": markup, "ours": markup}],
    }
    (tmp_path / FILE).write_text(json.dumps(kept))
    page = results_page(tmp_path)
    words = "&lt;script&gt;\\`x\\`&lt;/script&gt;"
    assert page.count(words) == 4
    assert f"| a\\|b | {words} | {words} |\n" in page
    assert "<script>" not in page
